//! The cost of a packet-hop: in ns, and as a multiple of a yardstick measured in the same process.
//!
//! A packet-hop is one packet, data or ACK, leaving one port. The yardstick is one pop and one push of
//! the standard library's heap with 1,000 entries of 24 bytes. All measurements of a round follow each
//! other at once, and rounds repeat, so that a noisy neighbour disturbs the yardstick as much as what
//! it measures. Times are CPU time of this thread where the system tells it.
//!
//! `hops --threads` measures instead how much faster one simulation is on several threads, by time on the wall.
//!
//! `keeping`, a benchmark of `results`, measures the cost of traces and run folders.
//!
//! `hops --rounds N` measures N rounds. `hops --only w1b,w2` measures these workloads and nothing else but the
//! yardstick. `hops --once w2` runs one workload once and prints its packet-hops and its peak memory: for instruction
//! counts, and for the memory of a fresh process. Settings may follow, as in `hops --once w2 tcp.timestamps=true`, to
//! measure the cost of one.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints what it measured"
)]

#[path = "../../../core/engine/benches/workload/hold.rs"]
mod hold;
#[path = "support/threads.rs"]
mod threads;
#[path = "support/timing.rs"]
mod timing;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};

use hold::{Entry, HeapHold, SchedulerHold, Tuple};
use sim::error::RunError;
use sim::metrics::Outcome;
use timing::{Series, least, median, per_hop, per_step, print_times};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds `--bench`.
    let mut words = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "--bench");
    let (what, value) = (words.next(), words.next());
    let settings: Vec<&str> = words.collect();
    match (what, value, &settings[..]) {
        (None, None, []) => measure(ROUNDS),
        (Some("--rounds"), Some(rounds), []) if rounds.parse::<usize>().is_ok_and(|n| n > 0) => {
            measure(rounds.parse().expect("parsed just now"));
        }
        (Some("--only"), Some(names), []) if names.split(',').all(|name| known(name).is_some()) => {
            measure_only(names);
        }
        (Some("--threads"), None, []) => {
            let workloads = THREADED.iter().filter_map(|name| known(name));
            let points: Vec<_> = workloads.map(|one| (one.name, point(one))).collect();
            threads::print(&points, FEW_ROUNDS);
        }
        (Some("--threads"), Some(name), settings) if known(name).is_some() => {
            let point = point_with(known(name).expect("known"), settings);
            threads::print(&[(name, point)], FEW_ROUNDS);
        }
        (Some("--once"), Some(name), settings) if known(name).is_some() => once(name, settings),
        _ => {
            eprintln!(
                "usage: hops [--rounds N | --only NAME,... | --threads [NAME [KEY=VALUE]...] | --once NAME [KEY=VALUE]...], of {}",
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
    WORKLOADS.iter().chain(&APART)
}

fn measure(rounds: usize) {
    let mut yardstick = HeapHold::<Entry>::new(1_000);
    let mut tuples = HeapHold::<Tuple>::new(1_000);
    let mut lists = PENDING.map(SchedulerHold::new);
    let points = WORKLOADS.each_ref().map(point);
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

    // The first round warms caches, the allocator and the branch predictor.
    for round in 0..=rounds {
        let mut samples = vec![per_step(|| yardstick.step()), per_step(|| tuples.step())];
        samples.extend(lists.iter_mut().map(|list| per_step(|| list.step())));
        for (place, point) in points.iter().enumerate() {
            let (ns, hops) = per_hop(|| hops_of(sim::run::run(point)));
            samples.push(ns);
            series[first_workload + place].hops = Some(hops);
        }
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
    let points: Vec<_> = workloads.iter().map(|workload| point(workload)).collect();
    let mut yardstick = HeapHold::<Entry>::new(1_000);
    let mut series = vec![Series::new("yardstick: std binary heap, 1000 pending")];
    series.extend(workloads.iter().map(|workload| Series::new(workload.name)));
    for _ in 0..FEW_ROUNDS {
        series[0].ns.push(per_step(|| yardstick.step()));
        for (series, point) in series[1..].iter_mut().zip(&points) {
            let (ns, hops) = per_hop(|| hops_of(sim::run::run(point)));
            series.ns.push(ns);
            series.hops = Some(hops);
        }
    }
    print_times(FEW_ROUNDS, &series);
}

/// Each workload in a process of its own, so that each has its own peak.
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

fn once(name: &str, settings: &[&str]) {
    let workload = known(name).expect("the arguments were checked");
    let outcome = sim::run::run(&point_with(workload, settings)).expect("the workload runs");
    println!("{HOPS}{}", outcome.cost.packet_hops);
    if let Some(peak) = peak_memory() {
        println!("{PEAK}{peak}");
    }
}

fn hops_of(outcome: Result<Outcome, RunError>) -> u64 {
    outcome.expect("the workload runs").cost.packet_hops
}

/// The point of a workload.
fn point(workload: &Workload) -> PointSpec {
    point_with(workload, &[])
}

/// The point of a workload, with additional settings.
fn point_with(workload: &Workload, settings: &[&str]) -> PointSpec {
    let source = Source::new(format!("{}.toml", workload.name), workload.text);
    let sets = workload.sets.iter().chain(settings);
    let overrides = Overrides {
        schemes: workload.scheme.map(str::to_owned),
        sets: sets.map(ToString::to_string).collect(),
        ..Overrides::default()
    };
    match Scenario::load(source, &overrides) {
        Ok(scenario) => scenario.points()[0].clone(),
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

#[expect(clippy::disallowed_methods, reason = "a benchmark reads a clock")]
fn now() -> Instant {
    Instant::now()
}

/// A scenario, its scheme unless it is the one of the file, and changed settings.
struct Workload {
    name: &'static str,
    text: &'static str,
    scheme: Option<&'static str>,
    sets: &'static [&'static str],
}

static WORKLOADS: [Workload; 7] = [
    Workload {
        name: "w1b",
        text: W1B,
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "w3",
        text: W3,
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
/// Not measured in every round. The first five are too large: they are measured with `--only`, and for their memory.
/// Instructions are counted in the others.
static APART: [Workload; 10] = [
    Workload {
        name: "w2-linux",
        text: W2,
        scheme: None,
        sets: LINUX,
    },
    Workload {
        name: "w2-1024-hosts",
        text: W2,
        scheme: None,
        sets: &["topology.racks=64", "workload.flows=4000"],
    },
    Workload {
        name: "w2-10000-hosts",
        text: W2,
        scheme: None,
        sets: &["topology.racks=625", "workload.flows=6000"],
    },
    Workload {
        name: "b7-5s",
        text: B7,
        scheme: None,
        sets: &["workload.duration=4990ms", "run.duration=5s"],
    },
    Workload {
        name: "million",
        text: include_str!("scenarios/million.toml"),
        scheme: None,
        sets: &[],
    },
    Workload {
        name: "w3-50ms",
        text: W3,
        scheme: None,
        sets: &["run.duration=50ms"],
    },
    Workload {
        name: "w2-50",
        text: W2,
        scheme: None,
        sets: &["workload.flows=50"],
    },
    Workload {
        name: "w1b-linux",
        text: W1B,
        scheme: None,
        sets: LINUX,
    },
    Workload {
        name: "w3-50ms-linux",
        text: W3,
        scheme: None,
        sets: &["run.duration=50ms", LINUX[0], LINUX[1]],
    },
    Workload {
        name: "w2-50-linux",
        text: W2,
        scheme: None,
        sets: &["workload.flows=50", LINUX[0], LINUX[1]],
    },
];
/// Linux's loss recovery needs SACK.
const LINUX: &[&str] = &["tcp.profile=linux", "tcp.sack=true"];
/// 100 senders of 1 MB.
const W1B: &str = include_str!("scenarios/w1b.toml");
/// 16 flows for a second.
const W3: &str = include_str!("scenarios/w3.toml");
/// 2,000 flows.
const W2: &str = include_str!("scenarios/w2.toml");
/// 14,000 flows in a second.
const B7: &str = include_str!("scenarios/b7.toml");
/// Events in the list.
const PENDING: [u32; 3] = [100, 1_000, 10_000];
/// Workloads that are measured on several threads.
const THREADED: [&str; 4] = ["w2", "w2-linux", "w2-20000", "w2-1024-hosts"];
/// Odd, so that the median is a measurement.
const ROUNDS: usize = 9;
const FEW_ROUNDS: usize = 3;
/// Starts of the command.
const STARTS: usize = 21;
/// Lines of `--once`.
const HOPS: &str = "packet-hops: ";
const PEAK: &str = "peak memory: ";
