//! The commands for programs: a request in, a run folder or an answer out. Nothing is printed, and nothing
//! stays behind.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use tailwater::api::{self, Access, Destination, Request, Silent};
//! use tailwater::scenario::Source;
//!
//! let folder = std::env::temp_dir().join(format!("tailwater-api-{}", std::process::id()));
//! let source = Source::builtin("incast").expect("a scenario that comes with the program");
//! let to = Destination { folder: &folder, access: Access::Scratch, report: false };
//! let run = api::run(&Request::new(source), to, (&Silent, &AtomicBool::new(false)));
//! let run = run.expect("a scenario without mistakes");
//! assert!(api::table(&run, 80).contains("newreno"));
//! # drop(run);
//! # std::fs::remove_dir_all(&folder).expect("a folder that exists");
//! ```

mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use claims::catalogue;
use clap::ValueEnum;
use miette::GraphicalTheme;
use plan::PointSpec;
use results::{FailedPoint, Folder};
use scenario::{Argument, Overrides, Problem, Problems, Scenario, Source};
use sim::error::RunError;
use sim::sweep::Failure;

use crate::args::{ImportArgs, Listed};
use crate::clock::now;
use crate::output::{self, Stop};
use crate::reproduction::{self, Stage};
use crate::simulate::{finish, tidy};
use crate::sweep::{self, Batch, Front, Sweep, Work};
use crate::told::Progress;
use answer::run::Finished;
use answer::run::View;

pub use results::Access;

pub use self::worker::Worker;
pub use crate::elsewhere::{Elsewhere, Job, KeepAnswers, Order};
pub use crate::request::{Allowance, Causes, Figures, Precision, Request};

/// Why there is no result.
#[derive(Debug)]
pub enum Ended {
    /// The input was wrong, or a file could not be written.
    Problems(Problems),
    /// It was told to stop; [`Access::Resume`] goes on.
    Stopped,
}

/// Hears how a run goes on, from any thread.
pub trait Monitor: Sync {
    /// This many simulations are about to begin, besides those that began before.
    fn begins(&self, _simulations: usize) {}

    /// One simulation more is done, or has failed.
    fn advances(&self) {}

    /// One has failed, which is also told as done.
    fn fails(&self, _point: &PointSpec, _error: &RunError) {}

    /// Why more is simulated, or something is run anew.
    fn hint(&self, _line: &str) {}

    /// Who simulates, if not this process.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }
}

/// Hears nothing.
pub struct Silent;

impl Monitor for Silent {}

/// Where results go.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// The run folder.
    pub folder: &'a Path,
    /// Whether it may have points of the same request, and how long what is written stays. A shard is always
    /// [`Access::Shard`].
    pub access: Access,
    /// Whether the report is written.
    pub report: bool,
}

/// What came out of figures of papers.
#[derive(Debug)]
pub struct Reproduced {
    /// The claims as a table.
    pub table: String,
    /// The claims as JSON, as the command prints it.
    pub json: String,
    /// The pages of their papers that were written.
    pub pages: Vec<PathBuf>,
    /// Whether a simulation failed.
    pub failed: bool,
}

/// Runs what is missing in a folder, and makes its files.
///
/// It ends within some milliseconds of simulation once `stop` is true. Points that fail are in the summary
/// of the folder.
///
/// # Errors
/// Nothing has run if the input is wrong. Whatever ended it, finished points are kept.
pub fn run(
    request: &Request,
    to: Destination<'_>,
    (monitor, stop): (&dyn Monitor, &AtomicBool),
) -> Result<Folder, Ended> {
    let mut scenario = request.scenario()?;
    let store = sweep::open(to.folder, request, &scenario, to.access)?;
    let front = Program { monitor, stop };
    if sweep::finished_before(request, &store, &scenario)?.is_none() {
        let sweep = Sweep::new(request, &store, &front, now());
        let finished = sweep.complete(&mut scenario)?;
        sweep::write(&store, &scenario, &finished)?;
    }
    if to.report {
        return Ok(finish(&store)?);
    }
    let folder = store.read()?;
    tidy(&store, &folder)?;
    Ok(folder)
}

/// Runs the points of a request's shard that are missing in a folder: how many points are there now, of how many.
/// [`merge`] makes a run of all shards.
///
/// # Errors
/// As [`run`] has them.
pub fn run_shard(
    request: &Request,
    folder: &Path,
    (monitor, stop): (&dyn Monitor, &AtomicBool),
) -> Result<(usize, usize), Ended> {
    let scenario = request.scenario()?;
    let store = sweep::open(folder, request, &scenario, Access::Resume)?;
    let front = Program { monitor, stop };
    Sweep::new(request, &store, &front, now()).simulate(&scenario)?;
    Ok((store.kept(&scenario), scenario.points().len()))
}

/// Makes a run of shards in the folder `out`, which may be the first of theirs. Its `run.json` names `command`.
///
/// # Errors
/// If points are in none of the folders, or these are of different scenarios or versions.
pub fn merge(folders: &[PathBuf], out: &Path, command: Vec<String>) -> Result<Folder, Ended> {
    let (store, _) = crate::merge::put_together(folders, out, command)?;
    Ok(finish(&store)?)
}

/// Runs what is missing of figures of papers, judges their claims and tries causes.
///
/// # Errors
/// As [`run`] has them.
pub fn reproduce(
    asked: &Figures,
    (monitor, stop): (&dyn Monitor, &AtomicBool),
) -> Result<Reproduced, Ended> {
    let front = Program { monitor, stop };
    let (failed, reproduced) = reproduction::reproduce(asked, &front, &mut |judged| {
        let pages = judged.iter().filter(|_| asked.report);
        let pages = pages.map(|(paper, _)| asked.out.join(&paper.name).join(crate::report::NAME));
        Ok(Reproduced {
            table: answer::claims::table(judged, false),
            json: answer::claims::json(judged),
            pages: pages.collect(),
            failed: false,
        })
    })?;
    Ok(Reproduced {
        failed,
        ..reproduced
    })
}

/// The table of a run in this many columns of text, as `tailwater run` prints it.
pub fn table(folder: &Folder, width: usize) -> String {
    let view = View {
        columns: None,
        rows: None,
        width,
        styled: false,
    };
    answer::run::table(&finished(folder), &view)
}

/// Every number of a run but those of single flows and ports, as `tailwater run` prints it as JSON. What a
/// point alone took is not known of a run that ended earlier.
pub fn json(folder: &Folder) -> String {
    answer::run::json(&finished(folder), None)
}

fn finished(folder: &Folder) -> Finished {
    Finished::new(folder.summary().clone(), folder.info().clone())
}

/// What a scheme, a setting, a symbol, a figure of a paper or a number of the results is.
///
/// # Errors
/// The nearest names, if nothing is called so.
pub fn explain(word: &str) -> Result<String, Ended> {
    Ok(explain::explain(word, &crate::args::commands())?)
}

/// What there is to choose from: the list called `what`, as in `"schemes"`, or the list of lists.
///
/// # Errors
/// The names of the lists, if none is called so.
pub fn list(what: Option<&str>) -> Result<String, Ended> {
    let what = what.map(|name| {
        let named = Listed::from_str(name, false);
        named.map_err(|_| {
            let lists = Listed::value_variants().iter();
            let lists = lists.filter_map(ValueEnum::to_possible_value);
            let names: Vec<_> = lists.map(|list| format!("{:?}", list.get_name())).collect();
            let problem = Problem::new(format!("there is no list {name:?}"));
            Problems::from(problem.help(format!("choose among {}", names.join(", "))))
        })
    });
    Ok(crate::list::list(what.transpose()?)?)
}

/// Writes a trace of the flows in a file of another program, and says what was read, what was skipped and why: the
/// kind of the file, as in `"hpcc"`, if its content does not tell, and the bytes of flows without an end.
///
/// # Errors
/// If there is no such kind, the file has no flow, or the trace cannot be written.
pub fn import_flows(
    file: &Path,
    output: Option<&Path>,
    kind: Option<&str>,
    size: Option<u64>,
) -> Result<String, Ended> {
    let names = import::Kind::ALL.map(|(_, name, _)| name);
    if let Some(kind) = kind.filter(|kind| !names.contains(kind)) {
        let problem = Problem::new(format!("there is no kind of file {kind:?}"));
        return Err(Ended::Problems(
            problem
                .help(format!("choose among {}", names.join(", ")))
                .into(),
        ));
    }
    let args = ImportArgs {
        file: file.to_owned(),
        output: output.map(Path::to_owned),
        from: kind.map(str::to_owned),
        size,
    };
    crate::import_flows::made(&args).map_err(Ended::Problems)
}

/// A scenario by its name, a figure of a paper, or the path of a file.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn source(word: &str) -> Result<Source, Problems> {
    catalogue::scenario(word)
}

/// A scenario as TOML, with what other readers of the file than the simulator see left out.
///
/// # Errors
/// Everything that is wrong with it.
pub fn show(source: Source, overrides: &Overrides) -> Result<(String, Scenario), Problems> {
    let written = catalogue::scenario_text(&source)?;
    Ok((written, Scenario::load(source, overrides)?))
}

/// Problems as the command shows them, without colours, in the words of a caller, who calls each argument
/// what `name` says.
pub fn told(problems: &[Problem], name: &dyn Fn(Argument, Option<&str>) -> String) -> String {
    output::rendered(problems, GraphicalTheme::none(), name).join("\n")
}

/// Why a point failed, in the words of a caller.
pub fn failure(failed: &FailedPoint, name: &dyn Fn(Argument) -> String) -> String {
    output::named_failure(&failed.error, name)
}

/// The command in a process that is not its own program: prints, and ends the process where a signal asks
/// for it. The exit status of [`run_args`](crate::run_args).
pub fn command<I, T>(args: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    crate::tell_panics();
    crate::status(args)
}

/// A program, which hears and may stop what it asked for.
struct Program<'a> {
    monitor: &'a dyn Monitor,
    stop: &'a AtomicBool,
}

impl Progress for Program<'_> {
    fn advance(&self, _expected: f64) {
        self.monitor.advances();
    }

    fn failed(&self, point: &PointSpec, failure: &Failure) {
        if let Failure::Run(error) = failure {
            self.monitor.fails(point, error);
        }
    }
}

impl Front for Program<'_> {
    fn stop(&self) -> &AtomicBool {
        self.stop
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        self.monitor.elsewhere()
    }

    fn during(&self, batch: &Batch<'_>, work: Work<'_>) -> Result<(), Stop> {
        self.monitor.begins(batch.points.len());
        let no_room = |error| Problems::from(Problem::new(error).for_lack_of_room());
        Ok(work(self).map_err(no_room)?)
    }

    fn hint(&self, line: &str) {
        self.monitor.hint(line);
    }
}

impl reproduction::Front for Program<'_> {
    fn stop(&self) -> &AtomicBool {
        self.stop
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        self.monitor.elsewhere()
    }

    fn during(&self, stage: &Stage<'_>, work: reproduction::Work<'_>) -> Result<bool, Stop> {
        self.monitor.begins(stage.simulations);
        work(self)
    }

    fn hint(&self, line: &str) {
        self.monitor.hint(line);
    }
}

impl From<Problems> for Ended {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::WrongInput(problems) | Stop::NoRoom(problems) => Self::Problems(problems),
            Stop::Ended => Self::Stopped,
            // Only what prints says so.
            Stop::Failed | Stop::Lacking | Stop::Interrupted(_) => {
                Self::Problems(Problem::new("it failed").into())
            }
        }
    }
}
