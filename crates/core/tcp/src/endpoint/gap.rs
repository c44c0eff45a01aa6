//! Receivers that keep nothing beyond a gap, and order everything from there on: go-back-N, as `RoCE` has it.

use base::{Span, Time};

use super::{Endpoint, Progress};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::receiver::Segment;

/// The gap that was found last.
#[derive(Debug)]
pub(super) struct Gap {
    /// The offset that was ordered.
    ordered: u64,
    /// From when on it is ordered again, if it has not come.
    again_from: Time,
}

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Discards a segment beyond a gap, of which the role is told as of one without anything new, and orders what is
    /// missing, once for each gap. Returns whether the segment was one.
    // IBA §9.7.5: a responder sends one NAK for a gap. UNSPECIFIED(DCQCN): whether it ever repeats the NAK; HPCC's
    // simulator does so after 500 us (rdma-hw.cc, ReceiverCheckSeq), else only the sender's timer helps.
    #[inline(never)]
    pub(super) fn discards(
        &mut self,
        segment: &Segment,
        now: Time,
        progress: &mut Progress,
    ) -> bool {
        let next = self.receiver.next();
        if segment.offset <= next {
            return false;
        }
        self.receiver.on_discarded(segment);
        progress.stored = true;
        let gap = self.gap.as_deref();
        if gap.is_none_or(|gap| gap.ordered != next || gap.again_from <= now) {
            self.gap = Some(Box::new(Gap {
                ordered: next,
                again_from: now + AGAIN_AFTER,
            }));
            let mut order = Box::new(self.place());
            self.put_ack(&mut order, true);
            self.ready = Some(order);
        }
        true
    }
}

/// HPCC's simulator: its NACK interval.
const AGAIN_AFTER: Span = Span::from_micros(500);
