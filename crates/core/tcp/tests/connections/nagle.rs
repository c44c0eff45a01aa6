//! Short segments that wait for earlier ones: `tcp_output.c, tcp_nagle_check` of Linux.

use base::Span;
use tcp::{Config, LossDetection, Recovery, TailLossProbe};

use crate::script::{MSS, Timeline, config, ms};

/// Without `TCP_NODELAY`, with and without a record of segments.
fn plain() -> [Config; 2] {
    let without = Config {
        nodelay: false,
        ..config()
    };
    let with = Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        recovery: Recovery::Prr,
        ..without
    };
    [without, with]
}

#[test]
fn a_second_short_write_waits_until_the_first_is_acknowledged() {
    for config in plain() {
        let mut t = Timeline::established(config);
        t.write(100).expect_bytes(100);
        t.write(200).write(300).expect_nothing();
        // What was written meanwhile leaves together.
        t.quiet_until(ms(40)).at(ms(40));
        t.ack_offset(101).expect_bytes(500);
    }
}

#[test]
fn with_nodelay_every_write_leaves_at_once() {
    for config in plain() {
        let mut t = Timeline::established(Config {
            nodelay: true,
            ..config
        });
        t.write(100).expect_bytes(100);
        t.write(200).expect_bytes(200);
        t.write(300).expect_bytes(300);
    }
}

// RFC 9293 §3.7.4 would keep the last segment; Minshall's form keeps it only for an earlier short one.
// Clauses: RFC9293-3.7.4-nagle
#[test]
fn the_short_end_of_a_message_follows_its_full_segments_at_once() {
    for config in plain() {
        let mut t = Timeline::established(config);
        t.write(3 * MSS + 70).expect_data(0..3).expect_bytes(70);
        // Full segments of the next message do not wait, and its short end does: for the end of the first.
        t.write(2 * MSS + 5).expect_bytes(MSS).expect_bytes(MSS);
        t.at(ms(50)).ack(3).expect_nothing();
        t.ack_offset(1 + 3 * MSS + 70).expect_bytes(5);
    }
}

#[test]
fn a_write_that_fills_a_segment_lets_what_waits_leave() {
    for config in plain() {
        let mut t = Timeline::established(config);
        t.write(100).expect_bytes(100);
        t.write(600).expect_nothing();
        t.write(600).expect_bytes(MSS).expect_nothing();
        t.at(ms(50)).ack_offset(101 + MSS).expect_bytes(200);
    }
}

#[test]
fn the_end_of_the_stream_does_not_wait() {
    for config in plain() {
        let mut t = Timeline::established(config);
        t.write(100).expect_bytes(100);
        t.write(200).expect_nothing();
        t.close().expect_bytes(200);
    }
}

#[test]
fn a_short_segment_that_is_sent_again_is_waited_for_no_longer_than_for_its_acknowledgement() {
    for config in plain() {
        let mut t = Timeline::established(config);
        t.write(100).expect_bytes(100);
        t.write(200).expect_nothing();
        // The timeout that follows from the handshake.
        t.quiet_until(ms(300)).at(ms(300)).expect_retransmission(0);
        t.at(ms(400)).ack_offset(101).expect_bytes(200);
    }
}

// `tcp_output.c, tcp_send_loss_probe` sends new data without the rule.
#[test]
fn a_probe_of_the_tail_takes_what_waits() {
    let [_, config] = plain();
    let mut t = Timeline::established(Config {
        tail_loss_probe: TailLossProbe::Rfc8985,
        delayed_ack_timeout: Span::from_millis(40),
        ..config
    });
    t.write(100).expect_bytes(100);
    t.write(200).expect_nothing();
    // Two round trips of 100 ms and the delay of an acknowledgement.
    t.quiet_until(ms(240)).at(ms(240)).expect_bytes(200);
}
