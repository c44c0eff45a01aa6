//! The clock of the machine, which no simulation reads.

use std::time::{Duration, Instant, SystemTime};

#[expect(
    clippy::disallowed_methods,
    reason = "the command accounts for the cost of a sweep"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a run folder says when it was made, in the file that may differ"
)]
pub(crate) fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
