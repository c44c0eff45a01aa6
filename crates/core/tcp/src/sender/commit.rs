//! A segment is booked as sent.

use base::Time;
use base::cast;

use super::{Outgoing, Phase, Sender};
use crate::cc::SenderCc;
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Books a segment of up to `payload` bytes at `offset` and not beyond `limit` as sent.
    #[inline(always)]
    pub(super) fn commit(&mut self, offset: u64, payload: u64, limit: u64, now: Time) -> Outgoing {
        let payload = payload.min(self.written.min(limit) - offset);
        let data_end = offset + payload;
        // The FIN travels with the last byte, and again with it if it was sent with it.
        let fin = self.closed && data_end == self.written && limit > self.written;
        let end = data_end + u64::from(fin);
        let again = offset < self.max;
        let cwr = self.cwr_due && !again && payload > 0;
        if again {
            self.counters.retransmissions += 1;
            self.counters.after_timeout +=
                u64::from(!self.is_recovering() && !self.config.go_back_n);
            // Karn: a segment sent twice gives no sample, and BSD gives up the sample in progress.
            self.timed = None;
        } else {
            if self.timed.is_none() {
                self.timed = Some((end, now));
            }
            if self.dupacks > 0
                && matches!(self.phase, Phase::Open)
                && end > self.una.saturating_add(self.window)
            {
                self.limited += payload;
            }
            self.cwr_due &= !cwr;
        }
        if offset == self.next {
            self.next = end;
        }
        if matches!(self.phase, Phase::Recovery { .. }) && again {
            self.high_rxt = self.high_rxt.max(end);
        }
        self.max = self.max.max(end);
        self.last_sent = Some(now);
        self.counters.segments += 1;
        if !self.recorded {
            self.start_retransmission_timer(now);
        }
        Outgoing {
            offset,
            payload: low_16(payload),
            fin,
            again,
            cwr,
            push: self.recorded && payload > 0 && data_end == self.written,
        }
    }

    /// [`Sender::commit`] of `payload` bytes at `next`, or of the FIN, by a sender with a record: all of it is new.
    #[inline(always)]
    pub(super) fn commit_new(&mut self, payload: u64, now: Time) -> Outgoing {
        debug_assert_eq!(self.next, self.max, "what is sent again is in the record");
        let (offset, data_end) = (self.next, self.next + payload);
        let fin = self.closed && data_end == self.written;
        let cwr = self.cwr_due && payload > 0;
        self.cwr_due &= !cwr;
        self.next = data_end + u64::from(fin);
        self.max = self.next;
        self.last_sent = Some(now);
        self.counters.segments += 1;
        Outgoing {
            offset,
            payload: low_16(payload),
            fin,
            again: false,
            cwr,
            push: payload > 0 && data_end == self.written,
        }
    }
}

/// A segment has at most as many bytes as 16 bits agree on.
#[inline(always)]
fn low_16(payload: u64) -> u16 {
    debug_assert!(u16::try_from(payload).is_ok(), "bounded by the mss");
    cast::low_16(payload)
}
