//! Completion times that no scheme can beat.

use sim::run;

use crate::support::outcome;
use crate::timers::{TRIED, point, scenario};

#[test]
fn no_run_is_faster_than_its_bound() {
    let mut tight = 0;
    for text in (0..TRIED).map(scenario) {
        let Some(point) = point(&text) else { continue };
        let metrics = run::run(&point).expect("a conserving run").metrics;
        for (bound, found) in [
            (metrics.bound_p50_us, metrics.fct_p50_us),
            (metrics.bound_p99_us, metrics.fct_p99_us),
            (metrics.bound_max_us, metrics.fct_max_us),
        ] {
            assert!(bound <= found, "{bound} {found}\n{text}");
            tight += u32::from(bound > 0.5 * found);
        }
    }
    // The test must not pass because the bound is zero.
    assert!(tight > 20, "{tight}");
}

#[test]
fn a_burst_takes_as_long_as_its_bytes_on_the_link_to_its_receiver() {
    // 64 flows of 256 KB, each of 176 packets with 40 bytes of headers, at 25 Gbit/s.
    let burst = outcome(
        "workload.kind = \"incast\"\n",
        "dctcp",
        &[
            "link.rate=25Gbps",
            "workload.senders=64",
            "workload.size=256KB",
            "switch.buffer=4MB",
        ],
    );
    let metrics = burst.metrics;
    let flow = (256_000.0 + 176.0 * 40.0) * 8.0 / 25e9 * 1e6;
    assert!(
        (metrics.bound_max_us - 64.0 * flow).abs() < 1e-6,
        "{metrics:?}"
    );
    assert!(
        (metrics.bound_p50_us - 32.0 * flow).abs() < 1e-6,
        "{metrics:?}"
    );
}

#[test]
fn idle_time_between_flows_is_told() {
    // Three flows that start a second apart, each of a good millisecond.
    let sets = [
        "workload.senders=3",
        "workload.interval=1s",
        "workload.size=100KB",
    ];
    let apart = outcome("workload.kind = \"incast\"\n", "newreno", &sets).metrics;
    let spent = 3.0 * apart.fct_mean_us / (2e6 + apart.fct_max_us);
    assert!(
        (apart.active - spent).abs() < 1e-4,
        "{} {spent}",
        apart.active
    );
    assert!(apart.active < 0.01);
    let together = outcome("workload.kind = \"incast\"\n", "newreno", &sets[..1]).metrics;
    assert!((together.active - 1.0).abs() < 1e-12);
}

#[test]
fn time_in_which_all_wait_for_a_flow_that_waits_for_a_timer_is_told() {
    // The only segment of one flow is lost. It is sent again after a timer of one second.
    let sets = [
        "workload.senders=4",
        "workload.size=1KB",
        "tcp.initial_rto=1s",
        "tcp.min_rto=1s",
        "tcp.syn_rto=1s",
        "switch.buffer=2pkt",
        "switch.ecn_threshold=off",
        "link.jitter=0s",
    ];
    let metrics = outcome("workload.kind = \"incast\"\n", "newreno", &sets).metrics;
    assert!(
        metrics.timers > 0 && metrics.flows_completed == 4,
        "{metrics:?}"
    );
    assert!(metrics.held_up > 0.99, "{metrics:?}");
    let none = outcome("workload.kind = \"incast\"\n", "newreno", &sets[..2]).metrics;
    assert!(none.held_up.abs() < 1e-12, "{none:?}");
}
