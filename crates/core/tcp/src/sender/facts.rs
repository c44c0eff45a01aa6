//! What others may know of a sender.

use super::{Phase, Sender, SenderCounters};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::rtt::RttEstimator;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Bytes outstanding.
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> u64 {
        self.next - self.una - self.skipped()
    }

    /// Bytes sent at priority 0 and not acknowledged, whatever became of them.
    pub(crate) const fn outstanding(&self) -> u64 {
        self.max - self.una
    }

    /// Whether a record of every segment is kept. The handshake decides.
    pub(crate) const fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Whether there is a loop at low priorities.
    pub(crate) const fn has_low_loop(&self) -> bool {
        self.low.is_some()
    }

    /// Bytes written and not sent, with those that wait for room in the send buffer; of a message without end many.
    #[inline(always)]
    pub(crate) fn unsent(&self) -> u64 {
        let buffered = self.written.saturating_sub(self.newest());
        match &self.repair {
            Some(repair) => buffered + repair.unwritten(self.written),
            None => buffered,
        }
    }

    /// Whether the congestion control says when segments leave.
    pub(crate) const fn paces(&self) -> bool {
        self.paces
    }

    /// Whether this is fast recovery.
    pub(crate) const fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    /// From the first offset not acknowledged to the end of the peer's window.
    pub(crate) const fn peer_window(&self) -> u64 {
        self.edge.saturating_sub(self.una)
    }

    /// First offset not acknowledged.
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Next offset to send.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// One past the highest offset sent at priority 0.
    #[inline(always)]
    pub(crate) const fn newest(&self) -> u64 {
        if self.next > self.max {
            self.next
        } else {
            self.max
        }
    }

    /// Offset of a segment without data: behind all that was sent, also after a timeout has taken `next`
    /// back, so that the peer does not take it for an old one; but not beyond the peer's window, which a FIN or a window
    /// that was taken back may leave behind, so that the peer does not drop it. Windows are told in units of `1 << scale`
    /// (Linux's `tcp_acceptable_seq`).
    #[inline(always)]
    pub(crate) const fn bare_offset(&self, scale: u8) -> u64 {
        let newest = self.newest();
        if newest < self.edge + (1 << scale) {
            newest
        } else {
            self.edge
        }
    }

    /// Whether the FIN was sent and acknowledged.
    pub(crate) const fn is_finished(&self) -> bool {
        self.closed && self.una > self.written
    }

    /// Segment size in force.
    pub(crate) const fn mss(&self) -> u64 {
        self.mss
    }

    /// Whether both sides agreed on SACK.
    pub(crate) const fn uses_sack(&self) -> bool {
        self.sack
    }

    /// Whether both sides agreed on ECN.
    pub(crate) const fn uses_ecn(&self) -> bool {
        self.ecn
    }

    /// The round trip and the retransmission timeout of what this side sends.
    pub(crate) const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    pub(crate) const fn counters(&self) -> SenderCounters {
        self.counters
    }
}
