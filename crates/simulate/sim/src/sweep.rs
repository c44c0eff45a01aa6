//! Running many points on all cores.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use plan::PointSpec;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::error::RunError;

/// Why a point has no outcome.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PointFailure {
    /// The simulation says what went wrong.
    #[error("{0}")]
    Run(RunError),
    /// An invariant of this program is violated.
    #[error("internal error: {0}")]
    Internal(String),
    /// The sweep ended before.
    #[error("it was not run")]
    NotRun,
}

/// Runs every point on `jobs` threads and returns the results of `run` in the order of `points`.
///
/// A point is a pure function of itself, so neither the number of threads nor the order in which they finish changes an
/// outcome. A point that fails, even by a panic, does not affect the others. `on_done` is called after each point, from
/// the thread that ran it. Once `stop` is true no other point begins. Points that have begun end early if `run` gives
/// the same flag to their [`Limits`](crate::run::Limits).
pub fn run_all<T: Send>(
    points: &[&PointSpec],
    jobs: NonZeroUsize,
    stop: &AtomicBool,
    run: impl Fn(&PointSpec) -> Result<T, RunError> + Sync,
    on_done: impl Fn(&PointSpec, &Result<T, PointFailure>) + Sync,
) -> Vec<Result<T, PointFailure>> {
    let one = |point: &&PointSpec| {
        if stop.load(Ordering::Relaxed) {
            return Err(PointFailure::NotRun);
        }
        let result = run_one(point, &run);
        on_done(point, &result);
        result
    };
    // If the system refuses threads, the points run one after another.
    match ThreadPoolBuilder::new().num_threads(jobs.get()).build() {
        // The cost of points differs by orders of magnitude, so no thread takes two points at once while another waits.
        Ok(pool) => pool.install(|| points.par_iter().with_max_len(1).map(one).collect()),
        Err(_) => points.iter().map(one).collect(),
    }
}

/// Runs a point. A panic is a failure, too.
pub fn run_one<T>(
    point: &PointSpec,
    run: impl Fn(&PointSpec) -> Result<T, RunError>,
) -> Result<T, PointFailure> {
    catch_unwind(AssertUnwindSafe(|| run(point)))
        .map_err(|panic| PointFailure::Internal(panic_message(panic.as_ref())))
        .and_then(|result| result.map_err(PointFailure::Run))
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Overrides, Scenario, Source};

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
            let senders = point.keys.workload.senders.0.to_string();
            Err::<(), _>(RunError::Conservation(senders))
        };
        let messages = |jobs| -> Vec<String> {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let points = points();
            let points: Vec<_> = points.iter().collect();
            let results = run_all(&points, jobs, &AtomicBool::new(false), run, |_, _| ());
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
    fn no_point_begins_once_the_sweep_is_ended() {
        let run = |_: &PointSpec| Err::<(), _>(RunError::Storage("the disk is full".into()));
        let points = points();
        let stop = AtomicBool::new(false);
        let third = |point: &PointSpec, _: &_| stop.store(point.index == 2, Ordering::Relaxed);
        let points: Vec<_> = points.iter().collect();
        let results = run_all(&points, NonZeroUsize::MIN, &stop, run, third);
        let begun =
            |result: &&Result<_, PointFailure>| !matches!(result, Err(PointFailure::NotRun));
        assert_eq!(results.iter().filter(begun).count(), 3);
    }

    #[test]
    fn a_point_that_panics_leaves_the_others_alone() {
        let run = |point: &PointSpec| {
            assert!(point.index != 3, "the queue is never negative");
            Err::<(), _>(RunError::Conservation("fine".into()))
        };
        let points = points();
        let points: Vec<_> = points.iter().collect();
        let stop = AtomicBool::new(false);
        let results = run_all(&points, NonZeroUsize::MIN, &stop, run, |_, _| ());
        let broken: Vec<_> = results
            .iter()
            .filter(|result| matches!(result, Err(PointFailure::Internal(_))))
            .map(|result| result.as_ref().unwrap_err().to_string())
            .collect();
        assert_eq!(broken, ["internal error: the queue is never negative"]);
        assert_eq!(results.len(), 20);
    }
}
