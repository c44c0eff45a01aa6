//! The one clock that both ends of every flow share, and times of the simulator by it.

use std::time::{Duration, Instant};

use base::Span;

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

/// A time of the simulator.
pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ps() / 1000)
}
