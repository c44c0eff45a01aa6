//! Lines about an emulation as a whole, and about its networks.

use serde::{Deserialize, Serialize};

use crate::Settings;
use crate::nullable::nullable;

/// Begins an emulation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulationLine {
    /// The name of the scenario.
    pub scenario: String,
    /// How often each scheme runs on Linux.
    pub runs: u32,
    /// The version of the program.
    pub version: String,
}

/// The network that points with the same settings share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BedLine {
    /// The settings that differ between networks.
    pub set: Settings,
    /// The release of the kernel.
    pub kernel: String,
    /// The number of hosts.
    pub hosts: u32,
    /// The number of switches.
    pub switches: u32,
    /// The rate of the fastest link, in bits per second.
    pub rate_bps: u64,
    /// The rate that the scenario has there.
    pub scenario_rate_bps: u64,
    /// The size of the token buckets; null for a TUN device, which has none.
    #[serde(deserialize_with = "nullable")]
    pub burst_bytes: Option<u64>,
    /// The round-trip time of the idle network.
    pub rtt_us: f64,
    /// The settings that Linux does not follow.
    pub different: Vec<Instead>,
}

/// A setting that Linux does not follow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instead {
    /// The key.
    pub key: String,
    /// The behaviour of Linux.
    pub instead: String,
}

/// A scheme that does not run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedLine {
    /// The scheme.
    pub scheme: String,
    /// The settings of its network.
    pub set: Settings,
    /// Why it does not run.
    pub reason: String,
}

/// The packets of a run, in a file of the run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureLine {
    /// The scheme of the run.
    pub scheme: String,
    /// The settings of its network.
    pub set: Settings,
    /// The name of the file.
    pub file: String,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that the kernel dropped from the capture.
    pub lost: u64,
    /// Packets that did not fit into the file.
    pub left_out: u64,
}

/// The scenario that is simulated beside a scheme.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinLine {
    /// The scheme.
    pub scheme: String,
    /// The settings of its network.
    pub set: Settings,
    /// The name of its file in the run folder.
    pub file: String,
    /// The text of the scenario.
    pub toml: String,
    /// Files with the starts of flows that it replays, one for each run.
    pub starts: Vec<String>,
}

/// A network was made, and stays.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpLine {
    /// The name of its run, which is part of the names of its namespaces.
    pub run: String,
    /// Its namespaces.
    pub nodes: Vec<String>,
    /// The rate of the fastest link, in bits per second.
    pub rate_bps: u64,
}

/// Networks were removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownLine {
    /// Their namespaces.
    pub removed: Vec<String>,
}

/// A claim of a paper, judged by the points before it. The command writes it behind the lines of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimLine {
    /// Paper, figure and name.
    pub id: String,
    /// The paper.
    pub paper_name: String,
    /// The figure.
    pub figure: String,
    /// The title of the figure.
    pub title: String,
    /// The name of the claim in its figure.
    pub claim: String,
    /// Whether it is a number, an order or a shape.
    pub kind: String,
    /// The claim in words.
    pub says: String,
    /// The place in the paper.
    pub r#where: String,
    /// The value in the paper.
    pub paper: String,
    /// The unit of its values.
    pub unit: String,
    /// The result on Linux.
    pub linux: ClaimResult,
    /// The result in the simulator.
    pub simulated: ClaimResult,
    /// The verdict on Linux.
    pub verdict: String,
    /// The reason of the verdict.
    pub reason: String,
    /// The valid runs of the scheme that has the fewest.
    pub valid_runs: u64,
    /// Why it is a check of ours and not a claim of the paper, if it is.
    #[serde(deserialize_with = "nullable")]
    pub own: Option<String>,
    /// How the run differs in scale from the paper.
    pub scale: String,
}

/// What a claim comes to on Linux or in the simulator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimResult {
    /// The value.
    pub ours: ClaimValue,
    /// The interval of confidence of a number.
    #[serde(deserialize_with = "nullable")]
    pub interval: Option<(f64, f64)>,
    /// The verdict on this value.
    pub verdict: String,
    /// The reason of the verdict.
    pub reason: String,
    /// The value for people: a number with half its interval, or a few words.
    pub text: String,
}

/// The value of a claim.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClaimValue {
    /// A number.
    Number(f64),
    /// A few words, as for an order.
    Words(String),
}
