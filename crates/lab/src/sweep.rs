//! Running many points on all cores.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::error::RunError;
use crate::metrics::Outcome;
use crate::run;
use crate::scenario::PointSpec;

/// Why a point has no outcome.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The simulation says what went wrong.
    #[error("{0}")]
    Run(RunError),
    /// An invariant of this program does not hold.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Runs every point on `jobs` threads and returns the outcomes in the order of `points`.
///
/// A point is a pure function of itself, so neither the number of threads nor the order in which
/// they finish changes an outcome. A point that fails, even by a panic, leaves the others alone.
/// `on_done` is called after each point, from the thread that ran it, and may drop what it does not
/// need of the outcome.
pub fn run_all(
    points: &[PointSpec],
    jobs: NonZeroUsize,
    on_done: impl Fn(&PointSpec, &mut Result<Outcome, Failure>) + Sync,
) -> Vec<Result<Outcome, Failure>> {
    run_with(points, jobs, run::run, on_done)
}

fn run_with(
    points: &[PointSpec],
    jobs: NonZeroUsize,
    run: impl Fn(&PointSpec) -> Result<Outcome, RunError> + Sync,
    on_done: impl Fn(&PointSpec, &mut Result<Outcome, Failure>) + Sync,
) -> Vec<Result<Outcome, Failure>> {
    let one = |point: &PointSpec| {
        let mut result = catch_unwind(AssertUnwindSafe(|| run(point)))
            .map_err(|panic| Failure::Internal(panic_message(panic.as_ref())))
            .and_then(|result| result.map_err(Failure::Run));
        on_done(point, &mut result);
        result
    };
    // Where the system refuses threads, the points still run one after another.
    match ThreadPoolBuilder::new().num_threads(jobs.get()).build() {
        // Points differ in cost by orders of magnitude: no thread gets two while another waits.
        Ok(pool) => pool.install(|| points.par_iter().with_max_len(1).map(one).collect()),
        Err(_) => points.iter().map(one).collect(),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Overrides, Scenario, Source};

    fn points() -> Vec<PointSpec> {
        let overrides = Overrides {
            sets: vec!["workload.senders=1..20:1".into()],
            schemes: Some("newreno".into()),
            ..Overrides::default()
        };
        let source = Source::builtin("incast").unwrap();
        Scenario::load(source, &overrides)
            .unwrap()
            .points()
            .to_vec()
    }

    #[test]
    fn outcomes_come_in_the_order_of_points_whatever_the_jobs() {
        let run = |point: &PointSpec| {
            Err(RunError::Conservation(
                point.keys.workload.senders.0.to_string(),
            ))
        };
        let messages = |jobs| -> Vec<String> {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let results = run_with(&points(), jobs, run, |_, _| ());
            results
                .into_iter()
                .map(|result| result.unwrap_err().to_string())
                .collect()
        };
        for (index, message) in messages(1).iter().enumerate() {
            assert!(message.contains(&format!(" {}", index + 1)), "{message}");
        }
        assert_eq!(messages(1), messages(4));
    }

    #[test]
    fn a_point_that_panics_leaves_the_others_alone() {
        let run = |point: &PointSpec| {
            assert!(point.index != 3, "the queue is never negative");
            Err(RunError::Conservation("fine".into()))
        };
        let results = run_with(&points(), NonZeroUsize::MIN, run, |_, _| ());
        let broken: Vec<_> = results
            .iter()
            .filter(|result| matches!(result, Err(Failure::Internal(_))))
            .map(|result| result.as_ref().unwrap_err().to_string())
            .collect();
        assert_eq!(broken, ["internal error: the queue is never negative"]);
        assert_eq!(results.len(), 20);
    }
}
