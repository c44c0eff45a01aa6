//! No result may depend on the order of events at the same instant.

use base::cast::real;
use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use sim::metrics::Metrics;
use sim::run;

/// Runs an incast of `scheme`, or of a composition, in which all senders start at once, with the default jitter or
/// other settings, under three orders of simultaneous events.
///
/// # Panics
/// If the 99th percentile of completion times or the drops differ between two orders by more than chance: their 95 %
/// intervals over the seeds do not overlap.
pub fn hangs_on_no_order(scheme: &str, settings: &[&str]) {
    let orders = ["1", "2", "3"].map(|order| {
        let runs: Vec<Metrics> = points(scheme, order, settings)
            .iter()
            .map(|point| {
                let outcome = run::run(point);
                outcome
                    .unwrap_or_else(|error| panic!("{scheme}: {error}"))
                    .metrics
            })
            .collect();
        let p99 = runs.iter().map(|run| run.fct_p99_us);
        let drops = runs.iter().map(|run| real(run.drops));
        [p99.collect(), drops.collect()].map(|values: Vec<f64>| interval(&values))
    });
    for (metric, name) in ["p99", "drops"].into_iter().enumerate() {
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let (a, b) = (orders[one][metric], orders[other][metric]);
            assert!(
                a.0 <= b.1 && b.0 <= a.1,
                "{scheme}: {name} of orders {} and {} are {a:?} and {b:?}",
                one + 1,
                other + 1
            );
        }
    }
}

/// A point for each seed.
fn points(scheme: &str, order: &str, settings: &[&str]) -> Vec<PointSpec> {
    let sets = settings.iter().map(|set| (*set).to_owned());
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: sets.chain([format!("run.tie_order={order}")]).collect(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("lockstep", LOCKSTEP), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{scheme}: {problems:?}"));
    scenario.points().to_vec()
}

/// The 95 % interval of the mean of [`SEEDS`] values.
fn interval(values: &[f64]) -> (f64, f64) {
    assert_eq!(values.len(), SEEDS);
    let count = real(SEEDS as u64);
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    let half = STUDENT * (squares.sum::<f64>() / (count - 1.0) / count).sqrt();
    // Rounding to picoseconds is no difference.
    let half = half.max(1e-6 * mean);
    (mean - half, mean + half)
}

/// All senders begin at the same instant, links have one rate, and the queue overflows.
const LOCKSTEP: &str = r#"
seeds = 10
[link]
jitter = "auto"
[tcp]
profile = "linux"
min_rto = "10ms"
[workload]
senders = 40
size = "32KiB"
"#;
const SEEDS: usize = 10;
/// Student's t at 0.975 with nine degrees of freedom.
const STUDENT: f64 = 2.262;
