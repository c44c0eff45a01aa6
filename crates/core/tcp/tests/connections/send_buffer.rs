//! An application that writes more than the send buffer holds: `tcp.c, tcp_sendmsg_locked` of Linux.
//!
//! A segment of 1000 bytes takes 1960 bytes of memory, and counts for 2304 when the buffer grows.

use base::TcpFlags;
use tcp::{Config, LossDetection, Recovery, SendBufferSize};

use crate::script::{MSS, Timeline, config, ms};

fn buffered(least: u64, most: u64) -> Config {
    Config {
        sack: true,
        loss_detection: LossDetection::Rack,
        recovery: Recovery::Prr,
        send_buffer: Some(SendBufferSize { least, most }),
        ..config()
    }
}

/// Room for six segments: five leave 200 bytes.
fn six() -> Config {
    buffered(10_000, 10_000)
}

/// Of the segments that have left, those with PSH.
fn pushed(t: &mut Timeline, segments: std::ops::Range<u64>) -> Vec<u64> {
    let flags: Vec<(u64, TcpFlags)> = segments.map(|segment| (segment, t.take().flags)).collect();
    let pushed = flags
        .into_iter()
        .filter(|(_, flags)| flags.has(TcpFlags::PSH));
    pushed.map(|(segment, _)| segment).collect()
}

#[test]
fn an_application_waits_until_a_third_of_its_buffer_is_free() {
    let mut t = Timeline::established(six());
    t.write(20 * MSS).expect_data(0..6).expect_nothing();
    assert_eq!(t.endpoint.unsent(), 14 * MSS);
    // Four segments take 7,840 bytes, more than two thirds; three take 5,880.
    t.at(ms(100)).ack(2).expect_nothing();
    t.ack(3).expect_data(6..9).expect_nothing();
}

#[test]
fn an_acknowledgement_of_everything_lets_the_application_go_on() {
    let mut t = Timeline::established(six());
    t.write(20 * MSS).expect_data(0..6);
    t.at(ms(100)).ack(6).expect_data(6..12).expect_nothing();
}

#[test]
fn what_was_written_before_the_handshake_waits_for_room_too() {
    let mut t = Timeline::connecting(six());
    t.take();
    t.endpoint.write(20 * MSS);
    let syn_ack = t.syn_ack(crate::script::willing());
    t.deliver(syn_ack);
    t.expect_ack(0).expect_data(0..6).expect_nothing();
}

#[test]
fn the_end_of_the_stream_follows_when_everything_is_written() {
    let mut t = Timeline::established(six());
    t.write(8 * MSS).expect_data(0..6);
    t.close().expect_nothing();
    t.at(ms(100)).ack(6);
    let last = [t.take(), t.take()].map(|packet| packet.flags.has(TcpFlags::FIN));
    assert_eq!(last, [false, true]);
    t.ack_offset(2 + 8 * MSS);
    assert_eq!(t.endpoint.unsent(), 0);
}

// With a window of 10 + k after k acknowledgements the buffer has 20 + 2k times 2304 bytes: two thirds of it are more than
// the 24 - k segments in it from k = 4 on. Then there is room for 13 more, and so on: as in a capture of Linux with other
// sizes, where the 20th, 29th, 41st and 59th segment have PSH (`senders_push_what_those_of_the_kernel_pushed`).
#[test]
fn the_buffer_grows_with_the_window_and_what_fills_it_carries_psh() {
    let mut t = Timeline::established(buffered(16 << 10, 4 << 20));
    t.write(60 * MSS);
    assert_eq!(pushed(&mut t, 0..10), []);
    t.at(ms(100));
    let mut found = Vec::new();
    for acked in 1..=20 {
        t.ack(acked);
        let next = 10 + 2 * (acked - 1);
        found.extend(pushed(&mut t, next..next + 2));
    }
    // Room for 24, and then for 37.
    assert_eq!(found, [23, 36]);
}

#[test]
fn a_write_that_fits_is_pushed_at_its_end_alone() {
    let mut t = Timeline::established(buffered(16 << 10, 4 << 20));
    t.write(24 * MSS);
    assert_eq!(pushed(&mut t, 0..10), []);
    t.at(ms(100));
    let mut found = Vec::new();
    for acked in 1..=7 {
        t.ack(acked);
        let next = 10 + 2 * (acked - 1);
        found.extend(pushed(&mut t, next..next + 2));
    }
    assert_eq!(found, [23]);
}

#[test]
fn a_copy_of_a_pushed_segment_is_pushed() {
    let mut t = Timeline::established(buffered(4_000, 4_000));
    // The third segment finds some memory left.
    t.write(5 * MSS);
    assert_eq!(pushed(&mut t, 0..3), []);
    t.at(ms(100)).ack(3);
    assert_eq!(pushed(&mut t, 3..5), [4]);
    // A second sample of 100 ms: 100 + 4 * 37.5.
    t.at(ms(350));
    let copies = [t.take().flags, t.ack(4).take().flags];
    assert_eq!(copies.map(|flags| flags.has(TcpFlags::PSH)), [false, true]);
    t.ack(5);
}
