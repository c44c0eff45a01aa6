//! `cargo xtask trust`: checks that take too long for every day. Most of them are ignored tests.

use clap::Subcommand;

use crate::python;
use crate::repository::{Failure, Repository, run};

/// Which check.
#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Trust {
    /// The Python package: random scenarios, killed workers, Ctrl-C at random moments, rates
    Python,
    /// 200 rounds of an incast on this machine's kernel with grants at the receiver, as root
    Grants,
    /// 1,000 transfers between our TCP and this machine's kernel with losses and reordering, and how RC3 reads
    /// the kernel's ACKs, as root
    Tun,
    /// Check over 200 seeds that no scheme's results depend on the start time or on the unit of time
    Relations,
    /// Check that no result depends on the threads: 1,000 random networks, the built-in scenarios, 100 runs under load
    Threads,
    /// Observers of four devices on one path, killed ten times: for two minutes, or for `TAILWATER_OBSERVE_S` seconds, as root
    Observe,
    /// A sweep of 1,000 points in jobs of several batch systems: equal bytes, and shards of equal duration
    Shards,
    /// 200 trials of a law without effect and 100 killed trials, on this machine's kernel, as root: about forty minutes;
    /// `TAILWATER_TRIALS` and `TAILWATER_KILLS` set other numbers
    Trials,
    /// 50 trials in networks that are drawn, and how often their predictions hold, on this machine's kernel, as root: about
    /// half an hour; `TAILWATER_TRIALS` sets another number, `TAILWATER_SEED` the first seed, and `TAILWATER_KEEP` a folder
    /// for all trials
    Calibration,
    /// Compare laws in this machine's kernel and in the simulator on equal arguments, bit by bit, as root; then log laws in
    /// the shadow of live traffic, and certify the logs
    Decisions {
        /// How many calls of each law with drawn arguments
        #[arg(long, value_name = "N", default_value_t = 10_000_000)]
        count: u64,
        /// How many decisions of each law in the shadow of live traffic
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        live: u64,
    },
    /// Emulate incidents, record, simulate and shrink them, as root: a quarter of an hour for thirty
    Incidents {
        /// How many incidents
        #[arg(long, value_name = "N", default_value_t = 30)]
        count: u32,
    },
    /// Crates of your own, each compiled alone with all its dependencies
    Crates,
}

impl Trust {
    /// Runs the check.
    pub(crate) fn run(self, repository: &Repository) -> Result<(), Failure> {
        let test = |arguments: &[&str]| {
            let mut command = repository.cargo(&[&["test"], arguments].concat());
            command.args(["--", "--ignored", "--nocapture"]);
            command
        };
        let ignored = |arguments: &[&str], tests: &[&str]| run(test(arguments).args(tests));
        let kernel = ["--features", "kernel"];
        let deploy = [&["-p", "tailwater-live", "--test", "deploy"], &kernel[..]].concat();
        match self {
            Self::Grants => ignored(
                &[&["-p", "programs", "--test", "programs"], &kernel[..]].concat(),
                &["--exact", "grants::two_hundred_rounds_are_near_the_ideal"],
            ),
            Self::Tun => {
                let mut decoder = repository.cargo(&["test", "-p", "wire", "--test", "bytes"]);
                run(decoder.env("WIRE_CASES", "35000000"))?;
                ignored(&["-p", "tun", "--test", "tun"], &[])
            }
            Self::Relations => ignored(
                &["-p", "battery", "--test", "schemes"],
                &[
                    "--exact",
                    "over_200_seeds_no_scheme_depends_on_the_origin_or_the_unit_of_time",
                ],
            ),
            // One after the other, because one of them uses all cores.
            Self::Threads => ignored(
                &["--release", "-p", "sim", "--lib"],
                &["divided::", "--test-threads=1"],
            ),
            Self::Observe => ignored(
                &deploy,
                &[
                    "--exact",
                    "devices::observers_of_four_devices_killed_ten_times_stay_small_and_see_every_flow",
                ],
            ),
            Self::Shards => ignored(
                &["--release", "-p", "tailwater", "--test", "folders"],
                &[
                    "--exact",
                    "arrays::a_thousand_points_by_every_system_have_equal_bytes_and_shards_take_equal_time",
                ],
            ),
            Self::Trials => ignored(&deploy, &["trials::"]),
            Self::Calibration => {
                run(repository.cargo(&["build"]).args(BOTH_PROGRAMS))?;
                let deploy = [&BOTH_PROGRAMS[..], &["--test", "deploy"]].concat();
                ignored(&deploy, &["calibration::"])
            }
            Self::Decisions { count, live } => {
                let laws = [&["-p", "programs", "--test", "programs"], &kernel[..]].concat();
                let mut drawn = test(&laws);
                drawn.env("TAILWATER_DECISIONS", count.to_string());
                let name =
                    "laws_agree::laws_agree_with_the_kernel_bit_by_bit_over_ten_million_vectors";
                run(drawn.args(["--exact", name]))?;
                let mut logged = test(&deploy);
                logged.env("TAILWATER_DECISIONS", live.to_string());
                let name =
                    "certificates::millions_of_decisions_in_the_shadow_are_those_of_the_simulator";
                run(logged.args(["--exact", name]))
            }
            Self::Incidents { count } => {
                run(&mut repository.cargo(&["build", "-p", "tailwater"]))?;
                let mut incidents = test(&deploy);
                incidents.env("TAILWATER_INCIDENTS", count.to_string());
                let name = "incidents::of_thirty_incidents_25_fit_and_are_shrunk_and_no_file_has_an_address";
                run(incidents.args(["--exact", name]))
            }
            Self::Crates => ignored(
                &["-p", "xtask", "--test", "contributing"],
                &["--exact", "crates_of_ones_own_compile_alone"],
            ),
            Self::Python => python::trust(repository),
        }
    }
}

/// The command and the program that it calls, built together so that they share their crates.
const BOTH_PROGRAMS: [&str; 7] = [
    "--release",
    "-p",
    "tailwater",
    "-p",
    "tailwater-live",
    "--features",
    "tailwater-live/kernel",
];
