//! Segments that are held back although the windows allow them: by a congestion control that paces, because enough of
//! the connection waits in its host, or for want of a full segment.

use base::Time;

use super::Sender;
use crate::cc::SenderCc;
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether the next segment has to wait: for its time, which is then part of the deadline, or for more to send.
    pub(super) fn holds_back(&mut self, now: Time) -> bool {
        let earliest = self.cc.as_role_mut().as_segment_cc();
        let earliest = earliest.and_then(|cc| cc.pacing()).unwrap_or(Time::ZERO);
        let held = earliest > now && self.could_send();
        self.held_until = if held { earliest } else { Time::NEVER };
        held || self.is_held_by_host(now) || self.keeps_next_for_more()
    }

    /// When a segment that is held back may leave; [`Time::NEVER`] if none is.
    #[inline(always)]
    pub(crate) const fn held_until(&self) -> Time {
        self.held_until
    }

    /// Time has passed: what was held back until now is decided anew when a segment is asked for.
    pub(crate) fn release(&mut self, now: Time) {
        if self.held_until <= now {
            self.held_until = Time::NEVER;
        }
    }

    /// Whether the windows allow a segment, or recovery with SACK may find one.
    pub(super) fn could_send(&self) -> bool {
        let within = self.next < self.window_end().min(self.edge);
        self.retransmit_first
            // What a record asks for is known when a segment is asked for.
            || (self.recorded && self.has_work())
            || (self.sack && self.is_recovering())
            || (self.next < self.written && within)
            || (self.closed && self.next == self.written)
    }
}
