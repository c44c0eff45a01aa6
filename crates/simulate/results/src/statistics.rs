//! Statistics over several seeds: means, confidence intervals, paired differences.
//!
//! Seeds are independent runs, so their values are independent samples of one distribution. The 95 % confidence
//! interval of a mean is Student's: mean ± t(0.975, n - 1) × s / √n, with the sample standard deviation s of n seeds.
//! Schemes are compared on the same seeds, and so on the same arrivals and sizes. The interval of a comparison is the
//! one of the mean difference, seed by seed. Effects that the seeds have in common cancel in it (Law, Simulation
//! Modeling and Analysis, §10.2.1).

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean; `None` if no run has a value, or if one is infinite.
    pub mean: Option<f64>,
    /// Lower end of the 95 % confidence interval; `None` with fewer than two runs.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Runs that have a value.
    pub runs: u32,
}

base::names! {
    /// The conclusion that a paired difference allows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Significance {
        /// The interval lies below zero.
        Lower = "lower",
        /// The interval lies above zero.
        Higher = "higher",
        /// Every difference is zero.
        Same = "same",
        /// The interval contains zero, or there is none.
        NotEnoughRuns = "unsure",
    }
}

impl Estimate {
    /// The estimate from one value per run; `NaN` stands for a run without a value. If a value is infinite, such as the
    /// time of a round that never ended, there is no mean.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let runs = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if runs == 0 {
            return Self::default();
        }
        if values.iter().any(|value| value.is_infinite()) {
            return Self {
                runs,
                ..Self::default()
            };
        }
        let count = f64::from(runs);
        let mean = values.iter().sum::<f64>() / count;
        let mut estimate = Self {
            mean: Some(mean),
            runs,
            ..Self::default()
        };
        if runs > 1 {
            let squares: f64 = values
                .iter()
                .map(|value| (value - mean) * (value - mean))
                .sum();
            let deviation = (squares / (count - 1.0)).sqrt();
            let half = student_t(runs - 1) * deviation / count.sqrt();
            (estimate.low, estimate.high) = (Some(mean - half), Some(mean + half));
        }
        estimate
    }

    /// The same estimate for a quantity between `least` and `most`. The interval is cut at these bounds.
    #[must_use]
    pub fn between(self, least: f64, most: f64) -> Self {
        Self {
            low: self.low.map(|low| low.max(least)),
            high: self.high.map(|high| high.min(most)),
            ..self
        }
    }

    /// Half the width of the confidence interval, before a bound of the quantity cuts it.
    pub fn half_width(&self) -> Option<f64> {
        let mean = self.mean?;
        Some((self.high? - mean).max(mean - self.low?))
    }

    /// Half the width of the confidence interval over the mean; 0 if both are 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (half, mean) = (self.half_width()?, self.mean?.abs());
        Some(if half > 0.0 { half / mean } else { 0.0 })
    }
}

/// The mean of `a - b`, paired by seed, and its significance. If nothing is `random`, one run is enough. A pair with a
/// `NaN` is left out.
pub fn paired(a: &[f64], b: &[f64], random: bool) -> (Estimate, Significance) {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let estimate = Estimate::of(differences.iter().copied());
    let verdict = match (estimate.mean, estimate.low, estimate.high) {
        (None, ..) => Significance::NotEnoughRuns,
        (_, None, _) | (_, _, None) if random => Significance::NotEnoughRuns,
        (Some(_), Some(low), Some(high)) if low < 0.0 && high > 0.0 => Significance::NotEnoughRuns,
        (Some(mean), ..) if mean < 0.0 => Significance::Lower,
        (Some(mean), ..) if mean > 0.0 => Significance::Higher,
        _ => Significance::Same,
    };
    (estimate, verdict)
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
///
/// Rounded to six decimals: the library uses the platform's logarithm, whose last digits differ between machines.
/// Results must not differ.
fn student_t(freedom: u32) -> f64 {
    // The library searches for a quantile, and every metric of every row needs the same one.
    static KNOWN: [OnceLock<f64>; 64] = [const { OnceLock::new() }; 64];
    // A page simulates on one seed, which has no interval, and does not carry the library.
    if cfg!(page) {
        return f64::NAN;
    }
    let quantile = || {
        let distribution = StudentsT::new(0.0, 1.0, f64::from(freedom));
        let distribution = distribution.expect("freedom is positive");
        (distribution.inverse_cdf(0.975) * 1e6).round() / 1e6
    };
    let known = KNOWN.get(freedom as usize);
    known.map_or_else(quantile, |known| *known.get_or_init(quantile))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_the_printed_table() {
        // Student's table, two-sided 95 %: 1, 4, 9, 30 and 120 degrees of freedom.
        for (freedom, t) in [
            (1, 12.706),
            (4, 2.776),
            (9, 2.262),
            (30, 2.042),
            (120, 1.980),
        ] {
            assert!((student_t(freedom) - t).abs() < 5e-4, "{freedom}");
        }
    }

    #[test]
    fn an_interval_is_that_of_a_worked_example() {
        // 1..5: mean 3, s = sqrt(2.5), half width 2.776 * sqrt(2.5 / 5) = 1.963.
        let estimate = Estimate::of([1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0]);
        assert_eq!((estimate.mean, estimate.runs), (Some(3.0), 5));
        assert!((estimate.half_width().unwrap() - 1.963).abs() < 1e-3);
        assert!((estimate.relative_half_width().unwrap() - 0.6544).abs() < 1e-3);
        assert_eq!(Estimate::of([f64::NAN]), Estimate::default());
        assert_eq!(Estimate::of([2.0]).low, None);
    }

    #[test]
    fn what_never_ended_in_one_run_has_no_mean() {
        let estimate = Estimate::of([1.0, f64::INFINITY, f64::NAN]);
        assert_eq!((estimate.mean, estimate.high), (None, None));
        assert_eq!(estimate.runs, 2);
    }

    #[test]
    fn the_interval_of_what_cannot_be_negative_is_not_negative() {
        // 0, 0, 3: mean 1, s = sqrt(3), half width 4.303 * sqrt(3 / 3) = 4.303.
        let estimate = Estimate::of([0.0, 0.0, 3.0]).between(0.0, f64::INFINITY);
        assert_eq!((estimate.mean, estimate.low), (Some(1.0), Some(0.0)));
        assert!((estimate.half_width().unwrap() - 4.303).abs() < 1e-3);
        let share = Estimate::of([1.0, 1.0, 0.7]).between(0.0, 1.0);
        assert_eq!(share.high, Some(1.0));
        assert!((share.half_width().unwrap() - 0.4303).abs() < 1e-3);
    }

    #[test]
    fn pairs_tell_what_separate_intervals_do_not() {
        // Seeds differ by 100 each, the schemes by about 1 on every seed.
        let a = [100.0, 200.0, 300.0, 400.0];
        let b = [101.0, 201.1, 300.9, 401.0];
        let (difference, verdict) = paired(&a, &b, true);
        assert_eq!(verdict, Significance::Lower);
        assert!((difference.mean.unwrap() + 1.0).abs() < 1e-9);
        assert!(Estimate::of(a).high > Estimate::of(b).low);
    }

    #[test]
    fn too_few_runs_are_said_to_be_too_few() {
        let verdict = |a: &[f64], b: &[f64], random| paired(a, b, random).1;
        assert_eq!(verdict(&[1.0], &[2.0], true), Significance::NotEnoughRuns);
        assert_eq!(verdict(&[1.0], &[2.0], false), Significance::Lower);
        assert_eq!(
            verdict(&[1.0, 5.0], &[2.0, 3.0], true),
            Significance::NotEnoughRuns
        );
        assert_eq!(verdict(&[1.0, 5.0], &[1.0, 5.0], true), Significance::Same);
        assert_eq!(
            verdict(&[f64::NAN], &[2.0], false),
            Significance::NotEnoughRuns
        );
    }
}
