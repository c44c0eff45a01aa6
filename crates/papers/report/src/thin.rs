//! Long series in few points that draw the same picture.
//!
//! M4 (Jugel et al., "M4: a visualization-oriented time series data aggregation", VLDB 2014): of each period the first,
//! the least, the greatest and the last sample are kept. A line with as many pixels as periods then looks as if drawn
//! from all samples. Periods double in length as the series grows, so memory is O(1) and each sample is seen once.

/// A series of at most `4 × PERIODS` samples.
#[derive(Clone, Debug)]
pub(crate) struct Thinned {
    /// Length of a period in the unit of time of the samples.
    length: f64,
    periods: Vec<Period>,
}

#[derive(Clone, Copy, Debug)]
struct Period {
    number: f64,
    first: (f64, f64),
    least: (f64, f64),
    greatest: (f64, f64),
    last: (f64, f64),
}

/// More periods than a chart has pixels.
const PERIODS: usize = 1000;

/// Simulations measure nothing more finely.
const SHORTEST_US: f64 = 1e-6;

impl Thinned {
    pub(crate) fn new() -> Self {
        Self {
            length: SHORTEST_US,
            periods: Vec::new(),
        }
    }

    /// Adds a sample that is not earlier than those before.
    pub(crate) fn push(&mut self, time: f64, value: f64) {
        let sample = (time, value);
        let next = Period {
            number: libm::floor(time / self.length),
            first: sample,
            least: sample,
            greatest: sample,
            last: sample,
        };
        self.append(next);
        while self.periods.len() > PERIODS {
            self.length *= 2.0;
            for mut period in std::mem::take(&mut self.periods) {
                period.number = libm::floor(period.number / 2.0);
                self.append(period);
            }
        }
    }

    /// The samples that are left, in the order of time.
    pub(crate) fn samples(&self) -> Vec<(f64, f64)> {
        let mut samples = Vec::with_capacity(4 * self.periods.len());
        for period in &self.periods {
            let (mut middle, other) = (period.least, period.greatest);
            let mut next = other;
            if next.0 < middle.0 {
                std::mem::swap(&mut middle, &mut next);
            }
            samples.extend([period.first, middle, next, period.last]);
        }
        samples.dedup();
        samples
    }

    fn append(&mut self, next: Period) {
        match self.periods.last_mut() {
            Some(last) if last.number >= next.number => {
                if next.least.1 < last.least.1 {
                    last.least = next.least;
                }
                if next.greatest.1 > last.greatest.1 {
                    last.greatest = next.greatest;
                }
                last.last = next.last;
            }
            _ => self.periods.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_series_keeps_every_sample() {
        let mut series = Thinned::new();
        let samples: Vec<_> = (0..900)
            .map(|k| (f64::from(k) * 0.7, f64::from(k % 7)))
            .collect();
        for (time, value) in &samples {
            series.push(*time, *value);
        }
        assert_eq!(series.samples(), samples);
    }

    #[test]
    fn a_long_series_keeps_its_ends_and_its_extremes() {
        let mut series = Thinned::new();
        for k in 0..1_000_000 {
            let value = if k == 654_321 {
                99.0
            } else {
                f64::from(k % 10)
            };
            series.push(f64::from(k), value);
        }
        let samples = series.samples();
        assert!(samples.len() <= 4 * PERIODS);
        assert_eq!(samples[0], (0.0, 0.0));
        assert_eq!(samples[samples.len() - 1], (999_999.0, 9.0));
        assert!(samples.contains(&(654_321.0, 99.0)));
        assert!(samples.is_sorted_by(|a, b| a.0 <= b.0));
    }
}
