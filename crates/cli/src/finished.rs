//! A scenario that has been run: what is printed in one form or another.

use std::num::NonZeroUsize;
use std::time::Duration;

use lab::metrics::Outcome;
use lab::scenario::{PointSpec, Scenario};
use lab::sweep::Failure;

/// A scenario and what came out of it.
pub(crate) struct Finished<'a> {
    pub(crate) scenario: &'a Scenario,
    /// One for each point of the scenario, in the same order.
    pub(crate) results: Vec<Result<Outcome, Failure>>,
    /// Wall-clock time of the whole sweep.
    pub(crate) wall: Duration,
    pub(crate) jobs: NonZeroUsize,
}

impl Finished<'_> {
    /// Points with their outcomes, those that failed left out.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = (&PointSpec, &Outcome)> {
        let pairs = self.scenario.points().iter().zip(&self.results);
        pairs.filter_map(|(point, result)| Some((point, result.as_ref().ok()?)))
    }

    /// Points without an outcome, and why.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&PointSpec, &Failure)> {
        let pairs = self.scenario.points().iter().zip(&self.results);
        pairs.filter_map(|(point, result)| Some((point, result.as_ref().err()?)))
    }
}
