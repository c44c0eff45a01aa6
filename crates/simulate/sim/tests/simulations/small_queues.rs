//! TCP small queues: how much less a connection keeps in the port of its own host, and the effects of that.

use sim::metrics::{Outcome, PortRecord};

use crate::support::outcome;

/// A long flow and a short one behind it, from the same host; their own link is the slowest, and nothing is lost.
const SHARED: &str = r#"
[link]
rate = "100Mbps"
delay = "500us"
[switch]
buffer = "unlimited"
[tcp]
profile = "linux"
[workload]
senders = 1
from = "0:1"
to = "0:0"
[group.long.workload]
size = "10MB"
start = "0s"
[group.short.workload]
size = "14480B"
start = "300ms"
"#;

/// A full packet with its headers.
const PACKET: u64 = 1500;

fn sender_port(outcome: &Outcome) -> &PortRecord {
    let port = outcome.ports.iter().find(|port| port.from == "host 1");
    port.expect("the port of the host that sends")
}

fn fct_ms(outcome: &Outcome, group: &str) -> f64 {
    let flow = outcome.flows.iter().find(|flow| flow.group == group);
    let fct = flow.and_then(|flow| flow.fct_us.get());
    fct.expect("a complete flow") / 1e3
}

#[test]
fn a_long_flow_waits_in_its_socket_and_not_in_its_port() {
    let with = outcome(SHARED, "cubic", &[]);
    let without = outcome(SHARED, "cubic", &["tcp.small_queues=false"]);
    // A millisecond of 1.2 times 12 MB/s are 14.7 KB of memory: seven segments of 1448 + 960 bytes, or six that wait.
    // The short flow has as many at most.
    let (queue, whole) = (sender_port(&with), sender_port(&without));
    assert!(queue.queue_max_bytes <= 20 * PACKET, "{queue:?}");
    assert!(whole.queue_max_bytes > 100 * PACKET, "{whole:?}");
    // The link is as busy as before.
    let (long, before) = (fct_ms(&with, "long"), fct_ms(&without, "long"));
    assert!((long / before - 1.0).abs() < 0.01, "{long} and {before} ms");
}

#[test]
fn a_short_flow_does_not_wait_behind_the_window_of_a_long_one() {
    let with = fct_ms(&outcome(SHARED, "cubic", &[]), "short");
    let before = fct_ms(
        &outcome(SHARED, "cubic", &["tcp.small_queues=false"]),
        "short",
    );
    // Two round trips of 2 ms, and ten segments of 0.12 ms that take turns with those of the long flow.
    assert!(with < 10.0, "{with} ms");
    assert!(before > 3.0 * with, "{before} ms");
}

#[test]
fn connections_of_one_host_take_turns_at_its_port() {
    let flows = outcome(
        SHARED,
        "newreno",
        &[
            "group.short.workload.size=10MB",
            "group.short.workload.start=0s",
        ],
    );
    let (one, other) = (fct_ms(&flows, "long"), fct_ms(&flows, "short"));
    // Each has a place for every millisecond of its rate, which goes with its window.
    assert!((one / other - 1.0).abs() < 0.2, "{one} and {other} ms");
}

#[test]
fn hosts_whose_queues_do_not_fill_simulate_the_same() {
    for scheme in ["newreno", "cubic", "dctcp"] {
        let sets = ["tcp.profile=linux", "tcp.sack=true", "workload.senders=12"];
        let with = outcome("incast", scheme, &sets);
        let off = [&sets[..], &["tcp.small_queues=false"]].concat();
        let without = outcome("incast", scheme, &off);
        assert_eq!(with.digest, without.digest, "{scheme}");
        assert_eq!(with.cost.events, without.cost.events, "{scheme}");
    }
}

// A port with priorities decides late which packet leaves. So it cannot tell a sender how much of the sender's data
// waits.
#[test]
fn hosts_that_serve_by_priority_hold_nothing_back() {
    let sets = ["qos.priority=0"];
    let with = outcome(SHARED, "qos+newreno", &sets);
    let without = outcome(SHARED, "qos+newreno", &[sets[0], "tcp.small_queues=false"]);
    assert_eq!(with.digest, without.digest);
}
