//! Parses, calls the library, prints lines.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use live::bed::Sysctl;
use live::emulate::{Failure, Order, emulate, up};
use live::{RateChoice, doctor, down, exec, interrupt, lacks, lacks_for_programs};
use scenario::{Overrides, Problem, Problems, Scenario};
use serde_json::{Value, json};

mod deploy;

use deploy::{Attach, Detach, Observe, Status, WatchDevice};

/// Changes the network of this machine, for `tailwater`
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scenario on real stacks and in the simulator
    Emulate(Emulate),
    /// Make the network of a scenario and leave it
    Up(Network),
    /// Remove networks that were left, by `up` or by a crash
    Down,
    /// Run a command in a host of a network that was left
    Exec {
        /// The host, as in h3, or switch, as in s0
        node: String,
        /// The command
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Try out what works on this machine
    Doctor,
    /// Watch a device
    Observe(Observe),
    /// Put a law at a port
    Attach(Attach),
    /// Tell what is attached
    Status(Status),
    /// Look after grants that were attached, until they end
    #[command(hide = true)]
    Watch(WatchDevice),
    /// Take laws away
    Detach(Detach),
}

impl Command {
    /// The privileges that it needs and has not.
    fn lacks(&self) -> Option<String> {
        match self {
            Self::Doctor => None,
            Self::Observe(_)
            | Self::Attach(_)
            | Self::Status(_)
            | Self::Watch(_)
            | Self::Detach(_) => lacks_for_programs(),
            _ => lacks(),
        }
    }
}

#[derive(Args)]
struct Network {
    /// A built-in scenario by name, or the path of a .toml file
    scenario: String,
    #[arg(long)]
    scheme: Vec<String>,
    #[arg(long = "set", allow_hyphen_values = true)]
    sets: Vec<String>,
    #[arg(long)]
    seed: Option<u64>,
    /// auto, asis or a rate
    #[arg(long, default_value = "auto")]
    rate: RateChoice,
    #[arg(long = "sysctl")]
    sysctls: Vec<Sysctl>,
}

#[derive(Args)]
struct Emulate {
    #[command(flatten)]
    network: Network,
    #[arg(long, default_value = "5")]
    runs: NonZeroU32,
    #[arg(long)]
    no_sim: bool,
    /// Keep the packets of the first run of every scheme
    #[arg(long, requires = "out")]
    pcap: bool,
    /// The run folder
    #[arg(long)]
    out: Option<PathBuf>,
}

impl Network {
    fn load(&self, runs: NonZeroU32) -> Result<Scenario, Problems> {
        let overrides = Overrides {
            schemes: (!self.scheme.is_empty()).then(|| self.scheme.join(",")),
            sets: self.sets.clone(),
            seed: self.seed,
            seeds: Some(runs),
            ..Overrides::default()
        };
        Scenario::load(scenario::Source::find(&self.scenario)?, &overrides)
    }
}

pub(super) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(stop) => {
            drop(stop.print());
            return ExitCode::from(u8::try_from(stop.exit_code()).unwrap_or(2));
        }
    };
    if let Some(what) = cli.command.lacks() {
        line(&json!({ "type": "lacks", "privileges": true, "what": what }));
        return ExitCode::from(3);
    }
    let done = interrupt::listen()
        .map_err(Failure::from)
        .and_then(|()| call(cli.command));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Problems(Problems(problems))) => {
            problems.iter().for_each(problem);
            ExitCode::from(2)
        }
        Err(Failure::Machine(what)) => {
            line(&json!({ "type": "lacks", "what": what }));
            ExitCode::from(3)
        }
        Err(Failure::Failed(what)) => {
            line(&json!({ "type": "failed", "what": what }));
            ExitCode::from(1)
        }
        Err(Failure::Refused) => ExitCode::from(2),
        Err(Failure::Interrupted) => ExitCode::from(128 + interrupt::heard().unwrap_or(0)),
    }
}

fn call(command: Command) -> Result<(), Failure> {
    match command {
        Command::Emulate(args) => {
            let scenario = args.network.load(args.runs)?;
            let order = Order {
                rate: args.network.rate,
                sysctls: args.network.sysctls,
                runs: args.runs,
                simulate: !args.no_sim,
                folder: args.out.clone(),
                captures: args.pcap,
            };
            let mut folder = args.out.map(RunFolder::create).transpose()?;
            let mut kept = Ok(());
            let tell = &mut |value: Value| {
                line(&value);
                if let (Some(folder), Ok(())) = (&mut folder, &kept) {
                    kept = folder.keep(&value);
                }
            };
            emulate(&scenario, &order, tell)?;
            Ok(kept?)
        }
        Command::Up(args) => {
            let made = up(&args.load(NonZeroU32::MIN)?, args.rate, &args.sysctls)?;
            line(&made);
            Ok(())
        }
        Command::Down => {
            let removed = down()?;
            line(&json!({ "type": "down", "removed": removed }));
            Ok(())
        }
        Command::Exec { node, command } => {
            // The output is that of the command: what is wrong does not go there.
            let error = exec(&node, &command);
            drop(writeln!(io::stderr(), "{error}"));
            Err(Failure::Refused)
        }
        Command::Doctor => {
            let (told, is_whole) = doctor();
            line(&told);
            is_whole.then_some(()).ok_or(Failure::Refused)
        }
        #[cfg(feature = "kernel")]
        Command::Observe(args) => args.observe(),
        #[cfg(feature = "kernel")]
        Command::Attach(args) => args.attach(),
        #[cfg(feature = "kernel")]
        Command::Status(args) => args.status(),
        #[cfg(feature = "kernel")]
        Command::Watch(args) => args.watch(),
        #[cfg(feature = "kernel")]
        Command::Detach(args) => args.detach(),
        #[cfg(not(feature = "kernel"))]
        Command::Observe(_)
        | Command::Attach(_)
        | Command::Status(_)
        | Command::Watch(_)
        | Command::Detach(_) => Err(deploy::lacks()),
    }
}

/// What is told, in files: `live.jsonl`, and each twin as a scenario that `tailwater run` reads.
struct RunFolder {
    folder: PathBuf,
    lines: fs::File,
}

impl RunFolder {
    fn create(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let lines = fs::File::create(folder.join("live.jsonl"))?;
        Ok(Self { folder, lines })
    }

    fn keep(&mut self, value: &Value) -> io::Result<()> {
        if let (Some(file), Some(text)) = (value["file"].as_str(), value["toml"].as_str()) {
            fs::write(self.folder.join(file), text)?;
        }
        writeln!(self.lines, "{value}")
    }
}

fn problem(problem: &Problem) {
    use miette::Diagnostic;
    let help = problem.help().map(|help| help.to_string());
    line(&json!({ "type": "problem", "message": problem.to_string(), "help": help }));
}

/// One line on standard output. A reader that has gone ends nothing: the network is removed in order.
fn line(value: &Value) {
    let mut out = io::stdout().lock();
    drop(writeln!(out, "{value}").and_then(|()| out.flush()));
}
