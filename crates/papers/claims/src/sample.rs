//! Statistics of many values, and of values that change over time.

use super::measure::{Statistic, Weight};
use super::unit::{Dimension, Level};
use base::Sort as _;
use base::cast::{count, index, whole};

/// Values with weights: 1 for flows and ports, the duration for values of a series.
#[derive(Clone, Debug, Default)]
pub struct WeightedSample {
    values: Vec<(f64, f64)>,
}

/// A value that changes at certain times and is constant in between.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// The value before the first change, if it is known.
    before: Option<f64>,
    /// Times in microseconds, ascending, and the values from then on.
    changes: Vec<(f64, f64)>,
}

/// The dimension of values, and the bytes of a full packet.
type Units = (Dimension, f64);

impl WeightedSample {
    /// A sample of values and weights.
    pub fn new(values: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            values: values.into_iter().collect(),
        }
    }

    /// Values with their weights; ascending after [`WeightedSample::sort`].
    pub fn values(&self) -> &[(f64, f64)] {
        &self.values
    }

    /// Adds the values of another sample.
    pub fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// Puts values in ascending order.
    pub fn sort(&mut self) {
        self.values.order_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// A statistic; `NaN` if there are no values for it.
    pub(super) fn statistic(&self, statistic: &Statistic, units: Units) -> f64 {
        let values = || self.values.iter().map(|(value, _)| *value);
        let weight: f64 = self.values.iter().map(|(_, weight)| weight).sum();
        let nan_if_empty = |value: f64| {
            if self.values.is_empty() {
                f64::NAN
            } else {
                value
            }
        };
        match statistic {
            Statistic::Mean => {
                let sum: f64 = self.values.iter().map(|(v, weight)| v * weight).sum();
                sum / weight
            }
            Statistic::Variance => self.variance(weight),
            Statistic::Deviation => libm::sqrt(self.variance(weight)),
            Statistic::Min => nan_if_empty(values().fold(f64::INFINITY, f64::min)),
            Statistic::Max => nan_if_empty(values().fold(f64::NEG_INFINITY, f64::max)),
            Statistic::Sum => values().sum(),
            Statistic::Count => count(self.values.len()),
            Statistic::Percentile(percent) => self.percentile(*percent, weight),
            Statistic::Difference(a, b) => self.statistic(a, units) - self.statistic(b, units),
            Statistic::Share { below, above } => {
                let low = above
                    .as_ref()
                    .map_or(f64::NEG_INFINITY, |level| column(level, units));
                let high = below
                    .as_ref()
                    .map_or(f64::INFINITY, |level| column(level, units));
                let inside = |value: f64| value > low && value < high;
                let part = self.values.iter().filter(|(value, _)| inside(*value));
                // A sum of nothing is -0, which looks wrong in print.
                (part.map(|(_, weight)| weight).sum::<f64>() + 0.0) / weight
            }
            Statistic::Clusters { gap } => {
                let gap = column(gap, units);
                let mut sorted: Vec<f64> = values().collect();
                sorted.order_by(f64::total_cmp);
                let gaps = sorted.windows(2).filter(|pair| pair[1] - pair[0] > gap);
                nan_if_empty(1.0 + count(gaps.count()))
            }
            Statistic::Jain => {
                let (sum, squares) =
                    values().fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
                sum * sum / (count(self.values.len()) * squares)
            }
            // These need an order of time, which a sample does not have.
            Statistic::Dips { .. } | Statistic::Oscillations { .. } | Statistic::Change => f64::NAN,
        }
    }

    /// The mean squared distance from the mean; `NaN` without values.
    fn variance(&self, weight: f64) -> f64 {
        let mean = self
            .values
            .iter()
            .map(|(v, weight)| v * weight)
            .sum::<f64>()
            / weight;
        let squares = self.values.iter();
        let squares = squares.map(|(v, weight)| (v - mean) * (v - mean) * weight);
        squares.sum::<f64>() / weight
    }

    /// The least value that `percent` of the weight do not exceed.
    fn percentile(&self, percent: f64, weight: f64) -> f64 {
        // Sums of weights are rounded, so a part in 10^12 is tolerated.
        let wanted = percent * weight * (1.0 - 1e-12);
        if self
            .values
            .iter()
            .all(|(_, weight)| weight.total_cmp(&1.0).is_eq())
        {
            return self.ranked(wanted);
        }
        let mut sorted = self.clone();
        sorted.sort();
        let mut below = 0.0;
        let found = sorted.values.iter().find(|(_, weight)| {
            below += 100.0 * weight;
            below >= wanted
        });
        found.map_or(f64::NAN, |(value, _)| *value)
    }
}

impl WeightedSample {
    /// For values that count once each: the least value that `wanted` hundredths of a value do not exceed. Avoids
    /// sorting all of them.
    fn ranked(&self, wanted: f64) -> f64 {
        let mut number = index(whole(libm::ceil(wanted / 100.0)));
        if 100.0 * count(number) < wanted {
            number += 1;
        }
        let below = number.max(1) - 1;
        if below >= self.values.len() {
            return f64::NAN;
        }
        let mut values: Vec<f64> = self.values.iter().map(|(value, _)| *value).collect();
        values.select_by(below, f64::total_cmp);
        values[below]
    }
}

impl Steps {
    pub(super) fn new(before: Option<f64>) -> Self {
        Self {
            before,
            changes: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, time_us: f64, value: f64) {
        self.changes.push((time_us, value));
    }

    /// The value at the begin of a stretch and every change within it.
    pub(super) fn clip(&self, (from, to): (f64, f64)) -> Vec<(f64, f64)> {
        let first = self.changes.partition_point(|(time, _)| *time <= from);
        let before = match first {
            0 => self.before,
            first => Some(self.changes[first - 1].1),
        };
        let inside = self.changes[first..].iter().copied();
        let inside = inside.take_while(|(time, _)| *time <= to);
        before
            .map(|value| (from, value))
            .into_iter()
            .chain(inside)
            .collect()
    }

    /// The means over windows of this many microseconds from the begin of a stretch; the last window may be shorter. A
    /// window before the first value has no mean.
    pub(super) fn averaged(&self, window_us: f64, (from, to): (f64, f64)) -> Self {
        let mut means = Self::new(None);
        let (mut begin, mut number) = (from, 0.0);
        while begin < to {
            number += 1.0;
            let end = (from + number * window_us).min(to);
            let sample = self.sample((begin, end), Weight::Time);
            let mean = sample.statistic(&Statistic::Mean, (Dimension::Count, 1.0));
            if !mean.is_nan() {
                means.push(begin, mean);
            }
            begin = end;
        }
        means
    }

    /// How long each value lasted within a stretch, or only the changes in it.
    pub(super) fn sample(&self, stretch: (f64, f64), weight: Weight) -> WeightedSample {
        if weight == Weight::Change {
            let within = |(time, _): &&(f64, f64)| (stretch.0..=stretch.1).contains(time);
            let changes = self.changes.iter().filter(within);
            return WeightedSample::new(changes.map(|(_, value)| (*value, 1.0)));
        }
        let clipped = self.clip(stretch);
        let ends = clipped.iter().skip(1).map(|(time, _)| *time);
        let ends = ends.chain([stretch.1]);
        let lasting = clipped.iter().zip(ends);
        let lasting = lasting.map(|((time, value), end)| (*value, end - time));
        WeightedSample::new(lasting.filter(|(_, weight)| *weight > 0.0))
    }

    /// A statistic over a stretch of time.
    pub(super) fn statistic(
        &self,
        statistic: &Statistic,
        (stretch, weight): ((f64, f64), Weight),
        units: Units,
    ) -> f64 {
        match statistic {
            Statistic::Dips { below } => {
                let level = column(below, units);
                let clipped = self.clip(stretch);
                let falls = clipped
                    .windows(2)
                    .filter(|pair| pair[0].1 >= level && pair[1].1 < level);
                count(falls.count())
            }
            Statistic::Oscillations { below, above } => {
                let (low, high) = (column(below, units), column(above, units));
                let (mut was_low, mut count) = (false, 0.0);
                for (_, value) in self.clip(stretch) {
                    if value < low {
                        was_low = true;
                    } else if value > high && was_low {
                        was_low = false;
                        count += 1.0;
                    }
                }
                count
            }
            Statistic::Change => {
                let clipped = self.clip(stretch);
                let ends = clipped.first().zip(clipped.last());
                ends.map_or(f64::NAN, |((_, first), (_, last))| last - first)
            }
            Statistic::Difference(a, b) => {
                let within = (stretch, weight);
                self.statistic(a, within, units) - self.statistic(b, within, units)
            }
            _ => self.sample(stretch, weight).statistic(statistic, units),
        }
    }
}

/// A level in the unit of a column. The reader has checked that it has one.
fn column(level: &Level, (dimension, packet): Units) -> f64 {
    level.in_column(dimension, packet).unwrap_or(f64::NAN)
}

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    reason = "the values are small numbers, of which sums are exact"
)]
mod tests {
    use super::*;

    const UNITS: Units = (Dimension::Time, 1500.0);

    fn flows(values: &[f64]) -> WeightedSample {
        WeightedSample::new(values.iter().map(|value| (*value, 1.0)))
    }

    fn level(text: &str) -> Level {
        Level::parse(text).unwrap()
    }

    #[test]
    fn percentiles_of_flows_are_those_of_the_summary() {
        let all = flows(&(1..=200).rev().map(f64::from).collect::<Vec<_>>());
        let percentile = |percent| all.statistic(&Statistic::Percentile(percent), UNITS);
        assert_eq!(percentile(50.0), 100.0);
        assert_eq!(percentile(99.0), 198.0);
        assert_eq!(percentile(100.0), 200.0);
        let gap = Statistic::Difference(
            Box::new(Statistic::Percentile(99.0)),
            Box::new(Statistic::Percentile(1.0)),
        );
        assert_eq!(all.statistic(&gap, UNITS), 196.0);
        assert!(flows(&[]).statistic(&Statistic::Mean, UNITS).is_nan());
    }

    #[test]
    fn percentiles_of_values_that_count_once_are_those_of_sorted_values() {
        for number in [1, 2, 3, 7, 99, 100, 101, 1000, 1001] {
            // 7919 and the counts have no common divisor, so every value below the count occurs.
            let all = flows(
                &(0..number)
                    .map(|i| f64::from(i * 7919 % number))
                    .collect::<Vec<_>>(),
            );
            for percent in [0.0, 0.1, 1.0, 33.3, 50.0, 95.0, 99.0, 99.9, 100.0] {
                let mut below = 0.0;
                let wanted = percent * f64::from(number) * (1.0 - 1e-12);
                let sorted = (0..number).map(f64::from).find(|_| {
                    below += 100.0;
                    below >= wanted
                });
                let found = all.statistic(&Statistic::Percentile(percent), UNITS);
                assert_eq!(Some(found), sorted, "{percent} of {number}");
            }
        }
    }

    #[test]
    fn clusters_are_told_apart_by_gaps() {
        let all = flows(&[33_000.0, 20_000.0, 20_500.0, 34_000.0, 35_500.0]);
        let clusters = |gap| {
            let statistic = Statistic::Clusters { gap: level(gap) };
            all.statistic(&statistic, UNITS)
        };
        assert_eq!(clusters("2ms"), 2.0);
        assert_eq!(clusters("1.2ms"), 3.0);
        assert_eq!(clusters("20ms"), 1.0);
    }

    #[test]
    fn values_of_a_series_count_as_long_as_they_last() {
        let mut steps = Steps::new(Some(0.0));
        for (time, value) in [(10.0, 100.0), (20.0, 40.0), (30.0, 120.0), (40.0, 0.0)] {
            steps.push(time, value);
        }
        let over = |statistic: Statistic, stretch| {
            steps.statistic(&statistic, (stretch, Weight::Time), UNITS)
        };
        let by_change =
            |statistic, stretch| steps.statistic(&statistic, (stretch, Weight::Change), UNITS);
        // Ten each of 0, 100, 40, 120 and 0.
        assert_eq!(over(Statistic::Mean, (0.0, 50.0)), 52.0);
        assert_eq!(over(Statistic::Mean, (15.0, 25.0)), 70.0);
        // The four changes count once each. The 0 before them does not count, nor does the length of the last.
        assert_eq!(by_change(Statistic::Mean, (0.0, 5000.0)), 65.0);
        assert_eq!(by_change(Statistic::Max, (15.0, 25.0)), 40.0);
        assert_eq!(over(Statistic::Percentile(50.0), (0.0, 50.0)), 40.0);
        assert_eq!(over(Statistic::Min, (12.0, 38.0)), 40.0);
        let above = Statistic::Share {
            below: None,
            above: Some(level("90us")),
        };
        assert_eq!(over(above, (0.0, 50.0)), 0.4);
        assert_eq!(over(Statistic::Change, (15.0, 35.0)), 20.0);
        let dips = Statistic::Dips {
            below: level("50us"),
        };
        assert_eq!(over(dips, (0.0, 50.0)), 2.0);
        let oscillations = Statistic::Oscillations {
            below: level("50us"),
            above: level("90us"),
        };
        assert_eq!(over(oscillations.clone(), (0.0, 50.0)), 2.0);
        assert_eq!(over(oscillations, (15.0, 25.0)), 0.0);
    }

    #[test]
    fn the_variance_is_the_mean_square_of_the_distances_from_the_mean() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
        let all = flows(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(all.statistic(&Statistic::Variance, UNITS), 4.0);
        assert_eq!(all.statistic(&Statistic::Deviation, UNITS), 2.0);
        // 10 for 3 us and 30 for 1: mean 15, (3 x 25 + 225) / 4 = 75.
        let weighted = WeightedSample::new([(10.0, 3.0), (30.0, 1.0)]);
        assert_eq!(weighted.statistic(&Statistic::Variance, UNITS), 75.0);
        assert!(flows(&[]).statistic(&Statistic::Variance, UNITS).is_nan());
    }

    #[test]
    fn means_over_windows_follow_each_other_from_the_begin_of_a_stretch() {
        let mut steps = Steps::new(Some(0.0));
        for (time, value) in [(10.0, 100.0), (20.0, 40.0), (35.0, 0.0)] {
            steps.push(time, value);
        }
        // From 5 on in steps of 10: half 0 and half 100, half 100 and half 40, 40, 0 for the last 5.
        let means = steps.averaged(10.0, (5.0, 40.0));
        let all = means.clip((0.0, 100.0));
        assert_eq!(all, [(5.0, 50.0), (15.0, 70.0), (25.0, 40.0), (35.0, 0.0)]);
        // An unknown value has no mean.
        let mut late = Steps::new(None);
        late.push(15.0, 8.0);
        let all = late.averaged(10.0, (0.0, 30.0)).clip((0.0, 100.0));
        assert_eq!(all, [(10.0, 8.0), (20.0, 8.0)]);
    }

    #[test]
    fn a_fair_share_has_an_index_of_one() {
        assert_eq!(
            flows(&[2.0, 2.0, 2.0]).statistic(&Statistic::Jain, UNITS),
            1.0
        );
        assert_eq!(
            flows(&[4.0, 0.0, 0.0, 0.0]).statistic(&Statistic::Jain, UNITS),
            0.25
        );
    }
}
