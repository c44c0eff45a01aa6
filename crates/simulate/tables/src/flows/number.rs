//! Decimal numbers in the notations of people and programs, read without rounding.

/// Digits times a power of ten: `1.5e3` is 15 times 10 to the 2nd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Whether a minus sign precedes it.
    pub negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Reads digits with or without a point and an exponent. Significant digits after the 22nd are dropped; in any date
    /// they are below a picosecond.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (mut digits, mut exponent) = (0_u128, i32::from(exponent));
        for (place, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
            if !byte.is_ascii_digit() {
                return None;
            }
            let fits = digits < MOST_DIGITS;
            if fits {
                digits = digits * 10 + u128::from(byte - b'0');
            }
            // A dropped digit before the point makes the number ten times as large.
            exponent += match (place < whole.len(), fits) {
                (true, false) => 1,
                (false, true) => -1,
                _ => 0,
            };
        }
        Some(Self {
            negative,
            digits,
            exponent,
        })
    }

    /// The number times `factor`, rounded to the nearest whole number, and whether the product was whole. `None` if it
    /// has more than 38 digits. The sign is ignored.
    pub fn times(self, factor: u64) -> Option<(u128, bool)> {
        let product = self.digits.checked_mul(factor.into())?;
        if product == 0 {
            return Some((0, true));
        }
        match u32::try_from(self.exponent) {
            Ok(power) => Some((product.checked_mul(10_u128.checked_pow(power)?)?, true)),
            Err(_) => match 10_u128.checked_pow(self.exponent.unsigned_abs()) {
                None => Some((0, false)),
                Some(divisor) => {
                    let (whole, rest) = (product / divisor, product % divisor);
                    Some((whole + u128::from(rest >= divisor - rest), rest == 0))
                }
            },
        }
    }

    /// The number, if it is whole, not negative and fits into 64 bits.
    pub fn whole(self) -> Option<u64> {
        let (value, exact) = self.times(1).filter(|_| !self.negative)?;
        u64::try_from(value).ok().filter(|_| exact)
    }
}

/// From this value on, another digit would be the 23rd. Multiplied by the picoseconds of a day, 22 digits fit into 128
/// bits.
const MOST_DIGITS: u128 = 1_000_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_programs_write_them() {
        let whole = |text| Decimal::parse(text).and_then(Decimal::whole);
        for text in [
            "1500",
            "1500.0",
            "1.5e3",
            "1.5E+03",
            "+1500.000",
            "15000e-1",
        ] {
            assert_eq!(whole(text), Some(1500), "{text}");
        }
        assert_eq!(whole("9007199254740992"), Some(1 << 53));
        for text in [
            "", ".", "1.5", "-1", "1e", "e3", "1_000", "0x10", "1.2.3", "1e40",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn any_number_of_digits_is_rounded_to_the_unit() {
        let times = |text: &str, factor| Decimal::parse(text).unwrap().times(factor).unwrap().0;
        // Microseconds in picoseconds.
        assert_eq!(times("1.0000004", 1_000_000), 1_000_000);
        assert_eq!(times("1.0000005", 1_000_000), 1_000_001);
        assert_eq!(times("0.33333333333333333333333333333", 1_000_000), 333_333);
        // Unix seconds with picoseconds.
        let unix = "1700000000.123456789012499999999999999";
        assert_eq!(
            times(unix, 1_000_000_000_000),
            1_700_000_000_123_456_789_012
        );
        assert_eq!(times("1e-300", 1), 0);
        assert_eq!(
            times("123456789012345678901234567890", 1),
            123_456_789_012_345_678_901_200_000_000
        );
    }
}
