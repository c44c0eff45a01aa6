use base::setting::Settings;
use base::{Extension, FlowId, HostId};
use fabric::{Limit, PortId};
use proptest::prelude::*;

use super::super::header::EVERYTHING;
use super::*;

/// Bytes per second of the link.
const CAPACITY: f64 = 125e6;

/// A port of 1 Gbit/s, at which a full packet takes 12 us.
fn router(changed: &[(&'static str, &'static str)]) -> Router {
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        changed
            .map_or(Params::default_text(key), |(_, text)| text)
            .to_owned()
    };
    let port = PortInfo {
        port: PortId(0),
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_millis(10),
        limit: Limit::Bytes(5_000_000),
        packet_bytes: 1500,
        header_bytes: 40,
        mss: 1460,
        seed: 1,
    };
    Router::new(&Params::read(&text).expect("correct texts"), &port)
}

/// A full packet whose sender knows this round trip and asks for everything.
fn packet(rtt: f64) -> Packet {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 1460;
    let header = Header {
        rate: EVERYTHING,
        rtt,
        returned: 0.0,
    };
    packet.extension = header.write();
    packet
}

fn bytes(bytes: u64) -> Backlog {
    Backlog {
        bytes,
        packets: bytes.div_ceil(1500),
    }
}

/// Full packets that arrive at the beginning of the interval, and its end with so much waiting.
fn interval(router: &mut Router, packets: u32, rtt: f64, queue: u64) {
    let begin = router.due.before(router.interval);
    for _ in 0..packets {
        router.on_arrival(Backlog::default(), &mut packet(rtt), begin);
    }
    router.on_deadline(bytes(queue), router.due);
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-6 * expected.abs()
}

#[test]
fn the_rate_begins_at_a_twentieth_and_moves_with_spare_bandwidth_and_queue() {
    let mut idle = router(&[]);
    assert!(is_near(idle.rate, 6.25e6));
    assert_eq!(idle.deadline(), Time::ZERO + Span::from_millis(10));
    // Nothing arrives: (10 ms / 200 ms) * 0.4 of the rate are added.
    interval(&mut idle, 0, 0.2, 0);
    assert!(is_near(idle.rate, 6.25e6 * 1.02), "{}", idle.rate);
    // 500 packets are 75 MB/s of 125, and 1 MB waits: 0.4 * 50 - 0.4 * 1 / 0.2 = 18 MB/s.
    let mut busy = router(&[]);
    interval(&mut busy, 500, 0.2, 1_000_000);
    let factor = 1.0 + 0.05 * 18.0 / 125.0;
    assert!(is_near(busy.rate, 6.25e6 * factor), "{}", busy.rate);
    // With a gamma of 0.9 the link to fill has 112.5 MB/s.
    let mut nine_tenths = router(&[("rcp.gamma", "0.9")]);
    interval(&mut nine_tenths, 500, 0.2, 0);
    let factor = 1.0 + 0.05 * 0.4 * 37.5 / 112.5;
    assert!(is_near(nine_tenths.rate, 6.25e6 * factor));
}

#[test]
fn the_rate_stays_between_its_least_and_that_of_the_link() {
    let mut empty = router(&[("rcp.initial_rtt", "10ms")]);
    for _ in 0..100 {
        interval(&mut empty, 0, 0.01, 0);
    }
    assert!(is_near(empty.rate, CAPACITY));
    for (least, expected) in [("128Kbps", 16_000.0), ("auto", 1000.0)] {
        let mut flooded = router(&[("rcp.initial_rtt", "10ms"), ("rcp.min_rate", least)]);
        for _ in 0..100 {
            interval(&mut flooded, 900, 0.01, 5_000_000);
        }
        // 10 bytes per 10 ms, or what was given.
        assert!(is_near(flooded.rate, expected), "{}", flooded.rate);
    }
}

#[test]
fn longer_round_trips_count_at_once_and_shorter_ones_slowly() {
    // Gain T/d = 0.05 upwards.
    let mut up = router(&[]);
    interval(&mut up, 10, 0.3, 0);
    assert!(is_near(up.mean_rtt, 0.2 + 0.05 * 0.1), "{}", up.mean_rtt);
    // Downwards times R/C = 0.05 and sample/d = 0.5.
    let mut down = router(&[]);
    interval(&mut down, 10, 0.1, 0);
    let gain = 0.05 * 0.05 * 0.5;
    assert!(is_near(down.mean_rtt, 0.2 - gain * 0.1));
    let mut even = router(&[("rcp.averaging", "even")]);
    interval(&mut even, 10, 0.1, 0);
    assert!(is_near(even.mean_rtt, 0.2 - 0.05 * 0.1));
}

#[test]
fn intervals_last_a_mean_round_trip_and_at_most_ten_milliseconds() {
    let mut router = router(&[("rcp.initial_rtt", "4ms"), ("rcp.averaging", "even")]);
    let ends = |router: &Router| router.due.since(Time::ZERO).as_micros();
    assert!((ends(&router) - 4000.0).abs() < 1e-6);
    // All of the gain: the mean is 1 ms.
    interval(&mut router, 10, 0.001, 0);
    assert!((ends(&router) - 5000.0).abs() < 0.1, "{}", ends(&router));
    interval(&mut router, 10, 0.1, 0);
    assert!((ends(&router) - 15_000.0).abs() < 0.1);
}

#[test]
fn a_packet_at_the_end_of_an_interval_counts_in_part_for_the_next() {
    let mut router = router(&[]);
    // 4 us before the end, of 12 that it takes.
    let at = router.due.before(Span::from_micros(4));
    router.on_arrival(Backlog::default(), &mut packet(0.04), at);
    assert!(is_near(router.input, 500.0) && is_near(router.spill, 1000.0));
    router.on_deadline(Backlog::default(), router.due);
    assert!(is_near(router.input, 1000.0));
    assert_eq!(router.spill.to_bits(), 0);
}

#[test]
fn packets_without_a_round_trip_count_as_input_alone() {
    let mut router = router(&[]);
    let mut ack = Packet::new(FlowId(0), HostId(0));
    let header = Header {
        returned: 4096.0,
        ..Header::default()
    };
    ack.extension = header.write();
    router.on_arrival(Backlog::default(), &mut ack, Time::ZERO);
    router.on_departure(Backlog::default(), &mut ack, Time::ZERO);
    // The rate that an ACK returns passes unchanged, and nothing is granted without a request.
    assert_eq!(Header::of(ack.extension), header);
    let mut plain = packet(0.04);
    plain.extension = Extension::NONE;
    router.on_arrival(Backlog::default(), &mut plain, Time::ZERO);
    router.on_departure(Backlog::default(), &mut plain, Time::ZERO);
    assert_eq!(plain.extension, Extension::NONE);
    assert!(is_near(router.input, 1540.0));
    assert_eq!(router.timed_bytes.to_bits(), 0);
    // A SYN asks without a round trip.
    let mut syn = packet(0.0);
    router.on_arrival(Backlog::default(), &mut syn, Time::ZERO);
    router.on_departure(Backlog::default(), &mut syn, Time::ZERO);
    assert!(is_near(Header::of(syn.extension).rate, 6.25e6));
    assert_eq!(router.timed_bytes.to_bits(), 0);
}

#[test]
fn a_packet_leaves_with_the_least_rate_of_its_path() {
    let mut path = [5e6, 2e6, 9e6].map(|rate| {
        let mut router = router(&[]);
        router.rate = rate;
        router
    });
    let mut packet = packet(0.04);
    for router in &mut path {
        router.on_departure(Backlog::default(), &mut packet, Time::ZERO);
    }
    let header = Header::of(packet.extension);
    assert!(is_near(header.rate, 2e6) && is_near(header.rtt, 0.04));
}

proptest! {
    // Whatever arrives, a rate is one that a flow can have and time goes on.
    #[test]
    fn rates_and_intervals_stay_within_bounds(
        arrivals in prop::collection::vec((0_u32..2000, 1e-6_f64..2.0, 0_u64..10_000_000), 1..60),
    ) {
        let mut router = router(&[]);
        for (packets, rtt, queue) in arrivals {
            let before = router.due;
            interval(&mut router, packets, rtt, queue);
            prop_assert!((16_000.0..=CAPACITY).contains(&router.rate), "{}", router.rate);
            prop_assert!(router.mean_rtt >= 1e-6);
            let took = router.due.since(before);
            prop_assert!(took >= LEAST_INTERVAL && took <= Span::from_millis(10));
        }
    }
}
