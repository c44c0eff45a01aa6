//! Collectives: their times in an empty network against closed forms, and the hosts that delay them.

use sim::metrics::{CollectiveMetrics, FlowRecord, Outcome};

use crate::support::outcome;

/// An idle star in which a message has a latency of 5 us. Headers and acknowledgements take 0.5 % of the links, and no window holds a message back: an acknowledgement waits at its host behind the data that is sent there.
const STAR: &str = "link.rate = \"100Gbps\"\nlink.delay = \"2.5us\"\nswitch.buffer = \"unlimited\"\n\
    switch.ecn_threshold = \"off\"\ntcp.mss = 16000\ntcp.initial_window = 5000\ntcp.receive_buffer = \"128MB\"\n\
    [workload]\nkind = \"collective\"\nsize = \"64MB\"\nconnection = \"persistent\"\n";

fn star(more: &[&str]) -> Outcome {
    let sets: Vec<String> = more.iter().map(|set| format!("workload.{set}")).collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    outcome(STAR, "newreno", &sets)
}

fn only(outcome: &Outcome) -> &CollectiveMetrics {
    let [collective] = outcome.collectives.as_slice() else {
        panic!("{:?}", outcome.collectives)
    };
    collective
}

fn done(flow: &FlowRecord) -> f64 {
    flow.completion_us.get().expect("a complete flow")
}

#[test]
fn collectives_on_an_idle_star_take_their_ideal_times() {
    // 14 steps of 5 us + 640 us; 30 us + 2 * 5.12 ms * 7/8; 7 steps; 4 steps of 5 us + 10.24 ms; 5 us + 7 * 640 us.
    for (more, ideal_ms) in [
        (&["algorithm=ring"][..], 9.030),
        (&["algorithm=halving-doubling"], 8.990),
        (&["collective=all-to-all"], 4.515),
        (&["algorithm=tree", "ranks=7"], 40.980),
        (&["collective=all-to-all", "algorithm=at-once"], 4.485),
        (&["collective=reduce-scatter"], 4.515),
    ] {
        // The first time a connection may send 64 KiB before it knows the scale of its peer's window (RFC 7323, 2.2).
        let outcome = star(&[more, &["rounds=2"]].concat());
        let collective = only(&outcome);
        assert!(
            (collective.ideal_us / 1e3 - ideal_ms).abs() < 1e-6,
            "{more:?}: {collective:?}"
        );
        let again = &outcome.flows[outcome.flows.len() / 2..];
        let start = again
            .iter()
            .map(|flow| flow.start_us)
            .fold(f64::INFINITY, f64::min);
        let end = again.iter().map(done).fold(0.0, f64::max);
        let ratio = (end - start) / collective.ideal_us;
        assert!((1.0..1.01).contains(&ratio), "{more:?}: {ratio}");
        let mean = outcome.metrics.rounds_over_ideal;
        assert!(ratio < mean && mean < 1.02, "{more:?}: {mean}");
        assert!((mean - collective.mean_us / collective.ideal_us).abs() < 1e-9);
    }
}

#[test]
fn a_message_of_a_ring_starts_when_the_one_before_has_arrived() {
    let outcome = star(&["size=800KB", "ranks=4"]);
    assert_eq!(outcome.flows.len(), 24);
    for flow in &outcome.flows[4..] {
        let before = &outcome.flows[flow.waited_for.expect("it waits") as usize];
        // The flow from the neighbour, one step earlier.
        assert_eq!(
            (before.receiver, before.flow / 4 + 1),
            (flow.sender, flow.flow / 4)
        );
        assert!((flow.start_us - done(before)).abs() < 1e-6);
    }
}

#[test]
fn a_straggler_holds_everybody_up_and_is_named() {
    let usual = only(&star(&[])).mean_us;
    let outcome = star(&["stragglers=1", "straggler_delay=300us"]);
    let slow = only(&outcome);
    // Its first messages come late to all hosts. Their late messages make it late once more.
    assert!(slow.mean_us > usual + 550.0, "{} {usual}", slow.mean_us);
    let held = slow.held_up.as_ref().expect("a message");
    assert!(held.took_us - held.ideal_us > 300.0, "{held:?}");
    assert_eq!((held.steps, held.step), (14, held.flow / 8));
    let flow = &outcome.flows[held.flow as usize];
    assert_eq!((flow.sender, flow.receiver), (held.sender, held.receiver));
    // Its sender works longer than all others before each of its messages.
    let work = |flow: &FlowRecord| {
        let before = flow
            .waited_for
            .map(|before| done(&outcome.flows[before as usize]));
        flow.start_us - before.unwrap_or(10_000.0)
    };
    for other in &outcome.flows {
        let expected = if other.sender == held.sender {
            300.0
        } else {
            0.0
        };
        assert!((work(other) - expected).abs() < 1e-6, "{other:?}");
    }
}

#[test]
fn the_next_collective_begins_when_the_last_message_has_arrived() {
    let outcome = star(&["size=800KB", "rounds=3", "think=50us", "compute=2us"]);
    assert_eq!(
        (outcome.metrics.rounds_completed, only(&outcome).completed),
        (Some(3), 3)
    );
    let rounds: Vec<&[FlowRecord]> = outcome.flows.chunks(112).collect();
    for pair in rounds.windows(2) {
        let end = pair[0].iter().map(done).fold(0.0, f64::max);
        let start = pair[1]
            .iter()
            .map(|flow| flow.start_us)
            .fold(f64::INFINITY, f64::min);
        // The pause, and the work before the first message.
        assert!((start - end - 52.0).abs() < 1e-6, "{end} {start}");
    }
}

#[test]
fn ranks_are_hosts_by_their_order() {
    let senders = |order: &str| {
        let outcome = outcome(
            &format!("topology.hosts = 6\n{STAR}"),
            "newreno",
            &["workload.size=8KB", "workload.ranks=3", order],
        );
        let firsts = outcome.flows[..3].iter();
        firsts
            .map(|flow| (flow.sender, flow.receiver))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        senders("workload.rank_order=order"),
        [(0, 1), (1, 2), (2, 0)]
    );
    assert_eq!(
        senders("workload.rank_order=stride 2"),
        [(0, 2), (2, 4), (4, 0)]
    );
    assert_eq!(
        senders("workload.from=0:5+0:1+0:3"),
        [(5, 1), (1, 3), (3, 5)]
    );
    let random = senders("workload.rank_order=random");
    assert_eq!(
        (random[0].1, random[1].1, random[2].1),
        (random[1].0, random[2].0, random[0].0)
    );
}
