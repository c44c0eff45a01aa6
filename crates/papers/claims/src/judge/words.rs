//! Numbers in a form for readers.

use crate::unit::Dimension;

/// A value of a column in a fitting unit, with three significant digits.
pub fn display(value: f64, dimension: Dimension) -> String {
    let (scale, unit) = match dimension {
        Dimension::Time if value.abs() >= 1e6 => (1e6, " s"),
        Dimension::Time if value.abs() >= 1e3 => (1e3, " ms"),
        Dimension::Time => (1.0, " us"),
        Dimension::TimeSquared if value.abs() >= 1e10 => (1e12, " s²"),
        Dimension::TimeSquared if value.abs() >= 1e4 => (1e6, " ms²"),
        Dimension::TimeSquared => (1.0, " us²"),
        Dimension::Bytes if value.abs() >= 1e6 => (1e6, " MB"),
        Dimension::Bytes if value.abs() >= 1e3 => (1e3, " KB"),
        Dimension::Bytes => (1.0, " bytes"),
        Dimension::Rate if value.abs() >= 1e9 => (1e9, " Gbit/s"),
        Dimension::Rate => (1e6, " Mbit/s"),
        Dimension::Share => (0.01, " %"),
        Dimension::Count => (1.0, ""),
    };
    format!("{}{unit}", digits(value / scale))
}

/// A number with three significant digits; a whole number with all digits.
pub fn digits(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    let text = if magnitude >= 100.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 1.0 || value == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
