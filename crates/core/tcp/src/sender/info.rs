//! What a sender thinks of its connection, in the terms of Linux's `tcp_info`.

use base::Span;

use super::{Phase, Sender};
use crate::cc::SenderCc;
use crate::plays::Plays;

/// A look at a sender between two events. Counts are segments unless they say otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderInfo {
    /// What it thinks of its flight.
    pub state: CongestionState,
    /// How much may be in the network: the congestion window, or what a reduction in progress makes of it.
    pub cwnd: u64,
    /// Sent and not acknowledged.
    pub unacked: u64,
    /// Reported by SACK.
    pub sacked: u64,
    /// Judged lost and not delivered since; known to a sender that keeps a record of its segments.
    pub lost: Option<u64>,
    /// Sent again and neither delivered nor lost; known as `lost` is.
    pub retransmitted: Option<u64>,
    /// The longest way by which a segment was overtaken, in bytes; known as `lost` is.
    pub overtaken: Option<u64>,
    /// The retransmission timeout now in force.
    pub rto: Span,
}

/// The states of a sender that Linux calls `tcp_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionState {
    /// Nothing is missing.
    Open,
    /// Something is missing and not judged lost.
    Disorder,
    /// A mark reduces the window.
    Cwr,
    /// Losses are repaired.
    Recovery,
    /// Losses are repaired after a timeout.
    Loss,
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// See [`SenderInfo`]. O(1).
    pub(crate) fn info(&self) -> SenderInfo {
        let plain = SenderInfo {
            state: self.congestion_state(),
            cwnd: self.window / self.mss,
            unacked: (self.max - self.una).div_ceil(self.mss),
            sacked: self.scoreboard.sacked() / self.mss,
            lost: None,
            retransmitted: None,
            overtaken: None,
            rto: self.rtt.rto(),
        };
        match &self.repair {
            Some(repair) => repair.info(plain),
            None => plain,
        }
    }

    /// The state of a sender without a record.
    fn congestion_state(&self) -> CongestionState {
        match self.phase {
            Phase::Recovery { .. } => CongestionState::Recovery,
            // A timeout has moved the recovery point.
            Phase::Open if self.una < self.recover => CongestionState::Loss,
            Phase::Open if self.dupacks > 0 || !self.scoreboard.is_empty() => {
                CongestionState::Disorder
            }
            Phase::Open => CongestionState::Open,
        }
    }
}
