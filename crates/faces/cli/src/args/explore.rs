//! The arguments of `tailwater explore`.

use std::path::PathBuf;

use clap::Args;

use super::value::seed;

/// The first state of a page, and its file.
#[derive(Args)]
pub(crate) struct ExploreArgs {
    /// A built-in scenario by name, a figure of a paper as in rcc/fig5a, the path of a .toml file, or - for standard
    /// input
    #[arg(default_value = "incast")]
    pub(crate) scenario: String,
    /// Schemes and variants to begin with instead of the scenario's own
    #[arg(long, value_name = "A,B,...")]
    pub(crate) scheme: Vec<String>,
    /// Begin with this value of a setting
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) sets: Vec<String>,
    /// The seed to begin with [default: the scenario's, or 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Where to write
    #[arg(long, short, value_name = "FILE", default_value = "explore.html")]
    pub(crate) output: PathBuf,
}
