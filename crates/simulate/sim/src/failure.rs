//! Why flows fail.

use std::fmt;

use serde::{Deserialize, Serialize};
use tcp::Abort;

/// Why a flow failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Failure {
    /// The host that sends, asks or receives had disappeared.
    HostGone,
    /// Nobody answered its SYN or SYN-ACK, however often it was sent.
    Handshake,
    /// Nobody acknowledged its data, however often it was sent.
    Retries,
    /// The other end reset its connection.
    Reset,
}

impl Failure {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::HostGone, Self::Handshake, Self::Retries, Self::Reset];

    /// The word that results have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostGone => "host_gone",
            Self::Handshake => "handshake",
            Self::Retries => "retries",
            Self::Reset => "reset",
        }
    }
}

impl From<Abort> for Failure {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::Reset => Self::Reset,
            Abort::Handshake => Self::Handshake,
            Abort::Retries => Self::Retries,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
