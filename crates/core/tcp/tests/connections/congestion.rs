//! Growth of the window: RFC 5681 §3.1, RFC 3465, RFC 5681 §4.1.

use tcp::{Config, IdleWindow};

use crate::script::{MSS, Timeline, config, ms};

// RFC 5681 §3.1 eq. 2: one segment per ACK, so the window doubles per round.
// Clauses: RFC5681-3.1-slow-start
#[test]
fn slow_start_rounds_are_4_8_16_32_and_6_of_66_segments() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        ..config()
    });
    t.write(66 * MSS).expect_data(0..4);
    let (mut acked, mut sent) = (0, 4);
    for round in [8, 16, 32, 6] {
        let window = sent;
        while acked < window {
            acked += 1;
            t.ack(acked);
        }
        t.expect_data(sent..sent + round).expect_nothing();
        sent += round;
    }
    assert_eq!(sent, 66);
}

// RFC 5681 §3.1 eq. 3: a segment per round, a share of it per ACK.
// Clauses: RFC5681-3.1-avoidance
#[test]
fn congestion_avoidance_adds_a_segment_per_round() {
    let mut t = Timeline::established(Config {
        initial_ssthresh: 4 * MSS,
        initial_window: 4,
        ..config()
    });
    t.write(20 * MSS).expect_data(0..4);
    // 1000^2/4000, /4250, /4485.3, /4708.2, /4920.6: 250 + 235.3 + 223 + 212.4 + 203.2.
    t.ack(1).expect_cwnd(4250).expect_data(4..5);
    t.ack(2).expect_cwnd(4485).expect_data(5..6);
    t.ack(3).expect_cwnd(4708).expect_data(6..7);
    t.ack(4).expect_cwnd(4920).expect_data(7..8);
    t.ack(5).expect_cwnd(5123).expect_data(8..10);
}

// RFC 5681 §3.1: slow start ends when the window reaches ssthresh.
// Clauses: RFC5681-3.1-threshold
#[test]
fn slow_start_ends_at_the_threshold() {
    let mut t = Timeline::established(Config {
        initial_ssthresh: 3 * MSS,
        initial_window: 2,
        ..config()
    });
    t.write(20 * MSS).expect_data(0..2);
    t.ack(1).expect_cwnd(3 * MSS).expect_data(2..4);
    t.ack(2).expect_cwnd(3333).expect_data(4..5);
}

// RFC 3465 §2.2: L = 1 is eq. 2 of RFC 5681; L = 2 makes up for delayed ACKs, not for longer gaps.
#[test]
fn an_ack_of_many_segments_grows_by_the_byte_counting_limit() {
    for (limit, grown) in [(1, 5), (2, 6)] {
        let mut t = Timeline::established(Config {
            initial_window: 4,
            byte_counting_limit: limit,
            ..config()
        });
        t.write(20 * MSS).expect_data(0..4);
        t.ack(3).expect_cwnd(grown * MSS).expect_data(4..3 + grown);
    }
}

// RFC 3465 §2.3: after a timeout L is 1, because an ACK may cover segments that had arrived before.
#[test]
fn slow_start_after_a_timeout_grows_by_one_segment_per_ack() {
    let mut t = Timeline::established(Config {
        byte_counting_limit: 2,
        ..config()
    });
    t.write(30 * MSS).expect_data(0..10);
    t.at(ms(300)).expect_retransmission(0).expect_cwnd(MSS);
    t.ack(4).expect_cwnd(2 * MSS);
    t.expect_retransmission(4).expect_retransmission(5);
}

// RFC 5681 §3.1: the window grows by acknowledged data only, and a small ACK by what it covers.
// Clauses: RFC5681-3.1-bytes
#[test]
fn an_ack_of_few_bytes_grows_by_as_many() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    t.ack_offset(101).expect_cwnd(10 * MSS + 100);
}

// RFC 5681 §4.1: silent for longer than the RTO.
// Clauses: RFC5681-4.1-restart
#[test]
fn an_idle_connection_restarts_from_the_initial_window() {
    for (restart, window) in [(true, 2), (false, 8)] {
        let mut t = Timeline::established(Config {
            initial_window: 2,
            idle_restart: restart,
            ..config()
        });
        t.write(6 * MSS).expect_data(0..2);
        t.at(ms(100)).ack(1).ack(2).expect_data(2..6);
        t.at(ms(200)).ack(3).ack(4).ack(5).ack(6);
        t.expect_cwnd(8 * MSS);
        // The last data left at 100 ms; the RTO is 212.5 ms after three samples of 100 ms.
        t.at(ms(320)).write(20 * MSS);
        t.expect_data(6..6 + window).expect_cwnd(window * MSS);
    }
}

// RFC 2861 §3.1; Linux 6.12, tcp_cwnd_restart. The RTO is 212.5 ms after three samples of 100 ms.
#[test]
fn a_pause_halves_the_window_for_each_timeout_but_the_first() {
    for (pause, window) in [(212, 8), (213, 4), (425, 4), (426, 2), (5000, 2)] {
        let mut t = Timeline::established(Config {
            initial_window: 2,
            idle_window: IdleWindow::Halves,
            ..config()
        });
        t.write(6 * MSS).expect_data(0..2);
        t.at(ms(100)).ack(1).ack(2).expect_data(2..6);
        t.at(ms(200)).ack(3).ack(4).ack(5).ack(6);
        t.expect_cwnd(8 * MSS);
        t.at(ms(100 + pause)).write(20 * MSS);
        t.expect_data(6..6 + window).expect_cwnd(window * MSS);
    }
}

// RFC 5681 §4.1: not before the RTO has passed, 250 ms after two samples of 100 ms.
// Clauses: RFC5681-4.1-restart
#[test]
fn a_short_pause_keeps_the_window() {
    let mut t = Timeline::established(Config {
        initial_window: 2,
        ..config()
    });
    t.write(2 * MSS).expect_data(0..2);
    t.at(ms(100)).ack(1).ack(2);
    t.at(ms(250)).write(20 * MSS).expect_data(2..6);
}

// RFC 5681 §4.1: the restart window is never larger than the window was.
// Clauses: RFC5681-4.1-restart
#[test]
fn idleness_does_not_enlarge_a_small_window() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(400)).ack(1).expect_cwnd(2 * MSS);
    t.at(ms(9000)).write(20 * MSS).expect_data(1..3);
}

// RFC 7661 §4.2: what counts is the most that was in flight in a round trip, not what is left of it.
// Clauses: RFC7661-4.2-unused
#[test]
fn the_last_acks_of_a_window_that_was_used_grow_it() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        ..config()
    });
    t.write(4 * MSS).expect_data(0..4);
    t.ack(1).ack(2).ack(3).ack(4).expect_cwnd(8 * MSS);
    // The next window of data is three of eight segments.
    t.write(3 * MSS).expect_data(4..7);
    t.ack(5).ack(6).ack(7).expect_cwnd(8 * MSS);
}

// RFC 7661 §4.2: a peer, or a switch that rewrites its windows, grants four segments for ten round trips.
// When it lets go, the window is what was proven, and not what ten round trips of slow start make of it.
// Clauses: RFC7661-4.2-unused
#[test]
fn a_window_that_the_peer_bounds_does_not_grow_beyond_twice_its_use() {
    let mut t = Timeline::established(Config {
        initial_window: 4,
        ..config()
    });
    t.window = 4 * 1024;
    t.ack(0).write(100 * MSS).expect_data(0..4);
    for segment in 1..=40 {
        t.ack(segment).expect_data(segment + 3..segment + 4);
    }
    t.expect_cwnd(9 * MSS);
}

// RFC 7661: a window of which less than half is used is not known to be right.
#[test]
fn a_window_that_is_not_used_grows_unless_it_is_to_be_validated() {
    for (window_validation, segments, cwnd) in [(false, 4, 11), (true, 4, 10), (true, 5, 11)] {
        let mut t = Timeline::established(Config {
            initial_window: 10,
            window_validation,
            ..config()
        });
        t.write(segments * MSS).expect_data(0..segments);
        t.ack(1).expect_cwnd(cwnd * MSS);
    }
}
