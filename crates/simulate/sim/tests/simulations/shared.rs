//! Switches whose queues share a buffer.

use scenario::Scenario;
use sim::run;

use crate::support::outcome;

// DCTCP (SIGCOMM 2010), figs. 18 and 19: with 100 packets at each port there are timeouts from about 35 servers on; with the
// shared buffer of its switch none up to 40.
#[test]
fn the_test_bed_of_dctcp_has_timeouts_with_ports_of_100_packets_and_none_with_its_pool() {
    let scenario = Scenario::builtin("shared-buffer");
    let mut seen = Vec::new();
    for point in scenario.points().iter().filter(|point| point.seed == 1) {
        let senders = point.keys.workload.senders.0;
        let metrics = run::run(point).expect("a run").metrics;
        seen.push((point.scheme.to_string(), senders, metrics.timeouts));
    }
    let timeouts = |scheme: &str, senders| {
        let found = seen
            .iter()
            .find(|(name, number, _)| name == scheme && *number == senders);
        found.expect("a point").2
    };
    for senders in [10, 20] {
        assert_eq!(timeouts("dctcp-port", senders), 0, "{seen:?}");
    }
    assert!(timeouts("dctcp-port", 40) > 0, "{seen:?}");
    for senders in [10, 20, 30, 35, 40] {
        assert_eq!(timeouts("dctcp-pool", senders), 0, "{seen:?}");
    }
}

#[test]
fn drops_are_told_by_what_had_no_room() {
    let text =
        "schemes = [\"newreno\"]\nswitch.ecn_threshold = \"off\"\n[workload]\nsenders = 40\n";
    let drops = |sets: &[&str]| {
        let m = outcome(text, "newreno", sets).metrics;
        (m.drops, m.drops_pool, m.drops_threshold, m.pool_max_bytes)
    };
    let (all, pool, threshold, most) = drops(&["switch.pool=120KB"]);
    // A lone queue gets half of the pool at alpha 1, so that the pool is never full.
    assert_eq!((Some(all), pool), (threshold, Some(0)));
    assert!((Some(58_500)..Some(60_100)).contains(&most), "{most:?}");
    let (all, pool, threshold, most) = drops(&["switch.pool=120KB", "switch.pool_alpha=128"]);
    assert_eq!(
        Some(all),
        pool.zip(threshold)
            .map(|(pool, threshold)| pool + threshold)
    );
    assert!(pool > Some(0) && most > Some(118_000), "{pool:?} {most:?}");
    // The room of a port bounds its queue besides.
    let (all, pool, threshold, most) = drops(&["switch.pool=10MB", "switch.buffer=20pkt"]);
    assert_eq!((pool, threshold, most), (Some(0), Some(0), Some(30_000)));
    assert!(all > 0);
    let (_, pool, threshold, most) = drops(&[]);
    assert_eq!((pool, threshold, most), (None, None, None));
}
