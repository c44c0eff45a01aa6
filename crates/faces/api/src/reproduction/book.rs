//! A paper whose figures are judged as their runs are done.

use std::collections::{BTreeMap, BTreeSet};

use claims::catalogue::Selection;
use claims::judge::{Bench, Bias, Effect, Figure, Judged, Tried, judge};
use claims::{Experiment, Measured};
use scenario::Problems;

use super::trial::Trial;
use super::{Job, find, scale, tries};
use crate::request::Figures;

/// A paper whose figures have been run.
pub(super) struct Book<'a> {
    pub(super) selection: &'a Selection,
    /// Its runs by figure.
    runs: BTreeMap<&'a str, (&'a Job, Measured)>,
}

impl<'a> Book<'a> {
    /// Without any runs yet.
    pub(super) const fn new(selection: &'a Selection) -> Self {
        Self {
            selection,
            runs: BTreeMap::new(),
        }
    }

    /// Adds what was run for `job`: the chosen figures that were waiting for nothing else.
    pub(super) fn add(&mut self, job: &'a Job) -> Result<Vec<&'a Experiment>, Problems> {
        let measured = Measured::open(&job.folder)?;
        self.runs.insert(job.figure.as_str(), (job, measured));
        let paper = &self.selection.paper;
        let mut ready = Vec::new();
        for figure in self.figures() {
            let mut needed = vec![figure.runs()];
            for other in figure.references() {
                needed.push(find(paper, other)?.runs());
            }
            let is_last = needed.contains(&job.figure.as_str());
            if is_last && needed.iter().all(|runs| self.runs.contains_key(runs)) {
                ready.push(figure);
            }
        }
        Ok(ready)
    }

    /// The claims of a figure as they are judged without any cause.
    pub(super) fn claims(
        &self,
        asked: &Figures,
        figure: &Experiment,
    ) -> Result<Vec<Judged>, Problems> {
        let bench = self.bench(figure);
        let run = find(&self.selection.paper, figure.runs())?;
        let full = run.full.scale.as_ref().filter(|_| asked.full);
        let scale = scale(full.unwrap_or(&figure.scale), asked);
        let claims = figure.claims.iter();
        claims
            .map(|claim| Judged::new(figure, claim, &bench, &scale))
            .collect()
    }

    /// The chosen figures.
    fn figures(&self) -> impl Iterator<Item = &'a Experiment> {
        let Selection { paper, figures } = self.selection;
        let all = paper.experiments.iter();
        all.filter(|figure| figures.contains(&figure.name))
    }

    /// The runs by which the claims of a figure are judged.
    fn bench(&self, figure: &'a Experiment) -> Bench<'_> {
        let paper = &self.selection.paper;
        let others = figure.references().into_iter().filter_map(|name| {
            let runs = find(paper, name).ok()?.runs();
            Some((name, &self.runs.get(runs)?.1))
        });
        Bench {
            own: &self.runs[figure.runs()].1,
            others: others.collect(),
            changed: None,
        }
    }

    /// The figures of the paper, chosen or not, that show the runs of this one.
    fn sharing(&self, figure: &'a Experiment) -> impl Iterator<Item = &'a Experiment> {
        let all = self.selection.paper.experiments.iter();
        all.filter(|other| other.shares_runs(figure))
    }

    /// The causes to try, each with what it runs.
    pub(super) fn trials(&self, asked: &Figures) -> Result<Vec<Trial<'a>>, Problems> {
        let mut wanted = BTreeSet::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            for claim in &figure.claims {
                if tries(asked, judge(claim, &bench)?.verdict.is_missed()) {
                    wanted.insert(figure.runs());
                }
            }
        }
        let paper = &self.selection.paper;
        let all = paper.experiments.iter();
        let mut trials = Vec::new();
        for figure in all.filter(|figure| wanted.contains(figure.name.as_str())) {
            let job = self.runs[figure.runs()].0;
            for (cause, job) in job.trials(paper, figure, &asked.out) {
                trials.push(Trial {
                    figure,
                    cause,
                    job,
                    runs: None,
                    effect: Effect::default(),
                    moved: BTreeMap::new(),
                });
            }
        }
        Ok(trials)
    }

    /// Counts what each cause explains and breaks among all claims about the runs that it changes, and keeps
    /// the numbers that it moves.
    pub(super) fn weigh(&self, trials: &mut [Trial<'a>]) -> Result<(), Problems> {
        for trial in trials {
            for figure in self.sharing(trial.figure) {
                let bench = self.bench(figure);
                let with = bench.with(trial.cause, trial.runs.as_ref());
                let claims = figure.claims.iter().filter(|claim| claim.own.is_none());
                for whole in claims {
                    let Some(claim) = trial.cause.tried_on(whole) else {
                        continue;
                    };
                    let (without, with) = (judge(&claim, &bench)?, judge(&claim, &with)?);
                    trial.effect.add(without.verdict, with.verdict);
                    let name = (figure.name.as_str(), whole.id.as_str());
                    trial.moved.extend(with.value.map(|value| (name, value)));
                }
            }
        }
        Ok(())
    }

    /// Every chosen figure with its claims judged.
    pub(super) fn judge<'b>(
        &'b self,
        asked: &Figures,
        trials: &'b [Trial<'a>],
    ) -> Result<Vec<Figure<'b>>, Problems> {
        let mut figures = Vec::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            let mut claims = Vec::new();
            for (claim, mut judged) in figure.claims.iter().zip(self.claims(asked, figure)?) {
                let missed = judged.finding.verdict.is_missed();
                let shared = trials
                    .iter()
                    .filter(|trial| tries(asked, missed) && trial.figure.shares_runs(figure));
                for trial in shared {
                    let Some(claim) = trial.cause.tried_on(claim) else {
                        continue;
                    };
                    // Of the values at which it is tried the claim may hold anyway.
                    if !tries(asked, judge(&claim, &bench)?.verdict.is_missed()) {
                        continue;
                    }
                    let bench = bench.with(trial.cause, trial.runs.as_ref());
                    let tried = Tried::new(&claim, trial.cause, &bench, trial.effect)?;
                    judged.causes.push(tried);
                }
                claims.push(judged);
            }
            let mut bias = Bias::of(&claims);
            for trial in trials {
                if let Some(bias) = bias.as_mut().filter(|_| trial.figure.shares_runs(figure)) {
                    let moved = |judged: &Judged| {
                        let name = (figure.name.as_str(), judged.claim.id.as_str());
                        trial.moved.get(&name).copied()
                    };
                    bias.add_cause(&claims, trial.cause.change(), moved);
                }
            }
            figures.push(Figure {
                experiment: figure,
                bench,
                claims,
                bias,
            });
        }
        Ok(figures)
    }
}
