//! Arguments of `observe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::text_or_json::TextOrJson;
use super::value::watch;

#[derive(Args)]
pub(crate) struct ObserveArgs {
    /// The device: that of a host, or the port of a box that forwards whose queue fills [default: that of the default
    /// route]. Given several times, one process watches all of them
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: Vec<String>,
    /// The network namespace of the devices [default: that of this command]
    #[arg(long, value_name = "NAME", requires = "dev")]
    pub(crate) netns: Option<String>,
    /// For how long, as in 90s, 10m or 2h; Ctrl-C ends it earlier
    #[arg(long = "for", value_name = "TIME", value_parser = watch, default_value = "60s")]
    pub(crate) time: Duration,
    /// Write the scenario of what was seen into this file, and its flows beside it as a trace
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Simulate what was seen: whether a model of today says the same, and what cures would change. Keeps the scenario
    /// and its run with a report [default: results/observed-DEV.toml and results/observed-DEV]
    #[arg(long)]
    pub(crate) predict: bool,
    /// Keep the worst incast that was seen as a scenario in this file, without any address, and beside it the fewest of
    /// its flows that show it: without any one of these, none waits for a timer in the simulation
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) incident: Option<PathBuf>,
    /// Print every flow
    #[arg(long)]
    pub(crate) flows: bool,
    /// Exit with status 1 if a verdict is incast
    #[arg(long)]
    pub(crate) fail_on_incast: bool,
    /// Answer Prometheus at this address of the machine's own, as in 127.0.0.1:9123, meanwhile
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}
