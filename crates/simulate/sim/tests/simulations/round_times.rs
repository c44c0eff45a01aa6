//! Times of rounds, against the records of their flows.

use std::collections::BTreeMap;

use sim::metrics::{FlowRecord, Outcome};

use crate::support::outcome;

/// Several receivers and rounds, two groups, one of which has no rounds.
const GROUPS: &str = "topology.hosts = 24\n\
    [group.reads]\nworkload.senders = 12\nworkload.rounds = 6\nworkload.receivers = 2\nworkload.jitter = \"50us\"\n\
    workload.think = \"1ms\"\nworkload.size = \"40KB\"\nworkload.from = \"0:2-13\"\nworkload.to = \"0:0-1\"\n\
    [group.others]\nworkload.kind = \"pairs\"\nworkload.senders = 4\nworkload.size = \"500KB\"\n\
    workload.from = \"0:14-17\"\nworkload.to = \"0:0-1\"\n";

/// From the first start to the last completion of every round, as in a query over the table of flows.
fn queried(outcome: &Outcome, of: impl Fn(&FlowRecord) -> bool) -> Vec<f64> {
    let mut rounds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for flow in outcome.flows.iter().filter(|flow| of(flow)) {
        let Some(round) = flow.round else { continue };
        let (start, end) = rounds.entry(round).or_insert((f64::INFINITY, 0.0));
        *start = start.min(flow.start_us);
        *end = end.max(flow.completion_us.get().unwrap_or(f64::INFINITY));
    }
    let mut took: Vec<f64> = rounds
        .into_values()
        .map(|(start, end)| end - start)
        .collect();
    took.sort_by(f64::total_cmp);
    took
}

fn assert_near(value: f64, expected: f64) {
    // Both are sums of microseconds, which are rounded.
    assert!((value - expected).abs() < 1e-3, "{value} {expected}");
}

#[test]
fn a_round_lasts_from_its_first_start_to_its_last_completion() {
    let outcome = outcome(GROUPS, "dctcp", &[]);
    let took = queried(&outcome, |_| true);
    assert_eq!(took.len(), 12);
    let metrics = &outcome.metrics;
    // The 6th and the 12th of 12: nearest ranks of the median and the 99th percentile.
    assert_near(metrics.round_p50_us, took[5]);
    assert_near(metrics.round_p99_us, took[11]);
    assert_near(metrics.round_max_us, took[11]);
    assert!(metrics.round_p999_us.is_nan());
    assert_eq!(
        (metrics.rounds_completed, metrics.rounds_unfinished),
        (Some(12), Some(0))
    );
    assert!(metrics.round_p50_us > metrics.fct_p50_us);
    let [reads, others] = &outcome.groups[..] else {
        panic!("two groups");
    };
    assert_near(reads.round_p50_us, took[5]);
    // Nobody waits for several of these flows together.
    assert!(others.round_max_us.is_nan());
    assert_eq!(others.rounds_completed, None);
    assert!(
        outcome
            .flows
            .iter()
            .all(|flow| flow.round.is_some() == (flow.group == "reads"))
    );
}

#[test]
fn a_round_with_a_flow_that_does_not_complete_never_ends() {
    let whole = outcome(GROUPS, "dctcp", &[]);
    let ends = whole.flows.iter().filter(|flow| flow.group == "reads");
    let last = ends
        .filter_map(|flow| flow.completion_us.get())
        .fold(0.0, f64::max);
    let duration = format!("run.duration={}us", (last - 20.0).floor());
    let cut = outcome(GROUPS, "dctcp", &[&duration]);
    let metrics = &cut.metrics;
    let (completed, left) = (metrics.rounds_completed, metrics.rounds_unfinished);
    assert_eq!(completed.zip(left).map(|(a, b)| a + b), Some(12));
    assert!(left > Some(0), "{left:?}");
    assert!(metrics.round_max_us.is_infinite() && metrics.round_p99_us.is_infinite());
    // The other rounds keep their ranks.
    assert_near(metrics.round_p50_us, queried(&cut, |_| true)[5]);
}

#[test]
fn a_round_that_is_cut_before_its_last_flow_starts_never_ends() {
    // A client asks twice, and thinks for a second in between.
    let text = "topology.hosts = 8\n[workload]\nkind = \"requests\"\nsize = \"10KB\"\nconnections = 1\n\
                requests = 2\nrounds = 2\nthink = \"1s\"\nsenders = 3\nfrom = \"0:2-4\"\nto = \"0:0\"\n";
    let cut = outcome(text, "newreno", &["run.duration=500ms"]);
    assert_eq!(
        (cut.metrics.flows_completed, cut.metrics.flows_unfinished),
        (1, 0)
    );
    assert_eq!(cut.metrics.rounds_unfinished, Some(1));
    let whole = outcome(text, "newreno", &[]);
    assert_eq!(whole.metrics.rounds_completed, Some(2));
    assert!(whole.metrics.round_p50_us > 1e6);
}

#[test]
fn where_every_flow_is_alone_there_are_no_times_of_rounds() {
    let text = "topology.hosts = 8\n[workload]\nkind = \"requests\"\nsize = \"10KB\"\nconnections = 4\n\
                senders = 6\nrequests = 5\n";
    let metrics = outcome(text, "newreno", &["run.classes=20KB"]).metrics;
    assert!(metrics.round_p50_us.is_nan() && metrics.round_max_us.is_nan());
    assert_eq!(
        (metrics.rounds_completed, metrics.rounds_unfinished),
        (None, None)
    );
}

#[test]
fn rounds_of_flows_without_end_have_no_times() {
    let text = "topology.hosts = 8\n[workload]\nsenders = 3\nsize = \"unlimited\"\n";
    let metrics = outcome(text, "newreno", &["run.duration=50ms"]).metrics;
    assert_eq!(
        (metrics.rounds_completed, metrics.rounds_unfinished),
        (None, None)
    );
}
