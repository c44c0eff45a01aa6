//! Units: converts from the measured column to the unit of a paper.

use std::fmt;

use serde::Serialize;

/// The dimension of a column, in the unit of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// Microseconds.
    Time,
    /// Squared microseconds: the variance of times.
    TimeSquared,
    /// Bytes.
    Bytes,
    /// Bits per second.
    Rate,
    /// Packets, flows, events, or a plain number.
    Count,
    /// A share of 1.
    Share,
}

/// A value with its unit, as in `"120KB"`; without a unit it has the unit of the value compared with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Level {
    /// The number.
    pub value: f64,
    /// The unit; empty if none is written.
    pub unit: String,
}

impl Dimension {
    /// The dimension of a column of results, from its name and unit.
    pub fn of(unit: &str) -> Self {
        match unit {
            "us" => Self::Time,
            "us²" => Self::TimeSquared,
            "bytes" => Self::Bytes,
            "bit/s" => Self::Rate,
            "%" => Self::Share,
            _ => Self::Count,
        }
    }

    /// The dimension of squares of values, if the values have units.
    #[must_use]
    pub fn squared(self) -> Self {
        match self {
            Self::Time => Self::TimeSquared,
            _ => Self::Count,
        }
    }

    /// How many of the column's units are one `unit`; `None` if the unit has another dimension. `packet` is the size of
    /// a full packet in bytes.
    pub fn scale(self, unit: &str, packet: f64) -> Option<f64> {
        let units = self.units().iter();
        let found = units.copied().find(|(name, _)| *name == unit);
        match found {
            Some((_, scale)) if scale.is_nan() => Some(packet),
            Some((_, scale)) => Some(scale),
            // The unit of a count may be the name of the counted things.
            None if self == Self::Count => (unit != "%").then_some(1.0),
            None => None,
        }
    }

    /// Its units with their size in the column's unit; `NaN` for a full packet.
    pub fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Time => &[("us", 1.0), ("ms", 1e3), ("s", 1e6), ("ns", 1e-3)],
            Self::TimeSquared => &[("us²", 1.0), ("ms²", 1e6), ("s²", 1e12)],
            Self::Bytes => &[
                ("bytes", 1.0),
                ("B", 1.0),
                ("KB", 1e3),
                ("kB", 1e3),
                ("MB", 1e6),
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("packets", f64::NAN),
                ("pkt", f64::NAN),
            ],
            Self::Rate => &[
                ("bit/s", 1.0),
                ("bps", 1.0),
                ("kbit/s", 1e3),
                ("kbps", 1e3),
                ("Mbit/s", 1e6),
                ("Mbps", 1e6),
                ("Gbit/s", 1e9),
                ("Gbps", 1e9),
            ],
            Self::Count => &[("", 1.0)],
            Self::Share => &[("", 1.0), ("%", 0.01)],
        }
    }
}

impl Dimension {
    /// The allowed values, for a message.
    pub(super) fn expected(self) -> String {
        let units = self.units().iter().map(|(name, _)| *name);
        let units: Vec<_> = units.filter(|name| !name.is_empty()).collect();
        match units.len() {
            0 => "a number".to_owned(),
            _ => format!("a number with one of the units {}", units.join(", ")),
        }
    }
}

impl Level {
    /// Reads a number and the letters after it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let end = text.find(|c| !digits(c)).unwrap_or(text.len());
        let value: f64 = text[..end].parse().ok()?;
        let unit = text[end..].trim();
        let is_unit = unit.chars().all(|c| c.is_alphabetic() || "/%²".contains(c));
        (value.is_finite() && is_unit).then(|| Self {
            value,
            unit: unit.to_owned(),
        })
    }

    /// The value in the unit of a column of this dimension; `None` if its unit has another dimension.
    pub fn in_column(&self, dimension: Dimension, packet: f64) -> Option<f64> {
        if self.unit.is_empty() {
            return Some(self.value);
        }
        Some(self.value * dimension.scale(&self.unit, packet)?)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.unit.is_empty() || self.unit == "%" {
            ""
        } else {
            " "
        };
        write!(f, "{}{space}{}", self.value, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_the_units_of_scenarios_and_of_papers() {
        let bytes = |text: &str| {
            let level = Level::parse(text)?;
            level.in_column(Dimension::Bytes, 1500.0)
        };
        assert_eq!(bytes("120KB"), Some(120_000.0));
        assert_eq!(bytes("80 packets"), Some(120_000.0));
        assert_eq!(bytes("32KiB"), Some(32_768.0));
        assert_eq!(bytes("57000"), Some(57_000.0));
        assert_eq!(bytes("3ms"), None);
        assert_eq!(bytes("3 or 4"), None);
        let time = Level::parse("0.5ms").unwrap();
        assert_eq!(time.in_column(Dimension::Time, 1500.0), Some(500.0));
    }

    #[test]
    fn what_is_counted_may_be_named() {
        assert_eq!(Dimension::of("packets").scale("drops", 1500.0), Some(1.0));
        assert_eq!(Dimension::Count.scale("%", 1500.0), None);
        assert_eq!(Dimension::Rate.scale("Mbit/s", 1500.0), Some(1e6));
    }
}
