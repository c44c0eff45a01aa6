//! Arguments of `observe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::text_or_json::TextOrJson;
use super::value::watch;

#[derive(Args)]
pub(crate) struct ObserveArgs {
    /// The device of a host, or the port of a forwarding box whose queue fills [default: the device of the default route].
    /// If given several times, one process watches all devices
    #[arg(long, value_name = "DEV")]
    pub(crate) dev: Vec<String>,
    /// The network namespace of the devices [default: that of this command]
    #[arg(long, value_name = "NAME", requires = "dev")]
    pub(crate) netns: Option<String>,
    /// How long to watch, as in 90s, 10m or 2h; Ctrl-C ends it earlier
    #[arg(long = "for", value_name = "TIME", value_parser = watch, default_value = "60s")]
    pub(crate) time: Duration,
    /// Write the observed traffic as a scenario into this file, and its flows as a trace next to it
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Simulate the observed traffic: compare a model of today's network with the observation, and predict the effect of
    /// each cure. Keeps the scenario and its run with a report [default: results/observed-DEV.toml and results/observed-DEV]
    #[arg(long)]
    pub(crate) predict: bool,
    /// Write the worst observed incast, without addresses, as a scenario into this file. Next to it, write a minimal
    /// scenario: without any one of its flows, no flow waits for a timer in the simulation
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) incident: Option<PathBuf>,
    /// Print every flow
    #[arg(long)]
    pub(crate) flows: bool,
    /// Exit with status 1 if a verdict is incast
    #[arg(long)]
    pub(crate) fail_on_incast: bool,
    /// Meanwhile serve metrics for Prometheus at this local address, as in 127.0.0.1:9123
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TextOrJson,
}
