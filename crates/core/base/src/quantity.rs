//! Reading and writing numbers with units, exactly: no floating point in between.

use std::fmt;

use crate::cast;

/// A value that a user writes as text.
pub trait Quantity: Sized {
    /// The form of a correct text, for error messages: "a rate with its unit, as in ...".
    fn expected() -> String;

    /// Reads the value; the error names the fault of the text.
    fn parse(text: &str) -> Result<Self, QuantityError>;

    /// Every word with its meaning, if values are chosen from a few words.
    fn choices() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Tells a text that is meant as the path of a file, if values may be paths.
    fn is_path() -> Option<fn(&str) -> bool> {
        None
    }
}

/// Why a text is not the quantity it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// What was found and what was expected, as one sentence without a full stop.
    pub message: String,
}

impl QuantityError {
    /// An error that says what the text should have been.
    pub fn expected(expected: &str, found: &str) -> Self {
        Self {
            message: format!("expected {expected}; found {found:?}"),
        }
    }

    /// An error that names the bound which the text exceeds.
    pub fn too_large(expected: &str, found: &str, most: &str) -> Self {
        Self {
            message: format!("expected {expected}; {found:?} is above the largest, {most}"),
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for QuantityError {}

impl Quantity for u64 {
    fn expected() -> String {
        "a whole number".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        whole(text, LARGEST, &Self::expected())
    }
}

/// Reads digits as a number up to `most`.
fn whole(text: &str, most: u64, expected: &str) -> Result<u64, QuantityError> {
    let trimmed = text.trim();
    if trimmed.is_empty() || !trimmed.bytes().all(|b| b.is_ascii_digit()) {
        return Err(QuantityError::expected(expected, text));
    }
    let value = trimmed.parse().ok().filter(|value| *value <= most);
    value.ok_or_else(|| QuantityError::too_large(expected, text, &most.to_string()))
}

impl Quantity for u32 {
    fn expected() -> String {
        "a whole number below 2^32".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value = whole(text, Self::MAX.into(), &Self::expected())?;
        Ok(Self::try_from(value).expect("at most this much"))
    }
}

impl Quantity for bool {
    fn expected() -> String {
        "true or false".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "true" | "on" => Ok(true),
            "false" | "off" => Ok(false),
            _ => Err(QuantityError::expected(&Self::expected(), text)),
        }
    }
}

/// A share between 0 and 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Fraction(pub f64);

impl Fraction {
    /// The nearest whole number of millionths, for laws without real numbers.
    pub fn millionths(self) -> u32 {
        cast::low_32(cast::whole((self.0 * 1e6).round()))
    }
}

impl Quantity for Fraction {
    fn expected() -> String {
        "a number from 0 to 1, as in \"0.0625\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value = text.trim().parse().ok().filter(|v| (0.0..=1.0).contains(v));
        value
            .map(Self)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

/// A number above 0.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Factor(pub f64);

impl Quantity for Factor {
    fn expected() -> String {
        "a number above 0, as in \"2.5\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value: Option<f64> = text.trim().parse().ok();
        value
            .filter(|v| v.is_finite() && *v > 0.0)
            .map(Self)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

/// A whole number of at least 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Count(pub u32);

impl Quantity for Count {
    fn expected() -> String {
        "a whole number of at least 1".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let thousands = text.trim_end().ends_with(['k', 'M']);
        let count = if thousands {
            scaled_to(
                u32::MAX.into(),
                text,
                &[("k", 1_000), ("M", 1_000_000)],
                &Self::expected(),
            )?
        } else {
            whole(text, u32::MAX.into(), &Self::expected())?
        };
        match count {
            0 => Err(QuantityError::expected(&Self::expected(), text)),
            value => Ok(Self(u32::try_from(value).expect("at most this much"))),
        }
    }
}

macro_rules! or_word {
    ($(#[doc = $doc:literal])* $name:ident, $word:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name<T>(pub Option<T>);

        impl<T: Quantity> Quantity for $name<T> {
            fn expected() -> String {
                format!(concat!("\"", $word, "\" or {}"), T::expected())
            }

            fn parse(text: &str) -> Result<Self, QuantityError> {
                if text.trim() == $word {
                    return Ok(Self(None));
                }
                let value = T::parse(text).map_err(|error| {
                    QuantityError { message: error.message.replacen(&T::expected(), &Self::expected(), 1) }
                })?;
                Ok(Self(Some(value)))
            }

            fn choices() -> &'static [(&'static str, &'static str)] {
                T::choices()
            }

            fn is_path() -> Option<fn(&str) -> bool> {
                T::is_path()
            }
        }
    };
}

or_word!(
    /// A quantity that may be switched off.
    OrOff, "off"
);
or_word!(
    /// A quantity that follows from others unless given.
    OrAuto, "auto"
);
or_word!(
    /// A time that does not come unless given.
    OrNever, "never"
);
or_word!(
    /// A quantity without a bound unless given.
    OrUnlimited, "unlimited"
);

/// Reads `number unit` into a whole number of base units. `units` maps a suffix to its size.
pub(crate) fn scaled(
    text: &str,
    units: &[(&str, u64)],
    expected: &str,
) -> Result<u64, QuantityError> {
    scaled_to(LARGEST, text, units, expected)
}

/// The same up to `most` base units.
pub(crate) fn scaled_to(
    most: u64,
    text: &str,
    units: &[(&str, u64)],
    expected: &str,
) -> Result<u64, QuantityError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(trimmed.len());
    let (number, suffix) = (&trimmed[..split], trimmed[split..].trim());
    let error = || QuantityError::expected(expected, text);
    let (_, unit) = units
        .iter()
        .find(|(name, _)| *name == suffix)
        .ok_or_else(error)?;

    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.len() > 18 {
        return Err(error());
    }
    let too_large = || {
        let (name, unit) = units
            .iter()
            .max_by_key(|(_, unit)| *unit)
            .expect("a list of units is not empty");
        QuantityError::too_large(expected, text, &format!("{}{name}", most / unit))
    };
    let digits = format!("{whole}{fraction}");
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(error());
    }
    // Digits beyond 128 bits are many more than any bound has.
    let digits: u128 = digits.parse().map_err(|_| too_large())?;
    let scale = 10_u128.pow(u32::try_from(fraction.len()).map_err(|_| error())?);
    let product = digits
        .checked_mul(u128::from(*unit))
        .ok_or_else(too_large)?;
    if product % scale != 0 {
        return Err(QuantityError {
            message: format!("expected {expected}; {text:?} is finer than the smallest unit"),
        });
    }
    u64::try_from(product / scale)
        .ok()
        .filter(|value| *value <= most)
        .ok_or_else(too_large)
}

/// The largest values are kept free: they stand for "never" and "unlimited", and sums of some do not
/// overflow.
const LARGEST: u64 = u64::MAX / 4 - 1;

/// Writes `value` in the largest of `units` (largest first) that needs at most three decimals.
pub(crate) fn in_largest_unit(value: u64, units: &[(&str, u64)]) -> String {
    let smallest = units.last().expect("a list of units is not empty");
    let (name, unit) = units
        .iter()
        .find(|(_, unit)| {
            value >= *unit && (u128::from(value) * 1000).is_multiple_of(u128::from(*unit))
        })
        .unwrap_or(if value == 0 { &units[0] } else { smallest });
    let (whole, thousandths) = (
        value / unit,
        u128::from(value % unit) * 1000 / u128::from(*unit),
    );
    if thousandths == 0 {
        return format!("{whole}{name}");
    }
    let decimals = format!("{thousandths:03}");
    format!("{whole}.{}{name}", decimals.trim_end_matches('0'))
}
