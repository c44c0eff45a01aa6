//! The measures of a ranking in words.

use results::{RankingMeasure, Row};

use crate::words::{bytes, percent, rate, time};

/// A measure in words.
pub(super) trait InWords {
    /// Its value for a row.
    fn shown(self, row: &Row) -> String;

    /// A value of its metric.
    fn amount(self, value: f64) -> String;

    /// `14 % less`, if the other's cost is this many times the leader's.
    fn lead(self, ratio: f64) -> String;

    /// The direction of better values.
    fn direction(self) -> &'static str;
}

impl InWords for RankingMeasure {
    fn shown(self, row: &Row) -> String {
        self.amount(self.value(row))
    }

    fn amount(self, value: f64) -> String {
        match self {
            Self::Tail => time(value),
            Self::Goodput => rate(value),
            Self::Queue => bytes(value),
        }
    }

    fn lead(self, ratio: f64) -> String {
        format!("{} {}", percent(self.share(ratio)), self.direction())
    }

    fn direction(self) -> &'static str {
        match self {
            Self::Goodput => "more",
            Self::Tail | Self::Queue => "less",
        }
    }
}
