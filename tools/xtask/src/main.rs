//! The chores of this repository: `cargo xtask <command>`.
//!
//! It depends on no other crate of the workspace but `figures`, which stands alone and reads the files of figures, so that the
//! chores run while the others do not compile; what it needs to know of them it asks Cargo, their sources or the programs
//! built from them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "chores say what they do on standard error and print results on standard output"
)]

mod bench;
mod check;
mod cites;
mod claims;
mod clauses;
mod docs;
mod imports;
mod new_scheme;
mod package;
mod packetdrill;
mod play;
mod python;
mod repository;
mod screenshots;
mod topologies;
mod trust;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use repository::{Failure, Repository, run, status};
use trust::Trust;

/// Maintenance commands of this repository
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every check that CI runs, and stop at the first that fails
    Check {
        /// Leave out `cargo test --workspace`, if you run it next
        #[arg(long)]
        skip_tests: bool,
        /// Run only the steps that otherwise run in parallel with the main ones
        #[arg(long, hide = true)]
        beside: bool,
    },
    /// Write the skeleton of a scheme and register it
    NewScheme {
        /// The name of the scheme in scenarios and of its file
        name: String,
    },
    /// Measure the event list and the cost of a packet-hop
    Bench {
        /// Count instructions per packet-hop instead, with valgrind, and compare them with the committed
        /// counts
        #[arg(long)]
        instructions: bool,
        /// Write the new counts into the committed file
        #[arg(long, requires = "instructions")]
        bless: bool,
        /// Measure instead the time for an ACK at a port of this machine's kernel, as root
        #[arg(long, conflicts_with = "instructions")]
        live: bool,
        /// Measure instead the processor time of whole commands for each packet-hop; with --instructions, count the
        /// instructions of small ones
        #[arg(long, conflicts_with = "live")]
        commands: bool,
        /// Measure instead how much faster one simulation is on several threads of this machine
        #[arg(long, conflicts_with_all = ["instructions", "live", "commands"])]
        threads: bool,
    },
    /// Write the generated pages of docs/reference and the sample in README.md
    Docs,
    /// Run every figure of the papers and write docs/reference/claims.md
    Claims {
        /// Run only these papers or figures; the page keeps the others
        #[arg(value_name = "PAPER[/FIGURE]", conflicts_with = "from")]
        chosen: Vec<String>,
        /// Run nothing, but read the output of `tailwater reproduce --format json` from this file, or from several, of which
        /// later ones win; the page keeps figures that the files do not have
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        from: Vec<PathBuf>,
        /// Judge every claim again with random delays of links, to find claims that depend on the order of events
        #[arg(long, conflicts_with_all = ["from", "other_seeds"])]
        phase: bool,
        /// Run with seeds from this one on, or read such runs, and print the verdicts that differ from the page; the page
        /// does not change
        #[arg(long, value_name = "SEED")]
        other_seeds: Option<u64>,
    },
    /// Build the documentation as a site in target/book, and check its links
    Book {
        /// Show it in a browser
        #[arg(long)]
        open: bool,
    },
    /// Build the release files in target/package: static programs, packages, images, with checksums
    Package {
        /// Only these kinds [default: all kinds whose tools this machine has]
        #[arg(value_name = "KIND")]
        kinds: Vec<package::Kind>,
        /// For these processors [default: this machine's processor]
        #[arg(long, value_name = "PROCESSOR", value_delimiter = ',')]
        processor: Vec<package::Processor>,
        /// Cargo's profile of the programs; "release" builds faster, for trying packages
        #[arg(long, default_value = "dist")]
        profile: String,
    },
    /// Draw the reports that the guide shows, with Chromium
    Screenshots,
    /// Build the Python package in target/python-package, run its tests and check its types
    Python,
    /// Run the checks that take too long for every day: random tests with more cases
    #[command(subcommand)]
    Trust(Trust),
    /// Build the program inside the pages of `tailwater explore`, and compare its answers with the simulator's; needs Clang,
    /// Node.js, the target wasm32-wasip1 and wasm-opt
    Play {
        /// Write nothing; compare the built and the committed program in 10,000 random states of a page, and draw the panels
        /// of papers that a page draws at once; takes a quarter of an hour
        #[arg(long)]
        check: bool,
        /// Build nothing; measure in Chromium how fast the packet theatres of reports open and play, and how fast charts
        /// follow a slider
        #[arg(long, conflicts_with = "check")]
        measure: bool,
    },
    /// List which clause of which document is cited where; fails for a clause without a test or a reason
    Cites,
    /// Compare the simulator with another implementation of TCP
    #[command(subcommand)]
    Oracle(Oracle),
    /// Run the packetdrill scripts below a folder, and write docs/reference/packetdrill.md
    Packetdrill {
        /// The folder, such as gtests/net/tcp of packetdrill's repository
        folder: PathBuf,
    },
    /// Run a few flows over every graph file below a folder; count the files that can be simulated, whole or in their
    /// largest part, and the reasons why others are refused; fails below 95 %
    Topologies {
        /// The folder, such as one with .graphml files of the Topology Zoo
        folder: PathBuf,
    },
    /// Import and run the files that other simulators publish, and import each again with a mistake in it, which must be
    /// refused with its place
    Imports {
        /// The folder with the repositories, each below OWNER/NAME
        folder: PathBuf,
    },
}

/// Implementations of TCP to compare with
#[derive(Subcommand)]
enum Oracle {
    /// The Linux kernel in virtual time: builds User-mode Linux once, runs a list of scenarios on it and in the
    /// simulator, and writes docs/reference/oracle-linux.md; or asks it about one scenario of the command line
    #[command(disable_help_flag = true)]
    Linux {
        /// Options of the comparing program; --help lists them
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS"
        )]
        options: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let chore = Cli::parse().chore;
    let done = Repository::find().and_then(|repository| do_chore(&repository, chore));
    match done {
        Ok(status) => status,
        Err(Failure(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn do_chore(repository: &Repository, chore: Chore) -> Result<ExitCode, Failure> {
    let done = match chore {
        Chore::Check { beside: true, .. } => check::check_beside(repository),
        Chore::Check { skip_tests, .. } => check::check(repository, skip_tests),
        Chore::NewScheme { name } => new_scheme::new_scheme(repository, &name),
        Chore::Bench {
            instructions: true,
            commands: true,
            bless,
            ..
        } => bench::instructions_of_commands(repository, bless),
        Chore::Bench {
            instructions: true,
            bless,
            ..
        } => bench::instructions(repository, bless),
        Chore::Bench { live: true, .. } => return bench::live(repository),
        Chore::Bench { commands: true, .. } => bench::commands(repository),
        Chore::Bench { threads: true, .. } => bench::threads(repository),
        Chore::Bench { .. } => bench::bench(repository),
        Chore::Docs => docs::write(repository),
        Chore::Claims {
            chosen,
            from,
            phase,
            other_seeds,
        } => {
            let wanted = claims::Wanted {
                from: &from,
                chosen: &chosen,
                phase,
                other_seeds,
            };
            claims::write(repository, &wanted)
        }
        Chore::Book { open } => book(repository, open),
        Chore::Package {
            kinds,
            processor,
            profile,
        } => package::package(repository, &kinds, &processor, &profile),
        Chore::Play { check: true, .. } => play::check(repository),
        Chore::Play { measure: true, .. } => play::measure(repository),
        Chore::Play { .. } => play::write(repository),
        Chore::Screenshots => screenshots::draw(repository),
        Chore::Python => check::check_python(repository),
        Chore::Trust(trust) => trust.run(repository),
        Chore::Cites => cites::print(repository),
        Chore::Oracle(oracle) => return compare(repository, oracle),
        Chore::Packetdrill { folder } => packetdrill::write(repository, &folder),
        Chore::Topologies { folder } => topologies::run(repository, &folder),
        Chore::Imports { folder } => imports::run(repository, &folder),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Runs the program that builds the site: it is apart because the other chores need not wait for it.
fn book(repository: &Repository, open: bool) -> Result<(), Failure> {
    let mut command = repository.cargo(&["run", "--quiet", "--package", "book", "--"]);
    run(command.args(open.then_some("--open")))
}

/// Runs the program that compares: it simulates, and the other chores need not wait for it. Its status is the chore's.
fn compare(repository: &Repository, oracle: Oracle) -> Result<ExitCode, Failure> {
    let Oracle::Linux { options } = oracle;
    let mut command = repository.cargo(&["run", "--quiet", "--package", "oracle", "--"]);
    command.args(options);
    status(&mut command)
}
