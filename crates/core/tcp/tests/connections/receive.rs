//! What the receiver counts, and its window: RFC 9293 §3.8.6 and §3.10.7.4.

use base::TcpFlags;
use tcp::Config;

use crate::script::{MSS, Timeline, config, ms};

/// A connection with a buffer of four segments that the application does not read.
fn unread() -> Timeline {
    let mut t = Timeline::established(Config {
        receive_buffer: 4 * MSS,
        ..config()
    });
    t.act(|endpoint| endpoint.set_reading(false));
    t
}

// RFC 9293 §3.10.7.4: segments are trimmed to what is new.
// Clauses: RFC9293-3.10.7.4-trim
#[test]
fn overlapping_segments_count_once() {
    let mut t = Timeline::established(config());
    t.receive(0..1).expect_ack(1);
    // Half old, half new.
    let mut packet = t.peer_data(0);
    packet.seq = t.peer_seq.at(1 + MSS / 2);
    t.deliver(packet);
    let arrival = t.endpoint.arrival();
    assert_eq!((arrival.new_bytes, arrival.in_order), (500, 500));
    assert_eq!(t.take().ack, t.peer_seq.at(1 + MSS + 500));
    t.receive(0..1).take();
    assert_eq!(t.endpoint.received(), MSS + 500);
}

// RFC 9293 §3.10.7.4: data beyond the window is not stored, and the peer is told where we are.
// Clauses: RFC9293-3.10.7.4-window
#[test]
fn data_beyond_the_window_is_refused() {
    let mut t = unread();
    t.receive(4..5).expect_ack(0);
    // The first half of this segment fits.
    let mut packet = t.peer_data(0);
    packet.seq = t.peer_seq.at(1 + 3500);
    t.deliver(packet).expect_ack(0);
    assert_eq!(t.endpoint.arrival().new_bytes, 500);
}

// RFC 9293 §3.8.6: what is not read takes room.
#[test]
fn the_window_closes_as_the_buffer_fills() {
    let mut t = unread();
    for left in [3, 2, 1, 0] {
        t.receive(3 - left..4 - left);
        assert_eq!(u64::from(t.take().window), left * MSS);
    }
    // A probe is refused and answered.
    let mut probe = t.peer_data(4);
    probe.payload = 1;
    t.deliver(probe);
    assert_eq!(t.take().window, 0);
    assert_eq!(t.endpoint.received(), 4 * MSS);
}

// RFC 9293 §3.8.6.2.2: the window grows by a segment or half the buffer, and then it is announced.
// Clauses: RFC9293-3.8.6.2.2-receiver
#[test]
fn the_window_does_not_open_by_small_steps() {
    let mut t = unread();
    t.receive(0..4);
    for _ in 0..4 {
        t.take();
    }
    t.act(|endpoint| endpoint.read(999)).expect_nothing();
    t.act(|endpoint| endpoint.read(1));
    let update = t.take();
    assert_eq!(
        (u64::from(update.window), update.flags),
        (MSS, TcpFlags::ACK)
    );
}

// RFC 7323 §2.2 and §2.3: the window is a multiple of the unit, never more than there is room for.
// Clauses: RFC7323-2.3-right
#[test]
fn the_advertised_window_is_scaled_down() {
    let mut t = Timeline::established(Config {
        receive_buffer: 1_000_000,
        window_scale: Some(4),
        ..config()
    });
    t.receive(0..1);
    assert_eq!(t.take().window, 62_500);
    t.act(|endpoint| endpoint.set_reading(false));
    t.receive(1..2);
    // 999,000 / 16.
    assert_eq!(t.take().window, 62_437);
}

// RFC 9293 §3.8.6: the limit of a role bounds the window of every segment.
#[test]
fn a_role_bounds_the_window() {
    let mut t = Timeline::established(config());
    t.endpoint.limit_window(2 * MSS);
    t.receive(0..1);
    assert_eq!(u64::from(t.take().window), 2 * MSS);
    t.write(MSS);
    assert_eq!(u64::from(t.take().window), 2 * MSS);
    t.at(ms(100));
}

// RFC 9293 §3.8.6.2.2: half the buffer, where that is less than a segment.
// Clauses: RFC9293-3.8.6.2.2-receiver
#[test]
fn the_window_of_a_small_buffer_opens_by_half_of_it() {
    let mut t = Timeline::established(Config {
        receive_buffer: 1500,
        ..config()
    });
    t.act(|endpoint| endpoint.set_reading(false));
    t.receive(0..1).take();
    t.act(|endpoint| endpoint.read(749)).expect_nothing();
    t.act(|endpoint| endpoint.read(1));
    assert_eq!(t.take().window, 1250);
}

// RFC 9293 §3.10.7.4, fifth check: without ACK a segment is dropped, data and all.
// Clauses: RFC9293-3.10.7.4-no-ack
#[test]
fn data_without_an_acknowledgement_is_dropped() {
    let mut t = Timeline::established(config());
    let mut packet = t.peer_data(0);
    packet.flags = TcpFlags::NONE;
    t.deliver(packet).expect_nothing();
    assert_eq!(t.endpoint.received(), 0);
}
