//! Simulated time in picoseconds.
//!
//! A picosecond makes a byte at 1, 10, 25 and 100 Gbit/s a whole number, so serialisation is exact
//! there; 64 bits last for 213 days of simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

use crate::cast::{real, whole};
use crate::quantity::{self, Quantity, QuantityError};

/// An instant: picoseconds since the start of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the simulation.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens: an unset deadline.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for results.
    pub fn as_secs(self) -> f64 {
        real(self.0) / 1e12
    }

    /// The time from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` before this one; the start if there is none.
    #[must_use]
    pub const fn before(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every simulation.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }

    /// `s` seconds, rounded down; [`Span::ZERO`] if negative or no number, [`Span::MAX`] if too much.
    pub fn from_secs_f64(s: f64) -> Self {
        Self(whole(s * 1e12))
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, for results.
    pub fn as_secs(self) -> f64 {
        real(self.0) / 1e12
    }

    /// Microseconds, for results.
    pub fn as_micros(self) -> f64 {
        real(self.0) / 1e6
    }

    /// The absolute difference of two spans.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// This span times `factor`, at most [`Span::MAX`].
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, rhs: Span) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, rhs: Span) {
        *self = *self + rhs;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        self.saturating_mul(rhs)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, rhs: u64) -> Self {
        Self(self.0 / rhs)
    }
}

impl Quantity for Span {
    fn expected() -> String {
        "a time with its unit: ps, ns, us, ms or s, as in \"40us\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        quantity::scaled(text, &READ, &Self::expected()).map(Self)
    }
}

impl FromStr for Span {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quantity::in_largest_unit(self.0, &UNITS))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER {
            f.write_str("never")
        } else {
            fmt::Display::fmt(&Span(self.0), f)
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Units as people write them, the usual ones last. Unicode has the micro sign and the Greek letter.
pub(crate) const READ: [(&str, u64); 7] = [
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];
const UNITS: [(&str, u64); 5] = [
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reads_and_writes_its_unit() {
        for text in ["40us", "1500ns", "10ms", "2s", "0s", "1ps"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
        assert_eq!("1.5us".parse::<Span>().unwrap(), Span::from_nanos(1500));
        for micro in ["1.5\u{b5}s", "1.5 \u{3bc}s"] {
            assert_eq!(micro.parse::<Span>().unwrap(), Span::from_nanos(1500));
        }
    }

    #[test]
    fn seconds_are_rounded_down_and_saturate() {
        assert_eq!(Span::from_secs_f64(1.5e-12), Span::from_ps(1));
        assert_eq!(Span::from_secs_f64(0.25), Span::from_millis(250));
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(1e9), Span::MAX);
    }

    #[test]
    fn a_span_without_unit_or_finer_than_a_picosecond_is_refused() {
        for text in [
            "40",
            "us",
            "",
            "-1us",
            "1.5ps",
            "1e9us",
            "40 parsecs",
            "99999999999s",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
