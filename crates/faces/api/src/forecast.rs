//! Expected times of simulations and of the files made from their results, and the remaining time.
//!
//! The number of simulations predicts nothing, because one may have two packets and another two million. So every kind
//! of work has an expected time here, computed from the settings. The ratio of actual to expected time so far corrects
//! the rest.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plan::PointSpec;
use plan::work::Work;
use results::shard::{STEPS_PER_SECOND, expected_flows};

/// Seconds that a simulation is expected to take on one core, with its files.
pub(crate) fn simulation(point: &PointSpec) -> f64 {
    let steps = Work::of(point, true).steps();
    PER_SIMULATION + steps / STEPS_PER_SECOND
}

/// Seconds that it takes to make tables and a summary of these points.
pub(crate) fn tables(points: &[PointSpec]) -> f64 {
    PER_FOLDER + flows(points) * PER_FLOW_IN_TABLES
}

/// Seconds that the report of a run folder with these points takes.
pub(crate) fn report(points: &[PointSpec]) -> f64 {
    PER_REPORT + flows(points) * PER_FLOW_DRAWN
}

/// Seconds to judge all claims about these points, which read the flows in one pass.
pub(crate) fn judging(points: &[PointSpec]) -> f64 {
    PER_FOLDER + flows(points) * PER_FLOW_JUDGED
}

fn flows(points: &[PointSpec]) -> f64 {
    points.iter().map(expected_flows).sum()
}

/// Work with a predicted time, and its progress.
pub struct Forecast {
    /// Seconds that the whole is expected to take, with the actual number of simulations at a time.
    all: f64,
    done: Mutex<Done>,
}

/// The finished parts of the work.
#[derive(Clone, Copy, Default)]
struct Done {
    /// Seconds that these parts were expected to take.
    expected: f64,
    /// When the last of them ended.
    at: Duration,
}

impl Forecast {
    /// For work that is expected to take this many seconds.
    pub const fn of(all: f64) -> Self {
        let nothing = Done {
            expected: 0.0,
            at: Duration::ZERO,
        };
        Self {
            all,
            done: Mutex::new(nothing),
        }
    }

    /// Counts a part that ended at `elapsed` and was expected to take `expected` seconds.
    pub fn done(&self, expected: f64, elapsed: Duration) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.expected += expected;
        done.at = done.at.max(elapsed);
    }

    /// The predicted time from start to end, after `elapsed`. The rest is assumed to deviate from its expected time by
    /// the same factor as the finished work. Little finished work says little, so the expected time is weighted like a
    /// tenth of the work.
    pub fn end(&self, elapsed: Duration) -> Option<Duration> {
        if !self.all.is_finite() || self.all == 0.0 {
            return None;
        }
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let left = (self.all - done.expected).max(0.0);
        let believed = (self.all * BELIEVED).min(MOST_BELIEVED);
        let slower = (done.at.as_secs_f64() + believed) / (done.expected + believed);
        let end = done.at.as_secs_f64() + left * slower;
        Duration::try_from_secs_f64(end)
            .ok()
            .map(|end| end.max(elapsed))
    }
}

/// The share of the work that the expected time weighs, and its limit in seconds.
const BELIEVED: f64 = 0.1;
const MOST_BELIEVED: f64 = 10.0;

/// Seconds of a simulation beside its packets, mostly for syncing its file to the disk.
const PER_SIMULATION: f64 = 0.01;
/// Seconds of a release build for each flow, from Fig. 7 of HSCC with its 4.5 million flows and 20 claims (`tailwater
/// reproduce hscc/fig7 --seeds 1 --causes none`): to make its row in the tables,
const PER_FLOW_IN_TABLES: f64 = 6e-6;
/// to draw it in a report,
const PER_FLOW_DRAWN: f64 = 2e-6;
/// and to judge all 32 claims of the figure, which is one pass over the flows.
const PER_FLOW_JUDGED: f64 = 0.5e-6;
/// Seconds to write the tables of a folder without flows to the disk.
const PER_FOLDER: f64 = 0.1;
/// A page without flows.
const PER_REPORT: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(forecast: &Forecast, elapsed: u64) -> f64 {
        let end = forecast.end(Duration::from_secs(elapsed));
        end.expect("a time").as_secs_f64()
    }

    #[test]
    fn what_is_left_is_foretold_by_work_and_not_by_number() {
        let forecast = Forecast::of(100.0);
        assert!((seconds(&forecast, 0) - 100.0).abs() < 1e-9);
        // Many small simulations end first, all as slow as expected; the large one is still running.
        for number in 1..=9 {
            forecast.done(1.0, Duration::from_secs(number));
        }
        assert!((seconds(&forecast, 9) - 100.0).abs() < 1e-9);
        // While it runs, the predicted end stays the same until it has passed.
        assert!((seconds(&forecast, 60) - 100.0).abs() < 1e-9);
        assert!((seconds(&forecast, 130) - 130.0).abs() < 1e-9);
    }

    #[test]
    fn what_turned_out_slower_makes_the_rest_slower() {
        let forecast = Forecast::of(90.0);
        // A third of the work took twice its time. The expected time still weighs 9 s of it.
        forecast.done(30.0, Duration::from_mins(1));
        let expected = 60.0 + 60.0 * 69.0 / 39.0;
        assert!((seconds(&forecast, 60) - expected).abs() < 1e-9);
        assert!((expected / 180.0 - 1.0).abs() < 0.2, "of the true 180 s");
    }

    #[test]
    fn nothing_to_do_takes_no_time_and_the_impossible_no_number() {
        assert_eq!(Forecast::of(0.0).end(Duration::ZERO), None);
        assert_eq!(Forecast::of(f64::NAN).end(Duration::ZERO), None);
    }
}
