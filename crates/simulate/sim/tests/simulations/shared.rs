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
        seen.push((point.scheme.clone(), senders, metrics.timeouts));
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
    // The limit of a port bounds its queue, too.
    let (all, pool, threshold, most) = drops(&["switch.pool=10MB", "switch.buffer=20pkt"]);
    assert_eq!((pool, threshold, most), (Some(0), Some(0), Some(30_000)));
    assert!(all > 0);
    let (_, pool, threshold, most) = drops(&[]);
    assert_eq!((pool, threshold, most), (None, None, None));
}

const LOSSLESS: &str = "schemes = [\"newreno\"]\nswitch.ecn_threshold = \"off\"\nswitch.pfc = \"all\"\nswitch.pfc_xoff = \"10pkt\"\n\
    [workload]\nsenders = 40\n";

#[test]
fn switches_that_pause_lose_nothing_and_hosts_wait() {
    let m = outcome(LOSSLESS, "newreno", &[]).metrics;
    assert_eq!((m.drops, m.drops_headroom, m.timeouts), (0, Some(0), 0));
    assert!(m.pfc_pauses > Some(0) && m.pfc_paused_us > 0.0, "{m:?}");
    // Each of 40 ports brings in 10 packets, then three more, the bytes on its wire of 80 us there and back, and two
    // quanta.
    assert!(
        m.queue_max_bytes <= 40 * (13 * 1500 + 10_000 + 128),
        "{m:?}"
    );
    assert_eq!(
        (m.pfc_deadlock, m.pfc_margin_bytes, m.pfc_victims),
        (Some(0), Some(0), Some(0))
    );
    // The same with half of a shared buffer that is just large enough.
    let dynamic = ["switch.pool=600KB", "switch.pfc_xoff=0.05"];
    let m = outcome(LOSSLESS, "newreno", &dynamic).metrics;
    assert_eq!((m.drops, m.timeouts), (0, 0));
    assert!(
        m.pfc_pauses > Some(0) && m.pool_max_bytes <= Some(600_000),
        "{m:?}"
    );
}

#[test]
fn a_network_without_pauses_has_no_results_of_them() {
    let run = outcome(
        "schemes = [\"newreno\"]\n[workload]\nsenders = 4\n",
        "newreno",
        &[],
    );
    let m = &run.metrics;
    assert_eq!(
        (m.pfc_pauses, m.drops_headroom, m.pfc_victims),
        (None, None, None)
    );
    assert!(m.pfc_paused_us.is_nan() && run.deadlock.is_empty());
    assert!(run.ports.iter().all(|port| port.pauses == 0));
}

// Priority 0 is lossless, and packets of the long flows below it are dropped.
#[test]
fn a_lossless_priority_stands_beside_one_that_is_dropped() {
    let text = "schemes = [\"qos+newreno\"]\nswitch.ecn_threshold = \"off\"\nswitch.pfc = \"0\"\nswitch.pool = \"120KB\"\n\
        switch.pfc_xoff = \"4pkt\"\n[group.important]\nworkload.senders = 10\nqos.priority = 0\n\
        [group.others]\nworkload.senders = 30\nqos.priority = 1\n";
    let run = outcome(text, "qos+newreno", &[]);
    let drops = |group: &str| {
        let own = run.flows.iter().filter(|flow| flow.group == group);
        own.map(|flow| flow.drops).sum::<u32>()
    };
    assert_eq!(drops("important"), 0);
    assert!(drops("others") > 0 && run.metrics.pfc_pauses > Some(0));
}

// A burst of 40 windows meets at the switch. Its first packet leaves when most packets are behind it, its last when
// none are.
#[test]
fn marks_at_departure_tell_a_round_trip_earlier_and_cut_more_than_marks_at_arrival() {
    let text = "schemes = [\"dctcp\"]\nswitch.buffer = \"200pkt\"\nswitch.ecn_threshold = \"20pkt\"\n\
        tcp.initial_window = 4\n[workload]\nsenders = 30\nsize = \"100KB\"\n";
    let run = |at: &str| {
        let run = outcome(text, "dctcp", &[&format!("switch.ecn_at={at}")]);
        assert_eq!(run.metrics.flows_completed, 30);
        run
    };
    let (arrival, departure) = (run("arrival"), run("departure"));
    assert!(departure.metrics.marks > 0 && departure.digest != arrival.digest);
    assert_eq!(run("arrival").digest, outcome(text, "dctcp", &[]).digest);
    // The last packets of the initial queue leave unmarked.
    assert!(
        departure.metrics.queue_mean_bytes < arrival.metrics.queue_mean_bytes,
        "{} {}",
        departure.metrics.queue_mean_bytes,
        arrival.metrics.queue_mean_bytes
    );
}

#[test]
fn a_ramp_marks_less_than_a_step_at_its_lower_end_and_differs_from_seed_to_seed() {
    let text = "schemes = [\"dctcp\"]\nswitch.buffer = \"200pkt\"\nswitch.ecn_threshold = \"10pkt\"\n\
        tcp.initial_window = 2\n[workload]\nsenders = 10\nsize = \"200KB\"\n";
    let marks = |sets: &[&str]| {
        let run = outcome(text, "dctcp", sets);
        assert_eq!(run.metrics.flows_completed, 10);
        (run.metrics.marks, run.digest)
    };
    let (step, _) = marks(&[]);
    let (ramp, digest) = marks(&["switch.ecn_max=150pkt", "switch.ecn_probability=0.1"]);
    assert!(ramp > 0 && 2 * ramp < step, "{ramp} {step}");
    assert_eq!(
        marks(&["switch.ecn_max=150pkt", "switch.ecn_probability=0.1"]),
        (ramp, digest)
    );
    // Where every packet between the two lengths is marked, the ramp is nearly a step.
    let (certain, _) = marks(&["switch.ecn_max=11pkt", "switch.ecn_probability=1"]);
    assert!(certain.abs_diff(step) * 10 < step, "{certain} {step}");
}

// The example "collateral" of htsim: hosts that send to one receiver, and a host that sends to others, too.
#[test]
fn pauses_hold_up_flows_to_idle_receivers_where_drops_and_shared_buffers_do_not() {
    let scenario = Scenario::builtin("collateral");
    let run = |scheme: &str, senders: &str| {
        let mut points = scenario.points().iter();
        let point = points.find(|point| {
            let crowd = point.set.iter().any(|(_, value)| value == senders);
            point.scheme == scheme && point.seed == 1 && crowd
        });
        let outcome = run::run(point.expect("a point")).expect("a run");
        let elsewhere = outcome.groups[0].clone();
        assert_eq!(elsewhere.group, "a-to-bcd");
        let victims = outcome
            .flows
            .iter()
            .filter(|flow| flow.pfc_victim == Some(true));
        assert_eq!(
            outcome.metrics.pfc_victims.unwrap_or(0),
            victims.count() as u64
        );
        elsewhere
    };
    let paused = run("pfc", "32");
    assert_eq!(paused.pfc_victims, Some(3));
    for scheme in ["drop-tail", "pool"] {
        let other = run(scheme, "32");
        assert_eq!(other.pfc_victims, None);
        assert!(
            2.0 * other.fct_max_us < paused.fct_max_us,
            "{scheme}: {other:?} {paused:?}"
        );
    }
    // Below the marking threshold hardly any host is paused.
    let marked = run("pfc-dctcp", "32");
    assert!(marked.fct_max_us < paused.fct_max_us, "{marked:?}");
}
