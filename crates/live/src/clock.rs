//! The one clock that both ends of every flow share.

use std::time::{Duration, Instant};

#[expect(
    clippy::disallowed_methods,
    reason = "flows of real stacks take real time"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
