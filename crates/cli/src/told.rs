//! Who hears how simulations go on.

use std::num::NonZeroUsize;

use scenario::PointSpec;
use sim::sweep::Failure;

/// Hears what becomes of each point, from the thread that ran it.
pub(crate) trait Progress: Sync {
    /// One simulation more is done.
    fn advance(&self);

    /// This many simulations run at a time, where this many were wanted.
    fn begins(&self, _jobs: NonZeroUsize, _wanted: Option<NonZeroUsize>) {}

    /// One has failed, which it is also told as done.
    fn failed(&self, _point: &PointSpec, _failure: &Failure) {}
}
