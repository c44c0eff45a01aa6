//! The periods of a trial, and which of them have the law.

use serde::{Deserialize, Serialize};

use engine::random::Stream;

/// The length of a trial.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialShape {
    /// How many periods there are: an even number.
    pub periods: u32,
    /// Seconds of each.
    pub period_s: f64,
    /// Flows that begin less than this many seconds after a switch, or before the next one, do not count.
    pub settle_s: f64,
}

impl TrialShape {
    /// Periods of this length after switches of TCP whose minimum timeout is that long.
    ///
    /// # Errors
    /// If there are too few periods to tell anything, or they are too short.
    pub fn new(periods: u32, period_s: f64, min_rto_ms: Option<f64>) -> Result<Self, String> {
        if !(LEAST_PERIODS..=MOST_PERIODS).contains(&periods) || !periods.is_multiple_of(2) {
            return Err(format!(
                "--periods {periods}: a trial has an even number of periods from {LEAST_PERIODS} to {MOST_PERIODS}: with fewer \
                 pairs, a law without effect seems to have one more often than one time in 32"
            ));
        }
        // This covers the first timers of flows that began in the other state, and as many of their first repetitions.
        let settle_s = 3.0 * min_rto_ms.unwrap_or(LINUX_RTO_MS) / 1e3;
        if period_s < 4.0 * settle_s {
            let least = (4.0 * settle_s).ceil();
            return Err(format!(
                "--of {period_s}s: three minimum timeouts after each switch and before the next one do not count, {settle_s} s \
                 each; a period takes at least {least} s"
            ));
        }
        Ok(Self {
            periods,
            period_s,
            settle_s,
        })
    }
}

/// Whether the law acts in each period: a coin for each pair of neighbours decides which of both comes first.
#[must_use]
pub fn schedule(periods: u32, seed: u64) -> Vec<bool> {
    let pairs = 0..u64::from(periods / 2);
    let coin = |pair| Stream::new(seed, "trial", pair).bits() >> 63 == 1;
    pairs.flat_map(|pair| [coin(pair), !coin(pair)]).collect()
}

/// Coins of five pairs agree by chance one time in 16, those of six one time in 32.
const LEAST_PERIODS: u32 = 12;
/// With more than 60 pairs, effects are found that are too small to matter.
const MOST_PERIODS: u32 = 120;
/// `TCP_RTO_MIN` of Linux.
const LINUX_RTO_MS: f64 = 200.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_neighbours_one_has_the_law_and_both_orders_come() {
        let all = schedule(400, 7);
        let pairs: Vec<_> = all.chunks(2).collect();
        assert!(pairs.iter().all(|pair| pair[0] != pair[1]));
        let first = pairs.iter().filter(|pair| pair[0]).count();
        assert!((70..=130).contains(&first), "{first} of 200");
        assert_ne!(all, schedule(400, 8));
        assert_eq!(all, schedule(400, 7));
    }

    #[test]
    fn a_trial_that_could_tell_nothing_is_refused() {
        let refused = |periods, period_s| TrialShape::new(periods, period_s, None).is_err();
        assert!(refused(10, 30.0) && refused(13, 30.0) && refused(12, 2.3));
        let shape = TrialShape::new(12, 2.4, None).expect("a trial");
        assert!((shape.settle_s - 0.6).abs() < 1e-9);
        assert!(
            TrialShape::new(12, 1.0, Some(40.0)).is_ok(),
            "shorter timers"
        );
    }
}
