//! Why flows fail.

use serde::{Deserialize, Serialize};
use tcp::Abort;

base::names! {
    /// Why a flow failed.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
    pub enum FlowFailure {
        /// The host that sends, asks or receives had disappeared.
        HostGone = "host_gone",
        /// The peer did not answer the SYN or SYN-ACK, after all retransmissions.
        Handshake = "handshake",
        /// The peer did not acknowledge data, after all retransmissions.
        Retries = "retries",
        /// The other end reset its connection.
        Reset = "reset",
    }
}

impl From<Abort> for FlowFailure {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::Reset => Self::Reset,
            Abort::Handshake => Self::Handshake,
            Abort::Retries => Self::Retries,
        }
    }
}
