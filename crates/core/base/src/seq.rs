//! TCP sequence numbers as on the wire.

use std::fmt;

use crate::cast::low_32;

/// A 32-bit sequence number that wraps (RFC 9293 §3.4).
///
/// Endpoints count bytes of a stream in 64 bits, where offset 0 is the SYN, and convert at the
/// wire: [`Seq::at`] wraps, [`Seq::near`] and [`Seq::beyond`] unwrap. Nothing else does arithmetic modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The number on the wire of stream offset `offset`, if the SYN has number `self`.
    #[must_use]
    pub const fn at(self, offset: u64) -> Self {
        Self(self.0.wrapping_add(low_32(offset)))
    }

    /// The stream offset nearest to `reference` whose number on the wire is `wire`, if the SYN has
    /// number `self`. Exact while both are less than 2^31 apart, which window scaling guarantees
    /// (RFC 7323 §2.2). Negative offsets, numbers before the SYN, saturate to 0.
    pub const fn near(self, wire: Self, reference: u64) -> u64 {
        let distance = wire.0.wrapping_sub(self.at(reference).0).cast_signed();
        let offset = reference.cast_signed().saturating_add(distance as i64);
        if offset < 0 {
            0
        } else {
            offset.cast_unsigned()
        }
    }

    /// The distance from `other` up to this number, modulo 2^32. A number just before `other` has a
    /// distance near 2^32.
    #[must_use]
    pub const fn beyond(self, other: Self) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_before_another_is_far_beyond_it() {
        let number = Seq(u32::MAX - 5);
        assert_eq!(number.at(10).beyond(number), 10);
        assert_eq!(number.beyond(number.at(10)), u32::MAX - 9);
    }

    #[test]
    fn offsets_survive_the_wrap_in_both_directions() {
        let syn = Seq(u32::MAX - 5);
        for offset in [0, 1, 6, 7, 1 << 31, (1 << 32) + 3, 5 << 40] {
            for lag in [0_u64, 1, 1000, (1 << 31) - 1] {
                assert_eq!(syn.near(syn.at(offset), offset.saturating_sub(lag)), offset);
                assert_eq!(syn.near(syn.at(offset), offset + lag), offset);
            }
        }
    }
}
