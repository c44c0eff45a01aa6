use base::setting::Settings;
use base::{Extension, FlowId, HostId};
use fabric::{Limit, PortId};
use proptest::prelude::*;

use super::*;

/// A port of 1.25 GB/s, at which a full packet takes 1.2 us.
fn router(changed: &[(&'static str, &'static str)]) -> Router {
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        changed
            .map_or(Params::default_text(key), |(_, text)| text)
            .to_owned()
    };
    let port = PortInfo {
        port: PortId(0),
        rate: Rate::from_bps(10_000_000_000),
        delay: Span::from_micros(25),
        limit: Limit::Packets(83),
        packet_bytes: 1500,
        header_bytes: 40,
        mss: 1460,
        seed: 1,
    };
    Router::new(&Params::read(&text).expect("correct texts"), &port)
}

/// The intervals as in the paper.
fn prompt() -> Router {
    router(&[
        ("xcp.min_interval", "0s"),
        ("xcp.min_queue_interval", "0s"),
        ("xcp.initial_interval", "1ms"),
    ])
}

const RTT: f64 = 100e-6;

/// A full packet of a sender with this window at 100 us, which asks for more than there is.
fn packet(window: f64) -> Packet {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 1460;
    let header = Header {
        spacing: RTT / window,
        rtt: RTT,
        delta: 1e15,
        reverse: 0.0,
    };
    packet.extension = header.write();
    packet
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn bytes(bytes: u64) -> Backlog {
    Backlog {
        bytes,
        packets: bytes.div_ceil(1500),
    }
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-3 * expected.abs()
}

#[test]
fn spare_bandwidth_is_given_and_a_standing_queue_taken() {
    // 500 packets of 1500 bytes in the first millisecond: 0.75 GB/s, 0.5 GB/s are spare. Without a
    // queue alpha gives 0.2 GB/s; gamma's 0.075 GB/s are less and nothing is shuffled.
    let mut router = prompt();
    for _ in 0..500 {
        router.on_arrival(Backlog::default(), &mut packet(10.0), us(1));
    }
    let standing = router.input;
    router.decide();
    assert!(is_near(router.budget.increase, 0.2e9));
    assert!(router.budget.decrease.abs() < 1.0);
    assert!(is_near(router.mean_rtt, RTT));
    // Each of them has a five-hundredth.
    let mut served = packet(10.0);
    router.on_departure(Backlog::default(), &mut served, us(1001));
    assert!(is_near(Header::of(served.extension).delta, 0.2e9 / 500.0));

    // With 100 KB standing, beta takes 0.226 * 1e5 / 1e-4 = 0.226 GB/s: 26 MB/s less than alpha gives.
    // Then gamma shuffles what is missing to 75 MB/s.
    (router.input, router.standing) = (standing, 100_000);
    router.interval = Span::from_millis(1);
    router.decide();
    assert!(is_near(router.budget.decrease, 75e6));
    assert!(is_near(router.budget.increase, 49e6));
}

#[test]
fn increases_are_alike_for_all_flows_and_decreases_go_by_rate() {
    // Windows of 4 and 16 packets, each sent once per round trip: 20 packets.
    let windows = [4_u32, 16];
    let run = |standing: u64| {
        let mut router = prompt();
        for window in windows {
            for _ in 0..window {
                router.on_arrival(Backlog::default(), &mut packet(f64::from(window)), us(1));
            }
        }
        router.standing = standing;
        router.interval = Span::from_micros(100);
        router.decide();
        windows.map(|window| {
            let deltas = (0..window).map(|_| {
                let mut served = packet(f64::from(window));
                router.on_departure(Backlog::default(), &mut served, us(1001));
                Header::of(served.extension).delta
            });
            deltas.sum::<f64>()
        })
    };
    // 0.3 GB/s arrive, alpha gives 0.4 * 0.95 GB/s.
    let [small, large] = run(0);
    assert!(
        is_near(small, 0.19e9) && is_near(large, 0.19e9),
        "{small} {large}"
    );
    // 1 MB standing takes 2.26 GB/s, 0.38 come back: a fifth and four fifths of 1.88.
    let [small, large] = run(1_000_000);
    assert!(
        is_near(small, -0.376e9) && is_near(large, -1.504e9),
        "{small} {large}"
    );
}

#[test]
fn the_floors_of_the_intervals_are_those_of_ns2_unless_set() {
    // Times of the decisions and of the looks at the queue, in microseconds.
    let sequences = |mut router: Router, until: u64| {
        let (mut decisions, mut looks) = (Vec::new(), Vec::new());
        while router.deadline() <= us(until) {
            let at = router.deadline();
            let micros = (at.since(Time::ZERO).as_ps() + 500_000) / 1_000_000;
            decisions.extend((router.control_at == at).then_some(micros));
            looks.extend((router.queue_at == at).then_some(micros));
            router.on_deadline(bytes(0), at);
            router.on_arrival(bytes(0), &mut packet(10.0), at);
        }
        (decisions, looks)
    };
    // At 50 ms no round trip is known: the next decision comes after 50 ms, the next look after half
    // of it. At 100 ms 100 us are known, but the look comes first and still takes 25 ms.
    let (decisions, looks) = sequences(router(&[]), 129_000);
    assert_eq!(decisions[..4], [50_000, 100_000, 101_000, 102_000]);
    assert_eq!(looks, [50_000, 75_000, 100_000, 125_000, 127_000, 129_000]);
    let (decisions, looks) = sequences(prompt(), 2_600);
    assert_eq!(decisions[..4], [1000, 2000, 2100, 2200]);
    assert_eq!(looks, [1000, 1500, 2000, 2500, 2550, 2600]);
}

#[test]
fn the_standing_queue_is_the_shortest_of_an_interval() {
    let mut router = prompt();
    // Never idle: packets leave one after the other, the queue before each 10, 6 and 8 packets.
    router.measure_queue(9000);
    for (number, remaining) in [9, 5, 7].into_iter().enumerate() {
        let at = Time::ZERO + Span::from_nanos(1200) * number as u64;
        router.on_departure(bytes(remaining * 1500), &mut packet(10.0), at);
    }
    router.measure_queue(9000);
    assert_eq!(router.standing, 9000);
    // A pause of the transmitter: nothing was waiting.
    router.on_departure(bytes(15_000), &mut packet(10.0), us(100));
    router.measure_queue(0);
    assert_eq!(router.standing, 0);
}

#[test]
fn what_carries_no_header_counts_as_input_and_is_left_alone() {
    let mut router = prompt();
    let mut plain = packet(10.0);
    plain.extension = Extension::NONE;
    router.on_arrival(Backlog::default(), &mut plain, us(1));
    router.on_departure(Backlog::default(), &mut plain, us(1));
    assert_eq!(plain.extension, Extension::NONE);
    assert_eq!(
        (router.input.bytes, router.input.spacing.to_bits()),
        (1500, 0)
    );
    // The feedback that an ACK carries passes.
    let mut ack = Packet::new(FlowId(0), HostId(0));
    let header = Header {
        reverse: 4096.0,
        ..Header::default()
    };
    ack.extension = header.write();
    router.on_departure(Backlog::default(), &mut ack, us(2));
    assert_eq!(Header::of(ack.extension), header);
}

#[test]
fn a_second_router_grants_no_more_than_the_first() {
    let mut router = prompt();
    router.budget = Budget {
        increase: 1000.0,
        decrease: 100.0,
        per_spacing: 1e7,
        per_byte: 0.01,
    };
    let header = |delta| Header {
        delta,
        ..Header::of(packet(10.0).extension)
    };
    // Ours: 100 given, 15 taken. Granted before: 50. Then 50 is granted, and 35 more is taken here.
    assert!(is_near(router.grant(&header(50.0), 1500), 50.0));
    assert!(is_near(router.budget.increase, 900.0) && is_near(router.budget.decrease, 50.0));
    // Granted before: -200; this one can take its last 50 towards it, and gives nothing.
    assert!(is_near(router.grant(&header(-200.0), 1500), -200.0));
    assert!(is_near(router.budget.increase, 900.0));
    assert!(router.budget.decrease.abs() < 1.0);
}

proptest! {
    // XCP §3.5.2: what all packets of an interval get and lose is at most what there is.
    #[test]
    fn no_more_is_given_or_taken_than_was_decided(
        input in prop::collection::vec((1.0_f64..500.0, 1_u16..1461), 1..200),
        served in prop::collection::vec((1.0_f64..500.0, 1_u16..1461, -1e9_f64..1e9), 1..400),
        standing in 0_u64..200_000,
    ) {
        let sized = |window: f64, payload: u16| {
            let mut packet = packet(window);
            packet.payload = payload;
            packet
        };
        let mut router = prompt();
        for (window, payload) in input {
            router.on_arrival(bytes(standing), &mut sized(window, payload), us(1));
        }
        router.standing = standing;
        router.decide();
        let decided = router.budget;
        let (mut given, mut taken) = (0.0, 0.0);
        for (window, payload, asked) in served {
            let mut header = Header::of(sized(window, payload).extension);
            header.delta = asked;
            let before = router.budget;
            let granted = router.grant(&header, 40 + u64::from(payload));
            prop_assert!(granted <= asked.max(before.increase));
            given += before.increase - router.budget.increase;
            taken += before.decrease - router.budget.decrease;
            prop_assert!(router.budget.increase >= 0.0 && router.budget.decrease >= 0.0);
            // What is granted is what was given and taken, unless an earlier router took more.
            let ours = (before.increase - router.budget.increase)
                - (before.decrease - router.budget.decrease);
            prop_assert!((ours - granted).abs() < 1.0 || granted < ours);
        }
        prop_assert!(given <= decided.increase + 1.0);
        prop_assert!(taken <= decided.decrease + 1.0);
    }
}
