//! Causes of what a reproduction misses, as they are tried.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use claims::catalogue::Selection;
use claims::judge::Effect;
use claims::{Cause, Experiment, Measured};
use plan::PointSpec;
use scenario::Problems;

use super::{Commission, Job, asked_jobs, find, tries};
use crate::{forecast, simulate};

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

/// Seconds that trying causes may take: those of all figures, as if a claim of each were missed.
pub(super) fn causes_at_most(
    selections: &[Selection],
    jobs: &[Job],
    Commission { asked, options, .. }: Commission<'_>,
) -> Result<f64, Problems> {
    let at_a_time = asked_jobs(options);
    let mut seconds = 0.0;
    for Selection { paper, figures } in selections.iter().filter(|_| tries(asked, true)) {
        let all = paper.experiments.iter();
        let chosen = all.filter(|figure| figures.contains(&figure.name));
        let shown: BTreeSet<&str> = chosen.map(Experiment::runs).collect();
        let is_shown = |job: &&Job| job.paper == paper.name && shown.contains(job.figure.as_str());
        for job in jobs.iter().filter(is_shown) {
            let trials = job.trials(paper, find(paper, &job.figure)?, &asked.out);
            for job in trials.into_iter().filter_map(|(_, job)| job) {
                let scenario = job.scenario()?;
                let points: Vec<&PointSpec> = scenario.points().iter().collect();
                seconds += simulate::expected(&points, false, at_a_time)
                    + forecast::tables(scenario.points())
                    + forecast::judging(scenario.points(), job.claims);
            }
        }
    }
    Ok(seconds)
}
