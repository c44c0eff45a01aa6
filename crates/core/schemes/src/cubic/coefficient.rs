//! A setting of the law.

use base::{Quantity, QuantityError};

/// A number above 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coefficient(pub f64);

impl Quantity for Coefficient {
    fn expected() -> String {
        "a number above 0, as in \"0.4\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value = text.trim().parse().ok();
        let value = value.filter(|number: &f64| number.is_finite() && *number > 0.0);
        let error = || QuantityError::expected(&Self::expected(), text);
        value.map(Self).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coefficient_is_a_number_above_zero() {
        assert_eq!(Coefficient::parse("4"), Ok(Coefficient(4.0)));
        for text in ["0", "-1", "inf", "NaN", "steep"] {
            assert!(Coefficient::parse(text).is_err(), "{text}");
        }
    }
}
