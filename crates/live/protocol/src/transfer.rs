//! Lines about files that our TCP serves to the kernel's.

use serde::{Deserialize, Serialize};

use crate::nullable::nullable;

/// Files are served.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServingLine {
    /// The namespace from which they can be fetched.
    pub node: String,
    /// The address of each scheme.
    pub places: Vec<ServedAt>,
}

/// The address at which a scheme serves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServedAt {
    /// The scheme of the sender.
    pub scheme: String,
    /// Address and port.
    pub address: String,
}

/// A connection of a server has ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServedLine {
    /// The scheme of the sender.
    pub scheme: String,
    /// The status of the answer; null if no request came.
    #[serde(deserialize_with = "nullable")]
    pub status: Option<String>,
    /// Bytes that were acknowledged.
    pub bytes: u64,
    /// From the SYN to the last ACK; null if the last ACK never came.
    #[serde(deserialize_with = "nullable")]
    pub took_ms: Option<f64>,
    /// Whether both sides closed it.
    pub orderly: bool,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Segments sent at low priority.
    pub low_priority: u64,
    /// How ACKs were classed; null for a sender without low priorities.
    #[serde(deserialize_with = "nullable")]
    pub low_acks: Option<LowAcks>,
}

/// Bytes were fetched, and every one was right.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchedLine {
    /// The address of the sender.
    pub from: String,
    /// The scheme of the sender.
    pub scheme: String,
    /// Bytes.
    pub bytes: u64,
    /// From the SYN to the first byte.
    pub first_ms: f64,
    /// From the SYN to the end.
    pub took_ms: f64,
}

/// How the pure ACKs of a connection were classed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowAcks {
    /// Pure ACKs that came while data was outstanding.
    pub acks: u64,
    /// Of these, those that acknowledged something new.
    pub advancing: u64,
    /// Those whose first SACK block held data of low priority, by the rule.
    pub ahead: u64,
    /// Those that reported a copy as received twice: of low priority.
    pub duplicates: u64,
}

impl LowAcks {
    /// ACKs that were attributed to data of low priority.
    #[must_use]
    pub const fn low(&self) -> u64 {
        self.ahead + self.duplicates
    }

    /// ACKs that neither advanced nor were of low priority: what looks like loss.
    #[must_use]
    pub const fn unexplained(&self) -> u64 {
        self.acks - self.advancing - self.low()
    }
}
