//! Conversions between whole and real numbers, each with its rule, in one place.

/// The nearest real number: exact up to 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, and the nearest above"
)]
#[inline]
pub const fn real(value: u64) -> f64 {
    value as f64
}

/// A number of things in memory as a real number.
#[inline]
pub const fn count(number: usize) -> f64 {
    real(number as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_whole_number_saturates() {
        let all = [2.9, -1.0, f64::NAN, f64::INFINITY, 1e300].map(whole);
        assert_eq!(all, [2, 0, 0, u64::MAX, u64::MAX]);
    }

    #[test]
    fn whole_numbers_are_exact_up_to_two_to_the_53() {
        let largest = 1 << 53;
        assert_eq!(whole(real(largest)), largest);
        assert_eq!(whole(real(largest + 1)), largest);
    }
}
