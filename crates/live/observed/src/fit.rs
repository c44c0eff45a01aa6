//! Whether a model of the present agrees with the observation.

use serde::{Deserialize, Serialize};

use crate::times::FlowTimes;
use base::cast::real;

/// The deviation of a model from the observation, for each measure. It fits if each measure does.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Fit {
    /// The median completion time, in seconds.
    pub median: Deviation,
    /// The 99th percentile, in seconds.
    pub tail: Deviation,
    /// Timeouts, which are a count: chance alone makes two of them differ.
    pub timeouts: Deviation,
}

/// One measure, observed and by the model.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Deviation {
    /// The observed value.
    pub observed: f64,
    /// The model's value.
    pub model: f64,
    /// The larger value over the smaller. A count of zero counts as one.
    pub times: f64,
    /// The most that `times` may be.
    pub most: f64,
    /// Whether it is no more.
    pub fits: bool,
}

impl Fit {
    pub(crate) fn new(observed: &FlowTimes, model: &FlowTimes) -> Self {
        Self {
            median: Deviation::of_times(observed.fct_p50_s, model.fct_p50_s),
            tail: Deviation::of_times(observed.fct_p99_s, model.fct_p99_s),
            timeouts: Deviation::of_counts(observed.timeouts, model.timeouts),
        }
    }

    /// Whether all three fit.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.median.fits && self.tail.fits && self.timeouts.fits
    }
}

impl Deviation {
    pub(crate) fn of_times(observed: f64, model: f64) -> Self {
        let times = observed.max(model) / observed.min(model).max(SHORTEST_S);
        Self {
            observed,
            model,
            times,
            most: MOST_APART,
            fits: times <= MOST_APART,
        }
    }

    /// Counts of random events differ by chance. The square root of a Poisson count has a standard deviation of one
    /// half for every mean (Anscombe, Biometrika 35, 1948). So the root of the larger count may be [`DEVIATIONS`]
    /// deviations of the difference above the root of the largest allowed mean.
    fn of_counts(observed: u64, model: u64) -> Self {
        let (observed, model) = (real(observed), real(model));
        let (smaller, larger) = (observed.min(model), observed.max(model));
        let deviation = 0.5 * (1.0 + MOST_APART).sqrt();
        let root = (MOST_APART * smaller + ANSCOMBE).sqrt() + DEVIATIONS * deviation;
        let most = root * root - ANSCOMBE;
        let least = smaller.max(1.0);
        Self {
            observed,
            model,
            times: larger.max(1.0) / least,
            most: most / least,
            fits: larger <= most,
        }
    }
}

/// A model does not fit if its median, 99th percentile or expected timeouts are further from the observation.
const MOST_APART: f64 = 1.5;
/// Shorter times count as this one.
const SHORTEST_S: f64 = 1e-9;
/// Counts that are further apart differ by chance in only one of 700 observations.
const DEVIATIONS: f64 = 3.0;
/// Added to a count, so that the variance of its root is also the same for small counts.
const ANSCOMBE: f64 = 3.0 / 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn times(p50_ms: f64, p99_ms: f64, timeouts: u64) -> FlowTimes {
        FlowTimes {
            fct_p50_s: p50_ms / 1e3,
            fct_p99_s: p99_ms / 1e3,
            timeouts,
            ..FlowTimes::default()
        }
    }

    #[test]
    fn the_median_the_tail_and_timeouts_have_to_fit_each() {
        let seen = times(10.0, 200.0, 200);
        let fits = |model: FlowTimes| {
            let fit = Fit::new(&seen, &model);
            (fit.median.fits, fit.tail.fits, fit.timeouts.fits)
        };
        assert_eq!(fits(times(14.9, 134.0, 140)), (true, true, true));
        assert_eq!(fits(times(15.1, 200.0, 200)), (false, true, true));
        assert_eq!(fits(times(6.6, 200.0, 200)), (false, true, true));
        assert_eq!(fits(times(10.0, 301.0, 200)), (true, false, true));
        assert_eq!(fits(times(10.0, 133.0, 200)), (true, false, true));
        assert_eq!(fits(times(10.0, 200.0, 20)), (true, true, false));
        assert_eq!(fits(times(10.0, 200.0, 900)), (true, true, false));
    }

    #[test]
    fn a_median_of_the_wrong_size_does_not_hide_behind_a_tail_that_fits() {
        // 24 servers, 64 KiB each, through 200 Mbit/s with 96 KB of buffer.
        let fit = Fit::new(&times(26.3, 233.0, 150), &times(3.85, 236.0, 150));
        assert!(!fit.fits() && fit.tail.fits && fit.timeouts.fits);
        assert!((fit.median.times - 26.3 / 3.85).abs() < 1e-9);
    }

    #[test]
    fn few_timeouts_differ_by_chance_and_many_do_not() {
        let fits = |observed, model| Deviation::of_counts(observed, model).fits;
        assert!(fits(0, 0) && fits(0, 8) && fits(8, 0) && fits(61, 114));
        assert!(!fits(0, 12) && !fits(12, 0));
        // A factor of two is chance for few events, but not for thousands.
        assert!(fits(20, 40) && !fits(2_000, 4_000));
        let none = Deviation::of_counts(0, 0);
        assert!((none.times - 1.0).abs() < 1e-9 && none.most > 1.0);
    }
}
