//! How much faster one simulation is on several threads.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use base::cast::count;
use plan::PointSpec;
use sim::divided::{self, Divided, Division};
use sim::metrics::Outcome;
use sim::run::{Limits, Watching};

/// Prints, for each workload, how long it takes on one thread and on more, up to as many as there are cores, and at
/// least two. Rounds of all thread counts follow each other, so that a neighbour disturbs all of them.
///
/// # Panics
/// If a digest depends on the threads.
pub(crate) fn print(workloads: &[(&str, PointSpec)], rounds: usize) {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let mut counts: Vec<usize> = (0..usize::BITS).map(|step| 1 << step).collect();
    counts.retain(|threads| *threads < cores.max(2));
    counts.push(cores.max(2));
    println!(
        "{cores} cores, {rounds} rounds; least seconds on the wall, its gain, and the median gain of a round\n"
    );
    println!(
        "{:<16}{:>8}{:>10}{:>13}{:>9}{:>9}{:>7}{:>8}",
        "", "threads", "windows", "hops/window", "waiting", "seconds", "gain", "median"
    );
    for (name, point) in workloads {
        let runs: Vec<Vec<Run>> = (0..rounds)
            .map(|_| counts.iter().map(|n| measure(point, *n)).collect())
            .collect();
        let least = |at: usize| {
            let seconds = runs.iter().map(|round| round[at].seconds);
            seconds.fold(f64::INFINITY, f64::min)
        };
        for (at, threads) in counts.iter().enumerate() {
            let run = &runs[0][at];
            assert_eq!(run.digest, runs[0][0].digest, "{name} on {threads} threads");
            let mut gains: Vec<f64> = runs
                .iter()
                .map(|round| round[0].seconds / round[at].seconds)
                .collect();
            gains.sort_by(f64::total_cmp);
            println!(
                "{name:<16}{threads:>8}{:>10}{:>13}{:>8.0}%{:>9.2}{:>7.2}{:>8.2}",
                run.windows,
                run.hops.checked_div(run.windows).unwrap_or(0),
                run.waiting * 100.0,
                least(at),
                least(0) / least(at),
                gains[gains.len() / 2],
            );
        }
    }
}

/// One simulation on some threads.
struct Run {
    seconds: f64,
    hops: u64,
    windows: u64,
    /// The share of their time that threads waited for each other.
    waiting: f64,
    digest: u64,
}

fn measure(point: &PointSpec, threads: usize) -> Run {
    let limits = Limits {
        wall,
        ..Limits::NONE
    };
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let start = wall();
    let (outcome, divided): (Outcome, Option<Divided>) = if threads.get() == 1 {
        (
            sim::run::within(limits, point).expect("the workload runs"),
            None,
        )
    } else {
        let division = Division::of_threads(threads);
        let (outcome, divided) = divided::within(limits, point, division, Watching::default())
            .expect("the workload runs");
        assert_eq!(divided.obstacle, None, "the workload can be divided");
        (outcome, Some(divided))
    };
    Run {
        seconds: wall().saturating_sub(start).as_secs_f64(),
        hops: outcome.cost.packet_hops,
        windows: divided.map_or(0, |divided| divided.windows),
        waiting: divided.map_or(0.0, |divided| {
            let all = divided.took.as_secs_f64() * count(divided.threads);
            divided.waited.as_secs_f64() / all
        }),
        digest: outcome.digest,
    }
}

fn wall() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let now = super::now();
    now.duration_since(*START.get_or_init(|| now))
}
