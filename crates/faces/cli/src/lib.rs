//! Simulates, explains and compares the cures for TCP incast, for programs: points, sweeps, run folders, user schemes,
//! and the whole command with them.
//!
//! ```
//! use tailwater::{Point, run};
//!
//! let point = Point::builder("dctcp").set("workload.senders", 10).seed(1).build()?;
//! let outcome = run(&point)?;
//! assert!(outcome.metrics.goodput_bps > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Scenario`] is many points; [`sweep`] keeps their outcomes in memory, [`run_folder`] in files.
//!
//! A user's program can add schemes to the command and has all of its other functions: comparisons with the other
//! schemes, sweeps, resumed runs, reports. `tailwater new-scheme NAME` writes such a crate.
//!
//! ```no_run
//! use tailwater::prelude::*;
//!
//! const SCHEME: Scheme = Scheme {
//!     name: "tight",
//!     summary: "NewReno whose first window is two segments",
//!     roles: &[Role::Sender],
//!     origin: Some(tailwater::origin!()),
//!     build: &|_| {
//!         Ok(Roles {
//!             initial_window: Some(2),
//!             ..Roles::of_sender((), |(), flow| NewReno::new(&flow.config))
//!         })
//!     },
//!     ..Scheme::PLAIN
//! };
//!
//! fn main() -> std::process::ExitCode {
//!     tailwater::main_with(&[SCHEME])
//! }
//! ```
//!
//! Only the items on this page and in [`prelude`] are supported. The command reads arguments, calls the libraries and
//! prints the answer. Standard output carries only the answer, standard error carries progress and errors.

mod args;
mod batch_job;
mod certify;
mod completion;
mod deploy;
mod emulate;
mod explore;
mod export;
mod import_flows;
mod incident;
mod law_settings;
mod library;
mod list;
mod merge;
mod model;
mod new_scheme;
mod observe;
mod output;
mod plan_shards;
mod plot;
mod predict;
pub mod prelude;
mod privileged;
mod progress;
mod report;
mod reproduce;
mod run;
mod run_folder;
mod search;
mod seen_file;
mod serve;
mod show;
#[doc(hidden)]
pub mod texts;
mod trial;
mod watch;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, ValueEnum};

#[doc(inline)]
pub use library::{
    Access, Allowance, CollectiveMetrics, Destination, Error, FlowRecord, Folder, GroupMetrics,
    HeldUp, Measured, Metrics, Monitor, Outcome, Outcomes, Point, PointBuilder, PointFailure,
    PortRecord, RegistrationError, RunCost, RunError, RunOptions, Scenario, ScenarioBuilder,
    Silent, Stage, StageWork, TierMetrics, run, run_folder, sweep,
};

#[doc(hidden)]
pub use origin::source_hash;

use args::{Cli, Command};
use output::Stop;
use scenario::Problem;
use schemes::Scheme;

/// Whose code the schemes of the calling crate are: its name, its version, and a hash of its manifest
/// and of all files below `src`.
///
/// ```
/// let origin = tailwater::origin!();
/// assert_eq!(origin.package, env!("CARGO_PKG_NAME"));
/// ```
#[macro_export]
macro_rules! origin {
    () => {
        $crate::prelude::Origin {
            package: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            hash: $crate::source_hash!(),
        }
    };
}

/// Tests that every scheme must pass.
///
/// ```no_run
/// // As a test of a crate with a scheme: it panics, with the reason, where the scheme fails.
/// tailwater::battery::check("newreno");
/// ```
pub mod battery {
    pub use ::battery::check;
}

/// The whole program: the command with `schemes` in addition to the built-in ones, run with the arguments of the
/// process.
///
/// ```no_run
/// // With the built-in schemes alone.
/// fn main() -> std::process::ExitCode {
///     tailwater::main_with(&[])
/// }
/// ```
pub fn main_with(schemes: &[Scheme]) -> ExitCode {
    tell_panics();
    for scheme in schemes {
        if let Err(refusal) = register(*scheme) {
            output::complain(&format!("{refusal}"));
            return ExitCode::from(2);
        }
    }
    run_args(std::env::args_os())
}

/// Panics are defects of this program: one line reports the place, without a backtrace.
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // Some file readers panic on damaged files; this is reported in another way.
        if tables::guard::is_reading() {
            return;
        }
        let line = panic.to_string().replace('\n', " ");
        output::complain(&format!("internal error: {line}; please report it"));
    }));
}

/// Adds a scheme for scenarios that this process reads from now on.
///
/// # Errors
/// The errors of [`schemes::register`], and an error if the name has another meaning in a scenario or for `explain`.
///
/// ```
/// use tailwater::prelude::*;
/// use tailwater::{Point, register, run};
///
/// register(Scheme {
///     name: "first_of_two",
///     summary: "NewReno whose first window is two segments",
///     roles: &[Role::Sender],
///     origin: Some(tailwater::origin!()),
///     build: &|_| {
///         Ok(Roles {
///             initial_window: Some(2),
///             ..Roles::of_sender((), |(), flow| NewReno::new(&flow.config))
///         })
///     },
///     ..Scheme::PLAIN
/// })?;
/// let outcome = run(&Point::builder("first_of_two").set("workload.senders", 4).build()?)?;
/// assert_eq!(outcome.metrics.flows_completed, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn register(scheme: Scheme) -> Result<(), RegistrationError> {
    if new_scheme::is_reserved(scheme.name) {
        return Err(RegistrationError::Taken(scheme.name));
    }
    schemes::register(scheme)
}

/// Runs the command with `args`; the first is the name of the program.
///
/// ```
/// use std::process::ExitCode;
///
/// let status = tailwater::run_args(["tailwater", "list", "schemes"]);
/// assert_eq!(status, ExitCode::SUCCESS);
/// ```
///
/// Exit status 0: done, 1: a run failed or, if wanted, a claim, 2: the input was wrong, 3: the machine lacks something.
/// A signal that asks the process to end ends it with 128 + signal.
pub fn run_args<I, T>(args: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    ExitCode::from(status(args))
}

/// The same as a number.
fn status<I, T>(args: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let given = args.iter().map(|arg| arg.to_string_lossy().into_owned());
    let given: Vec<String> = given.collect();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(stop) => {
            // Help and version output come this way, too. A reader that closes early is no failure.
            drop(stop.print());
            return u8::try_from(stop.exit_code()).unwrap_or(2);
        }
    };
    let done = match cli.command {
        Some(command) => call(command, given),
        None => output::answer(&list::guide()),
    };
    match done {
        Ok(()) => 0,
        Err(Stop::Failed | Stop::Ended) => 1,
        Err(Stop::Lacking) => 3,
        Err(Stop::Interrupted(status)) => status,
        Err(Stop::WrongInput(problems)) => {
            output::problems(&problems.0);
            2
        }
        Err(Stop::NoRoom(problems)) => {
            output::problems(&problems.0);
            1
        }
    }
}

fn call(command: Command, given: Vec<String>) -> Result<(), Stop> {
    match command {
        Command::Run(args) => run::run(&args::RunArgs { given, ..args }),
        Command::Reproduce(args) => reproduce::reproduce(&args::ReproduceArgs { given, ..args }),
        Command::Plan(args) => plan_shards::plan(&args),
        Command::Merge(args) => merge::merge(&args::MergeArgs { given, ..args }),
        Command::Emulate(args) => emulate::emulate(&args::emulate::EmulateArgs { given, ..args }),
        Command::Deploy(command) => deploy::deploy(&command, &given),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import_flows::import(&args),
        Command::List { what } => output::answer(&list::list(what)?),
        Command::Show(args) => show::show(&args),
        Command::Explain { word } => output::answer(&explain::explain(&word, &args::commands())?),
        Command::Explore(args) => explore::explore(&args),
        Command::Report(args) => report::report(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Model(args) => model::model(&args),
        Command::NewScheme(args) => new_scheme::new_scheme(&args),
        Command::Completions { shell: Some(shell) } => completions(shell),
        Command::Completions { shell: None } => Err(no_shell()),
        Command::Man {
            out: Some(folder), ..
        } => manuals(&folder),
        Command::Man { command, .. } => manual(command.as_deref()),
    }
}

fn no_shell() -> Stop {
    let shells = clap_complete::Shell::value_variants();
    let names: Vec<String> = shells.iter().map(ToString::to_string).collect();
    let problem = Problem::new("`tailwater completions` needs the name of a shell");
    let help = format!(
        "one of {}, as in `tailwater completions bash`",
        names.join(", ")
    );
    Stop::WrongInput(problem.help(help).into())
}

fn completions(shell: clap_complete::Shell) -> Result<(), Stop> {
    let mut text = Vec::new();
    clap_complete::generate(
        shell,
        &mut completion::with_names(Cli::command()),
        "tailwater",
        &mut text,
    );
    if shell == clap_complete::Shell::Fish {
        text.extend(completion::for_fish().into_bytes());
    }
    output::answer(&String::from_utf8_lossy(&text))
}

fn manual(name: Option<&str>) -> Result<(), Stop> {
    let mut command = Cli::command();
    command.build();
    let page = match name {
        None => command,
        Some(name) => command.find_subcommand(name).cloned().ok_or_else(|| {
            explain::unknown(
                name,
                "command",
                command_names(&command),
                "`tailwater --help` lists all commands",
            )
        })?,
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.expect("writing to memory succeeds");
    output::answer(&String::from_utf8_lossy(&text))
}

/// Writes the page of every command and the overview.
fn manuals(folder: &Path) -> Result<(), Stop> {
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        output::complain(&format!("cannot write into {}: {error}", folder.display()));
        Stop::Failed
    })?;
    output::answer(&format!("{}\n", folder.display()))
}

fn command_names(command: &clap::Command) -> Vec<&str> {
    command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect()
}
