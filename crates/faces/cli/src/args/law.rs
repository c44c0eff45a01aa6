//! Arguments of the commands that let a law act at a port.

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
    /// Room of the queue, as in 256KB [default: what the queue says]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) buffer: Option<u64>,
}
