//! A counting Bloom filter, as a switch would keep one.

use base::FlowId;
use base::Sort as _;
use base::cast::{index, low_32, whole};
use engine::random::Stream;

/// A set of flows without false negatives, and with a few false positives.
///
/// Counters have four bits. One that is full stays full, since nobody knows how often it was counted.
/// O(hashes) per call; four bits per counter.
pub(super) struct Bloom {
    /// Two counters in each byte.
    counters: Vec<u8>,
    len: u64,
    hashes: u32,
    seed: u64,
    port: u32,
}

impl Bloom {
    /// A filter that takes a share `error` of flows for others when `flows` are in it: `-n ln p / ln² 2`
    /// counters, and `ln 2` of them per flow as hashes.
    pub(super) fn new(error: f64, flows: u32, (seed, port): (u64, u32)) -> Self {
        let ln2 = std::f64::consts::LN_2;
        let flows = f64::from(flows);
        let len = libm::ceil(-flows * libm::log(error) / (ln2 * ln2)).max(1.0);
        let hashes = libm::round(len / flows * ln2).clamp(1.0, 64.0);
        Self {
            counters: vec![0; index(whole(len)).div_ceil(2)],
            len: whole(len),
            hashes: low_32(whole(hashes)),
            seed,
            port,
        }
    }

    /// Adds a flow. Returns false, and does nothing, if it seems to be in the set.
    pub(super) fn insert(&mut self, flow: FlowId) -> bool {
        !self.contains(flow) && self.change(flow, |counter| (counter + 1).min(FULL))
    }

    /// Removes a flow. Returns false, and does nothing, if it is not in the set.
    pub(super) fn remove(&mut self, flow: FlowId) -> bool {
        let less = |counter| if counter == FULL { FULL } else { counter - 1 };
        self.contains(flow) && self.change(flow, less)
    }

    fn contains(&self, flow: FlowId) -> bool {
        self.places(flow).all(|place| self.counter(place) > 0)
    }

    fn change(&mut self, flow: FlowId, change: fn(u8) -> u8) -> bool {
        let mut places: Vec<usize> = self.places(flow).collect();
        // Two hashes that agree are one place.
        places.order_unstable();
        places.dedup();
        for place in places {
            let changed = change(self.counter(place)) << Self::offset(place);
            let byte = &mut self.counters[place / 2];
            *byte = *byte & !(FULL << Self::offset(place)) | changed;
        }
        true
    }

    /// The counters of a flow.
    fn places(&self, flow: FlowId) -> impl Iterator<Item = usize> + use<> {
        let entity = u64::from(self.port) << 32 | u64::from(flow.0);
        let mut hash = Stream::new(self.seed, "bloom filter", entity);
        let len = self.len;
        (0..self.hashes).map(move |_| index(hash.below(len)))
    }

    fn counter(&self, place: usize) -> u8 {
        self.counters[place / 2] >> Self::offset(place) & FULL
    }

    fn offset(place: usize) -> u32 {
        if place.is_multiple_of(2) { 0 } else { 4 }
    }
}

/// The largest number of four bits.
const FULL: u8 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_for_ten_thousand_flows_is_wrong_for_one_in_a_hundred_of_them() {
        let mut filter = Bloom::new(0.01, 10_000, (1, 0));
        // 10 000 * 4.605 / 0.4805 = 95 851 counters, 9.585 * 0.693 = 6.6: 7 hashes.
        assert_eq!((filter.len, filter.hashes), (95_851, 7));
        // While it fills, fewer are taken for others: the mean over filling is well below 1 %.
        let missed = (0..10_000)
            .filter(|flow| !filter.insert(FlowId(*flow)))
            .count();
        assert!((1..60).contains(&missed), "{missed}");
        // Full, one in a hundred strangers seems to be there: 100 of 10 000, six standard deviations of 10.
        let strangers = (10_000..20_000).filter(|flow| filter.contains(FlowId(*flow)));
        let strangers = strangers.count();
        assert!((40..160).contains(&strangers), "{strangers}");
    }

    #[test]
    fn what_is_removed_is_gone_and_the_others_stay() {
        let mut filter = Bloom::new(0.001, 1000, (1, 0));
        for flow in 0..100 {
            assert!(filter.insert(FlowId(flow)));
        }
        // A SYN-ACK that is sent twice counts once, and so does a FIN.
        assert!(!filter.insert(FlowId(7)));
        assert!(filter.remove(FlowId(7)));
        assert!(!filter.remove(FlowId(7)));
        assert!(
            (0..100)
                .filter(|flow| *flow != 7)
                .all(|flow| filter.contains(FlowId(flow)))
        );
        assert!(
            (0..100)
                .filter(|flow| *flow != 7)
                .all(|flow| filter.remove(FlowId(flow)))
        );
        assert!(filter.counters.iter().all(|counters| *counters == 0));
    }

    #[test]
    fn a_full_counter_stays_full() {
        // Two counters and two hashes for as many flows as one likes: they fill up.
        let mut filter = Bloom::new(0.5, 1, (1, 0));
        for flow in 0..40 {
            filter.change(FlowId(flow), |counter| (counter + 1).min(FULL));
        }
        assert!(filter.remove(FlowId(0)));
        assert!(
            filter.contains(FlowId(0)),
            "nobody knows how many are in it"
        );
    }
}
