//! What a packet-hop costs: ns, and as a multiple of a yardstick measured in the same process.
//!
//! A packet-hop is one packet, data or ACK, leaving one port. The yardstick is one pop and one push of
//! the standard library's heap with 1,000 entries of 24 bytes. All measurements of a round follow each
//! other at once, and rounds repeat, so that a noisy neighbour disturbs the yardstick as much as what
//! it measures. Times are CPU time of this thread where the system tells it.
//!
//! Traces are measured as runs of w1b with a trace, the writing of its file included, to be compared
//! with w1b itself, which has none. Results are measured as runs of w1b into a run folder, its tables
//! and summary included: one run, ten into one folder, and one with the series recorded unasked.
//!
//! `hops --rounds N` measures N rounds, `hops --only w1b,w2` measures these workloads and nothing else
//! but the yardstick, `hops --once w2` runs one workload once and prints its packet-hops and its peak
//! memory: for instruction counts, and for the memory of a fresh process.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints what it measured"
)]

#[path = "../../engine/benches/workload/hold.rs"]
mod hold;

use std::cell::Cell;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use lab::error::RunError;
use lab::metrics::Outcome;
use lab::results::{Access, Store};
use lab::scenario::{Overrides, PointSpec, Scenario, Source};
use lab::trace::{Plan, Recorder};

use hold::{Entry, HeapHold, SchedulerHold, Tuple};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds `--bench`.
    let mut words = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "--bench");
    match (words.next(), words.next(), words.next()) {
        (None, None, None) => measure(ROUNDS),
        (Some("--rounds"), Some(rounds), None) if rounds.parse::<usize>().is_ok_and(|n| n > 0) => {
            measure(rounds.parse().expect("parsed just now"));
        }
        (Some("--only"), Some(names), None)
            if names.split(',').all(|name| known(name).is_some()) =>
        {
            measure_only(names);
        }
        (Some("--once"), Some(name), None) if known(name).is_some() => once(name),
        _ => {
            eprintln!(
                "usage: hops [--rounds N | --only NAME,... | --once NAME], of {}",
                all()
                    .map(|workload| workload.name)
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn known(name: &str) -> Option<&'static Workload> {
    all().find(|workload| workload.name == name)
}

fn all() -> impl Iterator<Item = &'static Workload> {
    WORKLOADS.iter().chain([&WHOLE])
}

/// Something measured once per round.
struct Series {
    what: String,
    /// ns per operation, one for each round.
    ns: Vec<f64>,
    /// Packet-hops of a run.
    hops: Option<u64>,
}

fn measure(rounds: usize) {
    let mut yardstick = HeapHold::<Entry>::new(1_000);
    let mut tuples = HeapHold::<Tuple>::new(1_000);
    let mut lists = PENDING.map(SchedulerHold::new);
    let points = WORKLOADS.each_ref().map(|workload| point(workload, None));
    let folders = RESULTS.map(|(_, seeds, trace)| scenario(&WORKLOADS[0], (seeds, trace)));
    let traces = TRACES.map(|(series, interval)| point(&WORKLOADS[0], Some((series, interval))));
    let mut series = vec![
        Series::new("yardstick: std binary heap, 1000 pending"),
        Series::new("the same of tuples, 1000 pending"),
    ];
    let first_workload = series.len() + PENDING.len();
    series.extend(PENDING.map(|pending| Series::new(format!("event list, {pending} pending"))));
    series.extend(
        WORKLOADS
            .each_ref()
            .map(|workload| Series::new(workload.name)),
    );
    series
        .extend(TRACES.map(|(traced, interval)| Series::new(format!("w1b, {interval}: {traced}"))));
    series.extend(RESULTS.map(|(what, ..)| Series::new(what)));

    // The first round warms caches, the allocator and the branch predictor.
    for round in 0..=rounds {
        let mut samples = vec![per_step(|| yardstick.step()), per_step(|| tuples.step())];
        samples.extend(lists.iter_mut().map(|list| per_step(|| list.step())));
        for (place, point) in points.iter().enumerate() {
            let (ns, hops) = per_hop(|| hops_of(lab::run::run(point)));
            samples.push(ns);
            series[first_workload + place].hops = Some(hops);
        }
        samples.extend(
            traces
                .iter()
                .map(|point| per_hop(|| hops_of(traced(point))).0),
        );
        // To remove a folder is no part of a run.
        let parent = std::env::temp_dir().join(format!("hops-{}", std::process::id()));
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
    print_times(rounds, &series);
    print_memory();
    print_start_up();
}

/// Rounds of the yardstick and of single workloads.
fn measure_only(names: &str) {
    let workloads: Vec<_> = names.split(',').filter_map(known).collect();
    let points: Vec<_> = workloads
        .iter()
        .map(|workload| point(workload, None))
        .collect();
    let mut yardstick = HeapHold::<Entry>::new(1_000);
    let mut series = vec![Series::new("yardstick: std binary heap, 1000 pending")];
    series.extend(workloads.iter().map(|workload| Series::new(workload.name)));
    for _ in 0..FEW_ROUNDS {
        series[0].ns.push(per_step(|| yardstick.step()));
        for (series, point) in series[1..].iter_mut().zip(&points) {
            let (ns, hops) = per_hop(|| hops_of(lab::run::run(point)));
            series.ns.push(ns);
            series.hops = Some(hops);
        }
    }
    print_times(FEW_ROUNDS, &series);
}

impl Series {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ns: Vec::new(),
            hops: None,
        }
    }
}

fn print_times(rounds: usize, series: &[Series]) {
    let yardstick = &series[0].ns;
    println!("{rounds} rounds, {CLOCK}; ns per pop and push, or per packet-hop\n");
    let heads = [
        ["", "least", "median", "ratio", "ratio", "packet-hops"],
        ["", "ns", "ns", "of least", "median", "of a run"],
    ];
    for [what, least, median, of_least, of_median, hops] in heads {
        println!("{what:<42}{least:>8}{median:>8}{of_least:>10}{of_median:>8}{hops:>14}");
    }
    for Series { what, ns, hops } in series {
        let rounds = ns.iter().zip(yardstick);
        let ratios: Vec<f64> = rounds.map(|(ns, unit)| ns / unit).collect();
        let hops = hops.map_or_else(String::new, |hops| format!("{hops:>14}"));
        println!(
            "{what:<42}{:>8.1}{:>8.1}{:>10.2}{:>8.2}{hops}",
            least(ns),
            median(ns),
            least(ns) / least(yardstick),
            median(&ratios),
        );
    }
    println!();
}

/// Each workload in a process of its own, whose peak is not another's.
fn print_memory() {
    let own = std::env::current_exe().expect("a running program has a path");
    for Workload { name, .. } in all() {
        let child = Command::new(&own).args(["--once", name]).output();
        let output = child.expect("this program starts again");
        assert!(output.status.success(), "{name} alone failed");
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().find_map(|line| line.strip_prefix(PEAK)) {
            Some(peak) => println!("peak memory of {name}: {peak}"),
            None => println!("peak memory of {name}: not measured, no /proc/self/status here"),
        }
    }
}

/// From the start of the `tailwater` command to its end, with nothing to do.
fn print_start_up() {
    let Some(command) = tailwater() else {
        println!(
            "start-up of tailwater: not measured, build it with `cargo build --release` first"
        );
        return;
    };
    let samples: Vec<f64> = (0..STARTS)
        .map(|_| {
            let start = now();
            let status = Command::new(&command).arg("--version").output();
            assert!(
                status.is_ok_and(|output| output.status.success()),
                "tailwater --version fails"
            );
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    println!(
        "start-up of tailwater: least {:.1} ms, median {:.1} ms",
        least(&samples),
        median(&samples)
    );
}

/// The command beside this benchmark: `release/tailwater` for `release/deps/hops-...`.
fn tailwater() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let name = format!("tailwater{}", std::env::consts::EXE_SUFFIX);
    let path = own.parent()?.parent()?.join(name);
    path.is_file().then_some(path)
}

fn once(name: &str) {
    let workload = known(name).expect("the arguments were checked");
    let outcome = lab::run::run(&point(workload, None)).expect("the workload runs");
    println!("{HOPS}{}", outcome.cost.packet_hops);
    if let Some(peak) = peak_memory() {
        println!("{PEAK}{peak}");
    }
}

/// ns per call of `step`.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn per_step(mut step: impl FnMut() -> u64) -> f64 {
    let start = clock();
    let mut sum = 0_u64;
    for _ in 0..STEPS {
        sum = sum.wrapping_add(step());
    }
    black_box(sum);
    (clock() - start) / STEPS as f64
}

/// ns per packet-hop, building the world included, and the number of packet-hops.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn per_hop(run: impl Fn() -> u64) -> (f64, u64) {
    let (mut spent, mut hops, mut of_a_run) = (0.0, 0, 0);
    while hops < STEPS {
        let start = clock();
        of_a_run = run();
        spent += clock() - start;
        hops += of_a_run;
    }
    (spent / hops as f64, of_a_run)
}

fn hops_of(outcome: Result<Outcome, RunError>) -> u64 {
    outcome.expect("the workload runs").cost.packet_hops
}

/// A sweep into a folder of its own in `parent`, complete at the end. Packet-hops.
fn kept(scenario: &Scenario, parent: &Path, number: &Cell<u32>) -> u64 {
    number.set(number.get() + 1);
    let folder = parent.join(number.get().to_string());
    let store = Store::open(&folder, scenario, None, Access::New).expect("an empty folder");
    store.begin(scenario).expect("a folder can be made");
    for point in scenario.points() {
        store.simulate(point, scenario).expect("the workload runs");
    }
    let (summary, _) = store.assemble(scenario, |_| ()).expect("a whole folder");
    store.complete().expect("a folder can be cleared");
    summary.points.iter().map(|point| point.packet_hops).sum()
}

/// A run that writes the series of its point.
fn traced(point: &PointSpec) -> Result<Outcome, RunError> {
    let plan = Plan::of(point).expect("something is traced");
    let path = std::env::temp_dir().join(format!("hops-{}.parquet", std::process::id()));
    let file = std::fs::File::create(&path).expect("a temporary file can be written");
    let mut recorder = Recorder::new(&plan, point, file).expect("a file can be begun");
    let outcome = lab::run::observe(point, &mut recorder);
    recorder.finish().expect("a file can be ended");
    std::fs::remove_file(path).expect("it was there");
    outcome
}

/// The point of a scenario, with a series of traces and their interval if given.
fn point(workload: &Workload, trace: Traced) -> PointSpec {
    scenario(workload, (1, trace)).points()[0].clone()
}

fn scenario(workload: &Workload, (seeds, trace): (u32, Traced)) -> Scenario {
    let source = Source::new(format!("{}.toml", workload.name), workload.text);
    let mut sets: Vec<_> = workload.sets.iter().map(ToString::to_string).collect();
    sets.extend(trace.map(|(_, interval)| format!("trace.interval={interval}")));
    let overrides = Overrides {
        schemes: workload.scheme.map(str::to_owned),
        seeds: std::num::NonZeroU32::new(seeds),
        trace: trace.map(|(series, _)| series.to_owned()),
        sets,
        ..Overrides::default()
    };
    match Scenario::load(source, &overrides) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{} is not a correct scenario: {problems}", workload.name),
    }
}

/// `VmHWM`: the largest resident set of this process so far.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u32 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.1} MiB", f64::from(kib) / 1024.0))
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads a clock")]
fn now() -> Instant {
    Instant::now()
}

/// CPU time of this thread in nanoseconds.
#[cfg(unix)]
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn clock() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Wall time in nanoseconds.
#[cfg(not(unix))]
fn clock() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(now);
    START.elapsed().as_secs_f64() * 1e9
}

/// What `clock` tells.
const CLOCK: &str = if cfg!(unix) { "CPU time" } else { "wall time" };
/// A scenario, its scheme if it is not the one of the file, and what is set in it.
struct Workload {
    name: &'static str,
    text: &'static str,
    scheme: Option<&'static str>,
    sets: &'static [&'static str],
}

static WORKLOADS: [Workload; 7] = [
    Workload {
        name: "w1b",
        text: include_str!("scenarios/w1b.toml"),
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "w3",
        text: include_str!("scenarios/w3.toml"),
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "w2",
        text: W2,
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "w2-20000",
        text: W2,
        scheme: None,
        sets: &["workload.flows=20000"],
    },
    Workload {
        name: "w2-hscc",
        text: W2,
        scheme: Some("hscc"),
        sets: &[],
    },
    Workload {
        name: "b7",
        text: B7,
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "b7-newreno",
        text: B7,
        scheme: Some("newreno"),
        sets: &[],
    },
];
/// Too large for every round: measured with `--only`, and for its memory.
static WHOLE: Workload = Workload {
    name: "b7-5s",
    text: B7,
    scheme: None,
    sets: &["workload.duration=4990ms", "run.duration=5s"],
};
/// 2,000 flows.
const W2: &str = include_str!("scenarios/w2.toml");
/// 14,000 flows in a second.
const B7: &str = include_str!("scenarios/b7.toml");
/// Traces of w1b: series and interval.
const TRACES: [(&str, &str); 3] = [
    ("queue", "change"),
    ("queue,events", "auto"),
    ("queue,cwnd,rwnd,events", "auto"),
];
/// The series of a trace and their interval; none leaves both as they are unasked.
type Traced = Option<(&'static str, &'static str)>;
/// Runs of w1b into a folder: seeds and traces.
const RESULTS: [(&str, u32, Traced); 3] = [
    ("w1b, results of one run", 1, Some(("off", "auto"))),
    ("w1b, results of ten runs", 10, Some(("off", "auto"))),
    ("w1b, one run and series unasked", 1, None),
];
/// Events in the list.
const PENDING: [u32; 3] = [100, 1_000, 10_000];
/// Odd, so that the median is a measurement.
const ROUNDS: usize = 9;
const FEW_ROUNDS: usize = 3;
/// Steps of a sample: some 50 ms.
const STEPS: u64 = 1_000_000;
/// Starts of the command.
const STARTS: usize = 21;
/// Lines of `--once`.
const HOPS: &str = "packet-hops: ";
const PEAK: &str = "peak memory: ";
