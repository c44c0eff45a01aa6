//! Behaviour frozen as tables, the digest of all packet-hops included.
//!
//! A change of a digest alone is a change of order or of headers; a change of numbers is a change of
//! behaviour. Both are read before they are accepted. Debug and release builds check the same tables.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use base::cast::real;
use plan::PointSpec;
use scenario::Scenario;
use sim::metrics::{FlowRecord, Outcome};
use sim::run;
use sim::sweep;

use crate::support::points;

#[test]
fn incast_of_32_kib() {
    let points = points(
        "incast",
        "newreno,dctcp,rcc",
        &["workload.senders=1,10,40,50,70,100"],
    );
    insta::assert_snapshot!(table(&points));
}

// The profile of Linux, as `run incast` simulates it.
#[test]
fn the_incast_that_comes_with_the_program() {
    insta::assert_snapshot!(table(Scenario::builtin("incast").points()));
}

#[test]
fn incast_with_random_starts_and_sack() {
    let sets = [
        "workload.senders=40",
        "workload.jitter=100us",
        "tcp.sack=true",
        "tcp.initial_window=2,10",
    ];
    insta::assert_snapshot!(table(&points("incast", "newreno,dctcp,rcc", &sets)));
}

#[test]
fn incast_with_random_loss() {
    let sets = [
        "workload.senders=20",
        "bottleneck.loss=0.01",
        "tcp.sack=false,true",
    ];
    insta::assert_snapshot!(table(&points("incast", "newreno,dctcp,rcc", &sets)));
}

#[test]
fn incast_with_baselines_in_switches() {
    let sets = ["workload.senders=1,20,60", "tcp.initial_window=2"];
    let schemes = "red,red-ecn,pias,xcp";
    insta::assert_snapshot!(table(&points("incast", schemes, &sets)));
}

#[test]
fn incast_with_rates_of_routers() {
    let sets = [
        "workload.senders=1,20,60",
        "link.delay=2ms",
        "switch.buffer=1MB",
        "rcp.initial_rtt=8ms",
        "rcp.request=packet,round-trip",
    ];
    insta::assert_snapshot!(table(&points("incast", "rcp", &sets)));
}

#[test]
fn incast_with_senders_of_rdma() {
    let sets = [
        "workload.senders=1,20,60",
        "link.rate=10Gbps",
        "link.delay=2us",
        "switch.ecn_threshold=5KB",
        "switch.ecn_max=100KB",
        "dcqcn.variant=paper,hpcc",
    ];
    insta::assert_snapshot!(table(&points("incast", "dcqcn", &sets)));
}

#[test]
fn incast_with_delays_that_are_kept() {
    let sets = [
        "workload.senders=1,20,200",
        "link.rate=10Gbps",
        "link.delay=2us",
        "swift.variant=paper,htsim",
    ];
    insta::assert_snapshot!(table(&points("incast", "swift", &sets)));
}

#[test]
fn long_flows_for_half_a_second() {
    let sets = ["run.duration=500ms", "workload.senders=2,8"];
    insta::assert_snapshot!(table(&points("long-flows", "newreno,dctcp,rcc", &sets)));
}

#[test]
fn neither_the_jobs_nor_a_repetition_change_a_digest_but_the_seed_does() {
    let sets = ["workload.senders=10,30", "workload.jitter=100us"];
    let first = points("incast", "newreno,dctcp,rcc", &sets);
    let mut second = first.clone();
    for point in &mut second {
        point.seed += 1;
    }
    let (one, two) = (digests(&first, 1), digests(&first, 2));
    assert_eq!(one, two);
    assert_eq!(one, digests(&first, 1));
    let other = digests(&second, 2);
    assert!(one.iter().zip(&other).all(|(one, other)| one != other));
}

#[test]
fn where_nothing_is_random_every_seed_gives_the_same() {
    // Initial sequence numbers are drawn, which changes digests and nothing else.
    let first = points("incast", "newreno,dctcp", &["workload.senders=40,70"]);
    let mut second = first.clone();
    for point in &mut second {
        point.seed += 1;
    }
    let told = |points: &[PointSpec]| -> Vec<_> {
        let told = |run: Outcome| format!("{:?} {:?}", run.metrics, run.flows);
        run(points, 2).into_iter().map(told).collect()
    };
    assert_eq!(told(&first), told(&second));
}

fn digests(points: &[PointSpec], jobs: usize) -> Vec<u64> {
    run(points, jobs).iter().map(|run| run.digest).collect()
}

fn run(points: &[PointSpec], jobs: usize) -> Vec<Outcome> {
    let jobs = NonZeroUsize::new(jobs).expect("at least one");
    let results = sweep::run_all(
        &points.iter().collect::<Vec<_>>(),
        jobs,
        &AtomicBool::new(false),
        run::run,
        |_, _| (),
    );
    results
        .into_iter()
        .map(|result| result.expect("a conserving run"))
        .collect()
}

fn table(points: &[PointSpec]) -> String {
    let mut text = format!(
        "{:<24} {:>9} {:>10} {:>8} {:>8} {:>6} {:>6} {:>26} {:>5}  {}\n",
        "scheme and settings",
        "Mbit/s",
        "p99 us",
        "timeouts",
        "retrans.",
        "drops",
        "marks",
        "queue mean/p95/max bytes",
        "Jain",
        "digest",
    );
    for (point, run) in points.iter().zip(run(points, 2)) {
        let m = &run.metrics;
        let settings: Vec<&str> = point
            .set
            .iter()
            .filter(|(key, _)| {
                points
                    .iter()
                    .any(|other| other.text(key) != point.text(key))
            })
            .map(|(_, text)| text.as_str())
            .collect();
        let label = format!("{} {}", point.scheme, settings.join(" "));
        let queue = format!(
            "{:.0}/{}/{}",
            m.queue_mean_bytes, m.queue_p95_bytes, m.queue_max_bytes
        );
        writeln!(
            text,
            "{label:<24} {:>9.1} {:>10.1} {:>8} {:>8} {:>6} {:>6} {queue:>26} {:>5.3}  {:016x}",
            m.goodput_bps / 1e6,
            m.fct_p99_us,
            m.timeouts,
            m.retransmissions,
            m.drops,
            m.marks,
            jain(&run.flows),
            run.digest,
        )
        .expect("memory is writable");
    }
    text
}

/// Jain's index of the rates of flows in bytes: 1 if all are equal.
fn jain(flows: &[FlowRecord]) -> f64 {
    let speeds: Vec<f64> = flows
        .iter()
        .map(|flow| real(flow.received_bytes) / flow.fct_us.get().unwrap_or(1.0))
        .collect();
    let (sum, squares) = speeds
        .iter()
        .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum / squares / base::cast::count(flows.len())
}
