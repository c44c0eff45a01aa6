//! Refuses claims that no result can contradict.

use super::reader::Reader;
use super::tree::Site;
use crate::{ClaimKind, Compare, Number, Operand, Rank, ShapeClaim, ShapeKind};

impl Reader<'_> {
    /// Reports a claim that always holds, as far as the file shows it. Cases that only results show, such as an order
    /// of zeros, are left to the judge.
    pub(super) fn can_fail(&mut self, claim: Site<'_>, kind: &ClaimKind) {
        let (holds, key) = match kind {
            ClaimKind::Number(number) => (number.covers_all(), "paper"),
            ClaimKind::Order(order) => (order.rank.is_alone(), "among"),
            ClaimKind::Shape(shape) => (shape.always_holds(), "level"),
        };
        if holds {
            let place = claim.key(key).place();
            let expected = "something that a result could contradict";
            self.wrong("this claim cannot fail", place, expected);
        }
    }
}

impl Number {
    /// Whether the paper's range contains every possible value.
    fn covers_all(&self) -> bool {
        let measured = self.of.measure.value_dimension();
        let dimension = self.compare.dimension(measured);
        // The bytes of a full packet differ between runs; the size does not matter for the bounds 0 and 1.
        let Some(scale) = dimension.scale(&self.unit, 1500.0) else {
            return false;
        };
        let (low, high) = (self.paper.0 * scale, self.paper.1 * scale);
        let (least, greatest) = match self.compare {
            Compare::Value => (self.of.measure.least(), self.of.measure.greatest()),
            Compare::Ratio => (0.0, f64::INFINITY),
            Compare::Reduction => (f64::NEG_INFINITY, 1.0),
            Compare::Increase => (-1.0, f64::INFINITY),
            Compare::Difference => return false,
        };
        low < high && low <= least && high >= greatest
    }
}

impl Rank {
    /// Whether there is nothing to compare with.
    fn is_alone(&self) -> bool {
        match self {
            Self::Lowest { of, among, .. } | Self::Highest { of, among, .. } => {
                among.iter().all(|other| other == of)
            }
            Self::Sorted(all) => all.windows(2).all(|pair| pair[0] == pair[1]),
        }
    }
}

impl ShapeClaim {
    /// Whether every possible value is beyond the level, or there is nothing to compare.
    fn always_holds(&self) -> bool {
        let bounded = |operand: &Operand, level: &crate::Level| {
            let (least, greatest) = (operand.measure.least(), operand.measure.greatest());
            let level = level.in_column(operand.measure.value_dimension(), 1500.0);
            level.map(|level| (least, level, self.tolerance * level.abs(), greatest))
        };
        let all = |holds: &dyn Fn(f64, f64, f64, f64) -> bool, level| {
            let mut each = self.of.iter().map(|operand| bounded(operand, level));
            !self.of.is_empty()
                && each.all(|bounds| bounds.is_some_and(|(a, b, c, d)| holds(a, b, c, d)))
        };
        match &self.shape {
            ShapeKind::Above(level) => all(&|least, level, off, _| least > level - off, level),
            ShapeKind::Below(level) => all(&|_, level, off, most| most < level + off, level),
            ShapeKind::Reaches(level) => all(&|least, level, off, _| least >= level - off, level),
            ShapeKind::Near(level) => all(
                &|least, level, off, most| least >= level - off && most <= level + off,
                level,
            ),
            ShapeKind::Equal(_) => self.of.windows(2).all(|pair| pair[0] == pair[1]),
            _ => false,
        }
    }
}
