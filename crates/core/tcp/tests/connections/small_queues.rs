//! A connection that keeps little in the queue of its own host: `tcp_output.c, tcp_small_queue_check` of Linux.
//!
//! A segment of 1000 bytes takes 1960 bytes of memory. The round trip of 100 ms makes a millisecond of any window here
//! less than two segments.

use base::Span;
use tcp::{Config, Growth, LossDetection, Recovery};

use crate::script::{MSS, Timeline, config, ms};

fn small() -> Config {
    Config {
        small_queues: true,
        ..config()
    }
}

fn recorded() -> Config {
    Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        recovery: Recovery::Prr,
        ..small()
    }
}

#[test]
fn two_segments_wait_in_the_host_and_the_rest_in_the_socket() {
    for config in [small(), recorded()] {
        let mut t = Timeline::established(config);
        t.through_port(ms(1), ms(0));
        // One is being sent, and two wait.
        t.write(6 * MSS).expect_data(0..3).expect_nothing();
        // Whenever one of those begins to leave, the next one takes its place: the port is never idle.
        for segment in 3..6 {
            let at = ms(segment - 2);
            t.quiet_until(at).at(at);
            t.expect_data(segment..segment + 1).expect_nothing();
        }
        t.quiet_until(ms(200));
    }
}

#[test]
fn without_small_queues_the_whole_window_waits_in_the_host() {
    let mut t = Timeline::established(config());
    t.through_port(ms(1), ms(0));
    t.write(12 * MSS).expect_data(0..10);
}

#[test]
fn a_port_without_a_queue_holds_nothing_back() {
    let mut t = Timeline::established(recorded());
    t.through_port(Span::ZERO, ms(0));
    t.write(12 * MSS).expect_data(0..10).expect_nothing();
}

#[test]
fn a_millisecond_of_the_rate_may_wait_if_it_is_more() {
    // 2 * 200 * 1000 bytes in 100 ms are 3,906 bytes in 1/1024 s, less than two segments; 400 are 7,812, so that the
    // fourth segment that waits, with 7,840, is one too many for the next.
    for (window, waiting) in [(200, 2), (400, 4)] {
        let mut t = Timeline::established(Config {
            initial_window: window,
            ..small()
        });
        t.through_port(ms(1), ms(0));
        t.write(50 * MSS)
            .expect_data(0..1 + waiting)
            .expect_nothing();
        t.at(ms(1)).expect_data(1 + waiting..2 + waiting);
    }
}

#[test]
fn the_only_segment_outstanding_is_followed_by_another_whatever_waits() {
    let mut t = Timeline::established(recorded());
    // Others have filled the port for a second.
    t.through_port(ms(1), ms(1000));
    t.write(8 * MSS).expect_data(0..2).expect_nothing();
    // All but one are acknowledged, as if they had been delivered: their copies in the queue count.
    t.at(ms(10)).ack(1).expect_data(2..3).expect_nothing();
    t.at(ms(20)).ack(2).expect_data(3..4).expect_nothing();
}

#[test]
fn an_acknowledgement_lets_nothing_leave_that_waits_for_the_host() {
    let mut t = Timeline::established(recorded());
    t.through_port(ms(50), ms(0));
    t.write(9 * MSS).expect_data(0..3);
    t.at(ms(20)).ack(1).expect_nothing();
    t.quiet_until(ms(50)).at(ms(50)).expect_data(3..4);
}

// `tcp_output.c, tcp_xmit_retransmit_queue`: twice the limit.
#[test]
fn of_copies_twice_as_many_may_wait() {
    let mut t = Timeline::established(Config {
        keep_scoreboard: true,
        loss_detection: LossDetection::DupAcks,
        recovery: Recovery::Rfc6675,
        ..recorded()
    });
    t.write(10 * MSS).expect_data(0..10);
    t.at(ms(100)).through_port(ms(1), ms(200));
    // The third report shows the first six to be lost. The window becomes five segments, of which one is in the network.
    t.sack(0, &[(6, 7)]).sack(0, &[(6, 8)]).sack(0, &[(6, 9)]);
    for segment in 0..4 {
        t.expect_retransmission(segment);
    }
    // The window allows a fifth.
    t.sack(0, &[(6, 10)]).expect_nothing();
    t.quiet_until(ms(200)).at(ms(200)).expect_retransmission(4);
}

// `tcp_output.c, tcp_write_xmit`: what the host holds back, the window does not limit.
#[test]
fn a_window_does_not_grow_while_the_host_limits_its_use() {
    // Ten acknowledgements in congestion avoidance.
    let avoiding = |small_queues| {
        let mut t = Timeline::established(Config {
            small_queues,
            initial_ssthresh: 10 * MSS,
            growth: Growth::Segments,
            ..recorded()
        });
        t.through_port(ms(50), ms(0)).write(100 * MSS);
        t
    };
    let mut held = avoiding(true);
    held.expect_data(0..3);
    for round in 1..=10 {
        held.at(ms(50 * round)).expect_data(round + 2..round + 3);
        held.ack(round);
    }
    held.expect_cwnd(10 * MSS);
    let mut limited = avoiding(false);
    limited.expect_data(0..10);
    for round in 1..=9 {
        limited.at(ms(50 * round)).ack(round);
        limited.expect_data(round + 9..round + 10);
    }
    limited.ack(10).expect_cwnd(11 * MSS).expect_data(19..21);
}
