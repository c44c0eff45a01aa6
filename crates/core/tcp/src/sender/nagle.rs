//! Nagle's rule (RFC 9293 §3.7.4), in the form of Minshall that Linux has: the last, short segment of what is written
//! waits while an earlier short segment is not acknowledged (`tcp_output.c, tcp_nagle_check`).
//!
//! A message of full segments and a short one leaves at once, and so does the next message when the short one of the
//! last has been acknowledged. What waits is a message in pieces: the second write of a small header and a small body,
//! until the header is acknowledged, which a receiver delays that has nothing to say before it has the body.

use super::Sender;
use crate::cc::SenderCc;
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether the next segment, new and with the `left` bytes that are written and not sent, has to wait for what may
    /// still be written. If not, and it is short, it is the next one that others wait for.
    #[inline(never)]
    pub(super) fn is_kept_for_more(&mut self, left: u64) -> bool {
        // The end of what the application has to say leaves with the FIN.
        if self.config.nodelay || left == 0 || left >= self.mss || self.closed {
            return false;
        }
        // The sender has decided about data beyond `next` and not sent it yet.
        if self.una < self.short_end && self.short_end <= self.next {
            return true;
        }
        if self.edge.saturating_sub(self.next) >= left {
            self.short_end = self.next + left;
        }
        false
    }

    /// As [`Sender::is_kept_for_more`], for a sender without a record that is about to send what comes next.
    pub(super) fn keeps_next_for_more(&mut self) -> bool {
        let is_new = self.next >= self.max && !self.is_recovering() && !self.retransmit_first;
        if self.recorded || !is_new || self.low.is_some() {
            return false;
        }
        let left = self.written.saturating_sub(self.next);
        // What the window does not allow is not sent.
        self.window_end().saturating_sub(self.next) >= left && self.is_kept_for_more(left)
    }

    /// Whether something beside the windows may hold back a segment of this connection at any time.
    pub(super) fn may_always_be_held(&self) -> bool {
        self.paces || !self.recorded && !self.config.nodelay
    }
}
