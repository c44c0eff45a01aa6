//! Timestamps: RFC 7323 §3 to §5, and the detection of RFC 3522 that stands on them.

use base::{Options, Packet, Seq, Span, TcpFlags, Timestamps};
use tcp::{Config, LossDetection};

use crate::script::{MSS, Timeline, config, identity, ms, willing};

fn stamped() -> Config {
    Config {
        timestamps: true,
        ..config()
    }
}

/// A segment of the peer with these timestamps.
fn with(mut packet: Packet, value: u32, echo: u32) -> Packet {
    packet.options = packet.options.stamped(Timestamps { value, echo });
    packet
}

/// The timestamps of the next segment that leaves.
fn told(t: &mut Timeline) -> Timestamps {
    let packet = t.take();
    packet.options.timestamps().expect("timestamps")
}

/// A connection whose handshake took 100 ms, with both SYNs stamped.
fn established(config: Config) -> Timeline {
    let mut t = Timeline::connecting(config);
    let syn = told(&mut t);
    assert_eq!((syn.value, syn.echo), (1, 0));
    t.at(ms(100));
    let syn_ack = t.syn_ack(willing());
    t.deliver(with(syn_ack, 700, syn.value));
    let ack = told(&mut t);
    assert_eq!((ack.value, ack.echo), (101, 700));
    t
}

/// An ACK of this many segments.
fn ack(t: &mut Timeline, segments: u64, echo: u32) {
    let mut packet = t.peer_segment(TcpFlags::ACK);
    packet.ack = identity(Seq(1000)).initial_seq.at(1 + segments * MSS);
    t.deliver(with(packet, 700, echo));
}

/// An ACK of this many segments that reports `blocks` of them.
fn report(t: &mut Timeline, segments: u64, blocks: &[(u64, u64)], echo: u32) {
    let mut packet = t.peer_segment(TcpFlags::ACK);
    let initial = t.endpoint.identity().initial_seq;
    let at = |segment| initial.at(1 + segment * MSS);
    packet.ack = at(segments);
    let mut list = base::SackBlocks::new();
    for (start, end) in blocks {
        list.push(at(*start), at(*end));
    }
    packet.options = Options::Sack(list);
    t.deliver(with(packet, 700, echo));
}

// RFC 7323 §3.2: without the option in the SYN-ACK no segment has it.
// Clauses: RFC7323-3.2-both
#[test]
fn a_peer_without_timestamps_gets_none() {
    let mut t = Timeline::connecting(stamped());
    t.take();
    let syn_ack = t.syn_ack(willing());
    t.deliver(syn_ack);
    assert_eq!(t.take().options, Options::None);
}

// RFC 7323 §4.1: the echo tells that the copy was answered, so that the sample counts although Karn's rule
// would forbid it: 50 ms make RTTVAR 3/4 * 50 + 1/4 * 50 and SRTT 93.75 ms, instead of a timeout of 600 ms.
// Clauses: RFC7323-4.1-sample
#[test]
fn the_first_new_ack_ends_the_back_off() {
    let mut t = established(stamped());
    t.write(2 * MSS);
    (0..2).for_each(|_| assert_eq!(told(&mut t).value, 101));
    t.at(ms(400));
    let copy = told(&mut t).value;
    t.at(ms(450));
    ack(&mut t, 1, copy);
    t.take();
    let next = ms(450) + Span::from_micros(293_750);
    t.quiet_until(next).at(next).take();
}

// RFC 7323 §5.3 R1: old, so it is answered and dropped; the next one is not.
// Clauses: RFC7323-3.2-missing, RFC7323-5.3-old
#[test]
fn a_segment_from_before_is_answered_and_dropped() {
    let mut t = established(stamped());
    let first = with(t.peer_data(0), 698, 101);
    t.deliver(first).expect_ack(0);
    let first = with(t.peer_data(0), 700, 101);
    t.deliver(first).expect_ack(1);
    // RFC 7323 §3.2: without the option it is dropped.
    let second = t.peer_data(1);
    t.deliver(second).expect_nothing();
}

// RFC 3522 §3.2: the ACK that ends the recovery echoes the original; RFC 4015: the window as it was.
#[test]
fn a_recovery_that_the_original_answers_is_taken_back() {
    let mut t = established(Config {
        sack: true,
        undo: true,
        loss_detection: LossDetection::Rack,
        initial_window: 4,
        ..stamped()
    });
    t.write(4 * MSS);
    (0..4).for_each(|_| assert_eq!(told(&mut t).value, 101));
    t.at(ms(300));
    let mut report = t.peer_segment(TcpFlags::ACK);
    let mut list = base::SackBlocks::new();
    let initial = t.endpoint.identity().initial_seq;
    list.push(initial.at(1 + MSS), initial.at(1 + 4 * MSS));
    report.options = Options::Sack(list);
    t.deliver(with(report, 700, 101));
    assert_eq!(told(&mut t).value, 301);
    t.expect_cwnd(2 * MSS);
    ack(&mut t, 4, 101);
    // The four segments of before, and slow start's one for this ACK.
    t.expect_cwnd(5 * MSS);
    assert_eq!(t.endpoint.counters().undone, 1);
}

// RFC 7323 §5.2: 3 lies behind the greatest numbers, and these before it.
// Clauses: RFC7323-5.2-wrap
#[test]
fn timestamps_wrap() {
    let mut t = Timeline::connecting(stamped());
    let syn = told(&mut t);
    let syn_ack = t.syn_ack(willing());
    t.deliver(with(syn_ack, u32::MAX - 5, syn.value)).take();
    let later = with(t.peer_data(0), 3, syn.value);
    t.deliver(later).expect_ack(1);
    let earlier = with(t.peer_data(1), u32::MAX - 5, syn.value);
    t.deliver(earlier).expect_ack(1);
    assert_eq!(t.endpoint.received(), MSS);
}

// Linux 6.12, tcp_try_undo_partial: the original of segment 0 was late, as the echo says, and so may those of others be:
// three copies are on their way, and 6 is not sent again before the next ACK.
#[test]
fn an_original_that_fills_a_hole_holds_repairs_back_while_copies_are_out() {
    let next = |t: &mut Timeline| {
        let packet = t.take();
        (t.offset(&packet) - 1) / MSS
    };
    for (echo, repairs) in [(101, false), (301, true)] {
        let mut t = established(Config {
            sack: true,
            undo: true,
            loss_detection: LossDetection::Rack,
            initial_window: 8,
            ..stamped()
        });
        t.write(8 * MSS);
        (0..8).for_each(|_| assert_eq!(told(&mut t).value, 101));
        t.at(ms(300));
        report(&mut t, 0, &[(7, 8), (3, 4), (1, 2)], 101);
        // The window of eight is one of four now.
        assert_eq!([(); 4].map(|()| next(&mut t)), [0, 2, 4, 5]);
        t.at(ms(450));
        report(&mut t, 2, &[(7, 8), (3, 4)], echo);
        if repairs {
            assert_eq!(next(&mut t), 6);
        } else {
            t.expect_nothing();
            report(&mut t, 4, &[(7, 8)], 301);
            assert_eq!(next(&mut t), 6);
        }
        assert_eq!(t.endpoint.counters().undone, 0);
    }
}
