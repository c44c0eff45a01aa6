//! A sender that has had nothing to send: of most connections, that of the side which receives.
//!
//! Nothing of its own is outstanding, so that a segment with data tells it of the peer's window and of nothing else. A
//! record, its states and its timers stay as they are.

use super::timer::Timer;
use super::{Feedback, Sender};
use crate::cc::{Delivery, SenderCc};
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether neither data nor a FIN was sent since the handshake, and no data waits.
    #[inline(always)]
    pub(crate) const fn has_only_listened(&self) -> bool {
        self.max == 1 && self.written == 1 && matches!(self.timer, Timer::Off)
    }

    /// Whether a segment tells a sender with a record nothing but the window: it brings data to one that has only
    /// listened, without SACK blocks and without an extension.
    pub(super) fn tells_window_alone(&self, feedback: &Feedback<'_>) -> bool {
        self.has_only_listened()
            && feedback.ack == self.una
            && !feedback.bare
            && feedback.sacked.is_empty()
            && feedback.extension == base::Extension::NONE
    }

    /// Processes a segment at `offset` that allows up to `edge` and tells nothing else, with an `echo` of marks or
    /// without. The congestion control hears of it, as it does in Linux (`tcp_in_ack_event`), unless it completes the
    /// handshake.
    #[inline(always)]
    pub(crate) fn on_window_alone(&mut self, (offset, edge): (u64, u64), echo: bool) {
        self.note_edge_as_linux(offset, self.una, edge);
        let opens = self.repair.as_mut().is_some_and(|repair| repair.opened());
        if !opens {
            self.tell_delivery(&Delivery {
                segments: 0,
                echo: echo && self.ecn,
                acknowledged: self.una,
                next: self.next,
            });
        }
    }
}
