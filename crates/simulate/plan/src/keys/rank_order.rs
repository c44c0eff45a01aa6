//! The host of each rank of a collective.

use base::{Quantity, QuantityError};

/// Which host each rank is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankOrder {
    /// Ranks on hosts in steps of this many hosts; 1 is the next host.
    Stride(u32),
    /// By a random order.
    Random,
}

impl RankOrder {
    /// The hosts of `ranks` ranks among `hosts` hosts, by index; `draw` returns a random number below its argument.
    /// O(hosts).
    ///
    /// # Panics
    /// If `draw` returns its argument or more.
    pub fn places(
        self,
        ranks: usize,
        hosts: usize,
        mut draw: impl FnMut(u64) -> u64,
    ) -> Vec<usize> {
        let mut places: Vec<usize> = match self {
            Self::Stride(stride) => {
                let stride = stride as usize;
                let from = |first: usize| (first..hosts).step_by(stride);
                (0..stride.min(hosts)).flat_map(from).collect()
            }
            Self::Random => {
                let mut places: Vec<usize> = (0..hosts).collect();
                // Fisher and Yates.
                for last in (1..hosts).rev() {
                    let other = draw(last as u64 + 1);
                    places.swap(last, usize::try_from(other).expect("a place"));
                }
                places
            }
        };
        places.truncate(ranks);
        places
    }
}

impl Quantity for RankOrder {
    fn expected() -> String {
        "\"order\", \"random\" or a stride, as in \"stride 4\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = || QuantityError::expected(&Self::expected(), text);
        match text.trim() {
            "order" => Ok(Self::Stride(1)),
            "random" => Ok(Self::Random),
            text => {
                let stride = text.strip_prefix("stride ").ok_or_else(wrong)?;
                let stride = stride.trim().parse::<u32>().ok();
                stride
                    .filter(|stride| *stride > 0)
                    .map(Self::Stride)
                    .ok_or_else(wrong)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_take_hosts_by_a_stride_or_by_lot() {
        let places = |text: &str, ranks| {
            let order = RankOrder::parse(text).unwrap();
            order.places(ranks, 6, |below| below - 1)
        };
        assert_eq!(places("order", 4), [0, 1, 2, 3]);
        assert_eq!(places("stride 3", 6), [0, 3, 1, 4, 2, 5]);
        assert_eq!(places("stride 4", 4), [0, 4, 1, 5]);
        assert_eq!(places("stride 9", 3), [0, 1, 2]);
        // Each place is swapped with itself.
        assert_eq!(places("random", 3), [0, 1, 2]);
        for text in ["stride 0", "stride", "4", "by lot"] {
            assert!(RankOrder::parse(text).is_err(), "{text}");
        }
    }
}
