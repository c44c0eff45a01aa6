//! The cost of traces and run folders: ns per packet-hop, and as a multiple of the yardstick of `hops`.
//!
//! Traces are measured as runs of w1b with a trace, the writing of its file included, to be compared
//! with w1b itself, which has none. Results are measured as runs of w1b into a run folder, its tables
//! and summary included: one run, ten into one folder, and one with the series recorded unasked.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

#[path = "../../../core/engine/benches/workload/hold.rs"]
#[expect(
    dead_code,
    reason = "of the event lists only the yardstick is measured here"
)]
mod hold;
#[path = "../../sim/benches/support/timing.rs"]
mod timing;

use std::cell::Cell;
use std::path::Path;

use plan::PointSpec;
use record::trace::{Recorder, TracePlan};
use results::{Access, Store};
use scenario::{Overrides, Scenario, Source};
use sim::metrics::Outcome;
use sim::run::{self, Limits};

use hold::{Entry, HeapHold};
use timing::{Series, per_hop, per_step, print_times};

fn main() {
    let mut yardstick = HeapHold::<Entry>::new(1_000);
    let plain = scenario((1, Some(("off", "auto"))));
    let folders = RESULTS.map(|(_, seeds, trace)| scenario((seeds, trace)));
    let traces = TRACES.map(|trace| scenario((1, Some(trace))));
    let mut series = vec![
        Series::new("yardstick: std binary heap, 1000 pending"),
        Series::new("w1b"),
    ];
    series
        .extend(TRACES.map(|(traced, interval)| Series::new(format!("w1b, {interval}: {traced}"))));
    series.extend(RESULTS.map(|(what, ..)| Series::new(what)));
    // The first round warms caches, the allocator and the branch predictor.
    for round in 0..=ROUNDS {
        let hops = |outcome: Outcome| outcome.cost.packet_hops;
        let alone = || hops(run::run(&plain.points()[0]).expect("the workload runs"));
        let mut samples = vec![per_step(|| yardstick.step()), per_hop(alone).0];
        let trace = |scenario: &Scenario| per_hop(|| hops(traced(&scenario.points()[0]))).0;
        samples.extend(traces.iter().map(trace));
        // Removing a folder is no part of a run.
        let parent = std::env::temp_dir().join(format!("keeping-{}", std::process::id()));
        let number = Cell::new(0);
        let keep = |scenario| per_hop(|| kept(scenario, &parent, &number)).0;
        samples.extend(folders.iter().map(keep));
        std::fs::remove_dir_all(parent).expect("it was there");
        if round > 0 {
            for (series, ns) in series.iter_mut().zip(samples) {
                series.ns.push(ns);
            }
        }
    }
    print_times(ROUNDS, &series);
}

/// Runs a sweep into a folder of its own in `parent`, complete at the end. Returns the packet-hops.
fn kept(scenario: &Scenario, parent: &Path, number: &Cell<u32>) -> u64 {
    number.set(number.get() + 1);
    let folder = parent.join(number.get().to_string());
    let store = Store::open(&folder, scenario, None, Access::New).expect("an empty folder");
    store.begin(scenario).expect("a folder can be made");
    for point in scenario.points() {
        results::simulate(&store, point, scenario, Limits::NONE).expect("the workload runs");
    }
    let (summary, _) = store.assemble(scenario, |_| ()).expect("a whole folder");
    store.complete().expect("a folder can be cleared");
    summary.points.iter().map(|point| point.packet_hops).sum()
}

/// A run that writes the series of its point.
fn traced(point: &PointSpec) -> Outcome {
    let plan = TracePlan::of(point).expect("something is traced");
    let path = std::env::temp_dir().join(format!("hops-{}.parquet", std::process::id()));
    let file = std::fs::File::create(&path).expect("a temporary file can be written");
    let mut recorder = Recorder::new(&plan, point, file).expect("a file can be begun");
    let outcome = run::observe(point, &mut recorder).expect("the workload runs");
    recorder.finish().expect("a file can be ended");
    std::fs::remove_file(path).expect("it was there");
    outcome
}

fn scenario((seeds, trace): (u32, Traced)) -> Scenario {
    let source = Source::new(
        "w1b.toml",
        include_str!("../../sim/benches/scenarios/w1b.toml"),
    );
    let interval = trace.map(|(_, interval)| format!("trace.interval={interval}"));
    let overrides = Overrides {
        seeds: std::num::NonZeroU32::new(seeds),
        trace: trace.map(|(series, _)| series.to_owned()),
        sets: interval.into_iter().collect(),
        ..Overrides::default()
    };
    match Scenario::load(source, &overrides) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("w1b is not a correct scenario: {problems}"),
    }
}

/// Traces of w1b: series and interval.
const TRACES: [(&str, &str); 3] = [
    ("queue", "change"),
    ("queue,events", "auto"),
    ("queue,cwnd,rwnd,events", "auto"),
];
/// The series of a trace and their interval; `None` leaves both at their defaults.
type Traced = Option<(&'static str, &'static str)>;
/// Runs of w1b into a folder: seeds and traces.
const RESULTS: [(&str, u32, Traced); 3] = [
    ("w1b, results of one run", 1, Some(("off", "auto"))),
    ("w1b, results of ten runs", 10, Some(("off", "auto"))),
    ("w1b, one run and series unasked", 1, None),
];
/// Odd, so that the median is a measurement.
const ROUNDS: usize = 9;
