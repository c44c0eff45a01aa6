//! The port that the queue metrics refer to.

use sim::run;

use crate::support::points;

#[test]
fn the_bottleneck_of_a_graph_is_the_port_that_dropped_most() {
    let text = "topology.kind = \"graph\"\ntopology.graph = \"internet2\"\nswitch.buffer = \"10pkt\"\nswitch.ecn_threshold = \"5pkt\"\n\
                workload.kind = \"poisson\"\nworkload.size = \"100KB\"\nworkload.flows = 200\nworkload.load = 0.9\n";
    let mut places = Vec::new();
    for seed in 1..=4 {
        let mut point = points(text, "newreno", &[]).remove(0);
        point.seed = seed;
        let outcome = run::run(&point).expect("a conserving run");
        let switches = outcome.ports.iter().filter(|port| port.tier != "host");
        let most = switches.max_by(|a, b| {
            let drops = a.drops.cmp(&b.drops);
            drops.then(a.queue_mean_bytes.total_cmp(&b.queue_mean_bytes))
        });
        let most = most.expect("a port");
        let named: Vec<_> = outcome
            .ports
            .iter()
            .filter(|port| port.bottleneck)
            .collect();
        assert_eq!(named, [most]);
        assert!(most.drops > 0);
        assert_eq!(outcome.metrics.queue_max_bytes, most.queue_max_bytes);
        assert!((outcome.metrics.queue_mean_bytes - most.queue_mean_bytes).abs() <= 0.0);
        places.push(most.port);
    }
    places.dedup();
    assert!(places.len() > 1, "it depends on the traffic: {places:?}");
}
