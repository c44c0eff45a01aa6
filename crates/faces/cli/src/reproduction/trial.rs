//! Causes of what a reproduction misses, as they are tried.

use std::collections::BTreeMap;
use std::path::Path;

use claims::judge::Effect;
use claims::{Cause, Experiment, Measured};
use scenario::Problems;

use super::Job;

/// A cause that is tried.
pub(super) struct Trial<'a> {
    /// The figure whose runs it changes.
    pub(super) figure: &'a Experiment,
    pub(super) cause: &'a Cause,
    /// What it runs; none if it only measures otherwise.
    pub(super) job: Option<Job>,
    pub(super) runs: Option<Measured>,
    pub(super) effect: Effect,
    /// Our numbers with it, by the figure and the name of the claim.
    pub(super) moved: BTreeMap<(&'a str, &'a str), f64>,
}

impl Trial<'_> {
    /// Whether it is run into this folder.
    pub(super) fn is_about(&self, folder: &Path) -> bool {
        self.job.as_ref().is_some_and(|job| job.folder == folder)
    }

    /// Opens what was run for it.
    pub(super) fn open(&mut self) -> Result<(), Problems> {
        let runs = self.job.as_ref().map(|job| Measured::open(&job.folder));
        self.runs = runs.transpose()?;
        Ok(())
    }
}
