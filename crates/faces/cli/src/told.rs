//! Who hears how simulations go on.

use std::num::NonZeroUsize;

use plan::PointSpec;
use sim::sweep::Failure;

/// Hears what becomes of each point, from the thread that ran it.
pub(crate) trait Progress: Sync {
    /// Another simulation is done, which was expected to take `expected` seconds.
    fn advance(&self, expected: f64);

    /// Another piece of work is done, such as a table, which was expected to take this many seconds.
    fn worked(&self, _expected: f64) {}

    /// This many simulations run at a time, where this many were wanted.
    fn begins(&self, _jobs: NonZeroUsize, _wanted: Option<NonZeroUsize>) {}

    /// One has failed, which it is also told as done.
    fn failed(&self, _point: &PointSpec, _failure: &Failure) {}
}
