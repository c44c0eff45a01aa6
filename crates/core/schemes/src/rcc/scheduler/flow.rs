//! One connection as its receiver sees it.

use super::super::control::Control;
use super::super::timing::Timing;

/// The scheduler's state of a connection. Offsets count the sender's stream.
#[derive(Debug)]
pub(super) struct Flow {
    /// Bytes of the flow, if the SYN told.
    pub(super) size: Option<u64>,
    /// Bytes received, in order or not.
    pub(super) received: u64,
    /// Assigned window, packets; at least 1. See [`super::GrantScheduler::assigned`].
    pub(super) assigned: u64,
    /// One past the highest offset that the sender was ever allowed.
    pub(super) upper: u64,
    /// Next offset expected in order, and bytes held beyond it.
    pub(super) expected: u64,
    pub(super) held: u64,
    /// This flow's part of the flight.
    pub(super) flight: u64,
    pub(super) control: Control,
    pub(super) timing: Timing,
    /// Whether the next ACK orders a retransmission.
    pub(super) push: bool,
    pub(super) mss: u64,
}

impl Flow {
    /// Bytes not yet received; `None` if the size is not known.
    pub(super) fn remaining(&self) -> Option<u64> {
        self.size.map(|size| size.saturating_sub(self.received))
    }

    /// Whether it expects data.
    pub(super) fn is_needy(&self) -> bool {
        self.remaining() != Some(0)
    }

    /// Data in the network: allowed, not received, and not more than there is (a formulation of
    /// RCC §4.2 that cannot leak: every term is known exactly).
    pub(super) fn data_in_flight(&self) -> u64 {
        let outstanding = self.upper.saturating_sub(self.expected + self.held);
        outstanding.min(self.remaining().unwrap_or(u64::MAX))
    }

    /// What was granted and has not come is not in the network any more; the next ACK grants again.
    // UNSPECIFIED(RCC §4.2): a grant whose ACK or data was lost would be in flight for ever. Once lost
    // grants use up the budget, the very ACK that repeats them could never leave.
    pub(super) fn expire_grant(&mut self) {
        self.upper = self.expected + self.held;
    }
}
