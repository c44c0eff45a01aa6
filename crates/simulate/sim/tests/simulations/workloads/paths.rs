//! Networks with several paths.

use std::collections::BTreeSet;

use sim::metrics::Outcome;

use super::outcome;

/// All-to-all traffic in a network with several paths, every flow complete.
fn random_flows(text: &str) -> Outcome {
    let text = format!(
        "{text}\nlink = {{ rate = \"10Gbps\", delay = \"5us\" }}\n\
         [workload]\nkind = \"poisson\"\nsize = \"20KB\"\nload = 0.3\nduration = \"2ms\"\n"
    );
    let outcome = outcome(&text);
    assert!(outcome.flows.len() > 100, "{}", outcome.flows.len());
    assert_eq!(outcome.metrics.flows_completed, outcome.flows.len() as u64);
    outcome
}

#[test]
fn a_leaf_spine_network_uses_every_uplink() {
    for ecmp in ["symmetric", "flow", "packet"] {
        let outcome = random_flows(&format!(
            "topology = {{ kind = \"leaf-spine\", racks = 3, spines = 2, hosts = 4, oversubscription = 4, ecmp = \
             \"{ecmp}\" }}"
        ));
        // 6 links between switches, then 12 of hosts, a port at each end.
        assert_eq!(outcome.ports.len(), 36);
        let ends = |port: usize| (&*outcome.ports[port].from, &*outcome.ports[port].to);
        assert_eq!(
            [ends(0), ends(3)],
            [("leaf 0", "spine 0"), ("spine 1", "leaf 0")]
        );
        assert!(
            outcome.ports[..12].iter().all(|port| port.packets > 100),
            "{ecmp}"
        );
        // Host 0 receives first.
        let bottleneck = outcome.ports.iter().find(|port| port.bottleneck).unwrap();
        assert_eq!((&*bottleneck.from, &*bottleneck.to), ("leaf 0", "host 0"));
    }
}

#[test]
fn without_ecmp_the_first_spine_carries_everything() {
    let outcome = random_flows(
        "topology = { kind = \"leaf-spine\", racks = 3, spines = 2, hosts = 4, ecmp = \"off\" }",
    );
    let second = outcome
        .ports
        .iter()
        .filter(|port| port.to == "spine 1" || port.from == "spine 1");
    assert!(second.clone().all(|port| port.packets == 0));
    assert_eq!(second.count(), 6);
}

#[test]
fn a_fat_tree_has_hosts_for_its_pods_and_uses_every_link() {
    let outcome = random_flows("topology = { kind = \"fat-tree\", pods = 4 }");
    assert_eq!(outcome.ports.len(), 96);
    assert!(outcome.ports.iter().all(|port| port.packets > 10));
    let hosts: BTreeSet<u32> = outcome.flows.iter().map(|flow| flow.sender).collect();
    assert_eq!(hosts.last(), Some(&15));
}

#[test]
fn oversubscription_sets_the_rate_of_the_uplinks() {
    // HSCC sheet: 16 hosts of 10 Gbit/s, 4 spines, 5: 8 Gbit/s. One flow of 20 MB is limited by its
    // uplink: payload 1446 of 1500 bytes, plus the first round trips of some 10 us.
    let text = "topology = { kind = \"leaf-spine\", racks = 2, spines = 4, hosts = 16, oversubscription = 5 }\n\
        link = { rate = \"10Gbps\", delay = \"1us\" }\n\
        switch.buffer = \"unlimited\"\ntcp.receive_buffer = \"128MiB\"\n\
        [workload]\nfrom = \"0:0\"\nto = \"1:0\"\nsenders = 1\nsize = \"20MB\"";
    let goodput = outcome(text).metrics.goodput_bps;
    assert!(
        (7.6e9..8e9 * 1446.0 / 1500.0).contains(&goodput),
        "{goodput}"
    );
}
