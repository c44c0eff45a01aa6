//! Sizes a user may give in bytes or in packets.

use std::fmt;
use std::str::FromStr;

use crate::quantity::{self, Quantity, QuantityError};

/// An amount of data: bytes, or full packets whose size the network decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// How many of `unit`.
    pub amount: u64,
    /// Bytes or packets.
    pub unit: SizeUnit,
}

/// What a [`Size`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeUnit {
    /// Bytes.
    Byte,
    /// Full packets: a full segment and its headers.
    Packet,
}

impl Size {
    /// `amount` bytes.
    pub const fn bytes(amount: u64) -> Self {
        Self {
            amount,
            unit: SizeUnit::Byte,
        }
    }

    /// `amount` full packets.
    pub const fn packets(amount: u64) -> Self {
        Self {
            amount,
            unit: SizeUnit::Packet,
        }
    }

    /// The amount in bytes where a packet has `packet_bytes` bytes.
    pub const fn in_bytes(self, packet_bytes: u64) -> u64 {
        match self.unit {
            SizeUnit::Byte => self.amount,
            SizeUnit::Packet => self.amount.saturating_mul(packet_bytes),
        }
    }
}

impl Quantity for Size {
    fn expected() -> String {
        "a size with its unit: B, KB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024) or pkt, as in \"32KiB\" or \"80pkt\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim_end().ends_with("pkt") {
            return quantity::scaled(text, &[("pkt", 1)], &Self::expected()).map(Self::packets);
        }
        quantity::scaled(text, &UNITS, &Self::expected()).map(Self::bytes)
    }
}

impl FromStr for Size {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit == SizeUnit::Packet {
            return write!(f, "{}pkt", self.amount);
        }
        // Binary units read better where they are exact: 32768 is "32KiB".
        let units = if self.amount.is_multiple_of(1024) && self.amount > 0 {
            &BINARY
        } else {
            &DECIMAL
        };
        f.write_str(&quantity::in_largest_unit(self.amount, units))
    }
}

const UNITS: [(&str, u64); 7] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];
const DECIMAL: [(&str, u64); 4] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];
const BINARY: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kb_is_a_thousand_and_kib_is_1024() {
        assert_eq!("128KB".parse::<Size>().unwrap(), Size::bytes(128_000));
        assert_eq!("128KiB".parse::<Size>().unwrap(), Size::bytes(131_072));
        assert_eq!("80pkt".parse::<Size>().unwrap().in_bytes(1500), 120_000);
    }

    #[test]
    fn a_size_reads_back_what_it_writes() {
        for text in ["32KiB", "1MB", "80pkt", "1446B", "1.5KB", "0B"] {
            let size: Size = text.parse().unwrap();
            assert_eq!(size.to_string().parse::<Size>().unwrap(), size, "{text}");
        }
    }
}
