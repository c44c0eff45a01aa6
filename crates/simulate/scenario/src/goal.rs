//! Goals: requirements of a user on results, as in `reads.fct_p99 < 10ms`.

use base::cast::real;
use base::{Column, Quantity, Rate, Span, WireSize};

use plan::metric::{Selector, Unknown, short};

/// A requirement: a metric on the left, a threshold with its unit on the right.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The metric that is judged.
    pub selector: Selector,
    /// The comparison between metric and threshold.
    pub comparison: GoalSide,
    /// The threshold, in the unit of the metric.
    pub threshold: f64,
    /// The threshold as it was written.
    pub written: String,
}

base::names! {
    /// The side of a threshold on which a goal is met.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GoalSide {
        /// `<`
        Below = "<",
        /// `<=`
        AtMost = "<=",
        /// `>`
        Above = ">",
        /// `>=`
        AtLeast = ">=",
    }
}

impl Goal {
    /// Reads `[GROUP.]METRIC COMPARISON THRESHOLD`.
    pub fn parse(text: &str) -> Result<Self, Unknown> {
        let text = text.trim();
        // The name of a class may begin with a comparison sign; a threshold never contains one.
        let found = text.rfind(['<', '>']).filter(|at| *at > 0);
        let Some(at) = found else {
            return Err(Unknown {
                cause: format!("there is no comparison in {text:?}"),
                remedy: EXAMPLES.to_owned(),
            });
        };
        let (left, right) = text.split_at(at);
        let (comparison, length) = match right.as_bytes() {
            [b'<', b'=', ..] => (GoalSide::AtMost, 2),
            [b'<', ..] => (GoalSide::Below, 1),
            [_, b'=', ..] => (GoalSide::AtLeast, 2),
            _ => (GoalSide::Above, 1),
        };
        let written = right[length..].trim();
        let selector = Selector::parse(left)?;
        let threshold = amount(written, selector.column())?;
        Ok(Self {
            selector,
            comparison,
            threshold,
            written: written.to_owned(),
        })
    }
}

impl GoalSide {
    /// Whether a goal with this comparison is met by `value`; not by `NaN`.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
        }
    }

    /// Whether smaller values are nearer to the goal.
    pub fn wants_less(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {}",
            self.selector,
            self.comparison.name(),
            self.written
        )
    }
}

/// The number in `text`, converted to the unit of `column`.
pub fn amount(text: &str, column: &Column) -> Result<f64, Unknown> {
    let read = match column.unit {
        "us" => Span::parse(text).map(Span::as_micros),
        "bit/s" => Rate::parse(text).map(|rate| real(rate.as_bps())),
        // A size in packets would depend on the packet size. If two packet sizes give different results, the text was
        // in packets.
        "bytes" => WireSize::parse(text).map(|size| {
            let (none, one) = (size.in_bytes(0), size.in_bytes(1));
            if none == one { real(none) } else { f64::NAN }
        }),
        _ => return share(text, column),
    };
    let expected = match column.unit {
        "us" => Span::expected(),
        "bit/s" => Rate::expected(),
        _ => "a size in bytes, as in \"100KB\"".to_owned(),
    };
    let read = read.ok().filter(|value| !value.is_nan());
    read.ok_or_else(|| wrong(text, column, &expected))
}

/// A count, a share or a percentage.
fn share(text: &str, column: &Column) -> Result<f64, Unknown> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) if column.unit.is_empty() => (number.trim_end(), 100.0),
        _ => (text, 1.0),
    };
    let read = number.parse::<f64>().ok();
    let expected = if column.unit.is_empty() {
        "a number, as in 0.95 or 95%"
    } else {
        "a number, as in 0"
    };
    read.filter(|value| value.is_finite() && *value >= 0.0)
        .map(|value| value / scale)
        .ok_or_else(|| wrong(text, column, expected))
}

fn wrong(text: &str, column: &Column, expected: &str) -> Unknown {
    Unknown {
        cause: format!(
            "wrong threshold for {}: expected {expected}; found {text:?}",
            short(column.name)
        ),
        remedy: EXAMPLES.to_owned(),
    }
}

/// The form of a goal.
const EXAMPLES: &str = "a goal is a metric, a comparison (<, <=, > or >=) and a threshold with its unit, \
                        as in \"reads.fct_p99 < 10ms\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_has_its_threshold_in_the_unit_of_its_metric() {
        let threshold = |text: &str| Goal::parse(text).unwrap().threshold.to_string();
        assert_eq!(threshold("reads.fct_p99 < 10ms"), "10000");
        assert_eq!(threshold("goodput>=9Gbps"), "9000000000");
        assert_eq!(threshold("queue_max <= 1.5KB"), "1500");
        assert_eq!(threshold("timeouts <= 0"), "0");
        assert_eq!(threshold("fairness > 95%"), "0.95");
        let class = Goal::parse("<=100KB.p99<1ms").unwrap();
        assert_eq!(class.to_string(), "<=100KB.fct_p99 < 1ms");
        assert_eq!(class.comparison, GoalSide::Below);
    }

    #[test]
    fn what_is_no_goal_says_why() {
        let cause = |text: &str| Goal::parse(text).unwrap_err().cause;
        assert!(cause("fct_p99").contains("no comparison"));
        assert!(cause("fct_p99 < 10").contains("expected a time"));
        assert!(cause("fct_p99 < 10KB").contains("expected a time"));
        assert!(cause("queue_max < 10pkt").contains("size in bytes"));
        assert!(cause("timeouts < many").contains("expected a number"));
        assert!(cause("p98 < 1ms").contains("no metric"));
        assert!(cause("< 1ms").contains("no comparison"));
    }
}
