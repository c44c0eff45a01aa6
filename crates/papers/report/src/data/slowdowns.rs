//! Slowdowns by flow size, in memory that does not grow with the number of flows.
//!
//! Sizes are in bins from 1, 2 and 5 times a power of ten up to the next such number, as 200 KB to 500 KB. In each
//! bin slowdowns are counted in steps of one percent.

use std::collections::BTreeMap;

use base::cast::{low_32, real, whole};

/// Slowdowns of the flows of one row, over all its seeds.
#[derive(Default)]
pub(crate) struct Slowdowns {
    /// By the least size of the bin in bytes.
    bins: BTreeMap<u64, Bin>,
}

/// The flows in one bin of sizes.
#[derive(Default)]
pub(crate) struct Bin {
    flows: u64,
    /// Sum of the sizes in bytes, and of the slowdowns.
    bytes: f64,
    slowdowns: f64,
    /// Flows by their slowdown in steps of one percent.
    steps: BTreeMap<u32, u64>,
}

impl Slowdowns {
    /// Adds a flow of this many bytes.
    pub(crate) fn add(&mut self, bytes: u64, slowdown: f64) {
        let bin = self.bins.entry(least(bytes)).or_default();
        bin.flows += 1;
        bin.bytes += real(bytes);
        bin.slowdowns += slowdown;
        // A value that rounding puts slightly below a step belongs to the step.
        let steps = libm::floor(libm::log(slowdown.max(1.0)) / libm::log(STEP) + 1e-6);
        *bin.steps.entry(low_32(whole(steps))).or_default() += 1;
    }

    /// The bins, the smallest flows first.
    pub(crate) fn bins(&self) -> impl Iterator<Item = &Bin> {
        self.bins.values()
    }
}

impl Bin {
    /// The mean size in bytes.
    pub(crate) fn size(&self) -> f64 {
        self.bytes / real(self.flows)
    }

    /// The mean slowdown.
    pub(crate) fn mean(&self) -> f64 {
        self.slowdowns / real(self.flows)
    }

    /// The slowdown that this many percent of the flows do not exceed, to one percent. `None` if fewer than one flow is
    /// above.
    pub(crate) fn percentile(&self, percent: u64) -> Option<f64> {
        if self.flows * (100 - percent) < 100 {
            return None;
        }
        let rank = (self.flows * percent).div_ceil(100);
        let mut seen = 0;
        let step = self.steps.iter().find(|(_, flows)| {
            seen += **flows;
            seen >= rank
        });
        step.map(|(step, _)| libm::pow(STEP, f64::from(*step)))
    }
}

/// The largest of 1, 2 and 5 times a power of ten that does not exceed `bytes`.
fn least(bytes: u64) -> u64 {
    let mut power = 1_u64;
    while bytes / 10 >= power {
        power *= 10;
    }
    let first = [5, 2, 1].into_iter().find(|first| bytes / power >= *first);
    first.map_or(0, |first| first * power)
}

/// The ratio of a step to the one before.
const STEP: f64 = 1.01;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_begins_with_one_two_or_five_times_a_power_of_ten() {
        let sizes = [0, 1, 4, 5, 9, 10, 1460, 20_000, 49_999, 1_000_000, u64::MAX];
        let bins = [
            0,
            1,
            2,
            5,
            5,
            10,
            1000,
            20_000,
            20_000,
            1_000_000,
            10_000_000_000_000_000_000,
        ];
        assert_eq!(sizes.map(least), bins);
    }

    #[test]
    fn a_percentile_is_known_to_one_percent() {
        let mut slowdowns = Slowdowns::default();
        for flow in 1..=200_u32 {
            slowdowns.add(1500, f64::from(flow));
        }
        slowdowns.add(3000, 1.0);
        let bins: Vec<&Bin> = slowdowns.bins().collect();
        for (percent, exact) in [(50, 100.0), (99, 198.0)] {
            let found = bins[0].percentile(percent).unwrap();
            assert!(
                found <= exact && found > exact / 1.011,
                "{percent}: {found}"
            );
        }
        assert!((bins[0].mean() - 100.5).abs() < 1e-9 && (bins[0].size() - 1500.0).abs() < 1e-9);
        // One flow has no 99th percentile, nor half a flow above its median.
        assert_eq!(
            (bins[1].percentile(99), bins[1].percentile(50)),
            (None, None)
        );
    }
}
