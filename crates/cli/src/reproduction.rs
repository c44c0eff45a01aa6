//! The figures of papers: run, judged, and their causes tried.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use claims::catalogue::{self, Selection};
use claims::judge::{Bench, Bias, Effect, Figure, Judged, Standing, Tried, Verdict, judge};
use claims::{Cause, Experiment, Measured, Paper};
use results::{self, Access, Host, RunInfo, Store};
use scenario::{Overrides, PointSpec, Problem, Problems, Scenario};

use crate::clock;
use crate::elsewhere::Elsewhere;
use crate::output::Stop;
use crate::request::{Causes, Figures};
use crate::simulate::{self, Room, Simulations};
use crate::told::Progress;

mod trial;

use trial::Trial;

/// Who asked for figures: hears how it goes on, and ends it.
pub(crate) trait Front: Sync {
    /// Becomes true when the runs are to end.
    fn stop(&self) -> &AtomicBool;

    /// Who simulates, if not this process.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }

    /// Calls `work` once, which runs this many simulations of about this many steps and says whether any
    /// failed.
    fn during(
        &self,
        runs: &[Run],
        simulations_and_steps: (usize, f64),
        work: Work<'_>,
    ) -> Result<bool, Stop>;

    /// Hears why something is run anew.
    fn hint(&self, line: &str);
}

/// Runs simulations and tells what becomes of each.
pub(crate) type Work<'a> = &'a mut dyn FnMut(&dyn Progress) -> Result<bool, Stop>;

/// Papers with their figures that have been judged.
pub(crate) type Judgement<'a> = [(&'a Paper, Vec<Figure<'a>>)];

/// Runs what is missing, tries causes, writes the pages of papers, and hands what was judged to `give`.
/// Whether a simulation failed, and what `give` made of it.
pub(crate) fn reproduce<T>(
    asked: &Figures,
    front: &dyn Front,
    give: &mut dyn FnMut(&Judgement<'_>) -> Result<T, Stop>,
) -> Result<(bool, T), Stop> {
    let selections = catalogue::find(&asked.what)?;
    let mut jobs = Vec::new();
    for selection in &selections {
        jobs.extend(Job::of_paper(selection, asked)?);
    }
    let mut failed = run_all(&jobs, asked, front)?;
    let mut books = Vec::new();
    for selection in &selections {
        let paper_jobs = jobs.iter().filter(|job| job.paper == selection.paper.name);
        books.push(Book::open(selection, paper_jobs)?);
    }
    let mut trials = Vec::new();
    for book in &books {
        trials.push(book.trials(asked)?);
    }
    let cause_jobs = trials.iter().flatten();
    let cause_jobs: Vec<Job> = cause_jobs.filter_map(|trial| trial.job.clone()).collect();
    failed |= run_all(&cause_jobs, asked, front)?;
    for trial in trials.iter_mut().flatten() {
        trial.open()?;
    }

    let mut judged = Vec::new();
    for (book, trials) in books.iter().zip(&mut trials) {
        book.weigh(trials)?;
        judged.push((&book.selection.paper, book.judge(asked, trials)?));
    }
    if asked.report {
        for (paper, figures) in &judged {
            let reproduction = ::report::Reproduction {
                paper,
                figures,
                full: asked.full,
            };
            let page = asked.out.join(&paper.name).join(crate::report::NAME);
            ::report::write_paper(&reproduction, &page).map_err(Problems::from)?;
        }
    }
    Ok((failed, give(&judged)?))
}

/// Whether a claim that counts is not reproduced, even in part.
pub(crate) fn misses_any(judged: &Judgement<'_>) -> bool {
    let missed = |judged: &Judged| {
        judged.finding.verdict == Verdict::NotReproduced
            && !matches!(judged.standing, Standing::Own(_))
    };
    let mut all = judged.iter().flat_map(|(_, figures)| figures);
    all.any(|figure| figure.claims.iter().any(missed))
}

/// A scenario of a figure and the folder that it is run into.
#[derive(Clone)]
struct Job {
    paper: String,
    figure: String,
    folder: PathBuf,
    overrides: Overrides,
    source: scenario::Source,
    /// Whether the folder gets a report of its own.
    report: bool,
}

impl Job {
    /// One for each scenario that the chosen figures of a paper show or refer to.
    fn of_paper(selection: &Selection, asked: &Figures) -> Result<Vec<Self>, Problems> {
        let paper = &selection.paper;
        let mut needed = BTreeSet::new();
        for name in &selection.figures {
            let figure = find(paper, name)?;
            needed.insert(figure.runs());
            for other in figure.references() {
                needed.insert(find(paper, other)?.runs());
            }
        }
        let needed = paper
            .experiments
            .iter()
            .filter(|figure| needed.contains(figure.name.as_str()));
        Ok(needed.map(|figure| Self::of(figure, asked)).collect())
    }

    fn of(figure: &Experiment, asked: &Figures) -> Self {
        let mut overrides = Overrides {
            seeds: asked.seeds,
            ..Overrides::default()
        };
        if asked.full {
            overrides.seeds = asked.seeds.or(figure.full.seeds);
            let sets = figure.full.set.iter();
            overrides.sets = sets.map(|(key, value)| format!("{key}={value}")).collect();
        }
        Self {
            paper: figure.paper.clone(),
            figure: figure.name.clone(),
            folder: asked.out.join(&figure.paper).join(&figure.name),
            overrides,
            source: figure.source.clone(),
            report: asked.report,
        }
    }

    /// The same as a cause has it, with these schemes alone; none if the cause needs no other runs.
    fn with(&self, cause: &Cause, schemes: &BTreeSet<&str>, out: &Path) -> Option<Self> {
        if cause.set.is_empty() {
            return None;
        }
        let mut overrides = self.overrides.clone();
        for (key, value) in &cause.set {
            let same = format!("{key}=");
            overrides.sets.retain(|set| !set.starts_with(&same));
            overrides.sets.push(format!("{key}={value}"));
        }
        for (key, values) in &cause.at {
            let same = format!("{key}=");
            overrides.sets.retain(|set| !set.starts_with(&same));
            overrides.sets.push(format!("{same}{}", values.join(",")));
        }
        if !schemes.is_empty() {
            let schemes: Vec<&str> = schemes.iter().copied().collect();
            overrides.schemes = Some(schemes.join(","));
        }
        let folder = out.join(&self.paper).join("causes");
        Some(Self {
            folder: folder.join(&self.figure).join(&cause.id),
            overrides,
            report: false,
            ..self.clone()
        })
    }

    /// The scenario; seeds of one in which nothing is random would all give the same.
    fn scenario(&self) -> Result<Scenario, Problems> {
        let scenario = Scenario::load(self.source.clone(), &self.overrides)?;
        if scenario.is_random() || scenario.seeds() == 1 {
            return Ok(scenario);
        }
        let overrides = Overrides {
            seeds: Some(NonZeroU32::MIN),
            ..self.overrides.clone()
        };
        Scenario::load(self.source.clone(), &overrides)
    }

    /// The folder as it is to be continued; none if there is nothing to do.
    fn open(&self, scenario: &Scenario, front: &dyn Front) -> Result<Option<Store>, Problems> {
        let replaced = match Store::open(&self.folder, scenario, None, Access::Resume) {
            Ok(store) if !store.is_assembled() => return Ok(Some(store)),
            Ok(store) => {
                let folder = store.read()?;
                let summary = folder.summary();
                if summary.seeds == scenario.seeds() && summary.failures.is_empty() {
                    // An interruption may have left the points that everything was made from.
                    store.complete()?;
                    return Ok(None);
                }
                if summary.seeds == scenario.seeds() {
                    return Ok(Some(store));
                }
                format!("{} seeds", summary.seeds)
            }
            // What is no run folder is not ours to clear.
            Err(problems) if !self.folder.join("scenario.toml").is_file() => return Err(problems),
            Err(_) => "another scenario or version".to_owned(),
        };
        results::clear(&self.folder)?;
        let folder = self.folder.display();
        front.hint(&format!("{folder} held {replaced}: it is run anew"));
        Store::open(&self.folder, scenario, None, Access::Resume).map(Some)
    }
}

/// A scenario that is to be run, and where.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) store: Store,
    /// Whether the folder gets a report of its own.
    report: bool,
}

/// Runs what is missing of all jobs, and says whether a simulation failed.
fn run_all(jobs: &[Job], asked: &Figures, front: &dyn Front) -> Result<bool, Stop> {
    let mut open = Vec::new();
    let (mut total, mut steps) = (0, 0.0);
    // Every scenario is checked before the first is run.
    for job in jobs {
        let scenario = job.scenario()?;
        if let Some(store) = job.open(&scenario, front)? {
            let missing = store.missing(&scenario, None)?;
            total += missing.len();
            steps += simulate::steps(missing.into_iter(), true);
            open.push(Run {
                scenario,
                store,
                report: job.report,
            });
        }
    }
    front.during(&open, (total, steps), &mut |progress| {
        let mut failed = false;
        for run in &open {
            failed |= run_one(run, asked, (front, progress))?;
        }
        Ok(failed)
    })
}

fn run_one(
    run: &Run,
    asked: &Figures,
    (front, progress): (&dyn Front, &dyn Progress),
) -> Result<bool, Stop> {
    let (scenario, store) = (&run.scenario, &run.store);
    let start = clock::now();
    let started_unix_s = clock::unix_seconds();
    let missing: Vec<&PointSpec> = store.missing(scenario, None)?;
    let room = Room::for_points(&missing, Some(store.folder()), &asked.allowance)?;
    progress.begins(room.jobs, asked.allowance.jobs);
    store.begin(scenario)?;
    let simulations = Simulations {
        kept: store,
        scenario,
        points: &missing,
        room,
        stop: front.stop(),
        elsewhere: front.elsewhere(),
    };
    simulations
        .run(progress)
        .map_err(|error| Problems::from(Problem::new(error).for_lack_of_room()))?;
    if front.stop().load(Ordering::Relaxed) {
        return Err(Stop::Ended);
    }
    let (summary, results) = store.assemble(scenario, |_| ())?;
    let mut info = RunInfo {
        command: asked.command.clone(),
        started_unix_s,
        jobs: room.jobs.get(),
        runs_before: scenario.points().len() - missing.len(),
        host: Host::this(),
        wall_us: start.elapsed().as_secs_f64() * 1e6,
        ..RunInfo::default()
    };
    info.add_costs(&results);
    store.write_info(&info)?;
    if run.report {
        simulate::finish(store)?;
    } else if summary.failures.is_empty() {
        store.complete()?;
    }
    Ok(!summary.failures.is_empty())
}

/// A paper whose figures have been run.
struct Book<'a> {
    selection: &'a Selection,
    /// Its runs by figure.
    runs: BTreeMap<&'a str, (&'a Job, Measured)>,
}

impl<'a> Book<'a> {
    fn open(
        selection: &'a Selection,
        jobs: impl Iterator<Item = &'a Job>,
    ) -> Result<Self, Problems> {
        let mut runs = BTreeMap::new();
        for job in jobs {
            runs.insert(job.figure.as_str(), (job, Measured::open(&job.folder)?));
        }
        Ok(Self { selection, runs })
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
    fn trials(&self, asked: &Figures) -> Result<Vec<Trial<'a>>, Problems> {
        let mut wanted = BTreeSet::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            for claim in &figure.claims {
                if tries(asked, judge(claim, &bench)?.verdict.is_missed()) {
                    wanted.insert(figure.runs());
                }
            }
        }
        let all = self.selection.paper.experiments.iter();
        let mut trials = Vec::new();
        for figure in all.filter(|figure| wanted.contains(figure.name.as_str())) {
            for cause in &figure.causes {
                let claims = self.sharing(figure).flat_map(|figure| &figure.claims);
                let schemes = cause.runs(claims);
                let job = self.runs[figure.runs()].0.with(cause, &schemes, &asked.out);
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
    fn weigh(&self, trials: &mut [Trial<'a>]) -> Result<(), Problems> {
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
    fn judge<'b>(
        &'b self,
        asked: &Figures,
        trials: &'b [Trial<'a>],
    ) -> Result<Vec<Figure<'b>>, Problems> {
        let mut figures = Vec::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            let run = find(&self.selection.paper, figure.runs())?;
            let full = run.full.scale.as_ref().filter(|_| asked.full);
            let scale = scale(full.unwrap_or(&figure.scale), asked);
            let mut claims = Vec::new();
            for claim in &figure.claims {
                let mut judged = Judged::new(figure, claim, &bench, &scale)?;
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

/// Whether causes are tried for a claim that is `missed` or not.
fn tries(asked: &Figures, missed: bool) -> bool {
    match asked.causes {
        Causes::Missed => missed,
        Causes::All => true,
        Causes::None => false,
    }
}

/// The scale of a run, with what the command line changed.
fn scale(stated: &str, asked: &Figures) -> String {
    match asked.seeds {
        Some(seeds) => format!("{stated}; here --seeds {seeds}"),
        None => stated.to_owned(),
    }
}

fn find<'a>(paper: &'a Paper, name: &str) -> Result<&'a Experiment, Problems> {
    let found = paper.experiments.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| Problem::new(format!("{} has no figure {name}", paper.name)).into())
}
