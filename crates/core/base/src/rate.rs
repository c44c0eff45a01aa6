//! Link rates.

use std::fmt;
use std::str::FromStr;

use crate::cast::low_64;
use crate::quantity::{self, Quantity, QuantityError};
use crate::time::Span;

/// A rate in bits per second; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// `bits` per second.
    ///
    /// # Panics
    /// If `bits` is zero or above 8 Tbit/s, where a byte lasts less than a picosecond.
    pub const fn from_bps(bits: u64) -> Self {
        assert!(
            bits > 0 && bits <= PS_PER_SECOND * 8,
            "a rate lies between 1 bit/s and 8 Tbit/s"
        );
        Self(bits)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Picoseconds per byte if that is a whole number, so that serialisation is exact.
    pub const fn ps_per_byte(self) -> Option<u64> {
        if (8 * PS_PER_SECOND).is_multiple_of(self.0) {
            Some(8 * PS_PER_SECOND / self.0)
        } else {
            None
        }
    }

    /// How long `bytes` occupy the link, rounded up to a picosecond.
    pub const fn serialisation(self, bytes: u64) -> Span {
        // A division of 64 bits takes a fraction of the time of one of 128, and has room for two million bytes.
        if let Some(bits_ps) = bytes.checked_mul(8 * PS_PER_SECOND) {
            return Span::from_ps(bits_ps.div_ceil(self.0));
        }
        let bits_ps = bytes as u128 * (8 * PS_PER_SECOND) as u128;
        Span::from_ps(low_64(bits_ps.div_ceil(self.0 as u128)))
    }
}

impl Quantity for Rate {
    fn expected() -> String {
        "a rate with its unit: bps, Kbps, Mbps, Gbps or Tbps, as in \"1Gbps\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let bits = quantity::scaled_to(PS_PER_SECOND * 8, text, &READ, &Self::expected())?;
        if bits == 0 {
            return Err(QuantityError {
                message: format!("expected a rate from 1bps to 8000Gbps; found {text:?}"),
            });
        }
        Ok(Self(bits))
    }
}

impl FromStr for Rate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quantity::in_largest_unit(self.0, &UNITS))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const PS_PER_SECOND: u64 = 1_000_000_000_000;
const UNITS: [(&str, u64); 4] = [
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("Kbps", 1_000),
    ("bps", 1),
];

/// Units as people write them, the usual ones last. Ports are sold as "25G".
pub(crate) const READ: [(&str, u64); 26] = [
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", PS_PER_SECOND),
    ("Tbit/s", PS_PER_SECOND),
    ("Tbit", PS_PER_SECOND),
    ("tbps", PS_PER_SECOND),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("bit", 1),
    ("kbit", 1_000),
    ("Kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("kbps", 1_000),
    ("mbps", 1_000_000),
    ("gbps", 1_000_000_000),
    ("k", 1_000),
    ("Tbps", PS_PER_SECOND),
    ("bps", 1),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_is_exact_where_a_byte_is_a_whole_number_of_picoseconds() {
        // 1500 bytes at 1 Gbit/s last 12 us; at 25 Gbit/s a byte lasts 320 ps.
        assert_eq!(
            Rate::from_bps(1_000_000_000).serialisation(1500),
            Span::from_micros(12)
        );
        assert_eq!(Rate::from_bps(25_000_000_000).ps_per_byte(), Some(320));
    }

    #[test]
    fn a_rate_is_read_as_people_and_other_tools_write_it() {
        for (text, bits) in [
            ("56kbps", 56_000),
            ("56Kbps", 56_000),
            ("10Gbit", 10_000_000_000),
            ("2.5Mbit/s", 2_500_000),
            ("1.6Tbps", 1_600_000_000_000),
            ("25G", 25_000_000_000),
            ("0.8T", 800_000_000_000),
        ] {
            assert_eq!(Rate::parse(text).map(Rate::as_bps), Ok(bits), "{text}");
        }
        assert!(Rate::parse("10GB").is_err());
        let message = Rate::parse("9000Gbit").unwrap_err().message;
        assert!(message.contains("above the largest, 8Tbps"), "{message}");
    }

    #[test]
    fn serialisation_is_rounded_up_by_less_than_a_picosecond() {
        // 1500 * 8 / 11 Gbit/s = 1090909.09 ps.
        let rate = Rate::from_bps(11_000_000_000);
        assert_eq!(rate.ps_per_byte(), None);
        assert_eq!(rate.serialisation(1500), Span::from_ps(1_090_910));
    }
}
