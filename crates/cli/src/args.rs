//! The command line, declared once: help, completions and the man page come from here.

use std::num::{NonZeroU32, NonZeroUsize};

use base::{Count, Quantity};
use clap::{Args, Parser, Subcommand, ValueEnum};
use lab::pcap::Places;
use lab::scenario::{Overrides, Problems, Scenario};

/// Simulates, explains and compares the cures for TCP incast
#[derive(Parser)]
#[command(version, after_help = START, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Simulate a scenario under every scheme it names and compare them
    #[command(after_help = RUN)]
    Run(RunArgs),
    /// List what there is to choose from
    List {
        /// What to list
        what: Listed,
    },
    /// Print a scenario as TOML, to start one of your own from
    #[command(after_help = SHOW)]
    Show(ShowArgs),
    /// Explain a scheme, a setting, a group of settings, or the columns of results
    #[command(after_help = EXPLAIN)]
    Explain {
        /// A scheme, a setting with its dot, a group of settings, or the word results
        word: String,
    },
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man {
        /// The page of this command instead of the overview
        command: Option<String>,
    },
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) pcap: PcapArgs,
    /// Add a record of every flow to the JSON
    #[arg(long)]
    pub(crate) flows: bool,
    /// Threads to run on; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    /// Print no progress and no hints
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct PcapArgs {
    /// Capture packets for Wireshark at bottleneck, host:N or port:N, or several of them
    #[arg(
        long,
        value_name = "PLACES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "bottleneck"
    )]
    pcap: Option<String>,
    /// Keep at most so many bytes of each captured packet
    #[arg(long, value_name = "BYTES", requires = "pcap")]
    pcap_snap: Option<NonZeroUsize>,
}

impl PcapArgs {
    /// Where to capture in the points of `scenario`, if anywhere.
    #[expect(dead_code, reason = "a run without a folder has no place for captures")]
    pub(crate) fn places(&self, scenario: &Scenario) -> Result<Option<Places>, Problems> {
        let Some(text) = &self.pcap else {
            return Ok(None);
        };
        let places = Places::parse(text)?;
        places.check(scenario)?;
        Ok(Some(match self.pcap_snap {
            Some(bytes) => places.with_snap(bytes.get()),
            None => places,
        }))
    }
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Write out every setting, those left at their defaults too
    #[arg(long)]
    pub(crate) resolved: bool,
}

#[derive(Args)]
pub(crate) struct ScenarioArgs {
    /// A built-in scenario by name, or the path of a .toml file
    pub(crate) scenario: String,
    /// Schemes and variants to compare instead of the scenario's own
    #[arg(long, value_name = "A,B,...")]
    scheme: Vec<String>,
    /// Set a key; several values (10,20,50 or 10..100:10) make a sweep
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    sets: Vec<String>,
    /// The first seed [default: the scenario's, or 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,
    /// How many seeds to run every combination with [default: the scenario's, or 1]
    #[arg(long, value_name = "N", value_parser = seeds)]
    seeds: Option<NonZeroU32>,
    /// Record these quantities over time, as in queue,cwnd, or "off"; see `explain results`
    #[arg(long, value_name = "LIST")]
    trace: Option<String>,
}

impl ScenarioArgs {
    /// What these arguments say over the scenario's head.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            schemes: (!self.scheme.is_empty()).then(|| self.scheme.join(",")),
            sets: self.sets.clone(),
            seed: self.seed,
            seeds: self.seeds,
            trace: self.trace.clone(),
        }
    }

    /// Whether anything but the scenario itself is given.
    pub(crate) fn change_something(&self) -> bool {
        let Self {
            scenario: _,
            scheme,
            sets,
            seed,
            seeds,
            trace,
        } = self;
        !scheme.is_empty()
            || !sets.is_empty()
            || seed.is_some()
            || seeds.is_some()
            || trace.is_some()
    }
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text for people
    Table,
    /// One object with an array of points
    Json,
    /// One line for each point and seed
    Csv,
}

/// What `list` lists.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Congestion-control schemes
    Schemes,
    /// Built-in scenarios
    Scenarios,
    /// Settings of scenarios with their defaults
    Keys,
    /// Shapes of the network
    Topologies,
    /// Who sends what to whom
    Workloads,
}

fn seed(text: &str) -> Result<u64, String> {
    u64::parse(text).map_err(|error| error.to_string())
}

fn seeds(text: &str) -> Result<NonZeroU32, String> {
    let count = Count::parse(text).map_err(|error| error.to_string())?;
    NonZeroU32::new(count.0).ok_or_else(Count::expected)
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text
        .parse::<NonZeroUsize>()
        .ok()
        .filter(|jobs| jobs.get() <= MAX_JOBS);
    number.ok_or_else(|| format!("expected a number of threads from 1 to {MAX_JOBS}"))
}

/// More threads than any machine has cores.
const MAX_JOBS: usize = 4096;

const START: &str = "\
Examples:
  tailwater run incast                            who wins when N senders answer at once
  tailwater run incast --set workload.senders=10..100:10
  tailwater list schemes                          what can be compared
  tailwater explain dctcp                         one scheme and its settings
  tailwater show incast > my.toml                 a scenario of your own to start from";

const RUN: &str = "\
Examples:
  tailwater run incast
  tailwater run incast --scheme newreno,rcc --set workload.senders=10..100:10
  tailwater run my.toml --set switch.buffer=128KB,256KB --set workload.jitter=100us --seeds 10
  tailwater run incast --format json --flows > results.json

Exit status: 0 done, 1 a simulation failed, 2 the input was wrong.";

const SHOW: &str = "\
Examples:
  tailwater show incast > my.toml
  tailwater show incast --resolved
  tailwater show incast --resolved --set workload.size=64KiB";

const EXPLAIN: &str = "\
Examples:
  tailwater explain rcc
  tailwater explain switch.ecn_threshold
  tailwater explain tcp
  tailwater explain results";

const COMPLETIONS: &str = "\
Example:
  tailwater completions bash > ~/.local/share/bash-completion/completions/tailwater";
