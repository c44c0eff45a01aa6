//! Times of a benchmark, as multiples of a yardstick measured in the same round.

use std::hint::black_box;

use base::cast::{real, signed};

/// Something measured once per round.
pub(crate) struct Series {
    pub(crate) what: String,
    /// ns per operation, one for each round.
    pub(crate) ns: Vec<f64>,
    /// Packet-hops of a run.
    pub(crate) hops: Option<u64>,
}

impl Series {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ns: Vec::new(),
            hops: None,
        }
    }
}

pub(crate) fn print_times(rounds: usize, series: &[Series]) {
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

/// ns per call of `step`.
pub(crate) fn per_step(mut step: impl FnMut() -> u64) -> f64 {
    let start = clock();
    let mut sum = 0_u64;
    for _ in 0..STEPS {
        sum = sum.wrapping_add(step());
    }
    black_box(sum);
    (clock() - start) / real(STEPS)
}

/// ns per packet-hop, building the world included, and the number of packet-hops.
pub(crate) fn per_hop(run: impl Fn() -> u64) -> (f64, u64) {
    let (mut spent, mut hops, mut of_a_run) = (0.0, 0, 0);
    while hops < STEPS {
        let start = clock();
        of_a_run = run();
        spent += clock() - start;
        hops += of_a_run;
    }
    (spent / real(hops), of_a_run)
}

pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// CPU time of this thread in nanoseconds.
#[cfg(unix)]
pub(crate) fn clock() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    signed(time.tv_sec) * 1e9 + signed(time.tv_nsec)
}

/// Wall time in nanoseconds.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a benchmark reads a clock")]
pub(crate) fn clock() -> f64 {
    use std::time::Instant;
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1e9
}

/// The kind of time that `clock` measures.
const CLOCK: &str = if cfg!(unix) { "CPU time" } else { "wall time" };
/// Steps of a sample: some 50 ms.
const STEPS: u64 = 1_000_000;
