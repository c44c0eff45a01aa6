//! ACKs that are not delayed although others are, as in Linux.
//!
//! RFC 5681 §4.2 allows an ACK to wait for a second segment. A sender in slow start grows with every ACK, so
//! Linux acknowledges the first segments of a connection one by one, and again after idle time, after data
//! that had come in order before and when congestion marks begin or end. A segment that is not full probably ends what
//! its sender has to say: it is acknowledged when the application has read everything. A connection on which both sides
//! send answers with data soon, so there ACKs wait after all, until one has waited in vain.

use base::{Span, Time};

use super::Arrival;
use crate::config::{Agreement, Config};

/// Which ACKs leave at once.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the connection"
)]
#[derive(Debug)]
pub(super) struct QuickAcks {
    /// Segments that are still acknowledged one by one.
    left: u32,
    /// How many that are when it begins anew.
    most: u32,
    /// Whether the connection has had its first such segments, or has lost them: set by the first data in order, with
    /// which they begin, or before it by an ACK with which `left` ends, or a mark.
    begun: bool,
    /// A full segment, as far as has been seen, and the last one that was not; bytes.
    full: u64,
    last_size: u64,
    /// Segments in order that were not full and are not acknowledged: up to two count.
    small: u8,
    /// Whether data was sent soon after data had come: then an ACK waits for the next data.
    interactive: bool,
    /// Whether the next segment is acknowledged at once, whatever else.
    next: bool,
    /// Whether a segment was capable of ECN.
    capable: bool,
    /// When data came last in order; before any, when the handshake was over.
    last: Option<Time>,
    /// Data that is sent this soon after data is an answer.
    soon: Span,
    /// In what pauses are counted; zero: exactly.
    tick: Span,
}

/// What else decides about the ACK of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckConditions {
    /// Whether the window grows with it.
    pub(super) grows: bool,
    /// Whether the application has read everything that has come.
    pub(super) read: bool,
    /// The retransmission timeout of this side's own data.
    pub(super) rto: Span,
    pub(super) now: Time,
}

impl QuickAcks {
    pub(super) fn new(config: &Config) -> Self {
        let most = most(config, config.mss);
        Self {
            left: 0,
            most,
            begun: false,
            full: FULL_AT_FIRST,
            last_size: 0,
            small: 0,
            interactive: false,
            next: false,
            capable: false,
            last: None,
            soon: config.delayed_ack_timeout,
            tick: config.tick,
        }
    }

    /// What both SYNs have agreed on.
    pub(super) fn agree(&mut self, agreed: Agreement, config: &Config) {
        self.most = most(config, agreed.mss);
    }

    /// The handshake is over.
    pub(super) const fn begin(&mut self, now: Time) {
        self.last = Some(now);
    }

    /// A segment has been stored at `place`. Returns whether it is acknowledged at once.
    #[inline(always)]
    pub(super) fn on_data(&mut self, arrival: &Arrival, place: &AckConditions) -> bool {
        let AckConditions {
            grows,
            read,
            rto,
            now,
        } = *place;
        if arrival.in_order > 0 {
            self.measure(arrival);
            // A pause that no answer makes, and longer than the retransmission timeout of this side, which has sent little:
            // the sender may have begun again with a small window.
            let is_long = |pause| pause >= self.soon && pause > rto;
            if !self.begun || !self.is_soon(now) && self.pause(now).is_some_and(is_long) {
                self.left = self.left.max(self.most);
            }
            (self.begun, self.last) = (true, Some(now));
        } else if arrival.is_old() {
            // The ACK of the first copy may have been lost.
            self.acknowledge_soon(self.most);
        } else {
            // Beyond a hole a mark alone has made `left` more before the first data in order.
            self.begun |= self.left > 0;
        }
        // Linux: an odd number stays as it is.
        self.left |= u32::from(grows);
        let ends = read && self.small > u8::from(self.interactive);
        std::mem::take(&mut self.next) || ends || (self.left > 0 && !self.interactive)
    }

    /// Linux 6.12, `tcp_measure_rcv_mss`: how large full segments are is seen, and whether this is one. A full one that
    /// ends what was written counts as one that is not, but does not make two of one.
    fn measure(&mut self, arrival: &Arrival) {
        let payload = arrival.payload;
        if payload >= self.full {
            self.full = payload;
            self.small = self.small.max(u8::from(arrival.pushed));
            return;
        }
        if payload >= LEAST_FULL && payload == std::mem::replace(&mut self.last_size, payload) {
            self.full = payload;
        } else {
            self.small = (self.small + 1).min(2);
        }
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

    /// An ACK leaves, of data or of nothing new. If `left` ends with it, the first data in order no longer raises `left`: the
    /// window has grown with the first segment of the connection, which came beyond a hole (Linux 6.12, `tcp_input.c`,
    /// `tcp_event_data_recv`; `tcp_output.c`, `tcp_dec_quickack_mode`).
    pub(super) const fn on_acknowledged(&mut self, data: bool) {
        self.small = 0;
        if data && self.left > 0 {
            self.left -= 1;
            self.begun |= self.left == 0;
        }
    }

    /// Data leaves.
    #[inline(never)]
    pub(super) fn on_data_sent(&mut self, now: Time) {
        let answers =
            || self.is_soon(now) || self.pause(now).is_some_and(|pause| pause < self.soon);
        self.interactive = self.interactive || self.begun && answers();
    }

    /// Whether data has come in order so lately that the pause is short on any clock: one that ticks adds less than a tick.
    #[inline(always)]
    fn is_soon(&self, now: Time) -> bool {
        self.last
            .is_some_and(|last| now.since(last) + self.tick < self.soon)
    }

    /// How long no data has come in order, as the clock tells it.
    fn pause(&self, now: Time) -> Option<Span> {
        let last = self.last?;
        let ticks = |time: Time| time.as_ps().checked_div(self.tick.as_ps());
        Some(match (ticks(last), ticks(now)) {
            (Some(last), Some(now)) => self.tick * (now - last),
            _ => now.since(last),
        })
    }

    /// An ACK has waited as long as it may.
    pub(super) const fn on_delayed(&mut self) {
        self.interactive = false;
    }
}

/// How many segments in a row, of `mss` bytes: in Linux at most half the receive window.
fn most(config: &Config, mss: u16) -> u32 {
    let half = config.receive_buffer / (2 * u64::from(mss));
    let half = u32::try_from(half).unwrap_or(u32::MAX);
    config.quick_acks.min(half.max(2))
}

/// A full segment is this large at least, until a larger one has come; and smaller ones count as full if two of one size
/// come in a row, but for these: 536 bytes with the timestamps that Linux subtracts (`tcp_measure_rcv_mss`).
const FULL_AT_FIRST: u64 = 536;
const LEAST_FULL: u64 = 524;

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

    fn place(read: bool, ms: u64) -> AckConditions {
        AckConditions {
            read,
            rto: Span::from_millis(200),
            now: at(ms),
            ..AckConditions::default()
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A segment comes; an ACK leaves if it leaves at once.
    fn step(quick: &mut QuickAcks, new_bytes: u64, ms: u64) -> bool {
        let at_once = quick.on_data(&arrival(new_bytes), &place(false, ms));
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
    fn data_sent_within_the_delay_of_an_ack_as_the_clock_counts_it_is_an_answer() {
        // A clock of 4 ms counts from 3 ms to 43 ms as 40 ms, and from 4 ms to 43 ms as 36 ms.
        for (tick, came, sent, answers) in [
            (0, 0, 39, true),
            (0, 0, 40, false),
            (4, 3, 43, false),
            (4, 4, 43, true),
            (4, 0, 35, true),
        ] {
            let mut quick = QuickAcks::new(&Config {
                delayed_ack_timeout: Span::from_millis(40),
                tick: Span::from_millis(tick),
                ..Config::default()
            });
            step(&mut quick, 1000, came);
            quick.on_data_sent(at(sent));
            assert_eq!(quick.interactive, answers, "{tick} {came} {sent}");
        }
    }

    #[test]
    fn what_comes_twice_begins_it_anew() {
        let mut quick = quick();
        let new_bytes = [1000, 1000, 1000, 1000, 0, 1000, 1000, 1000];
        let told = new_bytes.map(|bytes| step(&mut quick, bytes, 0));
        assert_eq!(told, [true, true, true, false, true, true, true, false]);
    }

    /// A segment comes beyond a hole, and the window grows with it or not; an ACK leaves. Returns whether for this reason.
    fn beyond_a_hole(quick: &mut QuickAcks, grows: bool, ms: u64) -> bool {
        let beyond = Arrival {
            offset: 5000,
            held: 1000,
            in_order: 0,
            ..arrival(1000)
        };
        let at = AckConditions {
            grows,
            ..place(false, ms)
        };
        let at_once = quick.on_data(&beyond, &at);
        quick.on_acknowledged(true);
        at_once
    }

    // Linux 6.12: the window grows with the first segment, and its ACK ends the quick ones before they have begun.
    #[test]
    fn a_connection_whose_first_segment_comes_beyond_a_hole_has_no_quick_acks() {
        for (grows, told) in [(true, [false; 3]), (false, [true; 3])] {
            let mut quick = quick();
            quick.begin(at(0));
            assert_eq!(beyond_a_hole(&mut quick, grows, 0), grows);
            assert_eq!([1000; 3].map(|bytes| step(&mut quick, bytes, 0)), told);
        }
    }

    // Linux 6.12: time without data counts from the handshake on (`tcp_finish_connect`, `tcp_create_openreq_child`).
    #[test]
    fn it_has_them_if_its_first_data_comes_a_timeout_after_the_handshake() {
        let mut quick = quick();
        quick.begin(at(0));
        assert!(beyond_a_hole(&mut quick, true, 201));
        let told = [1000; 4].map(|bytes| step(&mut quick, bytes, 201));
        assert_eq!(told, [true, true, true, false]);
    }

    // Linux 6.12, `__tcp_ecn_check_ce`: a mark asks for two ACKs, and the first data in order for more only before it.
    #[test]
    fn a_first_segment_with_a_mark_begins_quick_acks_if_it_comes_in_order() {
        let mut in_order = quick();
        in_order.acknowledge_soon(2);
        let told = [1000; 4].map(|bytes| step(&mut in_order, bytes, 0));
        assert_eq!(told, [true, true, true, false]);
        let mut beyond = quick();
        beyond.acknowledge_soon(2);
        assert!(beyond_a_hole(&mut beyond, false, 0));
        let told = [1000; 2].map(|bytes| step(&mut beyond, bytes, 0));
        assert_eq!(told, [true, false]);
    }

    // Linux 6.12: a minimum of 200 ms and a round trip below a tick make a timeout of 201 ticks.
    #[test]
    fn a_pause_as_long_as_the_timeout_begins_nothing_anew() {
        for (pause, told) in [(201, false), (202, true)] {
            let mut quick = quick();
            assert_eq!([1000; 3].map(|bytes| step(&mut quick, bytes, 0)), [true; 3]);
            let after = AckConditions {
                rto: Span::from_millis(201),
                ..place(false, pause)
            };
            assert_eq!(quick.on_data(&arrival(1000), &after), told);
        }
    }

    // Nothing answers the handshake.
    #[test]
    fn what_is_sent_before_any_data_has_come_is_no_answer() {
        let mut quick = quick();
        quick.begin(at(0));
        quick.on_data_sent(at(1));
        assert!(step(&mut quick, 1000, 2));
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
        assert!(!quick.on_data(&beyond, &place(false, 0)));
    }

    #[test]
    fn segments_with_which_the_window_grows_are_acknowledged_at_once() {
        let mut quick = quick();
        let mut step = |grows| {
            let at_once = quick.on_data(
                &arrival(1000),
                &AckConditions {
                    grows,
                    ..place(false, 0)
                },
            );
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

    /// A segment of this size comes and is read at once; an ACK leaves if it leaves at once.
    fn read(quick: &mut QuickAcks, payload: u64, ms: u64) -> bool {
        let arrival = Arrival {
            payload,
            new_bytes: payload,
            in_order: payload,
            ..Arrival::default()
        };
        let at_once = quick.on_data(&arrival, &place(true, ms));
        if at_once {
            quick.on_acknowledged(true);
        }
        at_once
    }

    // Linux: 40 whole ticks of 1 ms are no answer, though it is less than 40 ms.
    #[test]
    fn pauses_are_counted_in_ticks() {
        for (tick, at_once) in [(Span::ZERO, false), (Span::from_millis(1), true)] {
            let mut quick = QuickAcks::new(&Config {
                quick_acks: 3,
                tick,
                ..Config::default()
            });
            let us = |us| Time::ZERO + Span::from_micros(us);
            let step = |quick: &mut QuickAcks, now| {
                let place = AckConditions {
                    now,
                    ..AckConditions::default()
                };
                quick.on_data(&arrival(1000), &place)
            };
            assert!(step(&mut quick, us(900)));
            quick.on_data_sent(us(40_100));
            assert_eq!(step(&mut quick, us(40_200)), at_once);
        }
    }

    #[test]
    fn a_segment_that_is_not_full_is_acknowledged_when_it_is_read() {
        let mut quick = quick();
        for _ in 0..3 {
            assert!(read(&mut quick, 1448, 0));
        }
        assert!(!read(&mut quick, 1448, 0));
        assert!(read(&mut quick, 376, 0));
        assert!(!read(&mut quick, 1448, 0));
        // Not on a connection on which both sides send, but for two of them.
        quick.on_data_sent(at(10));
        assert!(!read(&mut quick, 376, 11));
        assert!(read(&mut quick, 376, 11));
        // Who sends smaller ones all the time has no larger ones.
        assert!(!read(&mut quick, 1000, 11));
        assert!(!read(&mut quick, 1000, 11));
        quick.on_delayed();
        assert!(read(&mut quick, 1000, 60), "the first was small");
        assert!(!read(&mut quick, 1000, 60));
        // Nothing tells that there is no more beyond a hole.
        assert!(!quick.on_data(&arrival(10), &place(false, 60)));
    }

    // Linux 6.12: PSH makes a full segment the end of a write, whose ACK leaves when all is read, but for a connection on
    // which both sides send.
    #[test]
    fn a_full_segment_that_ends_a_write_is_acknowledged_when_it_is_read() {
        let mut quick = quick();
        for _ in 0..3 {
            assert!(read(&mut quick, 1448, 0));
        }
        let ends = Arrival {
            payload: 1448,
            new_bytes: 1448,
            in_order: 1448,
            pushed: true,
            ..Arrival::default()
        };
        assert!(!quick.on_data(&ends, &place(false, 0)), "not read yet");
        quick.on_acknowledged(true);
        assert!(quick.on_data(&ends, &place(true, 0)));
        quick.on_acknowledged(true);
        quick.on_data_sent(at(10));
        for _ in 0..3 {
            assert!(!quick.on_data(&ends, &place(true, 11)));
        }
    }

    #[test]
    fn a_small_receive_buffer_allows_fewer() {
        let quick = QuickAcks::new(&Config {
            quick_acks: 16,
            receive_buffer: 6 * 1460,
            ..Config::default()
        });
        assert_eq!(quick.most, 3);
    }

    #[test]
    fn segments_as_the_peer_sends_them_count() {
        let config = Config {
            quick_acks: 16,
            receive_buffer: 6 * 1460,
            ..Config::default()
        };
        let mut quick = QuickAcks::new(&config);
        let agreed = Agreement {
            mss: 730,
            sack: true,
            ecn: false,
        };
        quick.agree(agreed, &config);
        assert_eq!(quick.most, 6);
    }
}
