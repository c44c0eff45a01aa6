//! Checks that the distribution of results depends neither on the start of a simulation nor on the unit of time.
//!
//! A single result may change: the order of two simultaneous events is drawn from the time and the seed, and everything
//! after it depends on it. Over many seeds no result may be more likely.

use std::num::NonZeroU32;

use base::cast::real;
use base::{Rate, Span};
use plan::PointSpec;
use plan::keys::{all_keys, group};
use scenario::{Overrides, Scenario, Source};
use sim::metrics::Metrics;
use sim::run;

/// Runs an incast of `scheme` with this many seeds three times: unchanged, with all starts shifted, and with every rate
/// ten times as high and every time a tenth as long.
///
/// # Panics
/// If completion times, drops or timeouts have different distributions in two of them: the two-sample
/// Kolmogorov-Smirnov test, or the test of the means, would say so for equal distributions only once in ten thousand
/// times.
pub fn depends_on_no_origin_or_unit_of_time(scheme: &str, seeds: NonZeroU32) {
    let own = CONSTANTS.iter().filter(|(other, _)| *other == scheme);
    let own: Vec<&str> = own.map(|(_, set)| *set).collect();
    relate(scheme, seeds, &own);
}

/// Holds the relation on every network, with the settings `own` of the scheme.
fn relate(scheme: &str, seeds: NonZeroU32, own: &[&str]) {
    for (network, sets) in NETWORKS {
        let place = format!("{scheme} on {network}");
        let own = [own, sets].concat();
        let base = points(scheme, seeds, &own, &[]);
        let plain = measured(&base, 1.0);
        let shifted = points(scheme, seeds, &own, &[SHIFTED.to_owned()]);
        compare(
            &format!("{place} with {SHIFTED}"),
            &plain,
            &measured(&shifted, 1.0),
        );
        let fast = points(scheme, seeds, &own, &tenfold(&base[0]));
        compare(
            &format!("{place} ten times as fast"),
            &plain,
            &measured(&fast, 10.0),
        );
    }
}

/// For each of [`NAMES`], a value for each seed.
type Samples = [Vec<f64>; NAMES.len()];

const NAMES: [&str; 4] = ["mean", "99th percentile", "drops", "timeouts"];

/// Runs these points and multiplies times by `unit`.
fn measured(points: &[PointSpec], unit: f64) -> Samples {
    let mut samples = Samples::default();
    for point in points {
        let run = run::run(point);
        let m: Metrics = run
            .unwrap_or_else(|error| panic!("{}: {error}", point.scheme))
            .metrics;
        let values = [
            m.fct_mean_us * unit,
            m.fct_p99_us * unit,
            real(m.drops),
            real(m.timeouts),
        ];
        for (sample, value) in samples.iter_mut().zip(values) {
            sample.push(value);
        }
    }
    samples
}

fn compare(place: &str, plain: &Samples, other: &Samples) {
    for ((name, a), b) in NAMES.iter().zip(plain).zip(other) {
        let (distance, shift) = (distance(a, b), shift(a, b));
        let allowed = KOLMOGOROV * (2.0 / real(a.len() as u64)).sqrt();
        assert!(
            distance < allowed && shift.abs() < NORMAL,
            "{place}: {name} is distributed otherwise: distance {distance:.3} of at most {allowed:.3}, means {:.4} and \
             {:.4} are {shift:.1} standard errors apart",
            mean(a),
            mean(b)
        );
    }
}

/// The greatest distance between the distribution functions of two samples.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let share = |sample: &[f64], at: f64| {
        let below = sample
            .iter()
            .filter(|value| **value <= at * (1.0 + ROUNDING))
            .count();
        real(below as u64) / real(sample.len() as u64)
    };
    let ends = a.iter().chain(b);
    ends.map(|at| (share(a, *at) - share(b, *at)).abs())
        .fold(0.0, f64::max)
}

/// How many standard errors the mean of `b` is above the mean of `a`; 0 if both have one and the same value.
fn shift(a: &[f64], b: &[f64]) -> f64 {
    let variance = |sample: &[f64]| {
        let mean = mean(sample);
        let squares = sample.iter().map(|value| (value - mean) * (value - mean));
        squares.sum::<f64>() / (real(sample.len() as u64) - 1.0) / real(sample.len() as u64)
    };
    let error = (variance(a) + variance(b)).sqrt();
    let apart = mean(b) - mean(a);
    if apart.abs() <= ROUNDING * mean(a).abs() {
        0.0
    } else {
        apart / error
    }
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / real(sample.len() as u64)
}

/// A point for each seed.
fn points(scheme: &str, seeds: NonZeroU32, own: &[&str], more: &[String]) -> Vec<PointSpec> {
    // A setting of `more` replaces one of `own` with the same key.
    let key = |set: &str| set.split('=').next().map(str::to_owned);
    let again = |set: &&&str| more.iter().any(|other| key(other) == key(set));
    let sets = own.iter().filter(|set| !again(set));
    let sets = sets.map(|set| (*set).to_owned());
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: sets.chain(more.iter().cloned()).collect(),
        seeds: Some(seeds),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("incast", INCAST), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{scheme}: {problems:?}"));
    scenario.points().to_vec()
}

/// Every rate and time among the settings, ten times as fast.
fn tenfold(point: &PointSpec) -> Vec<String> {
    let mut sets = Vec::new();
    for key in all_keys().iter().filter(|key| group(key.name) != "trace") {
        let text = point.text(key.name);
        let time = text.parse().map(|time: Span| (time / 10).to_string());
        let rate = text
            .parse()
            .map(|rate: Rate| Rate::from_bps(rate.as_bps() * 10).to_string());
        if let Ok(faster) = time.or(rate) {
            sets.push(format!("{}={faster}", key.name));
        }
    }
    // Segments per cubic second.
    let c: f64 = point.text("cubic.c").parse().expect("a number");
    sets.push(format!("cubic.c={}", c * 1000.0));
    sets
}

/// A queue that overflows and timers that expire.
const INCAST: &str = r#"
[link]
jitter = "auto"
[switch]
buffer = "40pkt"
ecn_threshold = "20pkt"
[tcp]
min_rto = "10ms"
initial_rto = "10ms"
syn_rto = "10ms"
[workload]
senders = 24
size = "40KB"
"#;
const NETWORKS: &[(&str, &[&str])] = &[
    // Almost no events are simultaneous.
    ("links with jitter", &["workload.jitter=200us"]),
    // Most events are simultaneous with another event.
    (
        "senders in step",
        &["link.jitter=0s", "workload.size=uniform(30KB, 50KB)"],
    ),
    // Timers expire at ticks.
    (
        "hosts with Linux",
        &[
            "tcp.profile=linux",
            "workload.jitter=200us",
            "tcp.timestamps=false",
            "cubic.hystart=false",
        ],
    ),
];
/// Starts are at 10 ms unless this is set. The difference is a whole number of ticks of Linux hosts (4 ms) and of
/// intervals of idle RCP (10 ms) and XCP (50 ms) routers. These begin at time zero, so the phase at which flows start
/// belongs to the scenario.
const SHIFTED: &str = "workload.start=110ms";
/// Times of schemes that are not settings, and the settings that make them irrelevant.
const CONSTANTS: &[(&str, &str)] = &[
    // The published code limits the period of estimating the share of marks to between 100 us and 10 ms.
    ("rcc", "switch.ecn_threshold=off"),
    ("rdtcp", "switch.ecn_threshold=off"),
    // The rate of a link grows from time zero while nothing is sent. Here it begins at its maximum.
    ("rcp", "rcp.initial_rate=1"),
    // Defaults that do not follow from other settings.
    ("dcqcn", "dcqcn.timer=55us"),
    ("dcqcn", "dcqcn.min_rate=1Mbps"),
    ("swift", "swift.base_target=150us"),
];
/// Quantile of Kolmogorov's distribution for one in ten thousand: the root of ln(2 / 0.0001) / 2.
const KOLMOGOROV: f64 = 2.225;
/// Quantile of the normal distribution: two-sided, one in ten thousand.
const NORMAL: f64 = 3.891;
/// Relative difference that rounding to picoseconds may cause.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_shifts_are_those_of_textbooks() {
        // A quarter of the first sample lies below all of the second; otherwise they are equal.
        let (a, b) = ([1.0, 5.0, 6.0, 7.0], [5.0, 6.0, 7.0, 8.0]);
        assert!((distance(&a, &b) - 0.25).abs() < 1e-12);
        // Means 4.75 and 6.5; variances of the means 20.75 / 12 and 5 / 12.
        let expected = 1.75 / (25.75_f64 / 12.0).sqrt();
        assert!((shift(&a, &b) - expected).abs() < 1e-12);
        assert!(shift(&[3.0, 3.0], &[3.0, 3.0]).abs() < 1e-12);
    }

    #[test]
    #[should_panic(
        expected = "rcp on senders in step with workload.start=110ms: 99th percentile is"
    )]
    fn a_rate_that_grows_before_flows_start_is_noticed() {
        let seeds = NonZeroU32::new(20).expect("at least one");
        relate("rcp", seeds, &[]);
    }
}
