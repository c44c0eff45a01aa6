//! Slowdowns: completion times over the times of the same flows alone in the network.

use crate::support::outcome;

/// A window for everything at once, no loss, and links that delay every packet alike.
const AT_ONCE: [&str; 5] = [
    "tcp.initial_window=10000",
    "tcp.receive_buffer=100MB",
    "switch.buffer=unlimited",
    "host.buffer=unlimited",
    "link.jitter=0s",
];

/// The slowdowns of the flows of `text`, each of which completes.
fn slowdowns(text: &str, sets: &[&str]) -> Vec<f64> {
    let sets: Vec<&str> = sets.iter().chain(&AT_ONCE).copied().collect();
    let outcome = outcome(text, "newreno", &sets);
    let flows = outcome.flows.iter();
    flows
        .map(|flow| flow.slowdown.get().expect("a complete flow"))
        .collect()
}

fn assert_alone(slowdown: f64, name: &str) {
    assert!((slowdown - 1.0).abs() < 1e-12, "{name}: {slowdown}");
}

#[test]
fn a_lone_flow_with_a_large_window_has_a_slowdown_of_one() {
    let networks = [
        "topology.hosts = 4",
        "topology.hosts = 4\nlink.rate = \"10Gbps\"\nbottleneck.rate = \"1Gbps\"",
        "topology.kind = \"dumbbell\"\nbottleneck.rate = \"100Mbps\"\nbottleneck.delay = \"5ms\"",
        "topology.kind = \"leaf-spine\"\ntopology.racks = 3\ntopology.spines = 4\ntopology.hosts = 4",
    ];
    for network in networks {
        // Receivers advertise 64 KB before windows are scaled.
        for size in ["1B", "1460B", "1461B", "60KB"] {
            for profile in ["paper", "linux"] {
                let text = format!("{network}\n[workload]\nsenders = 1\nsize = \"{size}\"\n");
                let profile = format!("tcp.profile={profile}");
                let slowdown = slowdowns(&text, &[&profile]);
                assert_alone(slowdown[0], &format!("{network} {size} {profile}"));
            }
        }
    }
}

#[test]
fn the_handshake_and_the_request_are_part_of_the_time_alone() {
    // The first answer needs the handshake, the others do not.
    let text = "topology.hosts = 4\n[workload]\nkind = \"requests\"\nsenders = 2\nsize = \"20KB\"\n\
                request_size = \"2KB\"\nrequests = 3\nthink = \"1ms\"\n";
    for connection in ["new", "persistent"] {
        let set = format!("workload.connection={connection}");
        let all = slowdowns(text, &[&set]);
        assert_eq!(all.len(), 3);
        // An ACK of the request may leave ahead of the answer: 0.3 us of more than 500.
        for slowdown in all {
            assert!((1.0..1.001).contains(&slowdown), "{connection}: {slowdown}");
        }
    }
}

#[test]
fn of_equal_flows_at_one_link_the_last_is_slowed_down_by_their_number() {
    // Ten flows of 600 packets: the link needs ten times as long as for one, and the rest takes little time.
    let text =
        "topology.hosts = 12\nlink.delay = \"1us\"\n[workload]\nsenders = 10\nsize = \"876KB\"\n";
    let all = slowdowns(text, &[]);
    let last = all.iter().copied().fold(0.0, f64::max);
    assert!((9.8..10.2).contains(&last), "{last}");
    assert!(all.iter().all(|slowdown| *slowdown > 1.0));
    let metrics = outcome(text, "newreno", &AT_ONCE).metrics;
    assert!((metrics.slowdown_p99 - last).abs() < 1e-9);
    let mean = all.iter().sum::<f64>() / 10.0;
    assert!((metrics.slowdown_mean - mean).abs() < 1e-9);
    assert!(metrics.slowdown_p999.is_nan());
}

#[test]
fn only_flows_with_an_end_that_reach_it_have_a_slowdown() {
    let text = "topology.hosts = 4\n[workload]\nsenders = 2\nsize = \"1GB\"\n";
    let outcome = outcome(text, "newreno", &["run.duration=50ms"]);
    assert!(
        outcome
            .flows
            .iter()
            .all(|flow| flow.slowdown.get().is_none())
    );
    assert!(outcome.metrics.slowdown_mean.is_nan());
}
