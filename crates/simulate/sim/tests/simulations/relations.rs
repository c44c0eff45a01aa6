//! Relations between runs that hold for every registered scheme.
//!
//! Results do not depend on the number of threads, the other points of a sweep, names, observers or idle hosts. If
//! rates are multiplied and times are divided by ten, all measured times are divided by ten and nothing else changes.
//! `traces.rs` shows that traces change nothing.
//!
//! Flows start one after the other, so that hardly any events are simultaneous: the order of equal times may depend on
//! the number of hosts, and it is drawn from the times.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::AtomicBool;

use base::{Rate, Span};
use plan::PointSpec;
use plan::keys::{all_keys, group};
use scenario::{Overrides, Scenario, Source};
use sim::metrics::{FlowRecord, Outcome};
use sim::run;
use sim::sweep;

use crate::support::{outcome, points};

/// An incast that fills the queue, loses packets and needs timers.
const INCAST: &str = r#"
[link]
delay = "20us"
[switch]
buffer = "12pkt"
ecn_threshold = "6pkt"
[tcp]
min_rto = "2ms"
initial_rto = "2ms"
syn_rto = "2ms"
[workload]
senders = 12
interval = "7300ns"
size = "40KB"
"#;

/// The same with random starts.
const RANDOM: &str = "workload.jitter=50us";

/// The names of all schemes.
fn names() -> Vec<&'static str> {
    schemes::all().iter().map(|scheme| scheme.name).collect()
}

/// All measurements of a run, except its cost in time.
fn measured(outcome: &Outcome) -> String {
    let Outcome {
        metrics,
        groups,
        cost,
        flows,
        ports,
        tiers,
        deadlock,
        collectives,
        digest,
    } = outcome;
    let cost = (cost.simulated_us, cost.packet_hops, cost.events);
    format!(
        "{metrics:?} {groups:?} {cost:?} {flows:?} {ports:?} {tiers:?} {deadlock} {collectives:?} {digest:x}"
    )
}

fn simulate(point: &PointSpec) -> Outcome {
    run::run(point).expect("a conserving run")
}

#[test]
fn the_incast_of_these_tests_is_hard() {
    let run = outcome(INCAST, "newreno", &[]);
    let metrics = &run.metrics;
    assert_eq!(metrics.flows_completed, 12);
    assert!(metrics.drops > 5, "{metrics:?}");
    assert!(metrics.timeouts > 0, "{metrics:?}");
    assert!(metrics.retransmissions > metrics.timeouts, "{metrics:?}");
    assert!(outcome(INCAST, "dctcp", &[]).metrics.marks > 0);
}

#[test]
fn a_point_gives_the_same_with_any_number_of_jobs_and_alone() {
    let overrides = |schemes: &str, senders: &str, (seed, seeds)| Overrides {
        schemes: Some(schemes.to_owned()),
        sets: vec![RANDOM.to_owned(), format!("workload.senders={senders}")],
        seed: Some(seed),
        seeds: NonZeroU32::new(seeds),
        ..Overrides::default()
    };
    let load = |overrides: &Overrides| {
        let scenario = Scenario::load(Source::new("test.toml", INCAST), overrides);
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems:?}"));
        scenario.points().to_vec()
    };
    let sweep = load(&overrides(&names().join(","), "3,12", (1, 2)));
    assert_eq!(sweep.len(), names().len() * 4);
    let together = |jobs| -> Vec<String> {
        let jobs = NonZeroUsize::new(jobs).expect("at least one");
        let points: Vec<&PointSpec> = sweep.iter().collect();
        let runs = sweep::run_all(&points, jobs, &AtomicBool::new(false), run::run, |_, _| ());
        let runs = runs.into_iter();
        runs.map(|run| measured(&run.expect("a conserving run")))
            .collect()
    };
    let one = together(1);
    for jobs in [2, 5] {
        assert!(one == together(jobs), "{jobs} jobs");
    }
    for (point, in_sweep) in sweep.iter().zip(&one) {
        let senders = point.text("workload.senders");
        let alone = load(&overrides(&point.scheme, senders, (point.seed, 1)));
        assert_eq!(
            measured(&simulate(&alone[0])),
            *in_sweep,
            "{} with {senders} senders, seed {}",
            point.scheme,
            point.seed
        );
    }
}

#[test]
fn a_variant_that_changes_nothing_is_its_base() {
    for name in names() {
        let text = format!("{INCAST}[variant.same]\nbase = \"{name}\"\n");
        let [base, same] = [name, "same"].map(|scheme| outcome(&text, scheme, &[RANDOM]));
        assert_eq!(measured(&base), measured(&same), "{name}");
    }
}

#[test]
fn idle_hosts_change_nothing() {
    for name in names() {
        let few = outcome(INCAST, name, &[]);
        let many = outcome(INCAST, name, &["topology.hosts=40"]);
        let told = |run: &Outcome| format!("{:?} {:?}", run.metrics, run.flows);
        assert_eq!(told(&few), told(&many), "{name}");
        let busy = |run: &Outcome| -> Vec<_> {
            let ports = run.ports.iter().filter(|port| port.packets > 0);
            ports.cloned().collect()
        };
        assert!(many.ports.len() > few.ports.len());
        assert_eq!(busy(&few), busy(&many), "{name}");
    }
}

#[test]
fn names_of_groups_mean_nothing() {
    // Nothing is drawn here: random streams follow the names of groups.
    let text = |[first, second]: [&str; 2], scheme: &str| {
        format!(
            "{INCAST}\n[group.{first}]\nscheme = \"{scheme}\"\nworkload.senders = 7\n\
             [group.{second}]\nscheme = \"newreno\"\nworkload.senders = 5\nworkload.start = \"10003us\"\n"
        )
    };
    for name in names() {
        let [plain, renamed] = [["a", "b"], ["zulu", "alpha"]].map(|groups| {
            let mut run = outcome(&text(groups, name), "newreno", &[]);
            for (group, number) in run.groups.iter_mut().zip(["first", "second"]) {
                number.clone_into(&mut group.group);
            }
            for flow in &mut run.flows {
                let place = groups.iter().position(|group| *group == flow.group);
                flow.group = place.expect("one of the two").to_string();
            }
            measured(&run)
        });
        assert_eq!(plain, renamed, "{name}");
    }
}

#[test]
fn with_ten_times_the_rates_and_a_tenth_of_the_times_everything_takes_a_tenth() {
    // Packets of a sender may follow each other at the same distance as those of the bottleneck. Then they would meet
    // those of others at the same instant, and the order is drawn from the time.
    let apart = INCAST.replace("[link]\n", "[link]\nrate = \"1280Mbps\"\n");
    let incast =
        format!("[topology]\nkind = \"dumbbell\"\n[bottleneck]\nrate = \"1Gbps\"\n{apart}");
    let mut differences = Vec::new();
    for name in names() {
        let constants = CONSTANTS.iter().filter(|(scheme, _)| *scheme == name);
        let sets: Vec<&str> = constants.map(|(_, set)| *set).collect();
        let base = points(&incast, name, &sets).remove(0);
        let faster = tenfold(&base);
        let faster: Vec<&str> = faster.iter().map(String::as_str).collect();
        let key = |set: &str| set.split('=').next().map(str::to_owned);
        let scaled = |set: &str| faster.iter().any(|other| key(other) == key(set));
        let constant: Vec<&str> = sets.into_iter().filter(|set| !scaled(set)).collect();
        let fast = outcome(&incast, name, &[&constant[..], &faster[..]].concat());
        let (slow, fast) = (timeless(&simulate(&base), 1.0), timeless(&fast, 10.0));
        if slow != fast {
            differences.push(format!("{name}:\n{slow:?}\n{fast:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Schemes with fixed times or times that coincide with packets, and the settings that avoid these.
const CONSTANTS: &[(&str, &str)] = &[
    // The target is at least 25 us if nobody sets it.
    ("swift", "swift.base_target=250us"),
    // "auto" is the same time and rate for all links.
    ("dcqcn", "dcqcn.timer=55us"),
    ("dcqcn", "dcqcn.min_rate=1Mbps"),
    // A notice is due 50 us after another, and the bottleneck sends a packet every 12 us. Sometimes both come to the
    // receiver at the same instant.
    ("dcqcn", "dcqcn.cnp_interval=50003ns"),
    // The published code bounds the period in which the share of marks is estimated by 100 us and 10 ms.
    ("rcc", "switch.ecn_threshold=off"),
    ("rdtcp", "switch.ecn_threshold=off"),
];

/// The counters of a run, and its completions in nanoseconds, multiplied by `times`: rounding may cost picoseconds.
fn timeless(run: &Outcome, times: f64) -> (Vec<([u32; 5], String)>, [u64; 4]) {
    let flow = |flow: &FlowRecord| {
        let counts = [
            flow.packets,
            flow.retransmissions,
            flow.after_timeout,
            flow.timeouts,
            flow.drops,
        ];
        let us = flow.completion_us.get().expect("a complete flow") * times;
        (counts, format!("{us:.3}"))
    };
    let flows = run.flows.iter().map(flow).collect();
    let m = &run.metrics;
    let queue = m.queue_max_bytes;
    (flows, [m.drops, m.marks, m.threshold_crossings, queue])
}

/// Every rate and time that is a setting, ten times as fast.
fn tenfold(point: &PointSpec) -> Vec<String> {
    let mut sets = Vec::new();
    for key in all_keys() {
        let text = point.text(key.name);
        let time = text.parse().map(|time: Span| (time / 10).to_string());
        let rate = text.parse().map(|rate: Rate| {
            let bps = rate.as_bps() * 10;
            Rate::from_bps(bps).to_string()
        });
        if let Ok(faster) = time.or(rate) {
            sets.push(format!("{}={faster}", key.name));
        }
    }
    // Segments per cubic second.
    let c: f64 = point.text("cubic.c").parse().expect("a number");
    sets.push(format!("cubic.c={}", c * 1000.0));
    sets.retain(|set| group(set) != "trace");
    sets
}
