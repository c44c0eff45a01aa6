//! Arguments of the commands that load a law at a port.

use clap::Args;

use super::value::size;

/// The network namespace of the port, and the settings of its law.
#[derive(Args)]
pub(crate) struct LawArgs {
    /// The network namespace of the device [default: that of this command]
    #[arg(long, value_name = "NAME")]
    pub(crate) netns: Option<String>,
    /// Set a key of the scheme, as in a scenario
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) sets: Vec<String>,
    /// Capacity of the queue, as in 256KB [default: the limit that the kernel reports for the queue]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) buffer: Option<u64>,
}
