//! When ACKs leave: RFC 5681 §4.2, RFC 9293 §3.8.6.3.

use base::{Ecn, Packet, Seq, Span, TcpFlags, Time};
use tcp::{Config, EcnMode};

use crate::script::{MSS, Timeline, config, ms};

fn every(segments: u32) -> Timeline {
    Timeline::established(Config {
        delayed_ack: segments,
        ..config()
    })
}

#[test]
fn without_delay_every_segment_is_acknowledged() {
    let mut t = every(1);
    t.receive(0..3).expect_ack(1).expect_ack(2).expect_ack(3);
}

// RFC 5681 §4.2: at least every second segment.
// Clauses: RFC5681-4.2-delayed
#[test]
fn every_second_segment_is_acknowledged() {
    let mut t = every(2);
    t.receive(0..1).expect_nothing();
    t.receive(1..2).expect_ack(2);
    t.receive(2..3).expect_nothing();
    t.receive(3..4).expect_ack(4);
}

// RFC 5681 §4.2: within the delay, from the first segment that waits.
// Clauses: RFC5681-4.2-delayed
#[test]
fn a_lone_segment_is_acknowledged_after_the_delay() {
    let mut t = every(3);
    t.receive(0..1).at(ms(30)).receive(1..2);
    t.quiet_until(ms(40)).at(ms(40)).expect_ack(2);
    t.at(ms(1000)).expect_nothing();
}

// Linux 6.12, tcp_delack_max: a tick before the least timeout.
#[test]
fn a_bound_ends_the_delay_sooner() {
    let mut t = Timeline::established(Config {
        delayed_ack: 2,
        delayed_ack_bound: ms(9),
        ..config()
    });
    t.receive(0..1).quiet_until(ms(9)).at(ms(9)).expect_ack(1);
}

// RFC 5681 §4.2: a segment beyond a gap, at once; and one that fills part of it.
// Clauses: RFC5681-4.2-immediate
#[test]
fn out_of_order_and_gap_filling_segments_are_acknowledged_at_once() {
    let mut t = every(2);
    t.receive(1..2).expect_ack(0);
    t.receive(3..4).expect_ack(0);
    t.receive(0..1).expect_ack(2);
    t.receive(2..3).expect_ack(4);
    t.receive(4..5).expect_nothing();
}

// RFC 9293 §3.10.7.4: what was received before is acknowledged again, at once.
#[test]
fn a_duplicate_segment_is_acknowledged_at_once() {
    let mut t = every(2);
    t.receive(0..2).expect_ack(2);
    t.receive(0..1).expect_ack(2);
    assert!(t.progress.stored && t.endpoint.arrival().new_bytes == 0);
}

// RFC 9293 §3.10.7.4, eighth check.
// Clauses: RFC9293-3.10.7.4-fin
#[test]
fn fin_is_acknowledged_at_once() {
    let mut t = every(2);
    t.receive_fin();
    assert_eq!(t.take().ack, t.peer_seq.at(2));
}

// RFC 9293 §3.8.6.3: an acknowledgement rides on data.
#[test]
fn data_carries_the_waiting_acknowledgement() {
    let mut t = every(2);
    t.receive(0..1);
    t.write(MSS);
    let data = t.take();
    assert_eq!(data.ack, t.peer_seq.at(1 + MSS));
    t.at(ms(200)).expect_nothing();
}

// RFC 5681 §4.2: in order, but a gap remains above.
// Clauses: RFC5681-4.2-immediate
#[test]
fn a_segment_that_shortens_a_gap_is_acknowledged_at_once() {
    let mut t = every(2);
    t.receive(3..4).expect_ack(0);
    t.receive(0..1).expect_ack(1);
    t.receive(1..2).expect_ack(2);
}

/// A receiver whose reports wait, with a round trip known from its own data.
fn compressing() -> Timeline {
    let mut t = Timeline::established(Config {
        sack: true,
        sack_delay: ms(10),
        sack_delay_slack: Span::from_micros(100),
        dsack: true,
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    t.at(ms(4)).ack(1).expect_nothing();
    t
}

// Linux 6.12, __tcp_ack_snd_check: three reports of a hole, then one for those of a twentieth of a round trip.
#[test]
fn the_fourth_report_of_a_hole_waits_for_more() {
    let mut t = compressing();
    t.receive(1..4).expect_ack(0).expect_ack(0).expect_ack(0);
    t.receive(4..6).expect_nothing();
    let until = t.clock() + t.endpoint.srtt() / 20 + Span::from_micros(100);
    t.quiet_until(until).at(until);
    let ack = t.take();
    let blocks = ack.options.sack().expect("a hole stays");
    assert_eq!(blocks.as_slice()[0].1, t.peer_seq.at(1 + 6 * MSS));
    t.at(ms(100)).expect_nothing();
}

// A hole that is filled, and what has come in order before, is acknowledged at once, with all that waited (RFC 5681 §4.2).
// What comes twice beyond a hole is one more report (Linux 6.12, tcp_data_queue_ofo).
#[test]
fn nothing_but_reports_waits() {
    let mut t = compressing();
    t.receive(1..4).expect_ack(0).expect_ack(0).expect_ack(0);
    t.receive(4..5).expect_nothing();
    t.receive(0..1).expect_ack(5);
    t.receive(5..6).expect_ack(6);
    t.receive(7..11).expect_ack(6).expect_ack(6).expect_ack(6);
    t.expect_nothing().receive(8..9).expect_nothing();
    t.receive(0..1).expect_ack(6);
    t.receive(8..9).expect_nothing();
    let until = t.clock() + t.endpoint.srtt() / 20 + Span::from_micros(100);
    t.quiet_until(until).at(until).expect_ack(6);
    t.at(ms(100)).expect_nothing();
}

// Linux 6.12, tcp_data_queue: what came twice is forgotten with the next segment.
#[test]
fn of_what_came_twice_while_reports_wait_the_last_is_told() {
    let mut t = compressing();
    t.receive(1..4).expect_ack(0).expect_ack(0).expect_ack(0);
    t.receive(2..4).expect_nothing();
    let until = t.clock() + t.endpoint.srtt() / 20 + Span::from_micros(100);
    let ack = t.quiet_until(until).at(until).take();
    let blocks = ack.options.sack().expect("a hole stays");
    let first = t.peer_seq;
    let of = |segment: u64| first.at(1 + segment * MSS);
    assert_eq!(blocks.as_slice(), [(of(3), of(4)), (of(1), of(4))]);
    // New data.
    t.receive(2..3).receive(4..5).expect_nothing();
    let until = t.clock() + t.endpoint.srtt() / 20 + Span::from_micros(100);
    let ack = t.quiet_until(until).at(until).take();
    let blocks = ack.options.sack().expect("a hole stays");
    assert_eq!(blocks.as_slice(), [(of(1), of(5))]);
}

// Linux 6.12, tcp_sack_new_ofo_skb: the ACK that waited leaves before a third range is there, or when it is extended but not
// the newest yet. It leaves nothing to be acknowledged (tcp_ack_snd_check): what begins is told with the next segment.
#[test]
fn reports_do_not_wait_for_a_third_range() {
    let mut t = compressing();
    t.receive(1..2).receive(4..6);
    t.expect_ack(0).expect_ack(0).expect_ack(0);
    t.receive(6..8).expect_nothing().receive(9..10);
    assert_eq!(reported(&mut t), [(4, 8), (1, 2)]);
    t.expect_nothing().at(ms(20)).expect_nothing();
    // The ranges that have changed last may grow, and reports of that wait.
    t.receive(10..11).receive(8..9).expect_nothing();
    let until = t.clock() + t.endpoint.srtt() / 20 + Span::from_micros(100);
    t.quiet_until(until).at(until);
    assert_eq!(reported(&mut t), [(4, 11), (1, 2)]);
    // One that is reported behind them may not.
    t.receive(12..14).expect_nothing().receive(2..3);
    assert_eq!(reported(&mut t), [(12, 14), (4, 11), (1, 3)]);
    // A segment that comes twice also makes the reports leave.
    t.receive(15..16).expect_nothing().receive(5..6);
    assert_eq!(reported(&mut t), [(5, 6), (15, 16), (1, 3)]);
    t.expect_nothing().at(ms(40)).expect_nothing();
}

// RFC 8257 §3.2: the ACK that leaves because marks begin tells of what came before. Something is held then only if a role
// holds ACKs, and it is reported (RFC 2018 §4).
#[test]
fn an_ack_before_a_mark_reports_what_was_held_before() {
    let config = Config {
        delayed_ack: 2,
        ecn: EcnMode::Accurate,
        sack: true,
        sack_delay: ms(10),
        ..config()
    };
    let mut t = Timeline::established(config);
    t.receive(0..1).expect_nothing();
    t.receive_marked(2..3);
    let told = [t.take(), t.take()].map(|ack| (ack.flags.has(TcpFlags::ECE), ranges(&t, &ack)));
    assert_eq!(told, [(false, vec![]), (true, vec![(2, 3)])]);

    let mut t = Timeline::established(config);
    let (beyond, mut marked) = (t.peer_data(2), t.peer_data(4));
    marked.ecn = Ecn::Marked;
    t.endpoint.on_segment(&beyond, Time::ZERO + ms(100));
    t.endpoint.hold_ack();
    t.deliver(marked);
    let told = [t.take(), t.take()].map(|ack| (ack.flags.has(TcpFlags::ECE), ranges(&t, &ack)));
    assert_eq!(told, [(false, vec![(2, 3)]), (true, vec![(4, 5), (2, 3)])]);
}

// Linux 6.12, tcp_delack_timer_handler: an ACK leaves the timer of the delayed ACK as it is, and it sends what waits then.
#[test]
fn the_timer_of_an_ack_that_has_left_sends_reports_that_wait() {
    let mut t = Timeline::established(Config {
        delayed_ack: 2,
        delayed_ack_timeout: ms(40),
        sack: true,
        sack_delay: ms(10),
        ..config()
    });
    t.receive(0..1).at(ms(1)).receive(1..2).expect_ack(2);
    t.at(ms(38)).receive(3..6);
    t.expect_ack(2).expect_ack(2).expect_ack(2);
    t.receive(6..7).quiet_until(ms(40)).at(ms(40));
    assert_eq!(reported(&mut t), [(3, 7)]);
    // It has expired: the next report waits for a twentieth of the round trip of 100 ms.
    t.receive(7..8).quiet_until(ms(45)).at(ms(45));
    assert_eq!(reported(&mut t), [(3, 8)]);
}

/// The ranges that the next segment that left reports, in segments.
fn reported(t: &mut Timeline) -> Vec<(u64, u64)> {
    let ack = t.take();
    ranges(t, &ack)
}

fn ranges(t: &Timeline, ack: &Packet) -> Vec<(u64, u64)> {
    let segment = |seq: Seq| (t.peer_seq.near(seq, 1) - 1) / MSS;
    let blocks = ack
        .options
        .sack()
        .map_or(Vec::new(), |sack| sack.as_slice().to_vec());
    let blocks = blocks.into_iter();
    blocks
        .map(|(start, end)| (segment(start), segment(end)))
        .collect()
}

// Linux 6.12, tcp_event_data_sent and tcp_delack_timer_handler: on a connection whose data answer data ACKs wait for the next
// answer, although the first ones would not; until one has waited in vain.
#[test]
fn first_acks_wait_where_data_answers_data() {
    let mut t = Timeline::established(Config {
        quick_acks: 4,
        delayed_ack: 2,
        delayed_ack_timeout: ms(40),
        ..config()
    });
    t.receive(0..1).expect_ack(1);
    t.at(ms(1)).write(MSS).expect_data(0..1);
    t.receive(1..2).quiet_until(ms(41)).at(ms(41)).expect_ack(2);
    t.receive(2..3).expect_ack(3);
    // What leaves later answers nothing.
    t.at(ms(81)).ack(1).write(MSS).expect_data(1..2);
    t.receive(3..4).expect_ack(4);
}
