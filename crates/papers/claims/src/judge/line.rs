//! The values of one operand of an order or a shape along the axes.

use scenario::Problems;

use super::bench::Bench;
use super::swept::SweptValues;
use super::words::display;
use crate::unit::Dimension;
use crate::{Average, Claim, Level, Operand};

/// An operand with its measurements.
pub(super) struct OperandValues<'a> {
    pub(super) label: &'a str,
    pub(super) along: SweptValues,
    dimension: Dimension,
    /// The average that is judged instead of each value.
    average: Option<Average>,
}

impl<'a> OperandValues<'a> {
    /// Measures each operand.
    pub(super) fn all(
        claim: &Claim,
        operands: impl IntoIterator<Item = &'a Operand>,
        average: Option<Average>,
        bench: &Bench<'_>,
    ) -> Result<Vec<Self>, Problems> {
        let lines = operands.into_iter().map(|operand| {
            Ok(Self {
                label: &operand.label,
                along: bench.along(claim, operand)?,
                dimension: operand.measure.value_dimension(),
                average,
            })
        });
        lines.collect()
    }

    /// The value at a place; the average if the claim is about the average.
    pub(super) fn value(&self, place: usize) -> f64 {
        match self.average {
            Some(average) => self.along.averaged(average),
            None => self.along.mean(place),
        }
    }

    /// The values at all places.
    pub(super) fn means(&self) -> impl Iterator<Item = f64> {
        (0..self.along.len()).map(|place| self.along.mean(place))
    }

    /// A level in the unit of the values.
    pub(super) fn level(&self, level: &Level) -> f64 {
        let level = level.in_column(self.dimension, self.along.packet);
        level.unwrap_or(f64::NAN)
    }

    /// A value as people read it.
    pub(super) fn display(&self, value: f64) -> String {
        display(value, self.dimension)
    }

    /// The name and the value at a place.
    pub(super) fn say(&self, place: usize) -> String {
        format!("{} {}", self.label, self.display(self.value(place)))
    }

    /// A text with the place to which it refers.
    pub(super) fn at(&self, place: usize, text: &str) -> String {
        let name = self.along.name(place);
        if self.average.is_some() || name.is_empty() {
            text.to_owned()
        } else {
            format!("at {name} {text}")
        }
    }
}

/// The number of compared values: one if the claim is about averages.
pub(super) fn places(lines: &[OperandValues<'_>]) -> usize {
    let averaged = lines.iter().any(|line| line.average.is_some());
    let places = lines.iter().map(|line| line.along.len()).max();
    places
        .unwrap_or(0)
        .min(if averaged { 1 } else { usize::MAX })
}
