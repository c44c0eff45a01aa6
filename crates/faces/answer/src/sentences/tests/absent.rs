//! Sentences about groups without flows.

use sim::metrics::GroupMetrics;

use super::*;

/// A group with the same results as all flows together.
fn group(name: &str, metrics: &Metrics) -> GroupMetrics {
    let mut value = serde_json::to_value(metrics).expect("metrics are JSON");
    value["group"] = name.into();
    serde_json::from_value(value).expect("a group has the metrics of all flows")
}

#[test]
fn a_group_without_a_single_flow_is_named() {
    let text = "schemes = [\"newreno\"]\n[group.incasts]\n[group.mix]\n";
    let scenario = Scenario::load(Source::new("test.toml", text), &Overrides::default());
    let scenario = scenario.expect("a correct scenario");
    let said = |packets: u64| {
        let all = metrics();
        let mut incasts = group("incasts", &all);
        incasts.packets = packets;
        let result = PointResult {
            groups: vec![incasts, group("mix", &all)],
            metrics: all,
            tiers: Vec::new(),
            deadlock: String::new(),
            collectives: Vec::new(),
            cost: RunCost {
                simulated_us: 5e4,
                packet_hops: 1000,
                events: 1000,
                cpu_us: 70.0,
                ns_per_hop: 70.0,
            },
            digest: 0,
        };
        of_run(&Summary::new(&scenario, &vec![Ok(result)])).concat()
    };
    assert!(said(0).contains("No flow of incasts started."));
    assert!(!said(1).contains("No flow"));
}

#[test]
fn a_scheme_that_started_fewer_flows_than_others_is_said_to_have() {
    let answer = answered("schemes = [\"newreno\", \"rcc\"]\n", |point, metrics| {
        if point.scheme == "newreno" {
            (metrics.flows_completed, metrics.flows_unfinished) = (142, 5);
        } else {
            metrics.flows_completed = 200;
        }
    });
    assert_eq!(
        answer[0],
        "Unfinished: 5 of 147 flows of newreno (53 flows fewer than of others had started)."
    );
}
