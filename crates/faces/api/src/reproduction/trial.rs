//! Changes with which the claims of a reproduction are judged again: other readings of the paper, random lateness of
//! links, and causes of missed claims.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use claims::catalogue::Selection;
use claims::judge::Effect;
use claims::{Experiment, ExperimentChange, MeasuredRun, Paper};
use plan::PointSpec;
use scenario::Problems;

use super::{Commission, FigureJob, asked_jobs, find, tries};
use crate::request::Figures;
use crate::{forecast, simulate};

/// Why claims are judged again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Another reading of the paper, for every claim.
    Reading,
    /// Random lateness of links, for every claim.
    Phase,
    /// A supposed cause of missed claims.
    Cause,
}

/// A change that is tried.
pub(super) struct Trial<'a> {
    /// The figure whose runs it changes.
    pub(super) figure: &'a Experiment,
    pub(super) role: Role,
    pub(super) change: &'a ExperimentChange,
    /// Its job; `None` if it only changes measures.
    pub(super) job: Option<FigureJob>,
    pub(super) runs: Option<MeasuredRun>,
    /// Its effect on all claims of the figures in `over`.
    pub(super) effect: Effect,
    /// Figures of the paper on whose runs the same cause was tried.
    pub(super) over: Vec<&'a str>,
    /// Our numbers with it, by the figure and the name of the claim.
    pub(super) moved: BTreeMap<(&'a str, &'a str), f64>,
}

impl Role {
    /// The folder of its runs, below the folder of a paper.
    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Reading => "readings",
            Self::Phase => "phase",
            Self::Cause => "causes",
        }
    }
}

impl<'a> Trial<'a> {
    /// A change of the runs of `figure`; `base` has the unchanged runs.
    pub(super) fn new(
        (paper, figure): (&'a Paper, &'a Experiment),
        (role, change): (Role, &'a ExperimentChange),
        base: &FigureJob,
        out: &Path,
    ) -> Self {
        let all = paper.experiments.iter();
        let sharing = all.filter(|other| other.shares_runs(figure));
        let schemes = change.runs(sharing.flat_map(|figure| &figure.claims));
        let folder = out.join(&paper.name).join(role.folder());
        Self {
            figure,
            role,
            change,
            job: base.with(change, &schemes, &folder),
            runs: None,
            effect: Effect::default(),
            over: Vec::new(),
            moved: BTreeMap::new(),
        }
    }

    /// Whether it is the same change as another.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let set = |trial: &Self| trial.change.change();
        self.role == other.role && self.change.id == other.change.id && set(self) == set(other)
    }

    /// Whether its runs are in this folder.
    pub(super) fn is_about(&self, folder: &Path) -> bool {
        self.job.as_ref().is_some_and(|job| job.folder == folder)
    }

    /// Opens what was run for it.
    pub(super) fn open(&mut self) -> Result<(), Problems> {
        let runs = self.job.as_ref().map(|job| MeasuredRun::open(&job.folder));
        self.runs = runs.transpose()?;
        Ok(())
    }
}

/// The changes of a figure by which every claim about its runs is judged, and its causes.
pub(super) fn changes<'a>(
    figure: &'a Experiment,
    phases: &'a [ExperimentChange],
) -> impl Iterator<Item = (Role, &'a ExperimentChange)> {
    let of = |role| move |change| (role, change);
    let readings = figure.readings.iter().filter(|reading| !reading.is_base());
    let always = readings.map(of(Role::Reading));
    let always = always.chain(phases.iter().map(of(Role::Phase)));
    always.chain(figure.causes.iter().map(of(Role::Cause)))
}

/// Upper bounds of links' random lateness for finding results that depend on the order of simultaneous events. Both are
/// small compared with the time of a packet at 1 Gbit/s, 12 us; the second is most of a packet's time at 10 Gbit/s.
pub(super) fn phases(asked: &Figures) -> Vec<ExperimentChange> {
    let bounds = ["100ns", "1us"].iter().filter(|_| asked.phase);
    let changes = bounds.map(|bound| ExperimentChange {
        id: (*bound).to_owned(),
        says: format!("links are late at random, by up to {bound}"),
        set: vec![("link.jitter".to_owned(), (*bound).to_owned())],
        at: Vec::new(),
        weight: None,
        clock: None,
        of_averages: None,
        schemes: Vec::new(),
    });
    changes.collect()
}

/// Seconds that changes may take, if every figure has a missed claim and so tries its causes.
pub(super) fn changes_at_most(
    selections: &[Selection],
    jobs: &[FigureJob],
    Commission { asked, options, .. }: Commission<'_>,
) -> Result<f64, Problems> {
    let at_a_time = asked_jobs(options);
    let phases = phases(asked);
    let mut seconds = 0.0;
    for Selection { paper, figures } in selections {
        let all = paper.experiments.iter();
        let chosen = all.filter(|figure| figures.contains(&figure.name));
        let shown: BTreeSet<&str> = chosen.map(Experiment::runs).collect();
        let is_shown =
            |job: &&FigureJob| job.paper == paper.name && shown.contains(job.figure.as_str());
        for base in jobs.iter().filter(is_shown) {
            let figure = find(paper, &base.figure)?;
            let wanted = changes(figure, &phases)
                .filter(|(role, _)| *role != Role::Cause || tries(asked, true));
            let trials = wanted.map(|change| Trial::new((paper, figure), change, base, &asked.out));
            for job in trials.filter_map(|trial| trial.job) {
                let scenario = job.scenario()?;
                let points: Vec<&PointSpec> = scenario.points().iter().collect();
                seconds += simulate::expected(&points, false, at_a_time)
                    + forecast::tables(scenario.points())
                    + forecast::judging(scenario.points());
            }
        }
    }
    Ok(seconds)
}
