//! Receivers that keep nothing beyond a gap, and senders that send everything from there on again.

use base::{Span, TcpFlags};
use tcp::{Config, LossDetection, Recovery};

use crate::script::{MSS, Timeline, config, ms};

fn going_back() -> Timeline {
    Timeline::established(Config {
        go_back_n: true,
        ..config()
    })
}

#[track_caller]
fn expect_order(t: &mut Timeline, segments: u64) {
    let order = t.take();
    assert_eq!(order.flags, TcpFlags::ACK.with(TcpFlags::PSH));
    assert_eq!(order.ack, t.peer_seq.at(1 + segments * MSS));
}

// As responders of InfiniBand do: one NAK for a gap; what comes beyond it is dropped.
#[test]
fn a_gap_is_ordered_once_and_nothing_beyond_it_is_kept() {
    let mut t = going_back();
    t.receive(0..1).expect_ack(1);
    t.receive(2..3);
    expect_order(&mut t, 1);
    let arrival = t.endpoint.arrival();
    assert_eq!((arrival.new_bytes, arrival.held), (0, 0));
    t.receive(3..5).expect_nothing();
    // The gap is filled, and what had come beyond it is missing.
    t.receive(1..2).expect_ack(2);
    t.receive(3..4);
    expect_order(&mut t, 2);
    // An old segment is acknowledged and orders nothing.
    t.receive(0..1).expect_ack(2);
    assert_eq!(t.endpoint.received(), 2 * MSS);
}

// HPCC's simulator, ReceiverCheckSeq: after 500 us.
#[test]
fn an_order_that_brings_nothing_is_repeated_after_half_a_millisecond() {
    let mut t = going_back();
    t.receive(1..2);
    expect_order(&mut t, 0);
    t.at(Span::from_micros(499)).receive(2..3).expect_nothing();
    t.at(Span::from_micros(500)).receive(3..4);
    expect_order(&mut t, 0);
}

#[test]
fn an_order_takes_the_sender_back_and_duplicates_do_not() {
    // Neither SACK nor a record of segments changes that.
    let plain = Config {
        go_back_n: true,
        initial_window: 4,
        ..config()
    };
    let full = Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        recovery: Recovery::Prr,
        ..plain
    };
    for config in [plain, full] {
        let mut t = Timeline::established(config);
        t.write(9 * MSS).expect_data(0..4);
        t.at(ms(10)).ack(1).expect_data(4..6);
        t.duplicates(5).expect_nothing();
        // Segment 2 is the first that is missing, and half of the four segments in flight may be sent.
        let mut order = t.peer_segment(TcpFlags::ACK.with(TcpFlags::PSH));
        order.ack = t.endpoint.identity().initial_seq.at(1 + 2 * MSS);
        t.deliver(order);
        t.expect_retransmission(2).expect_retransmission(3);
        t.expect_nothing().expect_cwnd(2 * MSS);
    }
}
