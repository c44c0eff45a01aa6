//! Parts of completion times: exact sums, closed forms, and the parts in which losses, timers, other flows and
//! applications appear.

use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use sim::breakdown::{Breakdown, Part};
use sim::metrics::{FlowRecord, Outcome};
use sim::run::{self, Limits, Watching};

use crate::support::points;
use crate::theory::{LONE, each_lone_flow};

/// The outcome with its breakdowns. The parts of every completion time add up to the whole.
fn broken_down(point: &PointSpec) -> Outcome {
    let watching = Watching {
        probe: None,
        breakdown: true,
    };
    let outcome = run::watch(Limits::NONE, point, watching).expect("a conserving run");
    for flow in &outcome.flows {
        match (flow.fct_us.get(), &flow.breakdown) {
            (Some(fct), Some(breakdown)) => {
                assert_eq!(breakdown.total(), picoseconds(fct), "{flow:?}");
            }
            (None, None) => {}
            _ => panic!("a complete flow is broken down, and no other: {flow:?}"),
        }
    }
    outcome
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "microseconds with six decimals, far below 2^53 picoseconds"
)]
fn picoseconds(us: f64) -> u64 {
    (us * 1e6).round() as u64
}

fn only(outcome: &Outcome) -> Breakdown {
    *outcome.flows[0]
        .breakdown
        .clone()
        .expect("a complete flow is broken down")
}

fn parts(flow: &FlowRecord) -> &Breakdown {
    flow.breakdown
        .as_deref()
        .expect("a complete flow is broken down")
}

#[test]
fn a_lone_flow_waits_for_the_window_as_slow_start_says() {
    each_lone_flow(|what, point, star, (size, window)| {
        let parts = only(&broken_down(point));
        let what = format!("{what}: {parts:?}");
        assert_eq!(parts.get(Part::Window), star.stalls(size, window), "{what}");
        assert_eq!(parts.get(Part::Propagation), 2 * star.delay, "{what}");
        // SYN and SYN-ACK, each over two links.
        let handshake = 4 * (star.segment(0) + star.delay);
        assert_eq!(parts.get(Part::Handshake), handshake, "{what}");
        for none in [
            Part::Application,
            Part::Queueing,
            Part::Recovery,
            Part::Timers,
        ] {
            assert_eq!(parts.get(none), 0, "{none:?} of {what}");
        }
    });
}

#[test]
fn a_lone_flow_behind_a_slower_link_serialises_there() {
    // Ten segments of 12 us at the bottleneck leave a host with ten times its rate at once, and take
    // 120 us there; each round trip is longer.
    let sets = [
        "topology.kind=dumbbell",
        "link.rate=10Gbps",
        "bottleneck.rate=1Gbps",
        "bottleneck.delay=1ms",
        "workload.size=70pkt",
        "tcp.initial_window=10",
    ];
    let parts = only(&broken_down(&points(LONE, "newreno", &sets)[0]));
    // 70 segments of 12 us at the bottleneck; on the way, the last one and the handshake's last ACK also
    // take their time at ten times the rate: 1.2 us on each of two links, and 0.432 us at the bottleneck.
    assert_eq!(
        parts.get(Part::Serialisation),
        840_000_000 + 2_400_000 + 432_000
    );
    assert_eq!(parts.get(Part::Queueing), 0);
    assert_eq!(parts.get(Part::Timers) + parts.get(Part::Recovery), 0);
    assert!(parts.get(Part::Window) > 0);
}

#[test]
fn packets_of_others_are_queueing() {
    let sets = [
        "workload.senders=2",
        "workload.size=100pkt",
        "tcp.initial_window=100",
    ];
    let outcome = broken_down(&points(LONE, "newreno", &sets)[0]);
    // Both send at the line's rate from the start; the last packet waits for the other's hundred.
    let waited = outcome
        .flows
        .iter()
        .map(|flow| parts(flow).get(Part::Queueing));
    let waited = waited.max().unwrap();
    assert!(
        (1_188_000_000..=1_200_000_000).contains(&waited),
        "{waited}"
    );
    for flow in &outcome.flows {
        let parts = parts(flow);
        // 101 segments of 12 us, and the handshake's last ACK.
        assert_eq!(parts.get(Part::Serialisation), 1_212_000_000 + 432_000);
        assert_eq!(parts.get(Part::Window), 0);
    }
}

#[test]
fn a_lost_tail_waits_for_the_timer_of_the_sender() {
    // The buffer holds a part of what two senders send at once. The rest has no packets behind it.
    let sets = [
        "workload.senders=8",
        "workload.size=10pkt",
        "tcp.initial_window=10",
        "switch.buffer=20KB",
        "tcp.min_rto=200ms",
    ];
    let outcome = broken_down(&points(LONE, "newreno", &sets)[0]);
    let slow = outcome.flows.iter().filter(|flow| flow.timeouts > 0);
    let timers: Vec<u64> = slow.map(|flow| parts(flow).get(Part::Timers)).collect();
    assert!(!timers.is_empty());
    for waited in timers {
        assert!(waited >= 199_000_000_000, "{waited}");
    }
    let rest = outcome.flows.iter().filter(|flow| flow.timeouts == 0);
    for flow in rest {
        assert_eq!(parts(flow).get(Part::Timers), 0, "{flow:?}");
    }
}

#[test]
fn an_application_that_writes_in_parts_is_waited_for() {
    let sets = [
        "workload.size=290KB",
        "workload.first_write=100KB",
        "workload.write=50KB",
        "workload.write_interval=10ms",
    ];
    let parts = only(&broken_down(&points(LONE, "newreno", &sets)[0]));
    // Four intervals of 10 ms, minus the time that their parts take to send.
    let waited = parts.get(Part::Application);
    assert!(
        (36_000_000_000..40_000_000_000).contains(&waited),
        "{waited}"
    );
    assert_eq!(parts.get(Part::Queueing) + parts.get(Part::Timers), 0);
}

#[test]
fn a_delayed_ack_is_a_timer() {
    // With a window of one segment the receiver waits for a second one that cannot come.
    let sets = [
        "tcp.delayed_ack=2",
        "tcp.delayed_ack_timeout=40ms",
        "tcp.initial_window=1",
        "workload.size=2pkt",
    ];
    let parts = only(&broken_down(&points(LONE, "newreno", &sets)[0]));
    assert_eq!(parts.get(Part::Timers), 40_000_000_000);
}

#[test]
fn nothing_else_changes_when_completion_times_are_broken_down() {
    for scheme in ["newreno", "dctcp", "rcc", "rc3", "hscc"] {
        let point = &points("incast", scheme, &["workload.senders=20"])[0];
        let plain = run::run(point).expect("a conserving run");
        assert_eq!(plain.digest, broken_down(point).digest, "{scheme}");
        assert!(plain.flows.iter().all(|flow| flow.breakdown.is_none()));
    }
}

/// Draws settings: a generator of Knuth's, whose seeds repeat a failure.
struct Draw(u64);

impl Draw {
    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = (self.0 >> 33) % choices.len() as u64;
        choices[usize::try_from(place).expect("few choices")]
    }
}

#[test]
fn the_parts_sum_to_the_completion_time_in_random_scenarios() {
    let (mut run, mut complete, mut seen) = (0, 0, [0_u64; 8]);
    for seed in 1..=80 {
        let mut draw = Draw(seed);
        let network = draw.one_of(&[
            "topology.kind = \"star\"\n",
            "topology.kind = \"dumbbell\"\nbottleneck.rate = \"500Mbps\"\n",
            "topology.kind = \"leaf-spine\"\ntopology.racks = 3\ntopology.spines = 2\ntopology.hosts = 4\n",
            "topology.kind = \"leaf-spine\"\ntopology.racks = 3\ntopology.spines = 2\ntopology.hosts = 4\ntopology.ecmp = \"packet\"\n",
        ]);
        let workload = draw.one_of(&[
            "[workload]\nsenders = 8\nrounds = 2\nsize = \"64KB\"\n",
            "[workload]\nkind = \"poisson\"\nload = 0.6\nload_of = \"hosts\"\nsize = \"exponential(30KB)\"\nduration = \"5ms\"\n",
            "[workload]\nkind = \"requests\"\nsenders = 3\nconnections = 6\nrequests = 4\nsize = \"40KB\"\n",
            "[workload]\nsenders = 6\nsize = \"120KB\"\nfirst_write = \"30KB\"\nwrite = \"20KB\"\nwrite_interval = \"1ms\"\n",
        ]);
        let more = [
            draw.one_of(&["", "switch.loss = 0.02\n"]),
            draw.one_of(&["", "host.buffer = \"30KB\"\n"]),
            draw.one_of(&["switch.buffer = \"80KB\"\n", "switch.buffer = \"2MB\"\n"]),
            draw.one_of(&["", "tcp.sack = true\n"]),
            draw.one_of(&["", "tcp.delayed_ack = 2\n"]),
            draw.one_of(&["", "tcp.receive_buffer = \"20KB\"\n"]),
            "tcp.min_rto = \"5ms\"\n",
        ]
        .concat();
        let scheme = draw.one_of(&[
            "newreno", "dctcp", "cubic", "rcc", "rc3", "hscc", "ictcp", "pias", "xcp", "rcp",
        ]);
        let text = format!("{more}{network}{workload}");
        let overrides = Overrides {
            schemes: Some(scheme.to_owned()),
            ..Overrides::default()
        };
        let Ok(scenario) = Scenario::load(Source::new("random.toml", &text), &overrides) else {
            // Some schemes do not fit some networks and workloads.
            continue;
        };
        run += 1;
        for flow in &broken_down(&scenario.points()[0]).flows {
            if let Some(breakdown) = &flow.breakdown {
                complete += 1;
                for (seen, part) in seen.iter_mut().zip(breakdown.parts()) {
                    *seen += u64::from(*part > 0);
                }
            }
        }
    }
    assert!(
        run >= 40 && complete > 2000,
        "{complete} flows of {run} scenarios"
    );
    assert!(
        seen.iter().all(|flows| *flows > 50),
        "each part is met: {seen:?}"
    );
}
