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
    /// Crates of your own, each compiled alone with all its dependencies
    Crates,
}

impl Trust {
    /// Runs the check.
    pub(crate) fn run(self, repository: &Repository) -> Result<(), Failure> {
        let ignored = |arguments: &[&str], tests: &[&str]| {
            let mut command = repository.cargo(&[&["test"], arguments].concat());
            command.args(["--", "--ignored", "--nocapture"]);
            run(command.args(tests))
        };
        let kernel = ["--features", "kernel"];
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
                &[&["-p", "tailwater-live", "--test", "deploy"], &kernel[..]].concat(),
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
            Self::Trials => ignored(
                &[&["-p", "tailwater-live", "--test", "deploy"], &kernel[..]].concat(),
                &["trials::"],
            ),
            Self::Crates => ignored(
                &["-p", "xtask", "--test", "contributing"],
                &["--exact", "crates_of_ones_own_compile_alone"],
            ),
            Self::Python => python::trust(repository),
        }
    }
}
