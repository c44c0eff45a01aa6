//! How long a quantity stood at each of its levels: exact time-weighted means and percentiles.

use base::Span;

/// Time spent per level, for a level that takes few distinct values, such as a queue in bytes.
///
/// An open-addressed table from level to time: `add` is O(1), memory is O(distinct levels). A dense
/// array over bytes would touch a page of memory per level.
#[derive(Clone, Debug)]
pub struct LevelHistogram {
    /// Power-of-two table; a place is free while its time is zero.
    places: Vec<(u64, u64)>,
    used: usize,
}

/// What is reported of a queue, weighted by time, in bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct QueueStatistics {
    /// Mean.
    pub mean: f64,
    /// 5th percentile.
    pub p5: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
}

impl LevelHistogram {
    /// No time at any level.
    pub const fn new() -> Self {
        Self {
            places: Vec::new(),
            used: 0,
        }
    }

    /// Adds `span` at `level`.
    #[inline(always)]
    pub fn add(&mut self, level: u64, span: Span) {
        let span = span.as_ps();
        if span == 0 {
            return;
        }
        if self.used * 4 >= self.places.len() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        let mut at = spread(level) & mask;
        loop {
            let place = &mut self.places[at];
            if place.1 == 0 {
                *place = (level, span);
                self.used += 1;
                return;
            }
            if place.0 == level {
                place.1 += span;
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Mean and percentiles at once: O(levels log levels).
    pub fn statistics(&self) -> QueueStatistics {
        let levels = self.sorted();
        let total = u128::from(self.total().as_ps());
        let share = |share| level_at(&levels, total, share);
        QueueStatistics {
            mean: self.mean(),
            p5: share(50),
            p50: share(500),
            p95: share(950),
            p99: share(990),
        }
    }

    /// Total time added.
    pub fn total(&self) -> Span {
        Span::from_ps(self.places.iter().map(|(_, span)| span).sum())
    }

    /// The time-weighted mean level; 0 if no time was added.
    #[expect(clippy::cast_precision_loss, reason = "a mean carries 53 bits")]
    pub fn mean(&self) -> f64 {
        let total = self.total().as_ps();
        if total == 0 {
            return 0.0;
        }
        let area: u128 = self
            .places
            .iter()
            .map(|(level, span)| u128::from(*level) * u128::from(*span))
            .sum();
        area as f64 / total as f64
    }

    /// The lowest level at or below which the quantity stood for at least `share` of the time, given
    /// in thousandths: 950 for the 95th percentile. 0 if no time was added.
    pub fn percentile(&self, share: u64) -> u64 {
        level_at(&self.sorted(), u128::from(self.total().as_ps()), share)
    }

    fn sorted(&self) -> Vec<(u64, u64)> {
        let used = self.places.iter().filter(|(_, span)| *span > 0);
        let mut levels: Vec<(u64, u64)> = used.copied().collect();
        levels.sort_unstable();
        levels
    }

    fn grow(&mut self) {
        let bigger = vec![(0, 0); (self.places.len() * 2).max(16)];
        let old = std::mem::replace(&mut self.places, bigger);
        self.used = 0;
        for (level, span) in old {
            self.add(level, Span::from_ps(span));
        }
    }
}

impl Default for LevelHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The lowest of `levels` at or below which `share` thousandths of `total` lie.
fn level_at(levels: &[(u64, u64)], total: u128, share: u64) -> u64 {
    let mut below = 0_u128;
    for (level, span) in levels {
        below += u128::from(*span);
        if below * 1000 >= total * u128::from(share) {
            return *level;
        }
    }
    levels.last().map_or(0, |(level, _)| *level)
}

/// Fibonacci hashing (Knuth vol. 3 §6.4): multiples of a packet size spread over the table.
#[inline(always)]
const fn spread(level: u64) -> usize {
    (level.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_percentiles_are_weighted_by_time() {
        let mut histogram = LevelHistogram::new();
        for (level, ms) in [(0, 50), (1500, 30), (3000, 15), (1500, 0), (4500, 5)] {
            histogram.add(level, Span::from_millis(ms));
        }
        // 1500*0.3 + 3000*0.15 + 4500*0.05 = 1125.
        assert!((histogram.mean() - 1125.0).abs() < 1e-9);
        let percentiles = [500, 501, 800, 950, 951, 1000].map(|p| histogram.percentile(p));
        assert_eq!(percentiles, [0, 1500, 1500, 3000, 4500, 4500]);
        let statistics = histogram.statistics();
        assert_eq!(
            (statistics.p50, statistics.p95, statistics.p99),
            (0, 3000, 4500)
        );
    }

    #[test]
    fn many_levels_keep_their_times_apart() {
        let mut histogram = LevelHistogram::new();
        for round in 0..3 {
            for level in 0..1000 {
                histogram.add(level * 54, Span::from_ps(level + round + 1));
            }
        }
        assert_eq!(histogram.total(), Span::from_ps(3 * 499_500 + 6000));
        assert_eq!(histogram.percentile(1000), 999 * 54);
    }
}
