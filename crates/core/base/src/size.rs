//! Sizes a user may give in bytes or in packets.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use crate::quantity::{self, Quantity, QuantityError};

/// An amount of data: bytes, or full packets whose size the network decides.
///
/// `P` says which bytes of a packet count, so that every key means one thing by `pkt` and says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size<P> {
    /// How many of `unit`.
    pub amount: u64,
    /// Bytes or packets.
    pub unit: SizeUnit,
    packet: PhantomData<P>,
}

/// A size of queues and buffers of ports: a packet is a full one on the wire.
pub type WireSize = Size<OnWire>;

/// A size of windows and of what applications send: a packet is the payload of a full segment.
pub type DataSize = Size<Payload>;

/// What one packet of a [`Size`] counts.
pub trait Full: Copy {
    /// In words, for people.
    const WORDS: &'static str;
}

/// Full packets as links carry them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnWire {}

impl Full for OnWire {
    const WORDS: &'static str = "full packets on the wire, headers included";
}

/// Full segments without headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {}

impl Full for Payload {
    const WORDS: &'static str = "full segments of payload, without headers";
}

/// What a [`Size`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeUnit {
    /// Bytes.
    Byte,
    /// Full packets, on the wire or of payload.
    Packet,
}

impl<P> Size<P> {
    /// `amount` bytes.
    pub const fn bytes(amount: u64) -> Self {
        Self::of(amount, SizeUnit::Byte)
    }

    /// `amount` full packets.
    pub const fn packets(amount: u64) -> Self {
        Self::of(amount, SizeUnit::Packet)
    }

    const fn of(amount: u64, unit: SizeUnit) -> Self {
        Self {
            amount,
            unit,
            packet: PhantomData,
        }
    }
}

impl<P: Full> Size<P> {
    /// The amount in bytes where a packet of this kind has `packet_bytes` bytes: with its headers for a
    /// [`WireSize`], of payload for a [`DataSize`].
    pub const fn in_bytes(self, packet_bytes: u64) -> u64 {
        match self.unit {
            SizeUnit::Byte => self.amount,
            SizeUnit::Packet => self.amount.saturating_mul(packet_bytes),
        }
    }
}

impl<P: Full> Quantity for Size<P> {
    fn expected() -> String {
        format!(
            "a size with its unit: B, KB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024) or pkt ({}), as in \"32KiB\" or \"80pkt\"",
            P::WORDS
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim_end().ends_with("pkt") {
            return quantity::scaled(text, &[("pkt", 1)], &Self::expected()).map(Self::packets);
        }
        quantity::scaled(text, &READ, &Self::expected()).map(Self::bytes)
    }
}

impl<P: Full> FromStr for Size<P> {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl<P> fmt::Display for Size<P> {
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

/// Units as people write them, the usual ones last. A k alone is a thousand bytes.
pub(crate) const READ: [(&str, u64); 12] = [
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
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
        assert_eq!("128KB".parse::<WireSize>().unwrap(), Size::bytes(128_000));
        assert_eq!("128KiB".parse::<WireSize>().unwrap(), Size::bytes(131_072));
        assert_eq!("80pkt".parse::<WireSize>().unwrap().in_bytes(1500), 120_000);
    }

    #[test]
    fn a_size_is_read_as_people_and_other_tools_write_it() {
        for text in ["100k", "100K", "100kB", "0.1M"] {
            assert_eq!(text.parse(), Ok(WireSize::bytes(100_000)), "{text}");
        }
        assert!("100".parse::<WireSize>().is_err());
    }

    #[test]
    fn a_size_reads_back_what_it_writes() {
        for text in ["32KiB", "1MB", "80pkt", "1446B", "1.5KB", "0B"] {
            let size: DataSize = text.parse().unwrap();
            assert_eq!(
                size.to_string().parse::<DataSize>().unwrap(),
                size,
                "{text}"
            );
        }
    }

    #[test]
    fn a_size_says_which_packets_it_counts() {
        assert!(WireSize::expected().contains("pkt (full packets on the wire, headers included)"));
        assert!(DataSize::expected().contains("pkt (full segments of payload, without headers)"));
    }
}
