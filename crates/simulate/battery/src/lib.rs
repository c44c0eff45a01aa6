//! Networks that are hard on TCP and that every scheme must survive.
//!
//! Each run checks that bytes arrive exactly once and that no packet is lost without being counted.
//!
//! ```
//! battery::lone_flow("newreno");
//! ```

mod composed;
mod phase;
mod relation;

use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use sim::run;

pub use composed::adds_nothing;
pub use phase::hangs_on_no_order;
pub use relation::depends_on_no_origin_or_unit_of_time;

/// Runs the scheme called `scheme`, or a composition of schemes, on every network.
///
/// # Panics
/// If a flow does not complete or takes longer than a stalled connection would; if a flow between existing hosts fails;
/// if a network loses less than it should; if bytes or packets are not accounted for; or if a repeated run differs.
pub fn check(scheme: &str) {
    // A scheme that withdraws packets waiting in its host's port is refused if switches pause these ports.
    let groups = point(scheme, &[]).groups;
    let mut groups = groups.iter();
    let takes_back = groups.any(|group| group.roles().low_priority.is_some());
    let pauses = |network: &Network| network.sets.iter().any(|set| set.starts_with("switch.pfc"));
    for network in NETWORKS {
        if !(takes_back && pauses(network)) {
            survive(scheme, network);
        }
    }
    outlive(scheme);
}

/// Flows whose host disappears must fail with the right reason, and all others must complete: every byte is delivered,
/// or its loss is explained.
fn outlive(scheme: &str) {
    for (fault, failed) in DISAPPEARING {
        let place = format!("{scheme} with {fault}");
        let sets = [
            "workload.size=1MB",
            "tcp.retries=4",
            "tcp.syn_retries=4",
            fault,
        ];
        let point = point(scheme, &sets);
        let outcome = run::run(&point).unwrap_or_else(|error| panic!("{place}: {error}"));
        let m = &outcome.metrics;
        let found = (m.flows_completed, m.flows_failed, m.flows_unfinished);
        assert_eq!(found, (4 - failed, *failed, 0), "{place}");
        assert_eq!(m.flows_host_gone, Some(*failed), "{place}");
        // No timer of a scheme goes on for a host that has disappeared.
        assert!(outcome.cost.simulated_us < 60e6, "{place}");
    }
}

/// The same on the first network alone: a lone flow without losses.
///
/// # Panics
/// As [`check`] does.
pub fn lone_flow(scheme: &str) {
    survive(scheme, &NETWORKS[0]);
}

fn survive(scheme: &str, network: &Network) {
    let place = format!("{scheme} on {}", network.name);
    let point = point(scheme, network.sets);
    let first = run::run(&point).unwrap_or_else(|error| panic!("{place}: {error}"));
    let m = &first.metrics;
    let senders = u64::from(point.keys.workload.senders.0);
    assert_eq!((m.flows_completed, m.flows_failed), (senders, 0), "{place}");
    assert!(m.drops >= network.drops, "{place}: {} drops", m.drops);
    // A second for each consecutive timeout: far less than a stalled connection would take.
    assert!(m.fct_max_us < 60e6, "{place}: {} us", m.fct_max_us);
    let second = run::run(&point).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(first.digest, second.digest, "{place} twice");
}

fn point(scheme: &str, sets: &[&str]) -> PointSpec {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("battery", BASE), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{scheme}: {problems:?}"));
    scenario.points()[0].clone()
}

/// Settings on top of [`BASE`], and the least number of drops they must cause.
struct Network {
    name: &'static str,
    sets: &'static [&'static str],
    drops: u64,
}

const BASE: &str = r#"
[tcp]
min_rto = "10ms"
initial_rto = "10ms"
syn_rto = "10ms"
[workload]
senders = 4
size = "64KiB"
"#;

#[rustfmt::skip]
const NETWORKS: &[Network] = &[
    Network { name: "a lone flow", sets: &["workload.senders=1", "workload.size=1MB"], drops: 0 },
    Network { name: "a single byte", sets: &["workload.size=1B"], drops: 0 },
    Network { name: "an incast that overflows", sets: &["workload.senders=20", "switch.buffer=10pkt", "switch.ecn_threshold=5pkt"], drops: 1 },
    Network { name: "a queue of packets", sets: &["workload.senders=20", "switch.unit=packets", "switch.buffer=10pkt", "switch.ecn_threshold=5pkt"], drops: 1 },
    Network { name: "a queue of one packet", sets: &["switch.buffer=1pkt", "switch.ecn_threshold=1pkt"], drops: 1 },
    Network { name: "random loss", sets: &["workload.size=1MB", "bottleneck.loss=0.01"], drops: 1 },
    Network { name: "random loss without SACK", sets: &["workload.size=1MB", "bottleneck.loss=0.01", "tcp.sack=false"], drops: 1 },
    Network { name: "heavy loss", sets: &["bottleneck.loss=0.3"], drops: 1 },
    Network { name: "loss of every tenth", sets: &["bottleneck.loss=0.1", "bottleneck.loss_pattern=periodic"], drops: 1 },
    Network { name: "loss in bursts", sets: &["bottleneck.loss=0.05", "bottleneck.loss_pattern=bursts", "bottleneck.loss_burst=3"], drops: 1 },
    Network { name: "marks at random", sets: &["workload.senders=20", "switch.ecn_threshold=5pkt", "switch.ecn_max=40pkt", "switch.ecn_probability=0.2"], drops: 0 },
    Network { name: "a shared buffer", sets: &["workload.senders=20", "switch.pool=40pkt", "switch.ecn_threshold=10pkt"], drops: 0 },
    Network { name: "switches that pause", sets: &["workload.senders=20", "switch.pfc=all", "switch.pfc_xoff=3pkt", "switch.pool=200pkt", "switch.ecn_threshold=20pkt"], drops: 0 },
    Network { name: "random starts", sets: &["workload.senders=20", "workload.jitter=1ms"], drops: 0 },
    Network { name: "delayed ACKs", sets: &["tcp.delayed_ack=2", "tcp.delayed_ack_timeout=1ms"], drops: 0 },
    Network { name: "delayed ACKs and loss", sets: &["tcp.delayed_ack=2", "bottleneck.loss=0.05"], drops: 1 },
    Network { name: "windows of two segments", sets: &["tcp.receive_buffer=2pkt"], drops: 0 },
    Network { name: "windows of two segments and loss", sets: &["tcp.receive_buffer=2pkt", "bottleneck.loss=0.05"], drops: 1 },
    Network { name: "windows of one segment", sets: &["tcp.receive_buffer=1pkt"], drops: 0 },
    Network { name: "odd segments", sets: &["tcp.mss=537"], drops: 0 },
    Network { name: "segments of a byte", sets: &["tcp.mss=1", "workload.size=1000B"], drops: 0 },
    Network { name: "no window scaling", sets: &["tcp.window_scale=off"], drops: 0 },
    Network { name: "a shift of 0", sets: &["tcp.window_scale=0"], drops: 0 },
    Network { name: "a shift of 7", sets: &["tcp.window_scale=7"], drops: 0 },
    Network { name: "a shift of 14", sets: &["tcp.window_scale=14"], drops: 0 },
    Network { name: "classic ECN", sets: &["tcp.ecn=true", "workload.senders=20"], drops: 0 },
    Network { name: "a slow middle", sets: &["topology.kind=dumbbell", "workload.kind=pairs", "link.rate=11Gbps", "bottleneck.rate=100Mbps"], drops: 0 },
    Network { name: "short host queues", sets: &["host.buffer=4pkt", "workload.size=1MB"], drops: 0 },
    Network { name: "a graph", sets: &["topology.kind=graph", "topology.graph=telstra", "bottleneck.delay=100us", "bottleneck.rate=100Mbps"], drops: 0 },
    Network { name: "slow downlinks", sets: &["link.down_rate=100Mbps"], drops: 0 },
    Network { name: "hosts that queue as switches", sets: &["host.queue=switch", "workload.size=1MB"], drops: 0 },
    Network { name: "a link that is down", sets: &["workload.size=1MB", "topology.faults=bottleneck: down from 12ms to 32ms"], drops: 1 },
    Network { name: "a link that flaps", sets: &["workload.size=1MB", "topology.faults=bottleneck: flap at random down 2ms up 5ms from 12ms to 60ms"], drops: 1 },
    Network { name: "a link that slows down", sets: &["workload.size=1MB", "topology.faults=bottleneck: rate 100Mbps from 12ms to 40ms + delay 1ms from 15ms to 30ms"], drops: 0 },
    Network { name: "bursts of losses in both directions", sets: &["workload.size=1MB", "topology.faults=bottleneck: gilbert-elliott p 0.01 r 0.3 good 0.001 bad 0.8"], drops: 1 },
    Network { name: "damage", sets: &["workload.size=1MB", "topology.faults=hosts 0-2: corrupt 0.01"], drops: 1 },
    Network { name: "a switch that restarts", sets: &["workload.size=1MB", "topology.faults=switch 0: restart at 15ms for 20ms"], drops: 1 },
    Network { name: "a receiver that does not read for a time", sets: &["workload.size=1MB", "tcp.receive_buffer=64KiB", "topology.faults=host 0: stops reading from 12ms to 60ms"], drops: 0 },
];

/// Hosts that disappear: settings on top of [`BASE`], and the number of flows that must fail.
#[rustfmt::skip]
const DISAPPEARING: &[(&str, u64)] = &[
    ("topology.faults=host 1: gone at 15ms", 1),
    ("topology.faults=host 1: gone at 5ms", 1),
    ("topology.faults=host 0: gone at 15ms", 4),
];
