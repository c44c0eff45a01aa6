//! How many flows arrive together.

use base::{Count, Quantity, QuantityError};

/// Number of flows that start together at one receiver: fixed, or drawn each time between the least and the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FanIn {
    /// The fewest.
    pub least: u32,
    /// The most; every number from the least to the most is equally likely.
    pub most: u32,
}

impl FanIn {
    /// The mean number.
    pub fn mean(self) -> f64 {
        f64::midpoint(self.least.into(), self.most.into())
    }
}

impl Quantity for FanIn {
    fn expected() -> String {
        "a number above 0, or the fewest and the most, as in \"20-60\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| Count::parse(text).ok().map(|count| count.0);
        let both = number(least)
            .zip(number(most))
            .filter(|(least, most)| least <= most);
        both.map(|(least, most)| Self { least, most })
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fan_in_is_a_number_or_a_range() {
        let fan_in = |least, most| Ok(FanIn { least, most });
        assert_eq!(FanIn::parse("60"), fan_in(60, 60));
        assert_eq!(FanIn::parse("20-60"), fan_in(20, 60));
        assert!(
            (FanIn {
                least: 20,
                most: 61
            }
            .mean()
                - 40.5)
                .abs()
                < 1e-12
        );
        for text in ["0", "0-5", "60-20", "a", "-", "1-"] {
            assert!(FanIn::parse(text).is_err(), "{text}");
        }
    }
}
