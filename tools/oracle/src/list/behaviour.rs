//! Scenarios for single behaviours: short answers, pauses, handshakes, single losses, settings.

use super::catalogue::{FEW, JITTER, MANY, SECOND, SLOW, incast, lone, scenario, stream};
use super::{
    Extras, Lose, Lost, MSS, OracleScenario, OracleTraffic, PACKET, PageTable, Rig, StreamTraffic,
};

/// One sender, at a round trip of 1 ms and of 100 ms. Nothing waits anywhere, and only the phase of the kernel's ticks
/// is random.
const ONE: Rig = Rig {
    delay: 490_000,
    jitter: 0,
    hosts: 1,
    ..SLOW
};
const ONE_FAR: Rig = Rig {
    delay: 50_000_000,
    ..ONE
};
/// A path of 30 ms, on which `HyStart` leaves slow start.
const HYSTART: Rig = Rig {
    rate: 100_000_000,
    access: 1_000_000_000,
    delay: 15_000_000,
    ..ONE
};
/// All of them, in the order of the page.
pub(super) fn all() -> Vec<OracleScenario> {
    let parts = [
        few_segments(),
        pauses(),
        openings(),
        single_losses(),
        other_settings(),
        long_paths(),
    ];
    parts.into_iter().flatten().collect()
}

/// Answers of 8 to 24 segments: windows never grow far, and after one lost segment too few others follow to show the
/// loss.
fn few_segments() -> Vec<OracleScenario> {
    let chosen = [
        ("reno", 8, 64),
        ("cubic", 8, 48),
        ("dctcp", 8, 64),
        ("reno", 12, 32),
        ("cubic", 12, 32),
        ("dctcp", 12, 32),
        ("reno", 12, 64),
        ("cubic", 12, 64),
        ("dctcp", 12, 64),
        ("reno", 16, 48),
        ("cubic", 16, 32),
        ("dctcp", 16, 64),
        ("reno", 20, 32),
        ("cubic", 20, 64),
        ("dctcp", 20, 48),
        ("reno", 24, 16),
        ("cubic", 24, 48),
        ("dctcp", 24, 32),
    ];
    let one = |(cc, segments, senders)| segmented(SLOW, cc, senders, segments);
    chosen.into_iter().map(one).collect()
}

/// Pauses between an answer and the next requests, in RTOs, with `tcp_slow_start_after_idle` at its default.
fn pauses() -> Vec<OracleScenario> {
    let idle = |pause| Extras {
        think: Some(pause),
        sysctl: [("tcp_slow_start_after_idle".to_owned(), "1".to_owned())].into(),
        ..Extras::default()
    };
    let mut list = Vec::new();
    // No timer expires: the RTO is the round trip and 200 ms.
    for cc in ["reno", "cubic"] {
        for (rtos, pause) in [("0.5", 150), ("1.5", 450), ("3", 900), ("10", 3000)] {
            let kind = rounds_of(1, 1_000_000, TICKS);
            list.push(OracleScenario {
                answers: FEW,
                exact: true,
                look: 0,
                extras: idle(pause * MILLISECOND),
                section: PageTable::Pauses,
                ..scenario(format!("pause-{rtos}rto-{cc}"), ONE_FAR, cc, kind)
            });
        }
    }
    // One expires in most rounds: RTOs are about 200 ms.
    let crowded = [
        ("reno", "0.5", 100),
        ("reno", "1.5", 300),
        ("reno", "3", 600),
        ("reno", "10", 2000),
        ("cubic", "1.5", 300),
        ("cubic", "10", 2000),
    ];
    for (cc, rtos, pause) in crowded {
        let one = OracleScenario {
            kind: rounds_of(16, 64 * 1024, JITTER),
            ..incast(SLOW, cc, 16, 64).with_buffer("b32", 32, 0)
        };
        list.push(OracleScenario {
            extras: idle(pause * MILLISECOND),
            section: PageTable::Pauses,
            ..one.called(&format!("pause-{rtos}rto"))
        });
    }
    list
}

/// New connections on which a segment of the handshake is lost.
fn openings() -> Vec<OracleScenario> {
    let mut list = Vec::new();
    for (what, name) in [
        (Lost::Syn, "syn"),
        (Lost::SynAck, "syn-ack"),
        (Lost::Ack, "ack"),
    ] {
        for (copies, times) in [(1, ""), (2, "-twice")] {
            for (rig, far) in [(ONE, "1ms"), (ONE_FAR, "100ms")] {
                let kind = OracleTraffic::Opening {
                    size: 64 * 1024,
                    rounds: 30,
                };
                let lose = Lose {
                    what,
                    segment: 0,
                    copies,
                };
                list.push(alone(&format!("{name}-lost{times}-{far}"), rig, kind, lose));
            }
        }
    }
    list
}

/// Answers of twelve segments, of which each round loses one, or the last one and its probe.
fn single_losses() -> Vec<OracleScenario> {
    let twelve = |segment, copies, name: String| {
        let lose = Lose {
            what: Lost::Segment,
            segment,
            copies,
        };
        OracleScenario {
            answers: SOME,
            section: PageTable::Losses,
            ..alone(&name, ONE, rounds_of(1, 12 * MSS, TICKS), lose)
        }
    };
    let mut list: Vec<OracleScenario> = (1..=12)
        .map(|segment| twelve(segment, 1, format!("lost-{segment}-of-12")))
        .collect();
    list.push(twelve(12, 2, "lost-12-of-12-twice".to_owned()));
    list
}

/// Settings of the kernel that are not at their defaults, requests in pieces, and a receiver that reads late.
fn other_settings() -> Vec<OracleScenario> {
    let sysctl = |key: &str, value: &str| Extras {
        sysctl: [(key.to_owned(), value.to_owned())].into(),
        ..Extras::default()
    };
    let mut list = Vec::new();
    for (cc, senders) in [("reno", 16), ("cubic", 16), ("dctcp", 16), ("reno", 32)] {
        let one = incast(SLOW, cc, senders, 64).called("nosack");
        list.push(with(one, sysctl("tcp_sack", "0")));
    }
    for cc in ["reno", "cubic"] {
        let extras = Extras {
            route_min_rto_us: Some(5_000),
            ..Extras::default()
        };
        let one = segmented(SLOW, cc, 32, 24).called("route5ms");
        list.push(with(one, extras));
    }
    for (sender, receiver, name) in [
        (10_000, 200_000, "rto10ms-200ms"),
        (200_000, 10_000, "rto200ms-10ms"),
    ] {
        let extras = Extras {
            receiver_min_rto_us: Some(receiver),
            ..Extras::default()
        };
        let one = OracleScenario {
            min_rto_us: sender,
            ..segmented(SLOW, "reno", 32, 24).called(name)
        };
        list.push(with(one, extras));
    }
    for (nodelay, name) in [(false, "pieces-nagle"), (true, "pieces-nodelay")] {
        let extras = Extras {
            request: Some(200),
            pieces: Some(2),
            nodelay: Some(nodelay),
            ..Extras::default()
        };
        list.push(exact(
            name,
            ONE,
            "cubic",
            rounds_of(1, 16 * MSS, TICKS),
            extras,
        ));
    }
    for (size, name) in [
        (64 * 1024, "late-reader-64k"),
        (1_000_000, "late-reader-1m"),
    ] {
        let extras = Extras {
            read_late: Some(100 * MILLISECOND),
            ..Extras::default()
        };
        list.push(exact(name, ONE, "cubic", rounds_of(1, size, TICKS), extras));
    }
    list
}

/// Slow start on a path of 30 ms and 100 Mbit/s, whose product of bandwidth and delay is 250 packets.
fn long_paths() -> Vec<OracleScenario> {
    let one = |buffer: u64| {
        let long = StreamTraffic {
            duration: 3 * SECOND,
            late_from: 3 * SECOND / 2,
            ..lone()
        };
        let one = OracleScenario {
            rig: HYSTART,
            look: 5 * PACKET * 8 * SECOND / HYSTART.rate,
            ..stream("bulk-30ms", "cubic", long)
        };
        one.with_buffer(&format!("b{buffer}"), buffer, 0)
    };
    [100, 1000].map(one).into()
}

/// An incast whose answers are this many full segments.
fn segmented(rig: Rig, cc: &'static str, senders: u32, segments: u64) -> OracleScenario {
    let kind = rounds_of(senders, segments * MSS, JITTER);
    OracleScenario {
        answers: MANY,
        section: PageTable::Few,
        ..scenario(format!("incast-{senders}x{segments}s-{cc}"), rig, cc, kind)
    }
}

/// Thirty rounds.
fn rounds_of(senders: u32, size: u64, jitter: u64) -> OracleTraffic {
    OracleTraffic::Incast {
        senders,
        size,
        rounds: 30,
        jitter,
    }
}

/// One sender, whose segment is lost.
fn alone(name: &str, rig: Rig, kind: OracleTraffic, lose: Lose) -> OracleScenario {
    let extras = Extras {
        lose: Some(lose),
        ..Extras::default()
    };
    OracleScenario {
        section: PageTable::Openings,
        ..exact(name, rig, "cubic", kind, extras)
    }
}

/// A scenario without randomness. Nothing waits at its port, so the queue is not sampled.
fn exact(
    name: &str,
    rig: Rig,
    cc: &'static str,
    kind: OracleTraffic,
    extras: Extras,
) -> OracleScenario {
    OracleScenario {
        exact: true,
        look: 0,
        extras,
        section: PageTable::Settings,
        ..scenario(name.to_owned(), rig, cc, kind)
    }
}

fn with(one: OracleScenario, extras: Extras) -> OracleScenario {
    OracleScenario {
        extras,
        section: PageTable::Settings,
        ..one
    }
}

/// The number of answers if a round depends on how the earlier ones met the kernel's ticks.
const SOME: u32 = 6;
/// Some ticks of the kernel, in ns: a request of a single sender waits for less, so that each round meets them anew.
const TICKS: u64 = 10_000_000;
/// In ns.
const MILLISECOND: u64 = 1_000_000;
