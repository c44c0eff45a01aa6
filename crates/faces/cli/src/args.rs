//! The command line, declared once: help, completions and the man page come from here.

pub(crate) mod deploy;
pub(crate) mod emulate;
mod examples;
mod explore;
mod folder;
pub(crate) mod goals;
pub(crate) mod law;
pub(crate) mod observe;
mod pcap;
pub(crate) mod plan;
pub(crate) mod report;
mod scenario_args;
pub(crate) mod text_or_json;
pub(crate) mod trial;
mod value;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use api::{Allowance, Causes, Shard};
use clap::{Args, Parser, Subcommand, ValueEnum};
use scenario::{Problem, Problems};

pub(crate) use explore::ExploreArgs;
pub(crate) use folder::{ExportArgs, ImportArgs, PlotArgs};

pub(crate) use examples::START;
use examples::{
    COMPLETIONS, EMULATE, EXPLAIN, EXPLORE, EXPORT, IMPORT, MERGE, MODEL, NEW_SCHEME, PLAN, PLOT,
    REPORT, REPRODUCE, RUN, SHOW,
};
pub(crate) use goals::{GoalArgs, ViewArgs};
use pcap::PcapArgs;
pub(crate) use report::ReportArgs;
pub(crate) use scenario_args::ScenarioArgs;
use value::{causes, jobs, length, orders, percent, seeds, shard, size, steps};

/// Simulates, explains and compares the cures for TCP incast
#[derive(Parser)]
#[command(version, after_help = START, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Simulate a scenario under every scheme it names and compare them
    #[command(after_help = RUN)]
    Run(RunArgs),
    /// Run the figures of papers and judge their claims
    #[command(after_help = REPRODUCE)]
    Reproduce(ReproduceArgs),
    /// Estimate time and memory of each shard of a sweep, and write a batch job that runs the shards
    #[command(after_help = PLAN)]
    Plan(plan::PlanArgs),
    /// Merge the shards of a sweep into one run folder
    #[command(after_help = MERGE)]
    Merge(MergeArgs),
    /// Run a scenario on this machine's TCP stack and compare it with the simulation
    #[command(after_help = EMULATE)]
    Emulate(emulate::EmulateArgs),
    #[command(flatten)]
    Deploy(deploy::DeployCommand),
    /// Print a table of a run folder as comma-separated values
    #[command(after_help = EXPORT)]
    Export(ExportArgs),
    /// Make a trace of flows from flow records, a capture, or the flow file of another simulator
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
    /// List schemes, scenarios, papers, settings and other choices
    List {
        /// What to list [default: the names of all lists]
        what: Option<Listed>,
    },
    /// Print a scenario as TOML, to start one of your own from
    #[command(after_help = SHOW)]
    Show(ShowArgs),
    /// Explain a scheme, a setting, a metric, a notion such as goals, or a figure of a paper
    #[command(after_help = EXPLAIN)]
    Explain {
        /// A scheme, a setting such as switch.buffer, a group of settings, a symbol of a paper such as K, a metric such as
        /// `fct_p99_us`, a notion such as goals or groups, any name that `list` prints, a paper or figure, or the word
        /// results
        word: String,
    },
    /// Write an HTML page with sliders that simulates in the browser: one file that opens offline
    #[command(after_help = EXPLORE)]
    Explore(ExploreArgs),
    /// Write the report of a run again, or a report that compares several runs
    #[command(after_help = REPORT)]
    Report(ReportArgs),
    /// Draw a figure of a run for a paper: SVG, PNG or PDF
    #[command(after_help = PLOT)]
    Plot(PlotArgs),
    /// Evaluate a paper's equations, alone or on top of a simulation
    #[command(after_help = MODEL)]
    Model(ModelArgs),
    /// Write a crate that adds a scheme of your own to the built-in ones
    #[command(after_help = NEW_SCHEME)]
    NewScheme(NewSchemeArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: Option<clap_complete::Shell>,
    },
    /// Print the man page
    Man {
        /// Print the page of this command instead of the overview
        command: Option<String>,
        /// Write the pages of all commands into this folder
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        out: Option<PathBuf>,
    },
}

/// The commands with their arguments, for `explain`.
pub(crate) fn commands() -> Vec<explain::Command> {
    let program = <Cli as clap::CommandFactory>::command();
    let commands = program.get_subcommands().map(|command| {
        let flags = command.get_arguments().filter_map(|flag| {
            let (name, help) = (flag.get_long()?, flag.get_help()?);
            Some((name.to_owned(), help.to_string()))
        });
        explain::Command {
            name: command.get_name().to_owned(),
            about: command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
            flags: flags.collect(),
        }
    });
    commands.collect()
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The command as it was given, the program first.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) pcap: PcapArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// Add seeds until every row is precise: the 95 % confidence interval of its 99th percentile of completion times (or of
    /// its mean queue) is within this share of the mean, as in 5%
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with_all = ["shard", "pcap"])]
    pub(crate) until: Option<f64>,
    /// The most seeds that --until runs
    #[arg(long, value_name = "N", value_parser = seeds, default_value = "100", requires = "until")]
    pub(crate) max_seeds: NonZeroU32,
    /// Simulate every row again, without link.jitter, under N different orders of simultaneous events, and say whether the
    /// answer depends on the order
    #[arg(long, value_name = "N", value_parser = orders, conflicts_with_all = ["shard", "search"])]
    pub(crate) ties: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Add a record of every flow to the JSON
    #[arg(long)]
    pub(crate) flows: bool,
    /// Threads to run on; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Threads that share one simulation, as in 2; the results do not depend on it. Networks with one switch, and flows that
    /// wait for other flows, use one thread [default: the threads that other simulations leave idle, if that makes a large
    /// network faster]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Print no progress and no hints
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl RunArgs {
    /// Checks combinations of arguments, which the parser cannot.
    pub(crate) fn check(&self) -> Result<(), Problems> {
        if self.flows && self.format != Format::Json {
            let problem = Problem::new("--flows needs the JSON format");
            return Err(problem.help("add --format json").into());
        }
        if self.until.is_some() && self.max_seeds.get() < 2 {
            let problem =
                Problem::new("--max-seeds 1 gives no confidence interval, so --until cannot end");
            return Err(problem.help("allow at least 2 seeds").into());
        }
        Ok(())
    }
}

/// Limits of a run.
#[derive(Args)]
pub(crate) struct LimitArgs {
    /// Memory that all simulations together may use, as in 8GB [default: the free memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Steps that one simulation may take, as in 1e12. A step is a packet that crosses a link, a timer of a switch, or a
    /// sample [default: 4e10, about an hour]
    #[arg(long, value_name = "STEPS", value_parser = steps)]
    pub(crate) work: Option<u64>,
    /// Disk space that all recorded series together may use, as in 8GB [default: the free space]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) disk: Option<u64>,
}

impl LimitArgs {
    /// The limits, the number of threads, and how many of them share each simulation.
    pub(crate) fn allowance(
        &self,
        jobs: Option<NonZeroUsize>,
        threads: Option<NonZeroUsize>,
    ) -> Allowance {
        Allowance {
            memory: self.memory,
            work: self.work,
            disk: self.disk,
            jobs,
            threads,
        }
    }
}

/// Where results go.
#[derive(Args)]
pub(crate) struct KeepArgs {
    /// The run folder [default: results/SCENARIO, with a number if that exists]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the answer and keep no files
    #[arg(long, conflicts_with_all = ["out", "resume", "shard", "pcap"])]
    pub(crate) no_save: bool,
    /// Continue an earlier run of the same scenario; start one if there is none
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run only the I-th of N shards of about equal duration; `merge` joins them. In an array job: "auto", or "auto/N" if
    /// the batch system does not tell a job the number of jobs
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "out")]
    pub(crate) shard: Option<Shard>,
}

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct ReproduceArgs {
    /// The command as it was given, the program first.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    /// Papers or figures by name, as in rcc or rcc/fig5a, or folders or files of your own [default: every paper]
    #[arg(value_name = "PAPER[/FIGURE]")]
    pub(crate) what: Vec<String>,
    /// Run at the paper's own scale where the default is smaller
    #[arg(long)]
    pub(crate) full: bool,
    /// The first seed. A seed other than the figure's own shows how much the verdicts depend on chance [default: the
    /// figure's seed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many seeds to run [default: the number that each figure sets]
    #[arg(long, value_name = "N", value_parser = seeds)]
    pub(crate) seeds: Option<NonZeroU32>,
    /// For which claims to search the cause of a difference from the paper
    #[arg(long, value_name = "WHICH", default_value = "missed", value_parser = causes())]
    pub(crate) causes: Causes,
    /// Judge every claim again with random delays of up to 100 ns and 1 us on every link, and list the verdicts that change:
    /// these depend on the order of simultaneous events
    #[arg(long)]
    pub(crate) phase: bool,
    /// Run the figures on this machine's TCP stack, at a rate that the machine sustains, and judge the claims about orders
    /// and ratios
    #[arg(long, conflicts_with_all = ["full", "seed", "seeds", "causes", "phase", "jobs"])]
    pub(crate) live: bool,
    /// With --live: how often each scheme runs [default: the number that each figure sets]
    #[arg(long, value_name = "N", value_parser = seeds, requires = "live")]
    pub(crate) runs: Option<NonZeroU32>,
    /// With --live: rate of the fastest link: "auto" for the highest rate that this machine sustains, or a rate, as in
    /// 100Mbps [default: the rate that each figure sets, or auto]
    #[arg(long, value_name = "RATE", value_parser = emulate::rate, requires = "live")]
    pub(crate) rate: Option<String>,
    /// Fail if a claim is not reproduced, even in part
    #[arg(long)]
    pub(crate) strict: bool,
    /// The folder of all results [default: results/reproduce, with --live results/reproduce-live]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no reports
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Threads to run on; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// How to print the claims
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    /// Print no progress and no hints
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct MergeArgs {
    /// The command as it was given, the program first.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    /// Folders that `run --shard` filled
    #[arg(required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// The run folder [default: the first of the folders]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Print no hints
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct NewSchemeArgs {
    /// The name of the scheme and of its new folder
    pub(crate) name: String,
    /// Write into this folder instead
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The clone of Tailwater that the new crate depends on [default: the clone that built this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) tailwater: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Print every setting, also those at their default
    #[arg(long)]
    pub(crate) resolved: bool,
}

#[derive(Args)]
pub(crate) struct ModelArgs {
    /// The model: rcc, rc3, hscc or rwndq [default: list them]
    pub(crate) name: Option<String>,
    /// Change a setting of the model, as in target=0.3 or rwndq.target=0.3
    #[arg(
        long = "set",
        value_name = "KEY=VALUE",
        allow_hyphen_values = true,
        requires = "name"
    )]
    pub(crate) sets: Vec<String>,
    /// List the settings and figures of the model instead of computing it
    #[arg(long, requires = "name", conflicts_with_all = ["output", "figure", "simulate", "format"])]
    pub(crate) list: bool,
    /// Draw into this file. Its name ends in .svg, .png or .pdf, or in .html for a page with all figures
    #[arg(
        long,
        short,
        value_name = "FILE",
        requires = "name",
        conflicts_with = "format"
    )]
    pub(crate) output: Option<PathBuf>,
    /// The figure to draw; with --format csv, the figure whose points are printed [default: the first]
    #[arg(long, value_name = "NAME", requires = "name")]
    pub(crate) figure: Option<String>,
    /// Simulate the situation that the model describes and show both (only rwndq)
    #[arg(long, requires = "name")]
    pub(crate) simulate: bool,
    /// Width on paper, in cm, mm or in [default: 8.5cm, a column of a two-column paper]
    #[arg(long, value_parser = length, requires = "output")]
    pub(crate) width: Option<Length>,
    /// Height on paper [default: 6cm]
    #[arg(long, value_parser = length, requires = "output")]
    pub(crate) height: Option<Length>,
    /// How to print the numbers
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
}

impl ModelArgs {
    /// Checks combinations of arguments, which the parser cannot.
    pub(crate) fn check(&self) -> Result<(), Problems> {
        if self.figure.is_some() && self.output.is_none() && self.format != Format::Csv {
            let problem = Problem::new("--figure needs a file to draw into");
            return Err(problem
                .help("add -o FILE, or --format csv for its points")
                .into());
        }
        Ok(())
    }
}

/// A length on paper in centimetres.
#[derive(Clone, Copy)]
pub(crate) struct Length(pub(crate) f64);

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text for people
    Table,
    /// One object with an array of points, or of claims
    Json,
    /// One line for each point and seed, or for each claim
    Csv,
}

/// The lists that `list` prints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Congestion-control schemes
    Schemes,
    /// Built-in scenarios
    Scenarios,
    /// Papers with their experiments and the status of each figure, table, equation and algorithm
    Papers,
    /// Equations of papers that claims and plots can use
    Models,
    /// Settings of scenarios with their defaults
    Keys,
    /// Shapes of the network
    Topologies,
    /// Who sends what to whom
    Workloads,
}
