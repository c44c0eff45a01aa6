//! Numbers of the simulator as real ones, and back.

use base::Rate;
use base::cast::real;

/// Bits per second of a rate.
pub(crate) fn bits(rate: Rate) -> f64 {
    real(rate.as_bps())
}

/// The whole part of a number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of samples, checked to be few"
)]
pub(crate) fn whole(number: f64) -> usize {
    libm::floor(number + ROUNDING) as usize
}

/// Sums of times are this exact.
pub(crate) const ROUNDING: f64 = 1e-9;
