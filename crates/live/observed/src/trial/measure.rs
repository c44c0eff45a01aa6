//! The number that a trial measures, and bounds on it.

use serde::{Deserialize, Serialize};

use crate::numbers::percentile;

base::names! {
    /// One number of the completion times of many flows.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TrialMeasure {
        /// The median.
        P50 = "p50",
        /// The 99th percentile.
        #[default]
        P99 = "p99",
        /// The mean.
        Mean = "mean",
    }
}

/// A bound that the measure is to stay below, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialGoal {
    /// The bound.
    pub below_s: f64,
}

/// By how much the measure may be worse with the law than without it: 0.5 is half as much again.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialGuard {
    /// The share.
    pub worse: f64,
}

impl TrialMeasure {
    /// The measure with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The measure of these completion times. It is at least a microsecond, since shorter times mean nothing at a port.
    /// `None` without flows.
    #[must_use]
    pub fn of(self, times_s: &mut [f64]) -> Option<f64> {
        if times_s.is_empty() {
            return None;
        }
        let value = match self.share() {
            Some(share) => percentile(times_s, share),
            None => times_s.iter().sum::<f64>() / base::cast::count(times_s.len()),
        };
        Some(value.max(SHORTEST_S))
    }

    /// The share of times below it, if it is a percentile.
    pub(super) const fn share(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P99 => Some(0.99),
            Self::Mean => None,
        }
    }

    /// Reads `p99 < 20ms`.
    ///
    /// # Errors
    /// If it is no such text; the error says which texts are.
    pub fn goal(text: &str) -> Result<(Self, TrialGoal), String> {
        let wrong = || "expected a bound from above, as in 'p99 < 20ms'".to_owned();
        let (measure, bound) = text.split_once('<').ok_or_else(wrong)?;
        let below_s = seconds(bound.trim()).ok_or_else(wrong)?;
        Ok((Self::read(measure)?, TrialGoal { below_s }))
    }

    /// Reads `p99 > +50%`.
    ///
    /// # Errors
    /// If it is no such text; the error says which texts are.
    pub fn guard(text: &str) -> Result<(Self, TrialGuard), String> {
        let wrong =
            || "expected by how much it may be worse, from +1% to +1000%, as in 'p99 > +50%'";
        let (measure, bound) = text.split_once('>').ok_or_else(wrong)?;
        let share = bound.trim().strip_prefix('+');
        let share = share.and_then(|share| share.strip_suffix('%'));
        let share: Option<f64> = share.and_then(|share| share.trim().parse().ok());
        let share = share.filter(|share| (1.0..=1_000.0).contains(share));
        let worse = share.ok_or_else(wrong)? / 100.0;
        Ok((Self::read(measure)?, TrialGuard { worse }))
    }

    fn read(name: &str) -> Result<Self, String> {
        let name = name.trim();
        Self::named(name).ok_or_else(|| {
            format!("{name} is not measured by a trial: p50, p99 and mean of completion times are")
        })
    }
}

/// A positive time with its unit.
fn seconds(text: &str) -> Option<f64> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0)];
    let found = units.iter().find_map(|(unit, size)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * size)
    });
    found.filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

/// Shorter times mean nothing at a port.
pub(super) const SHORTEST_S: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_and_guards_are_read_or_say_how_they_look() {
        let (measure, goal) = TrialMeasure::goal("p99 < 20ms").expect("a goal");
        assert_eq!(measure, TrialMeasure::P99);
        assert!((goal.below_s - 0.02).abs() < 1e-12);
        let (measure, guard) = TrialMeasure::guard("p50 > +50%").expect("a guard");
        assert_eq!(
            (measure, guard),
            (TrialMeasure::P50, TrialGuard { worse: 0.5 })
        );
        for wrong in [
            "p99 > 20ms",
            "p99 < 20",
            "p99 < -1ms",
            "p98 < 20ms",
            "p99 < infs",
        ] {
            assert!(TrialMeasure::goal(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            "p99 > 50%",
            "p99 < +50%",
            "p99 > +0%",
            "p99 > +5000%",
            "drops > +5%",
        ] {
            assert!(TrialMeasure::guard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_measure_of_no_flows_is_none_and_none_is_zero() {
        assert_eq!(TrialMeasure::P99.of(&mut []), None);
        assert_eq!(TrialMeasure::P50.of(&mut [0.0, 0.0, 3.0]), Some(1e-6));
        assert_eq!(TrialMeasure::Mean.of(&mut [1.0, 3.0]), Some(2.0));
    }
}
