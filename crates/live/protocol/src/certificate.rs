//! The certificate that `certify` writes.

use serde::{Deserialize, Serialize};

use crate::Settings;

/// The cause of decisions in a kernel. Another kernel, compiler or text of the law may decide otherwise, so that a certificate holds
/// for these alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecidedBy {
    /// The release of the kernel and its build, as `uname -rv` prints them.
    pub kernel: String,
    /// The SHA-256 of the kernel's description of its types, `/sys/kernel/btf/vmlinux`.
    pub btf_sha256: String,
    /// The compiler of the program, as it calls itself.
    pub compiler: String,
    /// The SHA-256 of the compiled program.
    pub program_sha256: String,
    /// The SHA-256 of the text of the law.
    pub law_sha256: String,
}

/// The decisions of a log are those of the simulator, bit by bit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version that certified.
    pub version: String,
    /// The law, as `attach` calls it.
    pub law: String,
    /// The device of the log.
    pub device: String,
    /// Its settings there.
    pub settings: Settings,
    /// The cause of its decisions.
    pub decided_by: DecidedBy,
    /// Decisions about packets. All are equal.
    pub decisions: u64,
    /// Calls of the law, those that it learns from included.
    pub calls: u64,
    /// Packets that the law would have changed.
    pub would_change: u64,
    /// Connections of these packets; of marks, whose law knows no connections, none.
    pub connections: u64,
    /// The least window that it would have written, in bytes.
    pub least_window_bytes: Option<u64>,
    /// Connections that it would have given less than two full segments at some time.
    pub below_two_segments: u64,
    /// The effect of the law on completion times in the model of what was seen at the device, where that was given.
    #[serde(default)]
    pub predicted: Option<PredictedTail>,
}

/// The 99th percentile of completion times without a law and with it, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictedTail {
    /// Flows that were simulated and pass the port the way most of its traffic does.
    pub flows: u64,
    /// Of these flows as they were seen.
    pub observed_s: f64,
    /// Of the model of today.
    pub model_s: f64,
    /// Of the model with the law.
    pub with_law_s: f64,
    /// By what factor the model errs.
    pub errs: f64,
    /// Whether the model fits what was seen; if not, nothing is predicted.
    pub fits: bool,
}

/// So many equal decisions are proof enough to act (`attach --certified`).
pub const LEAST_DECISIONS: u64 = 1_000_000;
