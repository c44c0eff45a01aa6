//! The retransmission timer: RFC 6298.

use tcp::Config;

use crate::script::{MSS, RTO, Timeline, config, ms};

// RFC 6298 §2.1.
// Clauses: RFC6298-2.1-initial
#[test]
fn without_a_sample_the_timeout_is_the_initial_one() {
    let mut t = after_a_lost_syn(Config {
        initial_rto: ms(700),
        rto_after_syn_loss: ms(0),
        ..config()
    });
    t.quiet_until(ms(1700))
        .at(ms(1700))
        .expect_retransmission(0);
}

// RFC 6298 §5.7: 3 s when data begins, until the first sample; doubled as any other timeout.
// Clauses: RFC6298-5.7-syn
#[test]
fn after_a_lost_syn_the_timeout_of_data_is_three_seconds() {
    let mut t = after_a_lost_syn(config());
    t.quiet_until(ms(4000))
        .at(ms(4000))
        .expect_retransmission(0);
    t.quiet_until(ms(10_000))
        .at(ms(10_000))
        .expect_retransmission(0);
    t.ack(1).write(MSS).expect_data(1..2);
    t.at(ms(10_100)).ack(2).write(MSS).expect_data(2..3);
    t.quiet_until(ms(10_400))
        .at(ms(10_400))
        .expect_retransmission(2);
}

// RFC 6298 §5.7 bounds the timeout from below: a longer one stays.
// Clauses: RFC6298-5.7-syn
#[test]
fn a_lost_syn_does_not_shorten_the_timeout() {
    let mut t = after_a_lost_syn(Config {
        initial_rto: ms(5000),
        ..config()
    });
    t.quiet_until(ms(6000))
        .at(ms(6000))
        .expect_retransmission(0);
}

/// The SYN is sent twice, which gives no sample; one segment has left after 1 s.
fn after_a_lost_syn(config: Config) -> Timeline {
    let mut t = Timeline::connecting(config);
    t.take();
    t.at(ms(1000)).take();
    let syn_ack = t.syn_ack(crate::script::willing());
    t.deliver(syn_ack).expect_ack(0);
    t.write(MSS).expect_data(0..1);
    t
}

// RFC 6298 §2.3, through a connection: samples 100 and 180 ms.
// Clauses: RFC6298-2.3-later
#[test]
fn later_samples_are_smoothed() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.at(ms(180)).ack(1);
    // srtt = 7/8 * 100 + 1/8 * 180 = 110; rttvar = 3/4 * 50 + 1/4 * 80 = 57.5.
    assert_eq!(t.endpoint.srtt(), ms(110));
    t.write(MSS).expect_data(1..2);
    t.quiet_until(ms(180 + 340))
        .at(ms(180 + 340))
        .expect_retransmission(1);
}

// RFC 6298 §2.4.
// Clauses: RFC6298-2.4-minimum
#[test]
fn the_timeout_has_a_minimum() {
    let mut t = Timeline::established(Config {
        min_rto: ms(500),
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    t.quiet_until(ms(500)).at(ms(500)).expect_retransmission(0);
}

// RFC 6298 §3 (Karn): the ACK of a segment sent twice says nothing about the round trip.
// Clauses: RFC6298-3-karn
#[test]
fn a_retransmitted_segment_gives_no_sample() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.at(RTO).expect_retransmission(0);
    t.at(ms(305)).ack(1);
    assert_eq!(t.endpoint.srtt(), ms(100));
    // The back-off stays until a sample comes (§5.7).
    t.write(MSS).expect_data(1..2);
    t.quiet_until(ms(905)).at(ms(905)).expect_retransmission(1);
}

// RFC 6298 §5.5 and §2.5: 300, 600, 1000, 1000 ms.
// Clauses: RFC6298-2.5-maximum, RFC6298-5.5-double
#[test]
fn timeouts_double_up_to_the_maximum() {
    let mut t = Timeline::established(Config {
        max_rto: ms(1000),
        ..config()
    });
    t.write(MSS).expect_data(0..1);
    for time in [300, 900, 1900, 2900] {
        t.quiet_until(ms(time))
            .at(ms(time))
            .expect_retransmission(0);
    }
    assert_eq!(t.endpoint.counters().timeouts, 4);
}

// RFC 6298 §5.5 and §2.5, of a SYN: 1, 2, 3 and 3 s.
// Clauses: RFC6298-2.5-maximum
#[test]
fn timeouts_of_a_syn_double_up_to_the_maximum() {
    let mut t = Timeline::connecting(Config {
        max_rto: ms(3000),
        ..config()
    });
    t.take();
    for time in [1000, 3000, 6000, 9000] {
        t.quiet_until(ms(time)).at(ms(time));
        assert!(t.take().flags.has(base::TcpFlags::SYN));
    }
}

// RFC 6298 §5.7: a sample of a segment sent once ends the back-off.
// Clauses: RFC6298-3-sample
#[test]
fn a_new_sample_ends_the_back_off() {
    let mut t = Timeline::established(config());
    t.write(MSS).expect_data(0..1);
    t.at(ms(300)).expect_retransmission(0);
    t.at(ms(400)).ack(1);
    t.write(MSS).expect_data(1..2);
    t.at(ms(500)).ack(2);
    t.write(MSS).expect_data(2..3);
    // srtt = 100, rttvar = 37.5.
    t.quiet_until(ms(750)).at(ms(750)).expect_retransmission(2);
}

// RFC 6298 §5.3: from the last ACK of new data.
// Clauses: RFC6298-5.3-restart
#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    let mut t = Timeline::established(config());
    t.write(2 * MSS).expect_data(0..2);
    t.at(ms(100)).ack(1);
    t.quiet_until(ms(350)).at(ms(350)).expect_retransmission(1);
}

// RFC 6298 §5.3: a duplicate does not.
// Clauses: RFC6298-5.3-restart
#[test]
fn a_duplicate_does_not_restart_the_timer() {
    let mut t = Timeline::established(config());
    t.write(2 * MSS).expect_data(0..2);
    t.at(ms(200)).duplicates(2);
    t.quiet_until(RTO).at(RTO).expect_retransmission(0);
}

// RFC 6298 §5.2.
// Clauses: RFC6298-5.2-stop
#[test]
fn with_everything_acknowledged_the_timer_is_off() {
    let mut t = Timeline::established(config());
    t.write(2 * MSS).expect_data(0..2);
    t.at(ms(100)).ack(2);
    t.at(ms(100_000)).expect_nothing();
    assert_eq!(t.endpoint.deadline(), base::Time::NEVER);
}

// RFC 5681 §3.1 eq. 4 and the loss window of one segment.
// Clauses: RFC6298-5.4-earliest, RFC5681-3.1-loss-window
#[test]
fn a_timeout_halves_the_flight_and_starts_from_one_segment() {
    let mut t = Timeline::established(config());
    t.write(20 * MSS).expect_data(0..10);
    t.at(RTO).expect_retransmission(0);
    t.expect_cwnd(MSS).expect_ssthresh(5 * MSS);
    // Go back: slow start through what was sent before.
    t.ack(1).expect_retransmission(1).expect_retransmission(2);
    t.ack(3)
        .expect_retransmission(3)
        .expect_retransmission(4)
        .expect_retransmission(5);
}

// RFC 5681 §3.1 eq. 4: half of the flight, not of the window, which the peer's or the data may not fill.
// Clauses: RFC5681-3.1-eq4
#[test]
fn a_timeout_halves_the_flight_and_not_a_window_that_is_not_used() {
    let mut t = Timeline::established(config());
    t.write(6 * MSS).expect_data(0..6);
    t.at(RTO).expect_retransmission(0);
    t.expect_cwnd(MSS).expect_ssthresh(3 * MSS);
    let mut t = Timeline::established(config());
    t.window = 8 * 1024;
    t.ack(0).write(20 * MSS).expect_data(0..8);
    t.at(RTO).expect_retransmission(0);
    t.expect_cwnd(MSS).expect_ssthresh(4 * MSS);
}

// RFC 5681 §3.1: ssthresh is held when the same segment times out again.
// Clauses: RFC5681-3.1-held
#[test]
fn a_repeated_timeout_holds_the_threshold() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    t.at(ms(300))
        .expect_retransmission(0)
        .expect_ssthresh(5 * MSS);
    t.at(ms(900))
        .expect_retransmission(0)
        .expect_ssthresh(5 * MSS);
}

// RFC 6582 §3.2: a timeout during fast recovery ends it.
// Clauses: RFC6582-4-timeout
#[test]
fn a_timeout_ends_fast_recovery() {
    let mut t = Timeline::established(config());
    t.write(10 * MSS).expect_data(0..10);
    t.at(ms(100)).duplicates(9).expect_retransmission(0);
    t.at(RTO).expect_retransmission(0).expect_cwnd(MSS);
    t.ack(10).expect_cwnd(2 * MSS).expect_nothing();
}

// RFC 9293 §3.10.7.4, fifth check: below SND.UNA.
// Clauses: RFC9293-3.10.7.4-ack-old
#[test]
fn an_old_acknowledgement_is_ignored() {
    let mut t = Timeline::established(config());
    t.write(20 * MSS).expect_data(0..10);
    t.ack(5).expect_data(10..16).expect_cwnd(11 * MSS);
    t.window = 0;
    t.ack(3).ack(2).ack(1).expect_nothing();
    t.window = 1 << 20;
    t.ack(6).expect_data(16..18);
}

// RFC 9293 §3.10.7.4, fifth check: above SND.MAX; the segment is answered and dropped, data and all.
// Clauses: RFC9293-3.10.7.4-ack-ahead
#[test]
fn an_acknowledgement_of_data_never_sent_is_answered_and_dropped() {
    let mut t = Timeline::established(config());
    t.write(5 * MSS).expect_data(0..5);
    let mut packet = t.peer_data(0);
    packet.ack = t.endpoint.identity().initial_seq.at(1 + 6 * MSS);
    t.deliver(packet).expect_ack(0);
    assert_eq!((t.endpoint.received(), t.endpoint.acknowledged()), (0, 0));
}

// RFC 5681 §3.2: with at most three segments behind the last ACK there are no three duplicates.
#[test]
fn timeouts_of_the_last_segments_are_told_from_others() {
    for (segments, tail) in [(3, 1), (4, 0)] {
        let mut t = Timeline::established(config());
        t.act(|endpoint| {
            endpoint.write(segments * MSS);
            endpoint.close();
        });
        t.expect_data(0..segments);
        t.at(RTO).expect_retransmission(0);
        let counters = t.endpoint.counters();
        assert_eq!((counters.timeouts, counters.tail_timeouts), (1, tail));
    }
    // More is written than the window lets out: the segments are not the last ones.
    let mut t = Timeline::established(Config {
        initial_window: 2,
        ..config()
    });
    t.write(9 * MSS).expect_data(0..2);
    t.at(RTO).expect_retransmission(0);
    assert_eq!(t.endpoint.counters().tail_timeouts, 0);
}
