//! Numbers of the simulator as real ones, and back.

use base::Rate;
use base::cast;
use base::cast::{index, real};

/// Bits per second of a rate.
pub(crate) fn bits(rate: Rate) -> f64 {
    real(rate.as_bps())
}

/// The whole part of a number that is not negative.
pub(crate) fn whole(number: f64) -> usize {
    index(cast::whole(libm::floor(number + ROUNDING)))
}

/// Sums of times are this exact.
pub(crate) const ROUNDING: f64 = 1e-9;
