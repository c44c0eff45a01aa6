//! The clock of the machine. No simulation reads it.

use std::time::{Duration, Instant, SystemTime};

/// The time now, to measure how long something takes.
#[expect(clippy::disallowed_methods, reason = "a run accounts for its cost")]
pub fn now() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "a run folder says when it was made, in the file that may differ"
)]
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
