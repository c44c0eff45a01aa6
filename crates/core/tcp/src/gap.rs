//! The gap that a receiver which keeps nothing beyond it has ordered ([`Config::go_back_n`](crate::Config::go_back_n)).

use base::{Span, Time};

/// The gap that was found last.
#[derive(Debug)]
pub(crate) struct Gap {
    /// The offset that was ordered.
    ordered: u64,
    /// Time from which it is ordered again, if it has not come.
    again_from: Time,
}

impl Gap {
    /// Nothing has been ordered yet.
    pub(crate) const NONE: Self = Self {
        ordered: u64::MAX,
        again_from: Time::ZERO,
    };

    /// A segment has come beyond `next`, which is missing. Returns whether that is to be ordered now: once for each gap, and
    /// again every `again`.
    // A responder of InfiniBand sends one NAK for a gap. HPCC's simulator repeats it after 500 us (rdma-hw.cc,
    // ReceiverCheckSeq); else only the sender's timer helps.
    pub(crate) fn orders(&mut self, next: u64, again: Span, now: Time) -> bool {
        if self.ordered == next && now < self.again_from {
            return false;
        }
        (self.ordered, self.again_from) = (next, now + again);
        true
    }
}
