//! Many whole numbers in bounded memory.

use std::collections::BTreeMap;

use base::cast::{index, real, whole};

/// Whole numbers for percentiles. Up to 65,536 of them are kept singly, and percentiles are exact. With more of them only
/// counts in bins are kept, and a percentile is right to one part in 2,048. Memory is at most about
/// a megabyte.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    all: u64,
    each: Vec<u64>,
    /// The numbers in bins, once there are too many.
    bins: BTreeMap<u64, u64>,
}

impl Sample {
    /// Adds one.
    pub fn add(&mut self, value: u64) {
        self.all += 1;
        if !self.bins.is_empty() {
            *self.bins.entry(bin(value, FINE)).or_default() += 1;
            return;
        }
        self.each.push(value);
        if self.each.len() > EXACT {
            for value in std::mem::take(&mut self.each) {
                *self.bins.entry(bin(value, FINE)).or_default() += 1;
            }
        }
    }

    /// The value below which this share of all lies (nearest rank); 0 of none.
    #[must_use]
    pub fn percentile(&self, share: f64) -> u64 {
        let rank = whole((share * real(self.all)).ceil()).max(1);
        if self.bins.is_empty() {
            let mut each = self.each.clone();
            each.sort_unstable();
            return each.get(index(rank - 1)).copied().unwrap_or(0);
        }
        let mut passed = 0;
        let at = self.bins.iter().find(|(_, count)| {
            passed += **count;
            passed >= rank
        });
        at.map_or(0, |(bin, _)| {
            let (lowest, width) = edges(*bin, FINE);
            lowest + width / 2
        })
    }

    /// How many are at most this large.
    #[must_use]
    pub fn up_to(&self, limit: u64) -> u64 {
        if self.bins.is_empty() {
            return self.each.iter().filter(|value| **value <= limit).count() as u64;
        }
        self.bins
            .range(..=bin(limit, FINE))
            .map(|(_, count)| count)
            .sum()
    }

    /// The numbers that are held in memory.
    #[must_use]
    pub fn held(&self) -> usize {
        self.each.len() + self.bins.len()
    }
}

/// The bin of a value, with `2^bits` bins for each doubling. Bins are in the order of their values, and values below
/// `2^bits` have their own.
pub(crate) const fn bin(value: u64, bits: u32) -> u64 {
    let shift = (value | 1).ilog2().saturating_sub(bits);
    ((shift as u64) << bits) + (value >> shift)
}

/// The lowest value of a bin, and the number of its values.
pub(crate) const fn edges(bin: u64, bits: u32) -> (u64, u64) {
    let shift = (bin >> bits).saturating_sub(1);
    ((bin - (shift << bits)) << shift, 1 << shift)
}

/// The largest number of values that are kept singly.
pub(crate) const EXACT: usize = 1 << 16;
/// A bin is at most a 1,024th of its values wide.
const FINE: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_contiguous_and_in_order() {
        for bits in [4, 10] {
            let mut next = 0;
            for number in 0..40 << bits {
                let (lowest, width) = edges(number, bits);
                assert_eq!(lowest, next);
                assert_eq!(
                    [bin(lowest, bits), bin(lowest + width - 1, bits)],
                    [number; 2]
                );
                next = lowest + width;
            }
        }
        assert!(bin(u64::MAX, FINE) < 64 << FINE);
    }

    #[test]
    fn ranks_are_exact_for_a_while_and_then_to_a_2048th() {
        let mut sample = Sample::default();
        assert_eq!(sample.percentile(0.5), 0);
        // Spread over six decades; 7919 is prime, so the order is not that of their sizes.
        let value = |number: u64| (number * 7_919 % 200_000 + 1).pow(2);
        (0..50_000).for_each(|number| sample.add(value(number)));
        let mut sorted: Vec<_> = (0..50_000).map(value).collect();
        sorted.sort_unstable();
        for share in [0.01, 0.5, 0.99] {
            let rank = index(whole((share * 50_000.0_f64).ceil()));
            assert_eq!(sample.percentile(share), sorted[rank - 1]);
        }
        assert_eq!(sample.up_to(sorted[1_000]), 1_001);
        (50_000..200_000).for_each(|number| sample.add(value(number)));
        for (share, exact) in [
            (0.01, 2_000_u64.pow(2)),
            (0.5, 100_000_u64.pow(2)),
            (0.99, 198_000_u64.pow(2)),
        ] {
            let off = sample.percentile(share).abs_diff(exact);
            assert!(off * 2_048 <= exact, "{off} of {exact}");
        }
        let below = sample.up_to(100_000_u64.pow(2));
        assert!((100_000..100_100).contains(&below), "{below}");
        assert!(sample.held() < 60 << FINE, "{}", sample.held());
    }
}
