//! Random streams that are independent of each other and the same on every platform.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use base::cast::real;

/// The random numbers of one purpose of one entity, such as the start jitter of flow 7.
///
/// The stream is a function of (seed, purpose, entity), so a new flow shifts nobody else's numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `entity` for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: &str, entity: u64) -> Self {
        // One round of `SplitMix64`'s finaliser per part; `seed_from_u64` runs SplitMix64 again, so that
        // neighbouring seeds give unrelated streams.
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(mix(
            seed ^ base::fnv(purpose.bytes())
        )
        .wrapping_add(entity))))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number from `0..bound`; 0 if `bound` is 0. Bias below `bound`/2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.bits()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// A uniform number from `[0, 1)` with 53 bits.
    pub fn unit(&mut self) -> f64 {
        real(self.bits() >> 11) / real(1 << 53)
    }
}

/// A number for member `index` of the group `name`. It is unrelated to those of other groups and
/// does not depend on which other groups exist. Members of the unnamed group have their index.
pub fn member(name: &str, index: u64) -> u64 {
    if name.is_empty() {
        return index;
    }
    mix(base::fnv(name.bytes())).wrapping_add(index)
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood 2014): maps a number to one that looks random.
pub const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_differ_by_each_part_of_their_name() {
        let first = |seed, purpose, entity| Stream::new(seed, purpose, entity).bits();
        assert_eq!(first(1, "jitter", 7), first(1, "jitter", 7));
        let all = [
            first(1, "jitter", 7),
            first(2, "jitter", 7),
            first(1, "size", 7),
            first(1, "jitter", 8),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn members_of_groups_differ_by_name_and_index() {
        let all = [
            member("", 0),
            member("", 1),
            member("a", 0),
            member("a", 1),
            member("b", 0),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn uniform_numbers_fill_their_range_evenly() {
        let mut stream = Stream::new(3, "test", 0);
        let mut counts = [0_u32; 10];
        for _ in 0..10_000 {
            counts[usize::try_from(stream.below(10)).unwrap()] += 1;
            assert!((0.0..1.0).contains(&stream.unit()));
        }
        // Binomial(10000, 0.1): standard deviation 30; 5 of them either way.
        assert!(counts.iter().all(|c| (850..1150).contains(c)), "{counts:?}");
    }
}
