//! Numbers of the simulator as real ones, and back.

use base::Rate;

/// Bits per second of a rate.
#[expect(clippy::cast_precision_loss, reason = "a rate has fewer than 53 bits")]
pub(crate) fn bits(rate: Rate) -> f64 {
    rate.as_bps() as f64
}

/// A number of bytes or packets.
#[expect(clippy::cast_precision_loss, reason = "fewer bytes than 2^53")]
pub(crate) fn real(number: u64) -> f64 {
    number as f64
}

/// A number of samples.
#[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
pub(crate) fn count(number: usize) -> f64 {
    number as f64
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
