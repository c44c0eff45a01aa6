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
    /// Say what each shard of a sweep takes, and write a job for a batch system that runs them
    #[command(after_help = PLAN)]
    Plan(plan::PlanArgs),
    /// Put the shards of a sweep together into one run folder
    #[command(after_help = MERGE)]
    Merge(MergeArgs),
    /// Run a scenario on the TCP stacks of this machine, beside its simulation
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
    /// List what there is to choose from
    List {
        /// What to list [default: what can be listed]
        what: Option<Listed>,
    },
    /// Print a scenario as TOML, to start one of your own from
    #[command(after_help = SHOW)]
    Show(ShowArgs),
    /// Explain a scheme, a setting, a number of the results, a notion such as goals, or a figure of a paper
    #[command(after_help = EXPLAIN)]
    Explain {
        /// A scheme, a setting with its dot, a group of settings, a symbol of a paper such as K, a number of
        /// the results such as `fct_p99_us`, a notion such as goals or groups, anything that `list` names, a
        /// paper or figure, or the word results
        word: String,
    },
    /// Write a page that simulates while one moves its sliders: one file that opens offline
    #[command(after_help = EXPLORE)]
    Explore(ExploreArgs),
    /// Write the report of a run anew, or one that puts several runs side by side
    #[command(after_help = REPORT)]
    Report(ReportArgs),
    /// Draw a figure of a run for a paper: SVG, PNG or PDF
    #[command(after_help = PLOT)]
    Plot(PlotArgs),
    /// Compute what a paper's equations say, without a simulation or over one
    #[command(after_help = MODEL)]
    Model(ModelArgs),
    /// Write a crate with a scheme of your own beside all others
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
        /// The page of this command instead of the overview
        command: Option<String>,
        /// Write the pages of all commands into this folder instead
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        out: Option<PathBuf>,
    },
}

/// The commands with their arguments, as `explain` tells of them.
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
    /// Run more seeds until the 95 % interval of every row's 99th percentile of completion times (or
    /// mean queue) is within this much of its mean, as in 5%
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with_all = ["shard", "pcap"])]
    pub(crate) until: Option<f64>,
    /// Most seeds that --until runs
    #[arg(long, value_name = "N", value_parser = seeds, default_value = "100", requires = "until")]
    pub(crate) max_seeds: NonZeroU32,
    /// Simulate every row again without link.jitter under N orders of simultaneous events, and say whether the answer
    /// depends on them
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
    /// Threads that share each simulation, as in 2; the results do not depend on it. Networks of one switch and flows
    /// that wait for others take one [default: those that other simulations leave idle, if a large network ends sooner]
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
            let problem = Problem::new("--max-seeds 1 leaves no interval to make narrow");
            return Err(problem.help("allow at least 2 seeds").into());
        }
        Ok(())
    }
}

/// Limits of a run.
#[derive(Args)]
pub(crate) struct LimitArgs {
    /// Memory that simulations may take together, as in 8GB [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Steps that one simulation may take, as in 1e12: packets that cross a link, timers of switches,
    /// samples [default: 4e10, about an hour]
    #[arg(long, value_name = "STEPS", value_parser = steps)]
    pub(crate) work: Option<u64>,
    /// Room on disk that series may take together, as in 8GB [default: what is free]
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
    /// Go on where an earlier run of the same scenario ended; start if there is none
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run only the I-th of N shards, which take about the same time, for `merge` to put together; in a job of an array
    /// "auto", or "auto/N" where the batch system does not tell a job how many there are
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
    /// Papers or figures by name, as in rcc or rcc/fig5a, or folders or files of one's own
    /// [default: every paper]
    #[arg(value_name = "PAPER[/FIGURE]")]
    pub(crate) what: Vec<String>,
    /// Run at the paper's own scale where the default is smaller
    #[arg(long)]
    pub(crate) full: bool,
    /// The first seed: with another than the figure's, verdicts show how far they hang on chance [default: what each
    /// figure says]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many seeds to run [default: what each figure says]
    #[arg(long, value_name = "N", value_parser = seeds)]
    pub(crate) seeds: Option<NonZeroU32>,
    /// Which causes of differences to try
    #[arg(long, value_name = "WHICH", default_value = "missed", value_parser = causes())]
    pub(crate) causes: Causes,
    /// Judge every claim with links that are late at random by up to 100 ns and 1 us, too, and list the verdicts that
    /// change: they hang on the order of events at equal times
    #[arg(long)]
    pub(crate) phase: bool,
    /// Run figures on the TCP stacks of this machine, scaled to what it holds, and judge their orders and ratios there
    #[arg(long, conflicts_with_all = ["full", "seed", "seeds", "causes", "phase", "jobs"])]
    pub(crate) live: bool,
    /// With --live: how often each scheme runs [default: what each figure says]
    #[arg(long, value_name = "N", value_parser = seeds, requires = "live")]
    pub(crate) runs: Option<NonZeroU32>,
    /// With --live: rate of the fastest link: "auto" is what this machine holds, or a rate, as in 100Mbps [default: what
    /// each figure says, or auto]
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
    /// The name of the scheme, and of the folder that is written
    pub(crate) name: String,
    /// The folder to write instead
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The clone of Tailwater that the crate is built with [default: the one that built this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) tailwater: Option<PathBuf>,
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
pub(crate) struct ModelArgs {
    /// The model: rcc, rc3, hscc or rwndq [default: list them]
    pub(crate) name: Option<String>,
    /// Set a setting of the model; its name may be left out before the dot, as in target=0.3
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
    /// Draw into this file, whose name ends in .svg, .png or .pdf, or in .html for a page of everything
    #[arg(
        long,
        short,
        value_name = "FILE",
        requires = "name",
        conflicts_with = "format"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Which figure to draw, or to print the points of with --format csv [default: the first]
    #[arg(long, value_name = "NAME", requires = "name")]
    pub(crate) figure: Option<String>,
    /// Run what the model is about and show both (rwndq)
    #[arg(long, requires = "name")]
    pub(crate) simulate: bool,
    /// Width on paper, in cm, mm or in [default: 8.5cm, a column of a paper with two]
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
    /// Papers with their experiments, and the state of each figure, table, equation and algorithm
    Papers,
    /// Equations of papers that claims and plots can name
    Models,
    /// Settings of scenarios with their defaults
    Keys,
    /// Shapes of the network
    Topologies,
    /// Who sends what to whom
    Workloads,
}
