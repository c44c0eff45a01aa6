//! What a sender with a record holds back although its window allows it.

use base::Time;

use super::Repair;
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::sender::Sender;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether enough of the connection waits in its host that a copy has to wait (`tcp_output.c,
    /// tcp_xmit_retransmit_queue`).
    #[inline(always)]
    pub(super) fn is_copy_held(&mut self, place: usize, repair: &Repair, now: Time) -> bool {
        self.crowds_host && {
            let segment = repair.queue.segment(place);
            self.waits_for_host(segment.end - segment.start, true, now)
        }
    }

    /// Whether new data that the window allows has to wait: for its host, or for more to be written (`tcp_output.c,
    /// tcp_write_xmit`).
    #[inline(always)]
    pub(super) fn is_new_held(&mut self, now: Time) -> bool {
        let left = self.written.saturating_sub(self.next);
        self.crowds_host && self.is_new_held_by_host(left.min(self.mss), now)
            || left < self.mss && self.is_kept_for_more(left)
    }

    fn is_new_held_by_host(&mut self, payload: u64, now: Time) -> bool {
        let may_leave = self.next < self.written + u64::from(self.closed)
            && self.edge.saturating_sub(self.next) >= payload;
        may_leave && self.waits_for_host(payload, false, now)
    }
}
