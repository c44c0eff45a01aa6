//! A paper whose figures are judged as their runs are done.

use std::collections::{BTreeMap, BTreeSet};

use claims::catalogue::Selection;
use claims::judge::{Bench, Bias, Effect, Judged, JudgedFigure, OtherReading, TriedCause, judge};
use claims::{Claim, Experiment, ExperimentChange, MeasuredRun};
use scenario::Problems;

use super::trial::{Role, Trial, changes};
use super::{FigureJob, find, scale, tries};
use crate::request::Figures;

/// A paper whose figures have been run.
pub(super) struct Book<'a> {
    pub(super) selection: &'a Selection,
    /// Its runs by figure.
    runs: BTreeMap<&'a str, (&'a FigureJob, MeasuredRun)>,
}

impl<'a> Book<'a> {
    /// Without any runs yet.
    pub(super) const fn new(selection: &'a Selection) -> Self {
        Self {
            selection,
            runs: BTreeMap::new(),
        }
    }

    /// Adds the runs of `job`. Returns the chosen figures that now have all their runs.
    pub(super) fn add(&mut self, job: &'a FigureJob) -> Result<Vec<&'a Experiment>, Problems> {
        let measured = MeasuredRun::open(&job.folder)?;
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

    /// The claims of a figure, judged without any cause.
    pub(super) fn claims(
        &self,
        asked: &Figures,
        figure: &Experiment,
    ) -> Result<Vec<Judged>, Problems> {
        let bench = self.bench(figure);
        bench.expect(figure.claims.iter());
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

    /// The runs for judging the claims of a figure.
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

    /// The changes to try, each with its runs: every reading and phase of the chosen figures, the causes of figures
    /// with a missed claim, and the same causes for other chosen figures, which they may break.
    pub(super) fn trials(
        &self,
        asked: &Figures,
        phases: &'a [ExperimentChange],
    ) -> Result<Vec<Trial<'a>>, Problems> {
        let (mut chosen, mut missed) = (BTreeSet::new(), BTreeSet::new());
        for figure in self.figures() {
            chosen.insert(figure.runs());
            let bench = self.bench(figure);
            for claim in &figure.claims {
                if tries(asked, judge(claim, &bench)?.verdict.is_missed()) {
                    missed.insert(figure.runs());
                }
            }
        }
        let paper = &self.selection.paper;
        let all = paper.experiments.iter();
        let mut trials = Vec::new();
        for figure in all.filter(|figure| chosen.contains(figure.name.as_str())) {
            let base = self.runs[figure.runs()].0;
            for change in changes(figure, phases) {
                trials.push(Trial::new((paper, figure), change, base, &asked.out));
            }
        }
        let is_wanted = |trial: &Trial<'_>| {
            let mut same = trials.iter().filter(|other| other.is_same(trial));
            trial.role != Role::Cause || same.any(|other| missed.contains(&*other.figure.name))
        };
        let wanted: Vec<bool> = trials.iter().map(is_wanted).collect();
        let mut wanted = wanted.into_iter();
        trials.retain(|_| wanted.next().unwrap_or(false));
        Ok(trials)
    }

    /// Counts what each cause explains and breaks among all claims of the paper about changed runs, in all figures, and
    /// stores the numbers that it moves.
    pub(super) fn weigh(&self, trials: &mut [Trial<'a>]) -> Result<(), Problems> {
        for trial in trials.iter_mut().filter(|trial| trial.role == Role::Cause) {
            for figure in self.sharing(trial.figure) {
                let bench = self.bench(figure);
                let with = bench.with(trial.change, trial.runs.as_ref());
                let claims = figure.claims.iter().filter(|claim| claim.own.is_none());
                with.expect(claims.clone());
                for whole in claims {
                    let Some(claim) = trial.change.tried_on(whole) else {
                        continue;
                    };
                    let (without, with) = (judge(&claim, &bench)?, judge(&claim, &with)?);
                    trial.effect.add(without.verdict, with.verdict);
                    let name = (figure.name.as_str(), whole.id.as_str());
                    trial.moved.extend(with.value.map(|value| (name, value)));
                }
            }
        }
        let sum = |trial: &Trial<'a>| {
            let same = trials.iter().filter(|other| other.is_same(trial));
            let (effects, over): (Vec<Effect>, Vec<&str>) = same
                .map(|other| (other.effect, other.figure.name.as_str()))
                .unzip();
            (effects.into_iter().sum(), over)
        };
        let sums: Vec<(Effect, Vec<&str>)> = trials.iter().map(sum).collect();
        for (trial, sum) in trials.iter_mut().zip(sums) {
            (trial.effect, trial.over) = sum;
        }
        Ok(())
    }

    /// Every chosen figure with its judged claims.
    pub(super) fn judge<'b>(
        &'b self,
        asked: &Figures,
        trials: &'b [Trial<'a>],
    ) -> Result<Vec<JudgedFigure<'b>>, Problems> {
        let mut figures = Vec::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            for trial in trials
                .iter()
                .filter(|trial| trial.figure.shares_runs(figure))
            {
                let with = bench.with(trial.change, trial.runs.as_ref());
                with.expect(figure.claims.iter());
            }
            let mut claims = Vec::new();
            for (claim, mut judged) in figure.claims.iter().zip(self.claims(asked, figure)?) {
                let missed = judged.finding.verdict.is_missed();
                let shared = trials
                    .iter()
                    .filter(|trial| trial.figure.shares_runs(figure));
                judged.readings = self.readings(figure, (claim, &judged), trials)?;
                for trial in shared.clone().filter(|trial| trial.role == Role::Phase) {
                    let bench = bench.with(trial.change, trial.runs.as_ref());
                    let late = OtherReading::new(claim, trial.change, &bench)?;
                    judged.phases.push(late);
                }
                let causes = shared.filter(|trial| trial.role == Role::Cause);
                for trial in causes.filter(|_| tries(asked, missed)) {
                    let Some(claim) = trial.change.tried_on(claim) else {
                        continue;
                    };
                    // At the values at which a cause is tried, the claim may hold even without it.
                    if !tries(asked, judge(&claim, &bench)?.verdict.is_missed()) {
                        continue;
                    }
                    let bench = bench.with(trial.change, trial.runs.as_ref());
                    let mut tried = TriedCause::new(&claim, trial.change, &bench, trial.effect)?;
                    tried.over = trial.over.iter().map(|name| (*name).to_owned()).collect();
                    judged.causes.push(tried);
                }
                claims.push(judged);
            }
            let mut bias = Bias::of(&claims);
            for trial in trials.iter().filter(|trial| trial.role == Role::Cause) {
                if let Some(bias) = bias.as_mut().filter(|_| trial.figure.shares_runs(figure)) {
                    let moved = |judged: &Judged| {
                        let name = (figure.name.as_str(), judged.claim.id.as_str());
                        trial.moved.get(&name).copied()
                    };
                    bias.add_cause(&claims, trial.change.change(), moved);
                }
            }
            figures.push(JudgedFigure {
                experiment: figure,
                bench,
                claims,
                bias,
            });
        }
        Ok(figures)
    }

    /// The verdicts on a claim by every reading of the paper, in the order of the file.
    fn readings(
        &self,
        figure: &'a Experiment,
        (claim, judged): (&Claim, &Judged),
        trials: &[Trial<'a>],
    ) -> Result<Vec<OtherReading>, Problems> {
        let bench = self.bench(figure);
        let runs = find(&self.selection.paper, figure.runs())?;
        let read = |reading: &ExperimentChange| {
            let mut trials = trials.iter();
            let trial = trials
                .find(|trial| trial.role == Role::Reading && std::ptr::eq(trial.change, reading));
            match trial.filter(|_| reading.tried_on(claim).is_some()) {
                Some(trial) => {
                    let with = bench.with(trial.change, trial.runs.as_ref());
                    OtherReading::new(claim, reading, &with)
                }
                // This reading does not change the claim.
                None => Ok(OtherReading {
                    name: reading.id.clone(),
                    says: reading.says.clone(),
                    set: reading.change(),
                    finding: judged.finding.clone(),
                }),
            }
        };
        runs.readings.iter().map(read).collect()
    }
}
