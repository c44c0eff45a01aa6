//! How long a quantity stood at each of its levels: time-weighted means and percentiles.

use std::collections::BTreeMap;

use base::Sort as _;
use base::Span;
use base::cast::{index, real, wide};

/// Time spent per level, for a quantity such as the length of a queue in bytes.
///
/// Up to a thousand levels are kept apart, in an open-addressed table from level to time: totals, means
/// and percentiles are exact. A long queue of packets of all sizes has a hundred thousand levels, and
/// each would be a cache miss; if there are that many they are put together in 2,048 bins of equal
/// width. Totals and means stay exact, percentiles are then too high by at most a thousandth of the
/// highest level. `add` is O(1), amortised; memory is 8 bytes per level or bin and some free places.
///
/// Fields are in the order of use: a change of level touches all but the last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LevelHistogram {
    /// Level in the upper bits, time in the lower [`TIME_BITS`]; 0 is a free place.
    places: Vec<u64>,
    /// How many more places may be taken. Searches take long in a table that is more than three quarters
    /// full.
    room: usize,
    /// Time at level 0, where most ports are most of the time.
    idle: u64,
    /// Levels above 0, once there are too many to keep apart.
    bins: Option<Box<Bins>>,
    /// The times of levels, or parts of times, that exceed the bits of a place.
    beyond: BTreeMap<u64, u64>,
}

/// Levels that are put together.
#[derive(Clone, Debug)]
struct Bins {
    /// Time in each bin, by level without its lower `shift` bits.
    times: [u64; BINS],
    shift: u32,
    /// The highest level.
    max: u64,
    /// The sum of level times time.
    area: u128,
}

/// The statistics of a queue, weighted by time, in bytes.
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
            room: 0,
            idle: 0,
            bins: None,
            beyond: BTreeMap::new(),
        }
    }

    /// Adds `span` at `level`.
    #[inline(always)]
    pub fn add(&mut self, level: u64, span: Span) {
        let span = span.as_ps();
        if level == 0 || span == 0 {
            self.idle += span;
            return;
        }
        if let Some(bins) = &mut self.bins {
            bins.add(level, span);
            return;
        }
        if self.room == 0 {
            self.grow();
            if let Some(bins) = &mut self.bins {
                bins.add(level, span);
                return;
            }
        }
        let first = first_place(level, self.places.len());
        let mut at = first;
        loop {
            let place = self.places[at];
            if place == 0 {
                self.room -= 1;
                break;
            }
            if place >> TIME_BITS == level {
                break;
            }
            at += 1;
            if at == self.places.len() {
                at = 0;
            }
        }
        if at != first && self.places[at] != 0 {
            // A level that comes again is found at once: a queue stays near its length for a while.
            self.places.swap(first, at);
            at = first;
        }
        let time = (self.places[at] & TIME) + span;
        if time > TIME || level >= LEVELS {
            self.add_beyond(level, time, at);
        } else {
            self.places[at] = level << TIME_BITS | time;
        }
    }

    /// Moves the time that the place `at` of `level` cannot hold to the overflow, together with all
    /// that it held but one picosecond.
    #[cold]
    fn add_beyond(&mut self, level: u64, time: u64, at: usize) {
        let kept = u64::from(level < LEVELS);
        if kept > 0 {
            self.places[at] = level << TIME_BITS | kept;
        } else {
            // The free place that the search found stays free.
            self.room += 1;
        }
        *self.beyond.entry(level).or_insert(0) += time - kept;
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
        Span::from_ps(self.levels().map(|(_, span)| span).sum())
    }

    /// The time-weighted mean level; 0 if no time was added.
    pub fn mean(&self) -> f64 {
        let total = self.total().as_ps();
        if total == 0 {
            return 0.0;
        }
        let area = self
            .bins
            .as_ref()
            .map_or_else(|| area(self.levels()), |bins| bins.area);
        wide(area) / real(total)
    }

    /// The lowest level at or below which the quantity stood for at least `share` of the time, given
    /// in thousandths: 950 for the 95th percentile. 0 if no time was added.
    pub fn percentile(&self, share: u64) -> u64 {
        level_at(&self.sorted(), u128::from(self.total().as_ps()), share)
    }

    fn sorted(&self) -> Vec<(u64, u64)> {
        let mut levels: Vec<(u64, u64)> = self.levels().collect();
        levels.order_unstable();
        levels
    }

    /// Levels and times; a level may come in two parts, and levels that were put together come as the
    /// highest.
    fn levels(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let bins = self.bins.iter().flat_map(|bins| bins.levels());
        let places = self.places.iter().filter(|place| **place != 0);
        let places = places.map(|place| (place >> TIME_BITS, place & TIME));
        let beyond = self.beyond.iter().map(|(level, span)| (*level, *span));
        let idle = (self.idle > 0).then_some((0, self.idle));
        idle.into_iter().chain(places).chain(beyond).chain(bins)
    }

    fn grow(&mut self) {
        // Small tables grow fast; large ones grow little, so that they waste little.
        let places = match self.places.len() {
            0 => 16,
            small @ ..1024 => 4 * small,
            1024 => 1536,
            _ => return self.put_together(),
        };
        let bigger = vec![0; places];
        let old = std::mem::replace(&mut self.places, bigger);
        self.room = places / 4 * 3;
        for place in old.into_iter().filter(|place| *place != 0) {
            self.add(place >> TIME_BITS, Span::from_ps(place & TIME));
        }
    }

    fn put_together(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        let mut bins = Box::new(Bins {
            times: [0; BINS],
            shift: 0,
            max: 0,
            area: 0,
        });
        for (level, span) in self.levels() {
            bins.add(level, span);
        }
        *self = Self {
            idle,
            bins: Some(bins),
            ..Self::new()
        };
    }
}

impl Bins {
    /// Not inlined: most queues have few levels.
    #[inline(never)]
    fn add(&mut self, level: u64, span: u64) {
        if level > self.max {
            self.max = level;
            while level >> self.shift >= BINS as u64 {
                self.widen();
            }
        }
        self.times[index(level >> self.shift) % BINS] += span;
        self.area += u128::from(level) * u128::from(span);
    }

    /// Makes bins twice as wide.
    #[cold]
    fn widen(&mut self) {
        for bin in 0..BINS {
            let pair = self.times.get(2 * bin..2 * bin + 2);
            self.times[bin] = pair.map_or(0, |pair| pair.iter().sum());
        }
        self.shift += 1;
    }

    /// The highest level of each bin, and the time in it.
    fn levels(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let highest = |bin: u64| (((bin + 1) << self.shift) - 1).min(self.max);
        let times = (0..).zip(self.times.iter().copied());
        let times = times.filter(|(_, time)| *time > 0);
        times.map(move |(bin, time)| (highest(bin), time))
    }
}

/// The sum of level times time.
fn area(levels: impl Iterator<Item = (u64, u64)>) -> u128 {
    levels
        .map(|(level, span)| u128::from(level) * u128::from(span))
        .sum()
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

/// Fibonacci hashing (Knuth vol. 3 §6.4), which spreads multiples of a packet size over the table,
/// onto `places` of any number.
#[inline(always)]
const fn first_place(level: u64, places: usize) -> usize {
    let hash = level.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((hash * places as u64) >> 32) as usize
}

/// 40 bits of picoseconds are a second, 24 of bytes 16 MiB: queues are rarely longer in either.
const TIME_BITS: u32 = 40;
const TIME: u64 = (1 << TIME_BITS) - 1;
const LEVELS: u64 = 1 << (64 - TIME_BITS);
/// Half of them at least are below the highest level: a bin is at most a thousandth of it wide.
const BINS: usize = 2048;

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

    #[test]
    fn of_very_many_levels_percentiles_are_within_a_thousandth_of_the_highest() {
        for levels in [1_200, 5_000, 300_000] {
            let mut histogram = LevelHistogram::new();
            let (mut total, mut area) = (0, 0);
            for level in 0..levels {
                // The highest in between.
                let level = level * 7 % levels;
                histogram.add(level * 13, Span::from_ps(level + 1));
                total += level + 1;
                area += level * 13 * (level + 1);
            }
            assert_eq!(histogram.total(), Span::from_ps(total));
            let mean = f64::from(u32::try_from(area / total).unwrap());
            assert!((histogram.mean() - mean).abs() <= 1.0);
            for share in [1, 50, 500, 950, 999, 1000] {
                // Time grows with the level, so this share of the time is below its square root.
                let exact = ((total * share / 1000) * 2).isqrt() * 13;
                let found = histogram.percentile(share);
                let bin = levels * 13 / 1000;
                assert!(
                    found.abs_diff(exact) <= bin + 26,
                    "{levels} {share}: {found} {exact}"
                );
            }
            assert_eq!(histogram.percentile(1000), (levels - 1) * 13);
        }
    }

    #[test]
    fn long_times_and_high_levels_are_exact_too() {
        // 2^40 ps are 1.1 s. 2^24 and 2^24 + 1 bytes differ only in bits beyond those of a place.
        let mut histogram = LevelHistogram::new();
        let second = Span::from_millis(1000);
        for round in 0..10 {
            for level in [0, 7, 1 << 24, (1 << 24) + 1] {
                histogram.add(level, second + Span::from_ps(round));
            }
            histogram.add(9, Span::from_ps(1));
        }
        assert_eq!(histogram.total(), second * 40 + Span::from_ps(4 * 45 + 10));
        let percentiles = [249, 251, 499, 749, 751].map(|p| histogram.percentile(p));
        assert_eq!(percentiles, [0, 7, 7, 1 << 24, (1 << 24) + 1]);
        let mean = (7.0 + f64::from(1 << 24) + f64::from((1 << 24) + 1)) / 4.0;
        assert!((histogram.mean() / mean - 1.0).abs() < 1e-12);
    }
}
