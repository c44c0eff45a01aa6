//! Refuses tolerances so wide that twice the paper's value, or half of it, is accepted.

use super::reader::Reader;
use super::tree::Site;
use crate::{ClaimKind, Number, ShapeClaim, ShapeKind};

impl Reader<'_> {
    /// Reports a tolerance that accepts a factor above 2 in either direction, unless the claim gives a reason; and a
    /// reason without such a tolerance.
    pub(super) fn tolerance(&mut self, claim: Site<'_>, kind: &ClaimKind, excused: bool) {
        let too_wide = match kind {
            ClaimKind::Number(number) => number.accepts_half(),
            ClaimKind::Shape(shape) => shape.accepts_half(),
            ClaimKind::Order(_) => false,
        };
        match (too_wide, excused) {
            (true, false) => {
                let keys = ["within", "tolerance"];
                let key = keys.into_iter().find(|key| claim.has(key));
                let place = claim.key(key.unwrap_or("tolerance")).place();
                let message = "this tolerance accepts less than half or more than twice the value";
                let expected =
                    "at most half of the value, or wide = \"...\" with the reason beside it";
                self.wrong(message, place, expected);
            }
            (false, true) => {
                let message = "this tolerance needs no reason";
                let expected = "no `wide`: it is only for tolerances of less than half or more than twice the value";
                self.wrong(message, claim.key("wide").place(), expected);
            }
            _ => {}
        }
    }
}

impl Number {
    /// Whether it accepts less than half of the paper's value. A deviation of half upwards is only a factor of 1.5. For
    /// the value 0 no level is a share.
    fn accepts_half(&self) -> bool {
        let Some(within) = &self.within else {
            return self.tolerance > HALF;
        };
        let measured = self.of.measure.value_dimension();
        let dimension = self.compare.dimension(measured);
        // The bytes of a full packet differ between runs; a usual size is good enough.
        let scale = dimension.scale(&self.unit, FULL_PACKET);
        let allowed = within.in_column(dimension, FULL_PACKET).zip(scale);
        let least = self.paper.0.abs().min(self.paper.1.abs());
        allowed.is_some_and(|(allowed, scale)| least > 0.0 && allowed / scale > HALF * least + 1e-9)
    }
}

impl ShapeClaim {
    /// Whether the claim accepts less than half of the paper's value.
    fn accepts_half(&self) -> bool {
        let of_level = matches!(
            self.shape,
            ShapeKind::Constant
                | ShapeKind::Above(_)
                | ShapeKind::Below(_)
                | ShapeKind::Near(_)
                | ShapeKind::Reaches(_)
                | ShapeKind::Equal(None)
        );
        of_level && self.tolerance > HALF
    }
}

/// The deviation that leaves half of a value.
const HALF: f64 = 0.5;

/// Bytes of a usual full packet.
const FULL_PACKET: f64 = 1500.0;
