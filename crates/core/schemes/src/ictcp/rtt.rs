//! Round-trip estimate at the receiver.

use base::{Span, Time};
use tcp::{AckSent, Arrival};

/// Times data that an ACK allowed, from the ACK's departure to the arrival of the first segment that no
/// earlier ACK had allowed. One at a time, as RFC 6298 §3 times segments.
///
/// A sender that waits for something else than the window makes the estimate too long; NewReno's
/// window, which may double in every round trip, is such a reason after losses only.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    /// Zero before the first sample.
    smoothed: Span,
    /// One past the highest offset ever allowed.
    edge: u64,
    timed: Option<TimedAck>,
}

/// An ACK that moved the edge.
#[derive(Clone, Copy, Debug)]
struct TimedAck {
    /// The edge before and with it: a segment that ends between them was allowed by this ACK.
    before: u64,
    edge: u64,
    sent: Time,
}

impl Rtt {
    pub(super) const fn new() -> Self {
        Self {
            smoothed: Span::ZERO,
            edge: 1,
            timed: None,
        }
    }

    /// A segment with an acknowledgement leaves.
    pub(super) fn on_ack_sent(&mut self, sent: &AckSent, now: Time) {
        let edge = sent.ack + sent.window;
        if edge <= self.edge {
            return;
        }
        if self.timed.is_none() {
            self.timed = Some(TimedAck {
                before: self.edge,
                edge,
                sent: now,
            });
        }
        self.edge = edge;
    }

    /// Data has arrived. Returns the round trip that ends with it, if one does.
    pub(super) fn on_data(&mut self, arrival: &Arrival, max: Span, now: Time) -> Option<Span> {
        let timed = self.timed?;
        // Karn: around a loss it cannot be told what a segment was sent for.
        if arrival.offset != arrival.expected || arrival.held > 0 {
            self.timed = None;
            return None;
        }
        let end = arrival.offset + arrival.payload;
        if end <= timed.before {
            return None;
        }
        self.timed = None;
        let sample = now.since(timed.sent);
        if end > timed.edge || sample > max {
            return None;
        }
        // UNSPECIFIED(ICTCP): the gain of RFC 6298.
        self.smoothed = if self.smoothed == Span::ZERO {
            sample
        } else {
            (self.smoothed * 7 + sample) / 8
        };
        Some(sample)
    }

    /// The smoothed round trip, if there was a sample.
    pub(super) fn smoothed(&self) -> Option<Span> {
        (self.smoothed > Span::ZERO).then_some(self.smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1446;
    const MAX: Span = Span::from_millis(10);

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn ack(ack: u64, window: u64) -> AckSent {
        AckSent {
            ack,
            window,
            syn: false,
        }
    }

    fn segment(index: u64) -> Arrival {
        Arrival {
            offset: 1 + index * MSS,
            expected: 1 + index * MSS,
            payload: MSS,
            new_bytes: MSS,
            in_order: MSS,
            ..Arrival::default()
        }
    }

    #[test]
    fn a_sample_runs_from_the_ack_to_the_first_segment_that_only_it_allowed() {
        let mut rtt = Rtt::new();
        rtt.on_ack_sent(&ack(1, 2 * MSS), us(0));
        assert_eq!(
            rtt.on_data(&segment(0), MAX, us(170)),
            Some(Span::from_micros(170))
        );
        // The next ACK allows the third segment; the second one was allowed before.
        rtt.on_ack_sent(&ack(1 + MSS, 2 * MSS), us(170));
        assert_eq!(rtt.on_data(&segment(1), MAX, us(182)), None);
        rtt.on_ack_sent(&ack(1 + 2 * MSS, 2 * MSS), us(182));
        assert_eq!(
            rtt.on_data(&segment(2), MAX, us(350)),
            Some(Span::from_micros(180))
        );
        // 7/8 of 170 and 1/8 of 180.
        assert_eq!(rtt.smoothed(), Some(Span::from_nanos(171_250)));
    }

    #[test]
    fn neither_a_gap_nor_a_timeout_gives_a_sample() {
        let mut rtt = Rtt::new();
        rtt.on_ack_sent(&ack(1, 2 * MSS), us(0));
        let beyond = Arrival {
            expected: 1,
            in_order: 0,
            held: MSS,
            ..segment(1)
        };
        assert_eq!(rtt.on_data(&beyond, MAX, us(170)), None);
        rtt.on_ack_sent(&ack(1 + 2 * MSS, 2 * MSS), us(1000));
        assert_eq!(rtt.on_data(&segment(2), MAX, us(11_001)), None);
        assert_eq!(rtt.smoothed(), None);
    }
}
