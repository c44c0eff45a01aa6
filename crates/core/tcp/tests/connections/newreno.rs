//! Loss recovery without SACK: RFC 5681 §3.2, RFC 6582, RFC 3042.

use tcp::Config;

use crate::script::{MSS, RTO, Timeline, config, ms};

/// Ten segments have left in the first window, the first is lost.
fn ten_in_flight(config: Config) -> Timeline {
    let mut t = Timeline::established(config);
    t.write(60 * MSS).expect_data(0..10);
    t
}

// RFC 6582 §3.2 steps 2 and 3: ssthresh = 10/2, inflated by the three segments that have left.
// Clauses: RFC5681-3.2-dupack, RFC6582-3.2-enter
#[test]
fn the_third_duplicate_retransmits_at_once() {
    let mut t = ten_in_flight(config());
    t.duplicates(2).expect_nothing();
    t.duplicates(1).expect_retransmission(0);
    t.expect_ssthresh(5 * MSS).expect_cwnd(5 * MSS);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
}

// What a number of duplicates beyond reach does: only the timer repairs.
#[test]
fn without_fast_retransmit_only_the_timer_sends_again() {
    let mut t = ten_in_flight(Config {
        fast_retransmit: false,
        ..config()
    });
    t.duplicates(9).expect_nothing();
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
    t.at(RTO).expect_retransmission(0);
    assert_eq!(t.endpoint.counters().timeouts, 1);
}

// RFC 5681 §3.1 eq. 4: half of what is in flight, six segments, not of the window, which is ten.
// Clauses: RFC5681-3.1-eq4
#[test]
fn a_loss_halves_the_flight_and_not_a_window_that_is_not_used() {
    for sack in [false, true] {
        let mut t = Timeline::established(Config { sack, ..config() });
        t.write(6 * MSS).expect_data(0..6);
        for end in 2..=4 {
            let block = (1, end);
            t.sack(
                0,
                if sack {
                    std::slice::from_ref(&block)
                } else {
                    &[]
                },
            );
        }
        t.expect_retransmission(0);
        t.expect_ssthresh(3 * MSS).expect_cwnd(3 * MSS);
    }
}

// RFC 6582 §3.2 step 4: 5 + 3 + n segments from the first one; new data from the third further one.
// Clauses: RFC5681-3.2-inflate, RFC6582-3.2-enter, RFC6582-3.2-more
#[test]
fn further_duplicates_inflate_the_window() {
    let mut t = ten_in_flight(config());
    t.duplicates(3).expect_retransmission(0);
    t.duplicates(2).expect_nothing();
    t.duplicates(1).expect_data(10..11);
    t.duplicates(3).expect_data(11..14);
}

// RFC 6582 §3.2 step 3, full: min(ssthresh, flight + MSS); flight is the four new segments.
// Clauses: RFC5681-3.2-deflate, RFC6582-3.2-full
#[test]
fn a_full_acknowledgement_ends_recovery_without_a_burst() {
    let mut t = ten_in_flight(config());
    t.duplicates(9).expect_retransmission(0).expect_data(10..14);
    t.ack(10).expect_cwnd(5 * MSS).expect_data(14..15);
    // Congestion avoidance again: 1000^2/5000.
    t.ack(11).expect_cwnd(5200).expect_data(15..16);
}

// RFC 6582 §3.2 step 3, option 1: with nothing in flight the window is max(flight, MSS) + MSS.
// Clauses: RFC6582-3.2-full
#[test]
fn recovery_of_a_drained_connection_ends_with_two_segments() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    t.duplicates(9).expect_retransmission(0);
    t.ack(10).expect_cwnd(2 * MSS).expect_ssthresh(5 * MSS);
}

// RFC 6582 §3.2 step 3, partial: the next hole at once, deflated by 3 and inflated by 1.
// Clauses: RFC6582-3.2-hole, RFC6582-3.2-partial
#[test]
fn a_partial_acknowledgement_retransmits_the_next_hole() {
    let mut t = ten_in_flight(config());
    // Segments 0 and 3 are lost: eight duplicates, 5 + 8 = 13 from segment 0.
    t.duplicates(8).expect_retransmission(0).expect_data(10..13);
    // From segment 3: 13 - 3 + 1 = 11, to 14.
    t.ack(3).expect_retransmission(3).expect_data(13..14);
    t.ack(10).expect_cwnd(5 * MSS);
    assert_eq!(t.endpoint.counters().retransmissions, 2);
    t.expect_data(14..15);
}

// RFC 6582 §3.2 step 2: a loss of the window already halved does not halve it again.
// Clauses: RFC6582-3.2-recover
#[test]
fn one_window_is_halved_once() {
    let mut t = ten_in_flight(config());
    t.duplicates(7).expect_retransmission(0).expect_data(10..12);
    t.ack(3).expect_retransmission(3).expect_data(12..13);
    t.ack(6).expect_retransmission(6).expect_data(13..14);
    t.expect_ssthresh(5 * MSS);
    assert_eq!(t.endpoint.counters().fast_recoveries, 1);
    t.ack(10).expect_cwnd(5 * MSS).expect_data(14..15);
}

// RFC 6582 §3.2 step 2: duplicates that do not cover more than recover are of the same window.
// Clauses: RFC6582-3.2-avoided, RFC6582-4-timeout
#[test]
fn duplicates_below_recover_after_a_timeout_do_not_retransmit() {
    let mut t = ten_in_flight(config());
    t.at(ms(300)).expect_retransmission(0);
    t.duplicates(5).expect_nothing();
    t.ack(1).expect_retransmission(1).expect_retransmission(2);
    t.duplicates(3).expect_nothing();
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

// RFC 6582 §3.2 step 3: only the first partial ACK restarts the timer.
// Clauses: RFC6582-3.2-timer
#[test]
fn only_the_first_partial_acknowledgement_restarts_the_timer() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    // Lost: 0, 2, 4.
    t.at(ms(100)).duplicates(7).expect_retransmission(0);
    t.at(ms(200)).ack(2).expect_retransmission(2);
    t.at(ms(290)).ack(4).expect_retransmission(4);
    // From the first partial ACK, with the RTO of the handshake: nothing was sampled since.
    t.quiet_until(ms(500)).at(ms(500)).expect_retransmission(4);
}

// RFC 3042 §2: a segment beyond the window for each of the first two duplicates.
// Clauses: RFC5681-3.2-limited, RFC3042-2-two, RFC3042-2-cwnd
#[test]
fn limited_transmit_sends_one_segment_for_each_of_the_first_two_duplicates() {
    let mut t = ten_in_flight(Config {
        limited_transmit: true,
        ..config()
    });
    t.duplicates(1).expect_data(10..11);
    t.duplicates(1).expect_data(11..12);
    t.expect_cwnd(10 * MSS);
    // RFC 5681 §3.2 step 2: they are not part of the flight, which is ten segments.
    t.duplicates(1).expect_retransmission(0);
    t.expect_ssthresh(5 * MSS);
}

// RFC 5681 §3.2: what the window had allowed anyway is part of the flight.
// Clauses: RFC5681-3.2-limited
#[test]
fn data_within_the_window_is_not_limited_transmit() {
    let mut t = Timeline::established(Config {
        limited_transmit: true,
        ..config()
    });
    t.write(6 * MSS).expect_data(0..6);
    t.duplicates(1).expect_nothing();
    t.write(4 * MSS).expect_data(6..10);
    t.duplicates(2).expect_retransmission(0);
    t.expect_ssthresh(5 * MSS);
}

// RFC 5681 §2: a duplicate ACK carries no data, and data is outstanding.
// Clauses: RFC5681-2-duplicate
#[test]
fn acknowledgements_with_data_are_not_duplicates() {
    let mut t = ten_in_flight(config());
    t.receive(0..5);
    for segments in 1..=5 {
        t.expect_ack(segments);
    }
    assert_eq!(t.endpoint.counters().fast_recoveries, 0);
}

// tcp-baselines §10: three duplicates follow each of them, so no timer is needed.
#[test]
fn loss_of_one_of_the_first_seven_of_ten_recovers_in_one_round() {
    for sack in [false, true] {
        for lost in 0..7 {
            let mut t = Timeline::established(Config { sack, ..config() });
            t.write(10 * MSS).expect_data(0..10);
            t.at(ms(100));
            for segment in 0..lost {
                t.ack(segment + 1);
            }
            for segment in lost + 1..10 {
                let block = (lost + 1, segment + 1);
                t.sack(
                    lost,
                    if sack {
                        std::slice::from_ref(&block)
                    } else {
                        &[]
                    },
                );
            }
            t.expect_retransmission(lost);
            t.at(ms(200)).ack(10).expect_nothing();
            let counters = t.endpoint.counters();
            assert_eq!((counters.retransmissions, counters.timeouts), (1, 0));
        }
    }
}

// tcp-baselines §10: nothing follows the last one.
#[test]
fn loss_of_the_last_segment_costs_one_timeout() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    t.at(ms(100));
    for segment in 1..=9 {
        t.ack(segment);
    }
    // One sample of 100 ms after the first: rttvar = 3/4 * 50, RTO = 100 + 150.
    t.quiet_until(ms(350)).at(ms(350)).expect_retransmission(9);
    t.at(ms(450)).ack(10);
    assert_eq!(t.endpoint.counters().timeouts, 1);
}

// RFC 6582 §3.2 step 3, partial: less than a segment is not added back. 12 - 0.5 from byte 500.
// Clauses: RFC6582-3.2-partial
#[test]
fn a_partial_acknowledgement_of_less_than_a_segment_deflates_by_all_of_it() {
    let mut t = ten_in_flight(config());
    t.duplicates(7).expect_retransmission(0).expect_data(10..12);
    t.ack_offset(501);
    let again = t.take();
    assert_eq!((t.offset(&again), u64::from(again.payload)), (501, MSS));
    t.expect_nothing();
}

// RFC 3042 §2: the window of the receiver has room for one of the two.
// Clauses: RFC3042-2-receiver
#[test]
fn limited_transmit_stays_within_the_peers_window() {
    let mut t = Timeline::established(Config {
        limited_transmit: true,
        ..config()
    });
    t.window = 11 * 1024;
    t.ack(0).write(60 * MSS).expect_data(0..10);
    t.duplicates(1).expect_data(10..11);
    t.duplicates(1).expect_nothing();
}
