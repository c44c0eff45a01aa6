//! Loss recovery with SACK: RFC 2018 and RFC 6675.

use base::{Options, SackBlocks, Seq, TcpFlags};
use tcp::Config;

use crate::script::{MSS, PEER_SEQ, Timeline, config, ms};

fn with_sack() -> Config {
    Config {
        sack: true,
        ..config()
    }
}

/// A connection with `segments` in its first window and more to send.
fn in_flight(segments: u32) -> Timeline {
    let mut t = Timeline::established(Config {
        initial_window: segments,
        ..with_sack()
    });
    let segments = u64::from(segments);
    t.write((segments + 40) * MSS).expect_data(0..segments);
    t
}

/// The blocks of the next ACK, as segments of the peer.
fn blocks(t: &mut Timeline) -> Vec<(u64, u64)> {
    let Options::Sack(list) = t.take().options else {
        return Vec::new();
    };
    let segment = |seq: &Seq| (PEER_SEQ.near(*seq, 1) - 1) / MSS;
    let pairs = list.as_slice().iter();
    pairs
        .map(|(start, end)| (segment(start), segment(end)))
        .collect()
}

// RFC 2018 §4: the first block holds the newest segment, the others follow by recency.
// Clauses: RFC2018-4-newest, RFC2018-4-repeat
#[test]
fn the_first_block_holds_the_newest_segment() {
    let mut t = Timeline::established(with_sack());
    t.receive(2..3);
    assert_eq!(blocks(&mut t), [(2, 3)]);
    t.receive(6..7);
    assert_eq!(blocks(&mut t), [(6, 7), (2, 3)]);
    t.receive(4..5);
    assert_eq!(blocks(&mut t), [(4, 5), (6, 7), (2, 3)]);
    t.receive(3..4);
    assert_eq!(blocks(&mut t), [(2, 5), (6, 7)]);
    t.receive(0..2);
    assert_eq!(blocks(&mut t), [(2, 5), (6, 7)]);
    assert_eq!(blocks(&mut t), [(6, 7)]);
}

// RFC 2018 §3: at most three blocks; the oldest is left out.
// Clauses: RFC2018-3-number
#[test]
fn at_most_three_blocks_are_reported() {
    let mut t = Timeline::established(with_sack());
    for segment in [1, 3, 5] {
        t.receive(segment..segment + 1).take();
    }
    t.receive(7..8);
    assert_eq!(blocks(&mut t), [(7, 8), (5, 6), (3, 4)]);
}

// RFC 6675 §4 IsLost, first half: more than two segments' bytes above.
// Clauses: RFC6675-4-lost-bytes, RFC6675-5-enter, RFC6675-5-halve
#[test]
fn a_hole_is_lost_with_more_than_two_segments_above_it() {
    let mut t = in_flight(10);
    // One ACK, not three duplicates.
    t.sack(0, &[(1, 4)]).expect_retransmission(0);
    t.expect_ssthresh(5 * MSS).expect_cwnd(5 * MSS);
}

// RFC 6675 §4 IsLost, second half: three discontiguous ranges above, however short.
// Clauses: RFC6675-4-lost-ranges
#[test]
fn a_hole_is_lost_with_three_ranges_above_it() {
    let mut t = in_flight(10);
    let short = |t: &mut Timeline, segments: &[u64]| {
        let initial = t.endpoint.identity().initial_seq;
        let mut list = SackBlocks::new();
        for segment in segments {
            list.push(
                initial.at(1 + segment * MSS),
                initial.at(11 + segment * MSS),
            );
        }
        let mut packet = t.peer_segment(TcpFlags::ACK);
        packet.options = Options::Sack(list);
        t.deliver(packet);
    };
    short(&mut t, &[1, 3]);
    t.expect_nothing();
    short(&mut t, &[5, 3, 1]);
    t.expect_retransmission(0);
}

// RFC 6675 §2: a duplicate is an ACK with something new in its blocks.
// Clauses: RFC6675-2-duplicate
#[test]
fn an_ack_without_new_blocks_is_no_duplicate() {
    let mut t = in_flight(10);
    for _ in 0..4 {
        t.sack(0, &[(1, 2)]);
    }
    t.duplicates(4).expect_nothing();
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

// RFC 6675 §5: cwnd 5; 10 - 3 SACKed - 1 lost + 1 sent again: pipe 7. New data from pipe 4 on.
// Clauses: RFC6675-4-pipe, RFC6675-5-each
#[test]
fn the_pipe_bounds_what_recovery_sends() {
    let mut t = in_flight(10);
    t.sack(0, &[(1, 4)]).expect_retransmission(0);
    t.sack(0, &[(1, 5)]).sack(0, &[(1, 6)]).expect_nothing();
    t.sack(0, &[(1, 7)]).expect_data(10..11);
    t.sack(0, &[(1, 8)]).expect_data(11..12);
    // A full ACK: cwnd stays 5, two in flight.
    t.ack(10).expect_cwnd(5 * MSS).expect_data(12..15);
}

// RFC 6675 §4 NextSeg rule 1 before rule 2: lost holes in order, then new data.
// Clauses: RFC2018-5-skip, RFC6675-4-next-1, RFC6675-4-next-2
#[test]
fn several_holes_are_filled_in_order_before_new_data() {
    let mut t = in_flight(20);
    // Lost: 0, 2, 4. cwnd 10; pipe = 20 - 13 SACKed - 3 lost + 1 = 5: four more may go, and rule 1
    // takes two of them.
    t.sack(0, &[(5, 16), (3, 4), (1, 2)]);
    t.expect_retransmission(0)
        .expect_retransmission(2)
        .expect_retransmission(4);
    t.expect_data(20..23);
    t.ack(20);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
    t.expect_data(23..30);
}

// RFC 9293 §3.8.6: whatever the pipe allows, new data stays within the peer's window.
// Clauses: RFC6675-4-next-2
#[test]
fn recovery_sends_nothing_beyond_the_peers_window() {
    let mut t = Timeline::established(with_sack());
    t.window = 10 * 1024;
    t.ack(0).write(30 * MSS).expect_data(0..10);
    for end in 2..=10 {
        t.sack(0, &[(1, end)]);
    }
    // The window is 5, the pipe only segment 0, sent again.
    t.expect_retransmission(0).expect_nothing();
    t.ack(10).expect_data(10..15);
}

// RFC 6298 §5.3: with SACK every partial acknowledgement restarts the timer, not only the first.
#[test]
fn every_partial_acknowledgement_restarts_the_timer() {
    let mut t = Timeline::established(with_sack());
    t.write(10 * MSS).expect_data(0..10);
    // Lost: 0, 2 and 4, all sent again at once.
    t.at(ms(100)).sack(0, &[(1, 2)]).sack(0, &[(3, 4), (1, 2)]);
    t.sack(0, &[(5, 10), (3, 4), (1, 2)]);
    for segment in [0, 2, 4] {
        t.expect_retransmission(segment);
    }
    t.at(ms(200)).sack(2, &[(5, 10), (3, 4)]);
    t.at(ms(290)).sack(4, &[(5, 10)]);
    // The RTO is that of the handshake: nothing was sampled since.
    t.quiet_until(ms(590)).at(ms(590)).expect_retransmission(4);
}

// RFC 6675 §4 NextSeg rule 3: with nothing new to send, holes not yet counted as lost.
// Clauses: RFC6675-4-next-3
#[test]
fn without_new_data_other_holes_are_filled() {
    let mut t = Timeline::established(with_sack());
    t.write(10 * MSS).expect_data(0..10);
    // Segments 0 and 7 are missing, with only 8 and 9 above 7: not lost by rule 1.
    t.sack(0, &[(1, 7)]).expect_retransmission(0);
    t.sack(0, &[(8, 9), (1, 7)]).expect_retransmission(7);
    t.sack(0, &[(8, 10), (1, 7)]).expect_nothing();
    t.ack(10).expect_nothing();
}

// RFC 6675 §4 NextSeg rule 4: the end of the window is lost and nothing above it can tell.
// Clauses: RFC6675-4-next-4
#[test]
fn the_lost_end_of_a_window_is_rescued_once() {
    let mut t = Timeline::established(with_sack());
    t.write(10 * MSS).expect_data(0..10);
    // Lost: 0, 8 and 9.
    t.sack(0, &[(1, 8)]).expect_retransmission(0);
    t.ack(8).expect_retransmission(9).expect_nothing();
    // The rescue was worth it: it reveals segment 8.
    t.sack(8, &[(9, 10)]).expect_retransmission(8);
    t.ack(10).expect_nothing();
    let counters = t.endpoint.counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 3));
}

// RFC 6675 §5: the FIN is new data too.
#[test]
fn fin_leaves_during_recovery() {
    let mut t = Timeline::established(with_sack());
    t.write(10 * MSS).expect_data(0..10);
    t.sack(0, &[(1, 8)]).expect_retransmission(0);
    t.close();
    assert!(t.take().flags.has(TcpFlags::FIN));
}

// RFC 6675 §5.1 and RFC 2018 §8: after a timeout everything is sent again ...
// Clauses: RFC2018-5.1-timeout
#[test]
fn a_timeout_forgets_the_blocks() {
    let mut t = in_flight(10);
    t.sack(0, &[(5, 6)]);
    t.at(ms(300)).expect_retransmission(0).expect_cwnd(MSS);
    for segment in 1..5 {
        t.ack(segment);
        t.expect_retransmission(2 * segment - 1);
        t.expect_retransmission(2 * segment);
    }
    // The threshold of 5 is reached: congestion avoidance.
    t.ack(10).expect_cwnd(5200).expect_data(10..15);
}

// ... but what is reported since then is skipped (RFC 2018 §5.1).
// Clauses: RFC2018-5-skip
#[test]
fn going_back_skips_what_is_reported_again() {
    let mut t = in_flight(10);
    t.at(ms(300)).expect_retransmission(0);
    // Segments 2 to 4 did arrive.
    t.sack(1, &[(2, 5)])
        .expect_retransmission(1)
        .expect_nothing();
    t.ack(5).expect_cwnd(3 * MSS);
    t.expect_retransmission(5)
        .expect_retransmission(6)
        .expect_retransmission(7);
}

// RFC 6675 §5.1: no new recovery before the recovery point of the timeout.
// Clauses: RFC6675-5.1-timeout
#[test]
fn blocks_below_the_recovery_point_of_a_timeout_start_no_recovery() {
    let mut t = in_flight(10);
    t.at(ms(300)).expect_retransmission(0);
    t.sack(0, &[(1, 4)]);
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
    t.expect_ssthresh(5 * MSS);
}

// RFC 2018 §5: damaged, old or never sent.
#[test]
fn blocks_outside_of_what_is_outstanding_are_ignored() {
    let mut t = in_flight(10);
    t.ack(4).expect_data(10..15);
    for old in [(0, 1), (1, 2), (2, 3), (3, 5)] {
        t.sack(4, &[old]);
    }
    for never_sent in [(12, 90), (30, 40), (9, 7)] {
        t.sack(4, &[never_sent]);
    }
    t.expect_nothing();
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

// RFC 6675 §5 step 3: limited transmit for duplicates that are not yet a loss.
// Clauses: RFC6675-5-limited
#[test]
fn the_first_two_duplicates_send_new_data() {
    let mut t = Timeline::established(Config {
        limited_transmit: true,
        ..with_sack()
    });
    t.write(60 * MSS).expect_data(0..10);
    t.sack(0, &[(1, 2)]).expect_data(10..11);
    t.sack(0, &[(1, 3)]).expect_data(11..12);
    t.sack(0, &[(1, 4)])
        .expect_retransmission(0)
        .expect_ssthresh(5 * MSS);
}

// RFC 6675 §5 step A: losses of one window reduce it once, even in several rounds.
// Clauses: RFC6675-5-each, RFC6675-5-end
#[test]
fn a_partial_acknowledgement_keeps_recovering() {
    let mut t = in_flight(10);
    t.sack(0, &[(1, 4)]).expect_retransmission(0);
    // Segment 5 is lost too, and shows only now: pipe 10 - 8 - 1 lost = 1, and 1 for the hole sent.
    t.sack(4, &[]).expect_nothing();
    t.sack(4, &[(5, 10)])
        .expect_retransmission(4)
        .expect_data(10..14);
    t.ack(10).expect_cwnd(5 * MSS).expect_data(14..15);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
}
