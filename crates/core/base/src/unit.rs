//! Units that measure the same thing, for texts that convert one into another.

use crate::{rate, size, time};

/// Units that measure the same thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the field's")]
pub enum UnitFamily {
    Count,
    Size,
    Packets,
    Time,
    Rate,
}

impl UnitFamily {
    /// All of them. Some units are in several: "1M" are bytes before they are bits per second.
    pub const ALL: [Self; 5] = [
        Self::Count,
        Self::Size,
        Self::Packets,
        Self::Time,
        Self::Rate,
    ];

    /// How many of the smallest unit `unit` is, if it is one of this family.
    pub fn scale(self, unit: &str) -> Option<u64> {
        let all = self.units();
        let found = all.iter().find(|(name, _)| *name == unit);
        found.map(|(_, scale)| *scale)
    }

    /// The smallest unit, in which values are whole numbers.
    pub fn smallest(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Size => "B",
            Self::Packets => "pkt",
            Self::Time => "ps",
            Self::Rate => "bps",
        }
    }

    fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Count => &[("", 1), ("k", 1_000), ("M", 1_000_000)],
            Self::Size => &size::READ,
            Self::Packets => &[("pkt", 1)],
            Self::Time => &time::READ,
            Self::Rate => &rate::READ,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_unit_of_a_family_is_one() {
        for family in UnitFamily::ALL {
            assert_eq!(family.scale(family.smallest()), Some(1), "{family:?}");
        }
        assert_eq!(UnitFamily::Size.scale("KiB"), Some(1024));
        assert_eq!(UnitFamily::Time.scale("KiB"), None);
    }
}
