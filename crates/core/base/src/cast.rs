//! Conversions between numbers, each with its rule, in one place: those that `From` and `TryFrom` do not offer, or
//! for which the caller knows that they are exact.

/// The nearest real number: exact up to 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, and the nearest above"
)]
#[inline]
pub const fn real(value: u64) -> f64 {
    value as f64
}

/// The nearest real number of a wide whole number: exact up to 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, and the nearest above"
)]
#[inline]
pub const fn wide(value: u128) -> f64 {
    value as f64
}

/// The nearest real number of a whole number with a sign: exact between -2^53 and 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, and the nearest beyond"
)]
#[inline]
pub const fn signed(value: i64) -> f64 {
    value as f64
}

/// A number of things in memory as a real number.
#[inline]
pub const fn count(number: usize) -> f64 {
    real(number as u64)
}

/// The nearest real number of 32 bits: infinite beyond its range.
#[expect(clippy::cast_possible_truncation, reason = "rounded, as documented")]
#[inline]
pub const fn single(value: f64) -> f32 {
    value as f32
}

/// The whole part: 0 for what is negative or no number, the largest whole number for what is larger.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates and drops the fraction, as documented"
)]
#[inline]
pub const fn whole(value: f64) -> u64 {
    value as u64
}

/// The whole part with its sign: 0 for no number, the nearest end of the range for what lies beyond.
#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates and drops the fraction, as documented"
)]
#[inline]
pub const fn integer(value: f64) -> i32 {
    value as i32
}

/// An index into memory. Exact for every number of things that fit there.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what counts things in memory has as many bits as addresses"
)]
#[inline(always)]
pub const fn index(number: u64) -> usize {
    number as usize
}

/// The 32-bit number of a thing in memory. There must be fewer than 2^32 of them.
#[expect(clippy::cast_possible_truncation, reason = "asserted in tests")]
#[inline(always)]
pub const fn id(index: usize) -> u32 {
    debug_assert!(index as u64 <= u32::MAX as u64, "fewer than 2^32 things");
    index as u32
}

/// The lowest 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "as documented")]
#[inline(always)]
pub const fn low_64(value: u128) -> u64 {
    value as u64
}

/// The lowest 32 bits: numbers of TCP wrap like this.
#[expect(clippy::cast_possible_truncation, reason = "as documented")]
#[inline(always)]
pub const fn low_32(value: u64) -> u32 {
    value as u32
}

/// The lowest 16 bits.
#[expect(clippy::cast_possible_truncation, reason = "as documented")]
#[inline(always)]
pub const fn low_16(value: u64) -> u16 {
    value as u16
}

/// The lowest 8 bits.
#[expect(clippy::cast_possible_truncation, reason = "as documented")]
#[inline(always)]
pub const fn low_8(value: u64) -> u8 {
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_whole_number_saturates() {
        let all = [2.9, -1.0, f64::NAN, f64::INFINITY, 1e300].map(whole);
        assert_eq!(all, [2, 0, 0, u64::MAX, u64::MAX]);
        let all = [2.9, -2.9, f64::NAN, f64::INFINITY, -1e300].map(integer);
        assert_eq!(all, [2, -2, 0, i32::MAX, i32::MIN]);
    }

    #[test]
    fn whole_numbers_are_exact_up_to_two_to_the_53() {
        let largest = 1 << 53;
        assert_eq!(whole(real(largest)), largest);
        assert_eq!(whole(real(largest + 1)), largest);
        assert_eq!(wide(u128::from(largest)).to_bits(), real(largest).to_bits());
        assert_eq!(integer(signed(-7)), -7);
    }

    #[test]
    fn low_bits_drop_the_others() {
        let value = 0x0102_0304_0506_0708;
        assert_eq!(low_64(u128::from(value) | 1 << 64), value);
        assert_eq!(low_32(value), 0x0506_0708);
        assert_eq!(low_16(value), 0x0708);
        assert_eq!(low_8(value), 8);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "fewer than 2^32 things")]
    fn a_number_that_needs_more_than_32_bits_is_no_id() {
        id(1 << 32);
    }
}
