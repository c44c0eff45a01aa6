//! The one clock that both ends of every flow share, and times of the simulator by it.

use std::time::{Duration, Instant};

use base::Span;
use base::cast::wide;

/// The time by the clock.
#[expect(
    clippy::disallowed_methods,
    reason = "flows of real stacks take real time"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// A time in microseconds, as in results.
pub fn micros(time: Duration) -> f64 {
    wide(time.as_nanos()) / 1e3
}

/// A time of the simulator.
pub fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ps() / 1000)
}
