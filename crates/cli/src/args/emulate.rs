//! Arguments of `tailwater emulate`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use base::{Quantity, Rate};
use clap::{Args, Subcommand};

use super::Format;
use super::value::{seed, seeds};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct EmulateArgs {
    /// The command as it was given, the program first.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    #[command(subcommand)]
    pub(crate) command: Option<EmulateCommand>,
    #[command(flatten)]
    pub(crate) network: Option<NetworkArgs>,
    /// How often each scheme runs; the schemes take turns
    #[arg(long, value_name = "N", value_parser = seeds, default_value = "5")]
    pub(crate) runs: NonZeroU32,
    /// Leave out the simulation
    #[arg(long)]
    pub(crate) no_sim: bool,
    /// Keep the packets in front of the bottleneck and behind it, in the first run of each scheme
    #[arg(long)]
    pub(crate) pcap: bool,
    /// The run folder [default: results/SCENARIO-live, with a number if that exists]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The scenario and its network.
#[derive(Args)]
pub(crate) struct NetworkArgs {
    /// A built-in scenario by name, or the path of a .toml file
    pub(crate) scenario: String,
    /// Schemes to compare instead of the scenario's own
    #[arg(long, value_name = "A,B,...")]
    pub(crate) scheme: Vec<String>,
    /// Set a key; several values make a sweep
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) sets: Vec<String>,
    /// The first seed [default: the scenario's, or 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Rate of the fastest link: "auto" is what this machine holds, at most the scenario's; "asis" the
    /// scenario's or nothing; or a rate, as in 100Mbps
    #[arg(long, value_name = "RATE", default_value = "auto", value_parser = rate)]
    pub(crate) rate: String,
    /// Set something of every host's kernel besides, as in `net.ipv4.tcp_recovery=0`; the simulation does
    /// not follow
    #[arg(long = "sysctl", value_name = "KEY=VALUE")]
    pub(crate) sysctls: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum EmulateCommand {
    /// Make the network of a scenario and leave it, for programs of your own
    Up(NetworkArgs),
    /// Remove networks that were left, by `up` or by a crash
    Down,
    /// Run a command in a host of a network that was left
    Exec {
        /// The host, as in h3, or switch, as in s0
        node: String,
        /// The command and its arguments
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

/// A text that the other program reads again.
fn rate(text: &str) -> Result<String, String> {
    let is_word = ["auto", "asis"].contains(&text);
    let wrong = |_| "expected auto, asis or a rate, as in 100Mbps".to_owned();
    if !is_word {
        Rate::parse(text).map_err(wrong)?;
    }
    Ok(text.to_owned())
}
