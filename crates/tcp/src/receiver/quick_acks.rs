//! ACKs that are not delayed although others are, as in Linux.
//!
//! RFC 5681 §4.2 allows an ACK to wait for a second segment. A sender in slow start grows with every ACK, so
//! Linux acknowledges the first segments of a connection one by one, and again after idle time, after data
//! that came twice and when congestion marks begin or end. A connection on which both sides send answers
//! with data soon, so there ACKs wait after all, until one has waited in vain.

use base::{Span, Time};

use super::Arrival;
use crate::config::Config;

/// Which ACKs leave at once.
#[derive(Debug)]
pub(super) struct QuickAcks {
    /// Segments that are still acknowledged one by one.
    left: u32,
    /// How many that are when it begins anew.
    most: u32,
    /// Whether data was sent soon after data had come: then an ACK waits for the next data.
    interactive: bool,
    /// Whether the next segment is acknowledged at once, whatever else.
    next: bool,
    /// Whether a segment was capable of ECN.
    capable: bool,
    /// When data came last in order.
    last: Option<Time>,
    /// Data that is sent this soon after data is an answer.
    soon: Span,
}

impl QuickAcks {
    pub(super) fn new(config: &Config) -> Self {
        // Linux: at most half the receive window.
        let half = config.receive_buffer / (2 * u64::from(config.mss));
        let most = u32::try_from(half).unwrap_or(u32::MAX).max(2);
        let most = config.quick_acks.min(most);
        Self {
            left: most,
            most,
            interactive: false,
            next: false,
            capable: false,
            last: None,
            soon: config.delayed_ack_timeout,
        }
    }

    /// A segment has been stored, with which the window grows or not. Returns whether it is acknowledged at once.
    #[inline(never)]
    pub(super) fn on_data(&mut self, arrival: &Arrival, grows: bool, now: Time) -> bool {
        if arrival.in_order > 0 {
            // A long pause: the sender may have begun again with a small window.
            if self.last.is_some_and(|last| now.since(last) > IDLE) {
                self.left = self.left.max(self.most);
            }
            self.last = Some(now);
        } else if arrival.is_old() {
            // The ACK of the first copy may have been lost.
            self.acknowledge_soon(self.most);
        }
        // Linux: an odd number stays as it is.
        self.left |= u32::from(grows);
        std::mem::take(&mut self.next) || (self.left > 0 && !self.interactive)
    }

    /// The next segments are acknowledged at once, this one and others up to `count`.
    pub(super) fn acknowledge_soon(&mut self, count: u32) {
        (self.left, self.interactive) = (self.left.max(count.min(self.most)), false);
    }

    /// A segment is capable of ECN or not. Returns whether it is not and one was before.
    pub(super) const fn note_capable(&mut self, capable: bool) -> bool {
        self.capable |= capable;
        self.capable && !capable
    }

    /// The next segment is acknowledged at once.
    pub(super) const fn acknowledge_next(&mut self) {
        self.next = true;
    }

    /// An ACK leaves, of data or of nothing new.
    pub(super) const fn on_acknowledged(&mut self, data: bool) {
        self.left = self.left.saturating_sub(data as u32);
    }

    /// Data leaves.
    #[inline(never)]
    pub(super) fn on_data_sent(&mut self, now: Time) {
        self.interactive |= self.last.is_some_and(|last| now.since(last) < self.soon);
    }

    /// An ACK has waited as long as it may.
    pub(super) const fn on_delayed(&mut self) {
        self.interactive = false;
    }
}

/// A pause after which a connection has to be acknowledged quickly again: Linux compares with the
/// retransmission timeout of this side, which has sent little; this is its minimum.
const IDLE: Span = Span::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> QuickAcks {
        QuickAcks::new(&Config {
            quick_acks: 3,
            ..Config::default()
        })
    }

    fn arrival(new_bytes: u64) -> Arrival {
        Arrival {
            payload: 1000,
            // What brings nothing has come in order before.
            expected: 1000 - new_bytes,
            new_bytes,
            in_order: new_bytes,
            ..Arrival::default()
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A segment comes; an ACK leaves if it leaves at once.
    fn step(quick: &mut QuickAcks, new_bytes: u64, ms: u64) -> bool {
        let at_once = quick.on_data(&arrival(new_bytes), false, at(ms));
        if at_once {
            quick.on_acknowledged(true);
        }
        at_once
    }

    #[test]
    fn the_first_segments_are_acknowledged_one_by_one_and_again_after_a_pause() {
        let mut quick = quick();
        let times = [0, 1, 2, 3, 203, 404];
        let told = times.map(|ms| step(&mut quick, 1000, ms));
        assert_eq!(told, [true, true, true, false, false, true]);
    }

    #[test]
    fn what_comes_twice_begins_it_anew() {
        let mut quick = quick();
        let new_bytes = [1000, 1000, 1000, 1000, 0, 1000, 1000, 1000];
        let told = new_bytes.map(|bytes| step(&mut quick, bytes, 0));
        assert_eq!(told, [true, true, true, false, true, true, true, false]);
    }

    // Linux 6.12, tcp_data_queue_ofo.
    #[test]
    fn what_comes_twice_beyond_a_hole_does_not() {
        let mut quick = quick();
        let new_bytes = [1000; 3];
        assert_eq!(new_bytes.map(|bytes| step(&mut quick, bytes, 0)), [true; 3]);
        let beyond = Arrival {
            offset: 5000,
            held: 1000,
            ..arrival(0)
        };
        assert!(!quick.on_data(&beyond, false, at(0)));
    }

    #[test]
    fn segments_with_which_the_window_grows_are_acknowledged_at_once() {
        let mut quick = quick();
        let mut step = |grows| {
            let at_once = quick.on_data(&arrival(1000), grows, at(0));
            if at_once {
                quick.on_acknowledged(true);
            }
            at_once
        };
        let told = [true, true, true, false, false, false, false].map(&mut step);
        assert_eq!(told, [true, true, true, true, true, false, false]);
        assert!(step(true) && !step(false));
    }

    #[test]
    fn what_is_not_capable_of_marks_among_others_was_sent_again() {
        let mut quick = quick();
        let told = [false, true, true, false].map(|capable| quick.note_capable(capable));
        assert_eq!(told, [false, false, false, true]);
    }

    #[test]
    fn an_answer_makes_acks_wait_until_one_has_waited_in_vain() {
        let mut quick = quick();
        assert!(step(&mut quick, 1000, 0));
        quick.on_data_sent(at(10));
        assert!(!step(&mut quick, 1000, 11));
        quick.on_delayed();
        assert!(step(&mut quick, 1000, 60));
        // 40 ms later it is no answer.
        quick.on_data_sent(at(100));
        assert!(step(&mut quick, 1000, 101));
    }

    #[test]
    fn a_small_receive_buffer_allows_fewer() {
        let quick = QuickAcks::new(&Config {
            quick_acks: 16,
            receive_buffer: 6 * 1460,
            ..Config::default()
        });
        assert_eq!(quick.left, 3);
    }
}
