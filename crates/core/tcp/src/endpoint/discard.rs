//! Receivers that keep nothing beyond a gap, and order everything from there on: go-back-N, as `RoCE` has it.

use base::Time;

use super::{Endpoint, Progress};
use crate::cc::SenderCc;
use crate::gap::Gap;
use crate::plays::Plays;
use crate::receiver::Segment;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Discards a segment beyond a gap and orders the missing data. The role is told of a segment without new bytes.
    /// Returns whether there is a gap.
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
        let again = self.sender.config.go_back_again;
        let gap = self.gap.get_or_insert_with(|| Box::new(Gap::NONE));
        if gap.orders(next, again, now) {
            let mut order = Box::new(self.place());
            self.put_ack(&mut order, true);
            self.ready = Some(order);
        }
        true
    }
}
