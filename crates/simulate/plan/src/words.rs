//! Large numbers in words.

use base::cast::real;

/// For people: `1.5 GB`.
pub fn bytes(count: u64) -> String {
    match real(count) {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} KB", bytes / 1e3),
    }
}

/// A count in words: `3 thousand million`, and powers of ten beyond that.
pub fn count(steps: f64) -> String {
    match steps {
        steps if steps.is_nan() => "endlessly many".to_owned(),
        steps if steps >= 1e15 => format!("{steps:.0e}"),
        steps if steps >= 1e9 => format!("{:.0} thousand million", steps / 1e9),
        steps if steps >= 1e6 => format!("{:.0} million", steps / 1e6),
        steps => format!("{steps:.0}"),
    }
}
