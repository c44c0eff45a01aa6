//! Arguments of `plan`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::scenario_args::ScenarioArgs;
use super::text_or_json::TextOrJson;
use super::value::seeds;

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// How many shards there are
    #[arg(long, value_name = "N", value_parser = seeds)]
    pub(crate) shards: NonZeroU32,
    /// Write a job for this batch system into the folder of --out, with the scenario and the files that it uses
    #[arg(long = "for", value_name = "SYSTEM", requires = "out")]
    pub(crate) system: Option<BatchSystem>,
    /// The folder of the job
    #[arg(long, value_name = "DIR", requires = "system")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the estimate
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}

/// The supported batch systems.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BatchSystem {
    /// A script with an array, for sbatch
    Slurm,
    /// An Indexed Job with its files in its manifest
    Kubernetes,
    /// A script with an array, for hq submit
    Hyperqueue,
}
