//! Laws for random sizes, delays and arrivals of flows, including measured distributions.
//!
//! A law is a text in a scenario. A draw depends only on the law and the random stream.
//!
//! ```
//! use base::Quantity;
//! use distributions::{SizeLaw, TimeLaw};
//! use engine::random::Stream;
//!
//! let gap = TimeLaw::parse("uniform(1ms, 2ms)").unwrap();
//! let drawn = gap.draw(&mut Stream::new(1, "arrivals", 0));
//! assert!((1.0..2.0).contains(&(drawn.as_secs() * 1e3)));
//! assert!(SizeLaw::parse("hadoop").unwrap().is_random());
//! ```

mod table;

use base::cast::{real, whole};
use base::{DataSize, Quantity, QuantityError, Span};
use engine::random::Stream;

pub use table::{NAMED, Named, Table};

/// How large flows are.
#[derive(Clone, PartialEq, Debug)]
pub enum SizeLaw {
    /// Without end.
    Unlimited,
    /// All alike.
    Fixed(DataSize),
    /// Every size from the first to the second is as likely as any other.
    Uniform(DataSize, DataSize),
    /// Exponential with this mean.
    Exponential(DataSize),
    /// Pareto with this mean and shape; sizes above the bound are drawn again.
    Pareto {
        /// Mean of the law without the bound.
        mean: DataSize,
        /// Shape, above 1.
        shape: f64,
        /// Largest size.
        most: Option<DataSize>,
    },
    /// A measured distribution.
    Empirical(Table),
}

/// The law of a random time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TimeLaw {
    /// Always this time.
    Fixed(Span),
    /// Every time from the first to below the second is as likely as any other.
    Uniform(Span, Span),
    /// Exponential with this mean; times above the bound are drawn again.
    Exponential {
        /// Mean of the law without the bound.
        mean: Span,
        /// Longest time.
        most: Option<Span>,
    },
}

impl SizeLaw {
    /// The size of all flows, if the law has a single size.
    pub fn fixed(&self) -> Option<DataSize> {
        match self {
            Self::Fixed(size) => Some(*size),
            _ => None,
        }
    }

    /// Whether flows have no end.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::Unlimited
    }

    /// Whether sizes are drawn.
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::Unlimited | Self::Fixed(_))
    }

    /// A size in bytes, at least 1, where a segment has `mss` bytes; `None` without end.
    pub fn draw(&self, stream: &mut Stream, mss: u64) -> Option<u64> {
        Some(match self {
            Self::Unlimited => return None,
            Self::Fixed(size) => size.in_bytes(mss),
            Self::Uniform(least, most) => {
                let (least, most) = (least.in_bytes(mss), most.in_bytes(mss));
                least + stream.below(most - least + 1)
            }
            Self::Exponential(mean) => whole(exponential(stream) * real(mean.in_bytes(mss))),
            Self::Pareto { mean, shape, most } => {
                let scale = real(mean.in_bytes(mss)) * ((shape - 1.0) / shape);
                let most = most.map_or(u64::MAX, |most| most.in_bytes(mss));
                loop {
                    // The inverse of 1 - (scale / x)^shape at a uniform number.
                    let size = whole(scale * libm::pow(1.0 - stream.unit(), -1.0 / shape));
                    if size <= most {
                        break size;
                    }
                }
            }
            Self::Empirical(table) => whole(table.quantile(stream.unit(), mss)),
        })
        .map(|size| size.max(1))
    }

    /// The mean in bytes; `None` without end.
    ///
    /// For a Pareto law with bound b and least size m, the mean below the bound: m a / (a - 1) (1 - (m/b)^(a-1)) / (1 -
    /// (m/b)^a).
    pub fn mean(&self, mss: u64) -> Option<f64> {
        let bytes = |size: &DataSize| real(size.in_bytes(mss));
        Some(match self {
            Self::Unlimited => return None,
            Self::Fixed(size) | Self::Exponential(size) => bytes(size),
            Self::Uniform(least, most) => f64::midpoint(bytes(least), bytes(most)),
            Self::Pareto {
                mean, most: None, ..
            } => bytes(mean),
            Self::Pareto {
                mean,
                shape,
                most: Some(most),
            } => {
                // These powers lie between 0 and 1, even for shapes with which powers of sizes would overflow.
                let least_over_most = bytes(mean) * ((shape - 1.0) / shape) / bytes(most);
                let below = 1.0 - libm::pow(least_over_most, shape - 1.0);
                bytes(mean) * below / (1.0 - libm::pow(least_over_most, *shape))
            }
            Self::Empirical(table) => table.mean(mss),
        })
        // No draw is smaller.
        .map(|mean: f64| mean.max(1.0))
    }

    /// The largest size that flows can have, in bytes, if there is one.
    pub fn most(&self, mss: u64) -> Option<u64> {
        match self {
            Self::Fixed(size) | Self::Uniform(_, size) => Some(size.in_bytes(mss)),
            Self::Pareto { most, .. } => most.map(|most| most.in_bytes(mss)),
            Self::Empirical(table) => Some(whole(table.quantile(1.0, mss))),
            Self::Unlimited | Self::Exponential(_) => None,
        }
    }
}

impl Quantity for SizeLaw {
    fn expected() -> String {
        format!(
            "\"unlimited\", {}, or a law: \"uniform(2KiB, 98KiB)\", \"exponential(50KB)\", \
             \"pareto(50KB, 1.2)\" of mean and shape, with a third value the largest size, {}, or \
             \"empirical(10KB 0.5, 1MB 1)\" of sizes and the share of flows up to them",
            DataSize::expected(),
            table::names()
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::expected(&Self::expected(), text);
        let text = text.trim();
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(table) = table::named(text) {
            return Ok(Self::Empirical(table));
        }
        let Some((name, values)) = call(text) else {
            // A plain size that is too large has its own message; for other texts, the message lists the laws.
            let other = |error: QuantityError| {
                says(
                    &error
                        .message
                        .replacen(&DataSize::expected(), &Self::expected(), 1),
                )
            };
            return DataSize::parse(text).map(Self::Fixed).map_err(other);
        };
        let size = |text: &str| {
            let size = DataSize::parse(text).map_err(|_| error())?;
            (size.amount > 0).then_some(size).ok_or_else(error)
        };
        match (name, values.as_slice()) {
            ("uniform", [least, most]) => {
                let (least, most) = (size(least)?, size(most)?);
                let ordered = least.unit == most.unit && least.amount <= most.amount;
                ordered
                    .then_some(Self::Uniform(least, most))
                    .ok_or_else(|| {
                        says("the second size is the larger one, in the same kind of unit")
                    })
            }
            ("exponential", [mean]) => Ok(Self::Exponential(size(mean)?)),
            ("pareto", [mean, shape, rest @ ..]) if rest.len() < 2 => {
                let mean = size(mean)?;
                let shape: f64 = shape.parse().map_err(|_| error())?;
                if !(shape > 1.0 && shape.is_finite()) {
                    return Err(says("the shape is above 1: otherwise there is no mean"));
                }
                let most = rest.first().map(|text| size(text)).transpose()?;
                if most.is_some_and(|most| most.unit != mean.unit || most.amount <= mean.amount) {
                    return Err(says(
                        "the largest size exceeds the mean, in the same kind of unit",
                    ));
                }
                Ok(Self::Pareto { mean, shape, most })
            }
            ("empirical", rows) => Table::parse(rows).map(Self::Empirical),
            _ => Err(error()),
        }
    }
}

impl TimeLaw {
    /// Exponential times without a bound.
    pub const fn exponential(mean: Span) -> Self {
        Self::Exponential { mean, most: None }
    }

    /// Whether times are drawn.
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// A time.
    pub fn draw(&self, stream: &mut Stream) -> Span {
        match self {
            Self::Fixed(span) => *span,
            Self::Uniform(least, most) => {
                Span::from_ps(least.as_ps() + stream.below(most.as_ps() - least.as_ps()))
            }
            Self::Exponential { mean, most } => loop {
                let span = Span::from_ps(whole(exponential(stream) * real(mean.as_ps())));
                if most.is_none_or(|most| span <= most) {
                    break span;
                }
            },
        }
    }

    /// The mean time.
    pub fn mean(&self) -> Span {
        match self {
            Self::Fixed(span) => *span,
            Self::Uniform(least, most) => Span::from_ps(least.as_ps().midpoint(most.as_ps())),
            Self::Exponential { mean, most: None } => *mean,
            Self::Exponential {
                mean,
                most: Some(most),
            } => {
                // What the bound cuts off.
                let (mean, most) = (mean.as_secs(), most.as_secs());
                Span::from_secs_f64(mean - most / libm::expm1(most / mean))
            }
        }
    }

    /// The longest possible time. Without a bound, a time that is exceeded once in a thousand million draws.
    pub fn most(&self) -> Span {
        match self {
            Self::Fixed(span) | Self::Uniform(_, span) => *span,
            Self::Exponential { mean, most } => most.unwrap_or(mean.saturating_mul(21)),
        }
    }
}

impl Quantity for TimeLaw {
    fn expected() -> String {
        format!(
            "{}, or a law: \"uniform(0s, 2ms)\", \"exponential(15ms)\", or with a second value the \
             longest time, as in \"exponential(1ms, 2ms)\"",
            Span::expected()
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::expected(&Self::expected(), text);
        let Some((name, values)) = call(text.trim()) else {
            let other = |error: QuantityError| {
                says(
                    &error
                        .message
                        .replacen(&Span::expected(), &Self::expected(), 1),
                )
            };
            return Span::parse(text).map(Self::Fixed).map_err(other);
        };
        let span = |text: &&str| Span::parse(text).map_err(|_| error());
        match (name, values.as_slice()) {
            ("uniform", [least, most]) => {
                let (least, most) = (span(least)?, span(most)?);
                (least < most)
                    .then_some(Self::Uniform(least, most))
                    .ok_or_else(|| says("the second time is the longer one"))
            }
            ("exponential", [mean, rest @ ..]) if rest.len() < 2 => {
                let mean = span(mean)?;
                let most = rest.first().map(span).transpose()?;
                if mean == Span::ZERO || most.is_some_and(|most| most < mean) {
                    return Err(says("the mean is above 0 and not above the longest time"));
                }
                Ok(Self::Exponential { mean, most })
            }
            _ => Err(error()),
        }
    }
}

/// The name and the values of `name(value, value)`.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, values) = text.strip_suffix(')')?.split_once('(')?;
    Some((name.trim(), values.split(',').map(str::trim).collect()))
}

/// An exponential number with mean 1.
fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(1.0 - stream.unit())
}

fn says(message: &str) -> QuantityError {
    QuantityError {
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of many draws, in bytes.
    fn sampled(law: &SizeLaw) -> f64 {
        let mut stream = Stream::new(7, "test", 0);
        let draws = 400_000;
        let sum: u64 = (0..draws)
            .map(|_| law.draw(&mut stream, 1446).unwrap())
            .sum();
        real(sum) / f64::from(draws)
    }

    fn size(text: &str) -> SizeLaw {
        SizeLaw::parse(text).unwrap()
    }

    #[test]
    fn draws_have_the_mean_of_their_law() {
        // Standard errors of 400,000 draws lie below 0.5 % of each of these means.
        for text in [
            "uniform(2KiB, 98KiB)",
            "exponential(50KB)",
            "pareto(50KB, 2.5)",
            "pareto(50KiB, 1.2, 100KiB)",
            "websearch",
        ] {
            let law = size(text);
            let (mean, sampled) = (law.mean(1446).unwrap(), sampled(&law));
            assert!(
                (sampled / mean - 1.0).abs() < 0.02,
                "{text}: {sampled} of {mean}"
            );
        }
    }

    #[test]
    fn a_bounded_pareto_law_has_a_smaller_mean() {
        // Least size 8533 bytes, 102,400 at most: the mean of 50 KiB falls to about 21.2 kB.
        let mean = size("pareto(50KiB, 1.2, 100KiB)").mean(1446).unwrap();
        assert!((21_000.0..21_500.0).contains(&mean), "{mean}");
    }

    #[test]
    fn a_pareto_law_of_any_shape_has_a_mean_between_its_least_and_largest_size() {
        for shape in [
            "1.0000000000000002",
            "1.000001",
            "1.2",
            "300",
            "1e10",
            "1e308",
        ] {
            let law = size(&format!("pareto(50KB, {shape}, 10MB)"));
            let mean = law.mean(1446).unwrap();
            assert!((1.0..=50_000.0).contains(&mean), "{shape}: {mean}");
        }
        assert_eq!(size("pareto(50KB, 1e308, 10MB)").mean(1446), Some(50_000.0));
    }

    #[test]
    fn no_draw_leaves_the_bounds_of_its_law() {
        let mut stream = Stream::new(1, "test", 0);
        let (bounded, even) = (size("pareto(50KiB, 1.2, 100KiB)"), size("uniform(3B, 5B)"));
        let law = TimeLaw::parse("exponential(1ms, 2ms)").unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..10_000 {
            let drawn = bounded.draw(&mut stream, 1).unwrap();
            assert!((8533..=102_400).contains(&drawn), "{drawn}");
            seen.extend(even.draw(&mut stream, 1));
            assert!(law.draw(&mut stream) <= Span::from_millis(2));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn a_law_that_makes_no_sense_says_why() {
        let size = |text| SizeLaw::parse(text).unwrap_err().message;
        assert!(size("uniform(9KB, 1KB)").contains("the larger one"));
        assert!(size("pareto(50KB, 0.9)").contains("above 1"));
        assert!(size("pareto(50KB, 1.2, 10KB)").contains("exceeds the mean"));
        assert!(size("gauss(1KB)").contains("pareto(50KB, 1.2)"));
        assert!(size("32").contains("a size with its unit"));
        let time = |text| TimeLaw::parse(text).unwrap_err().message;
        assert!(time("uniform(2ms, 1ms)").contains("the longer one"));
        assert!(time("exponential(2ms, 1ms)").contains("not above the longest"));
        assert!(time("5").contains("exponential(15ms)"));
    }

    #[test]
    fn exponential_times_have_their_mean() {
        let law = TimeLaw::parse("exponential(15ms)").unwrap();
        let mut stream = Stream::new(3, "test", 0);
        let sum: u64 = (0..100_000).map(|_| law.draw(&mut stream).as_ps()).sum();
        // Standard error 0.3 %.
        let mean = real(sum) / 1e5 / 1e9;
        assert!((14.8..15.2).contains(&mean), "{mean}");
    }
}
