//! Who hears how simulations go on.

use std::num::NonZeroUsize;

use plan::PointSpec;
use sim::sweep::Failure;

/// Hears what becomes of each point, from the thread that ran it.
pub(crate) trait Progress: Sync {
    /// One simulation more is done, which was expected to take so many seconds of the whole.
    fn advance(&self, expected: f64);

    /// Something else is done, such as a table, which was expected to take so many seconds.
    fn worked(&self, _expected: f64) {}

    /// This many simulations run at a time, where this many were wanted.
    fn begins(&self, _jobs: NonZeroUsize, _wanted: Option<NonZeroUsize>) {}

    /// One has failed, which it is also told as done.
    fn failed(&self, _point: &PointSpec, _failure: &Failure) {}
}
