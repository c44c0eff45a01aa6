//! The rates of the links of a graph.

use base::{Quantity, QuantityError, Rate};

/// The source of the rates of a graph's links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// From its file, or as with [`Capacity::EqualLoad`] if the file has no rate.
    Auto,
    /// Each in proportion to the number of pairs of nodes whose path uses it.
    EqualLoad,
    /// Drawn uniformly between these two rates.
    Between(Rate, Rate),
}

impl Quantity for Capacity {
    fn expected() -> String {
        "\"auto\", \"equal-load\" or a range of rates, as in \"500Mbps-2Gbps\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::expected(&Self::expected(), text);
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "equal-load" => return Ok(Self::EqualLoad),
            one if Rate::parse(one).is_ok() => {
                return Err(QuantityError {
                    message: format!(
                        "expected {}; one rate for all links is bottleneck.rate = {one:?}",
                        Self::expected()
                    ),
                });
            }
            _ => {}
        }
        let (least, most) = text.split_once('-').ok_or_else(error)?;
        let rate = |text: &str| Rate::parse(text).map_err(|_| error());
        let (least, most) = (rate(least)?, rate(most)?);
        if least > most {
            return Err(QuantityError {
                message: format!("the first rate of a range is the smaller one; found {text:?}"),
            });
        }
        Ok(Self::Between(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_rates_with_their_units() {
        let rate = |text| Rate::parse(text).unwrap();
        let range = Capacity::Between(rate("500Mbps"), rate("2Gbps"));
        assert_eq!(Capacity::parse("500Mbps-2Gbps"), Ok(range));
        assert_eq!(Capacity::parse(" 500 Mbps - 2 Gbps "), Ok(range));
        let wrong = |text| Capacity::parse(text).unwrap_err().message;
        assert!(wrong("2Gbps-500Mbps").contains("the smaller one"));
        assert!(wrong("500-2000Mbps").contains("500Mbps-2Gbps"));
        assert!(wrong("equal").contains("equal-load"));
        assert!(wrong("2Gbps").contains("bottleneck.rate = \"2Gbps\""));
    }
}
