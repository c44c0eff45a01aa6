use base::{FlowId, HostId, Rate};
use fabric::PortId;

use super::*;

const PACKET: u64 = 1500;

/// A port of 100 packets at 10 Gbit/s: a full packet takes 1.2 us.
fn port(limit: Limit) -> PortInfo {
    PortInfo {
        port: PortId(3),
        rate: Rate::from_bps(10_000_000_000),
        delay: Span::from_micros(10),
        limit,
        packet_bytes: PACKET,
        header_bytes: 40,
        mss: 1460,
        seed: 1,
    }
}

fn red(changed: &[(&'static str, &'static str)]) -> Red {
    let params = Params::read(&texts(changed)).expect("correct texts");
    Red::new(&params, &port(Limit::Packets(100)), Discipline::DropTail)
}

fn texts(changed: &[(&'static str, &'static str)]) -> impl Fn(&str) -> String {
    move |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        changed
            .map_or(Params::default_text(key), |(_, text)| text)
            .to_owned()
    }
}

fn packets(packets: u64) -> Backlog {
    Backlog {
        bytes: packets * PACKET,
        packets,
    }
}

fn arrive(red: &mut Red, queue: u64, ecn: Ecn, now: Time) -> (Verdict, Ecn) {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.ecn = ecn;
    (red.on_arrival(packets(queue), &mut packet, now), packet.ecn)
}

fn is_marked(red: &mut Red, queue: u64, now: Time) -> bool {
    let (verdict, ecn) = arrive(red, queue, Ecn::Capable, now);
    assert_eq!(verdict, Verdict::Accept);
    ecn == Ecn::Marked
}

const STEP: [(&str, &str); 4] = [
    ("red.min", "40pkt"),
    ("red.max", "40pkt"),
    ("red.weight", "1"),
    ("red.ecn", "true"),
];

#[test]
fn with_weight_one_and_a_single_threshold_it_is_the_step_of_dctcp() {
    let mut red = red(&STEP);
    for queue in (0..100).chain((0..100).rev()) {
        assert_eq!(
            is_marked(&mut red, queue, Time::ZERO),
            queue >= 40,
            "{queue}"
        );
    }
    // A packet that comes at the very instant at which the last one has left finds nothing.
    assert!(is_marked(&mut red, 99, Time::ZERO));
    red.on_empty(Time::ZERO);
    assert!(!is_marked(&mut red, 0, Time::ZERO));
}

#[test]
fn silence_counts_as_samples_of_an_empty_queue() {
    let mut red = red(&[("red.min", "90pkt"), ("red.max", "90pkt")]);
    // 0.25 * 40, then 10 + 0.25 * 30.
    for expected in [10.0, 17.5] {
        is_marked(&mut red, 40, Time::ZERO);
        assert!((red.average - expected).abs() < 1e-9);
    }
    // Eight packets' times of 1.2 us, in one piece or in two.
    let empty = Time::ZERO + Span::from_micros(100);
    for pieces in [&[9600][..], &[2400, 9600]] {
        red.average = 17.5;
        red.on_empty(empty);
        for nanos in pieces {
            is_marked(&mut red, 0, empty + Span::from_nanos(*nanos));
        }
        assert!((red.average - 17.5 * libm::pow(0.75, 8.0)).abs() < 1e-9);
    }
}

// Clauses: RFC3168-5-drop
#[test]
fn what_is_not_capable_is_dropped_where_the_capable_is_marked() {
    for (ecn, capable, other) in [
        ("true", Verdict::Accept, Verdict::Drop),
        ("false", Verdict::Drop, Verdict::Drop),
    ] {
        let mut red = red(&[("red.weight", "1"), ("red.ecn", ecn)]);
        for (kind, verdict) in [
            (Ecn::Capable, capable),
            (Ecn::Marked, capable),
            (Ecn::NotCapable, other),
        ] {
            assert_eq!(arrive(&mut red, 40, kind, Time::ZERO).0, verdict);
            let below = arrive(&mut red, 19, kind, Time::ZERO);
            assert_eq!(below, (Verdict::Accept, kind));
        }
    }
}

// RFC 3168 §7.
#[test]
fn where_asked_for_what_is_capable_is_dropped_above_the_upper_threshold() {
    for (gentle, marked, dropped) in [("false", 39, 40), ("true", 79, 80)] {
        let mut red = red(&[
            ("red.weight", "1"),
            ("red.ecn", "true"),
            ("red.gentle", gentle),
            ("red.drop_above_max", "true"),
        ]);
        // Just below, the probability is near 1: a few arrivals are enough for a mark.
        let below = (0..9).map(|_| arrive(&mut red, marked, Ecn::Capable, Time::ZERO));
        assert!(
            below
                .into_iter()
                .all(|(verdict, _)| verdict == Verdict::Accept)
        );
        let above = arrive(&mut red, dropped, Ecn::Capable, Time::ZERO);
        assert_eq!(above.0, Verdict::Drop);
    }
}

#[test]
fn marks_between_the_thresholds_come_at_even_distances() {
    // Average 30 of 20 to 40 with max_p 0.2: p_b = 0.1. With count = k since the last mark p_a is
    // 0.1 / (1 - 0.1 k): the ninth is marked at the latest, and each of the nine equally often.
    let mut red = red(&[
        ("red.weight", "1"),
        ("red.max_probability", "0.2"),
        ("red.ecn", "true"),
    ]);
    let mut distances = [0_u32; 10];
    let mut last = None;
    for arrival in 0..45_000_usize {
        if is_marked(&mut red, 30, Time::ZERO) {
            if let Some(last) = last {
                distances[arrival - last] += 1;
            }
            last = Some(arrival);
        }
    }
    // 9000 marks: binomial(9000, 1/9) each, standard deviation 30; 5 of them either way.
    assert!(
        distances[1..]
            .iter()
            .all(|count| (850..1150).contains(count)),
        "{distances:?}"
    );
}

#[test]
fn the_probability_jumps_above_the_upper_threshold_unless_gentle() {
    let mut steep = red(&[("red.max_probability", "0.2")]);
    let mut gentle = red(&[("red.max_probability", "0.2"), ("red.gentle", "true")]);
    // At 60, half way from 40 to 80: 0.2 + 0.8 / 2.
    for (average, at_once, gently) in [
        (19.9, 0.0, 0.0),
        (30.0, 0.1, 0.1),
        (40.0, 1.0, 0.2),
        (60.0, 1.0, 0.6),
        (80.0, 1.0, 1.0),
    ] {
        (steep.average, gentle.average) = (average, average);
        assert!((steep.probability() - at_once).abs() < 1e-9, "{average}");
        assert!((gentle.probability() - gently).abs() < 1e-9, "{average}");
    }
}

#[test]
fn thresholds_are_shares_of_the_buffer_or_sizes_in_the_unit_of_its_limit() {
    let (bytes, count) = (Limit::Bytes(126_000), Limit::Packets(84));
    for (text, in_bytes, in_packets) in [
        ("0.25", 31_500.0, 21.0),
        ("17pkt", 25_500.0, 17.0),
        ("3000B", 3000.0, 2.0),
    ] {
        let level = QueueLevel::parse(text).expect("a level");
        assert!((level.of(bytes, PACKET) - in_bytes).abs() < 1e-9, "{text}");
        assert!(
            (level.of(count, PACKET) - in_packets).abs() < 1e-9,
            "{text}"
        );
    }
    for wrong in ["1.5", "-1", "many"] {
        assert!(QueueLevel::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn settings_that_can_never_answer_are_refused() {
    for (changed, key) in [
        (&[("red.weight", "0")][..], "red.weight"),
        (&[("red.min", "0.5")], "red.min"),
        (&[("red.min", "50pkt"), ("red.max", "40pkt")], "red.min"),
    ] {
        let params = Params::read(&texts(changed)).expect(key);
        let misfits = params.misfits();
        assert_eq!(misfits.len(), 1);
        assert_eq!(misfits[0].keys[0], key);
    }
    assert_eq!(Params::defaults().misfits(), []);
}

#[test]
fn only_a_ramp_is_left_to_chance_and_only_shares_need_a_buffer() {
    let roles = |changed: &[(&'static str, &'static str)]| {
        let params = Params::read(&texts(changed)).expect("correct texts");
        params.roles("red")
    };
    assert!(roles(&[]).random);
    assert!(!roles(&STEP).random);
    assert_eq!(roles(&[]).shares_buffer, Some("red"));
    assert_eq!(roles(&STEP).shares_buffer, None);
}

#[test]
fn a_marking_threshold_of_the_scenario_yields_and_a_loss_law_stays() {
    use fabric::LossLaw;

    let params = Params::read(&texts(&[("red.ecn", "true")])).expect("correct texts");
    let make = queue(params);
    let port = port(Limit::Packets(100));
    let mut packet = Packet::new(FlowId(0), HostId(0));
    (packet.ecn, packet.payload) = (Ecn::Capable, 1460);

    let mut red = make(&port, Discipline::EcnThreshold(Limit::Packets(0)));
    red.on_arrival(packets(10), &mut packet, Time::ZERO);
    assert_eq!(packet.ecn, Ecn::Capable);

    let loss = LossLaw::Periodic { period: 2 }.before(Discipline::DropTail);
    let mut red = make(&port, loss);
    let fates = [0, 1].map(|_| red.on_arrival(packets(0), &mut packet, Time::ZERO));
    assert_eq!(fates, [Verdict::Accept, Verdict::Drop]);
}
