//! Sums over flows that ended.

use std::collections::BTreeMap;
use std::time::Duration;

use base::cast::wide;

use crate::sample::{EXACT, Sample, bin, edges};
use crate::seen::Flow;

/// Sums over all flows, whose memory does not grow with their number: it is at most some megabytes.
///
/// Counts and sums are exact. [`fct_s`](Self::fct_s) is exact for the first 65,536 flows, and with more of them to one
/// part in 2,048. So is [`long_flows`](Self::long_flows), except that with more flows it leaves out those whose size is
/// less than a 64th above the bound, or whose time is less than a 16th below it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FlowSums {
    /// Their number.
    pub flows: u64,
    /// Flows whose sender is on another machine.
    pub inferred: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Retransmissions in fast recovery.
    pub fast_retransmits: u64,
    /// Probes.
    pub probes: u64,
    /// Segments with data that came a second time.
    pub repeats: u64,
    fct_ns: u128,
    waited_ns: u128,
    times_ns: Sample,
    /// Bytes and nanoseconds of each flow.
    each: Vec<(u64, u64)>,
    /// Counts of flows by bins of bytes and nanoseconds, once there are too many to keep each.
    bins: BTreeMap<(u64, u64), u64>,
}

impl FlowSums {
    /// Adds a flow.
    pub fn add(&mut self, flow: &Flow) {
        let [fct, waited] = [flow.fct_s, flow.waited_s].map(nanoseconds);
        self.flows += 1;
        self.inferred += u64::from(!flow.is_told);
        self.timeouts += u64::from(flow.timeouts);
        self.fast_retransmits += u64::from(flow.fast_retransmits);
        self.probes += u64::from(flow.probes);
        self.repeats += u64::from(flow.repeats);
        self.fct_ns += u128::from(fct);
        self.waited_ns += u128::from(waited);
        self.times_ns.add(fct);
        if self.bins.is_empty() {
            self.each.push((flow.bytes, fct));
            if self.each.len() > EXACT {
                for (bytes, fct) in std::mem::take(&mut self.each) {
                    self.put_in_bin(bytes, fct);
                }
            }
        } else {
            self.put_in_bin(flow.bytes, fct);
        }
    }

    /// The completion time in seconds below which this share of flows lies (nearest rank); 0 without flows.
    #[must_use]
    pub fn fct_s(&self, share: f64) -> f64 {
        Duration::from_nanos(self.times_ns.percentile(share)).as_secs_f64()
    }

    /// The share of all completion times that was spent in silence before timeouts.
    #[must_use]
    pub fn waited_share(&self) -> f64 {
        match self.fct_ns {
            0 => 0.0,
            all => wide(self.waited_ns) / wide(all),
        }
    }

    /// The flows of more than this many bytes, and the part of them that took at most this many seconds.
    #[must_use]
    pub fn long_flows(&self, bytes: u64, within_s: f64) -> (u64, u64) {
        let (mut long, mut short_lived) = (0, 0);
        let within = nanoseconds(within_s);
        for (size, fct) in &self.each {
            long += u64::from(*size > bytes);
            short_lived += u64::from(*size > bytes && *fct <= within);
        }
        for ((size, fct), count) in &self.bins {
            let (smallest, _) = edges(*size, OF_SIZES);
            let (shortest, width) = edges(*fct, OF_TIMES);
            let is_long = smallest > bytes;
            long += if is_long { *count } else { 0 };
            let is_short = is_long && shortest + (width - 1) <= within;
            short_lived += if is_short { *count } else { 0 };
        }
        (long, short_lived)
    }

    /// The numbers that are held in memory.
    #[must_use]
    pub fn held(&self) -> usize {
        self.each.len() + self.bins.len() + self.times_ns.held()
    }

    fn put_in_bin(&mut self, bytes: u64, fct: u64) {
        let key = (
            bin(bytes.min(LARGEST), OF_SIZES),
            bin(fct.min(LONGEST), OF_TIMES),
        );
        *self.bins.entry(key).or_default() += 1;
    }
}

impl<'a> FromIterator<&'a Flow> for FlowSums {
    fn from_iter<T: IntoIterator<Item = &'a Flow>>(iter: T) -> Self {
        let mut sums = Self::default();
        iter.into_iter().for_each(|flow| sums.add(flow));
        sums
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Bins for each doubling.
const OF_SIZES: u32 = 6;
const OF_TIMES: u32 = 4;
/// Ten segments are smaller: the payload of one has 16 bits.
const LARGEST: u64 = 1 << 20;
/// Three round trips are shorter than these 69 s.
const LONGEST: u64 = 1 << 36;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(number: u32) -> Flow {
        let number = f64::from(number);
        Flow {
            start_s: number * 1e-3,
            // From 1 to 101 ms, each once in 400,000: 7919 is prime.
            fct_s: (1e6 + 250.0 * (number * 7_919.0 % 4e5)).round() / 1e9,
            bytes: if number % 2.0 < 1.0 { 14_480 } else { 60_000 },
            timeouts: u32::from(number % 100.0 < 1.0),
            waited_s: if number % 100.0 < 1.0 { 0.001 } else { 0.0 },
            ..Flow::example(0.0, 0.0)
        }
    }

    #[test]
    fn few_flows_have_exactly_the_numbers_of_their_list() {
        let flows: Vec<_> = (0..60_000).map(flow).collect();
        let sums: FlowSums = flows.iter().collect();
        let mut times: Vec<_> = flows.iter().map(|flow| flow.fct_s).collect();
        for share in [0.5, 0.99] {
            let exact = crate::percentile(&mut times, share);
            assert!((sums.fct_s(share) - exact).abs() < 1e-12);
        }
        let long = flows.iter().filter(|flow| flow.bytes > 14_480);
        let short = long.clone().filter(|flow| flow.fct_s <= 0.03);
        let both = (long.count() as u64, short.count() as u64);
        assert_eq!(sums.long_flows(14_480, 0.03), both);
        assert_eq!((sums.flows, sums.timeouts), (60_000, 600));
        let all_s: f64 = times.iter().sum();
        assert!((sums.waited_share() - 0.6 / all_s).abs() < 1e-12);
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_flows() {
        let mut sums = FlowSums::default();
        (0..200_000).for_each(|number| sums.add(&flow(number)));
        let held = sums.held();
        assert!(held < EXACT, "{held}");
        (200_000..400_000).for_each(|number| sums.add(&flow(number)));
        assert!(
            sums.held() <= held + held / 10,
            "{} after {held}",
            sums.held()
        );
        // Half of the flows are long: a flow of exactly ten segments is not. Times are even from 1 to 101 ms.
        let (long, short) = sums.long_flows(14_480, 0.051);
        assert_eq!(long, 200_000);
        assert!((93_000..=100_500).contains(&short), "{short}");
        for (share, exact) in [(0.5, 0.051), (0.99, 0.1)] {
            let off = (sums.fct_s(share) / exact - 1.0).abs();
            assert!(off < 1e-3, "{off} at {share}");
        }
        assert_eq!((sums.flows, sums.timeouts), (400_000, 4_000));
    }
}
