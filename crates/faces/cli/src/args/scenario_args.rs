//! Arguments that choose a scenario and change its settings.

use std::num::NonZeroU32;

use clap::Args;
use scenario::Overrides;

use super::value::{seed, seeds};

#[derive(Args)]
pub(crate) struct ScenarioArgs {
    /// A built-in scenario by name, a figure of a paper as in rcc/fig5a, the path of a .toml file, or - for
    /// standard input
    pub(crate) scenario: String,
    /// Schemes and variants to compare instead of the scenario's own
    #[arg(long, value_name = "A,B,...")]
    scheme: Vec<String>,
    /// Set a key of the scenario; several values (10,20,50 or 10..100:10) make a sweep
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    sets: Vec<String>,
    /// The first seed [default: the scenario's, or 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,
    /// How many seeds every combination runs with [default: the scenario's; without one, 10 if anything is random and
    /// neither --trace nor --pcap is given, else 1]
    #[arg(long, value_name = "N", value_parser = seeds)]
    seeds: Option<NonZeroU32>,
    /// Also record these quantities over time, as in alpha,cwnd, or record nothing ("off"); see `explain results`.
    /// "perfetto" writes a trace for the Perfetto viewer into the folder perfetto
    #[arg(long, value_name = "LIST")]
    trace: Option<String>,
}

impl ScenarioArgs {
    /// The settings of these arguments, which override the scenario's.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            schemes: (!self.scheme.is_empty()).then(|| self.scheme.join(",")),
            sets: self.sets.clone(),
            seed: self.seed,
            seeds: self.seeds,
            trace: self.trace.clone(),
            ..Overrides::default()
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
