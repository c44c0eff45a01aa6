//! A congestion control that paces: segments leave one by one, each when its time has come.

use base::{Packet, Seq, Span, TcpFlags, Time};
use tcp::{Ack, Endpoint, SegmentCc, SenderCc};

use crate::script::{HANDSHAKE, MSS, RTO, Timeline, config, ms};

/// A fixed window of segments, and a time between any two of them.
struct Paced {
    window: u64,
    interval: Span,
    last: Option<Time>,
}

impl SenderCc for Paced {
    fn window(&self) -> u64 {
        self.window * MSS
    }

    // An ACK of the sixth segment makes it twice as fast.
    fn on_ack(&mut self, ack: &Ack) {
        if ack.acknowledged == 1 + 6 * MSS {
            self.interval = self.interval / 2;
        }
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }
}

impl SegmentCc for Paced {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if packet.payload > 0 {
            self.last = Some(now);
        }
    }

    fn pacing(&self) -> Option<Time> {
        Some(self.last.map_or(Time::ZERO, |last| last + self.interval))
    }
}

/// An open connection with this window that sends a segment every 2 ms.
fn paced(window: u64) -> Timeline<Paced> {
    let cc = Paced {
        window,
        interval: ms(2),
        last: None,
    };
    Timeline::established_with(config(), Seq(1000), cc)
}

#[test]
fn the_segments_of_a_window_leave_one_interval_apart() {
    let mut t = paced(4);
    t.write(6 * MSS).expect_data(0..1);
    assert!(t.endpoint.paces());
    for segment in 1..4 {
        t.quiet_until(ms(2 * segment)).at(ms(2 * segment));
        t.expect_data(segment..segment + 1);
    }
    // The window is full. What an ACK allows leaves at once, if its time has come, and what it allows
    // beyond has to wait.
    t.quiet_until(ms(100)).at(ms(100));
    t.ack(2).expect_data(4..5);
    t.quiet_until(ms(102)).at(ms(102)).expect_data(5..6);
    t.ack(6).at(ms(10_000)).expect_nothing();
}

#[test]
fn an_ack_between_two_segments_moves_neither_unless_it_changes_the_pace() {
    let mut t = paced(9);
    t.write(20 * MSS).expect_data(0..1);
    for segment in 1..6 {
        t.at(ms(2 * segment)).expect_data(segment..segment + 1);
    }
    // The last one left at 10 ms, the next is due at 12 ms: one sooner with the new interval.
    t.at(Span::from_micros(10_500)).ack(5).expect_nothing();
    t.ack(6).quiet_until(ms(11));
    t.at(ms(11)).expect_data(6..7);
    t.quiet_until(ms(12)).at(ms(12)).expect_data(7..8);
    t.act(Endpoint::abort);
    assert!(t.take().flags.has(TcpFlags::RST));
}

#[test]
fn a_retransmission_has_to_wait_for_its_time_too() {
    let mut t = paced(8);
    t.write(8 * MSS).expect_data(0..1);
    for segment in 1..8 {
        t.at(ms(2 * segment)).expect_data(segment..segment + 1);
    }
    // Three duplicates at 15 ms; the last segment left at 14 ms.
    t.at(ms(15)).duplicates(3).expect_nothing();
    t.quiet_until(ms(16)).at(ms(16)).expect_retransmission(0);
    t.ack(8);
    assert_eq!(t.endpoint.deadline(), Time::NEVER);
}

#[test]
fn what_a_timeout_sends_again_is_paced() {
    let mut t = paced(3);
    t.write(3 * MSS).expect_data(0..1);
    t.at(ms(2)).expect_data(1..2);
    t.at(ms(4)).expect_data(2..3);
    // RFC 6298 §5.1: the timer runs since the first segment, at the end of the handshake.
    t.quiet_until(RTO).at(RTO).expect_retransmission(0);
    for segment in 1..3 {
        let at = RTO + ms(2 * segment);
        t.quiet_until(at).at(at).expect_retransmission(segment);
    }
    t.ack(3);
    assert_eq!(t.endpoint.deadline(), Time::NEVER);
}

#[test]
fn nothing_is_waited_for_that_the_window_does_not_allow() {
    let mut t = paced(1);
    t.write(5 * MSS).expect_data(0..1);
    // Only the retransmission timer is due, an RTO after the segment.
    let sent = Time::ZERO + HANDSHAKE;
    assert_eq!(t.endpoint.deadline(), sent + RTO);
    t.at(ms(1)).ack(1).expect_nothing();
    assert_eq!(t.endpoint.deadline(), sent + ms(2));
    t.at(ms(2)).expect_data(1..2);
    t.at(ms(50)).ack(2).expect_data(2..3);
    t.act(Endpoint::abort);
    assert!(t.take().flags.has(TcpFlags::RST));
    assert_eq!(t.endpoint.deadline(), Time::NEVER);
}

#[test]
fn the_fin_waits_for_its_time_and_acks_do_not() {
    let mut t = paced(4);
    t.write(MSS).expect_data(0..1);
    t.close().expect_nothing();
    // Data of the peer is acknowledged at once.
    t.at(ms(1)).receive(0..1).expect_ack(1);
    t.at(ms(2));
    let fin = t.take();
    assert!(fin.flags.has(TcpFlags::FIN) && fin.payload == 0);
}
