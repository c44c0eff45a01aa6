//! Parses, calls the library, prints lines.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use live::emulate::{Failure, Order, emulate, up};
use live::{RateChoice, down, exec, interrupt, lacks};
use scenario::{Overrides, Problem, Problems, Scenario};
use serde_json::{Value, json};

/// Runs scenarios on real TCP stacks, for `tailwater emulate`
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
}

#[derive(Args)]
struct Emulate {
    #[command(flatten)]
    network: Network,
    #[arg(long, default_value = "5")]
    runs: NonZeroU32,
    #[arg(long)]
    no_sim: bool,
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
            trace: None,
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
    if let Some(what) = lacks() {
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
                runs: args.runs,
                simulate: !args.no_sim,
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
            let made = up(&args.load(NonZeroU32::MIN)?, args.rate)?;
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
    }
}

/// What is told, in files: `live.jsonl`, and each twin as a scenario that `tailwater run` reads.
struct RunFolder {
    folder: PathBuf,
    lines: fs::File,
    twins: usize,
}

impl RunFolder {
    fn create(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let lines = fs::File::create(folder.join("live.jsonl"))?;
        Ok(Self {
            folder,
            lines,
            twins: 0,
        })
    }

    fn keep(&mut self, value: &Value) -> io::Result<()> {
        if let (Some("twin"), Some(text)) = (value["type"].as_str(), value["toml"].as_str()) {
            self.twins += 1;
            let scheme = value["scheme"].as_str().unwrap_or_default();
            let name = format!("twin-{}-{scheme}.toml", self.twins);
            fs::write(self.folder.join(name), text)?;
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
