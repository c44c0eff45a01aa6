//! The figures of papers: run, judged by every reading, and their causes tried.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use claims::catalogue::{self, Selection};
use claims::judge::{Figure, Judged, Standing, Verdict};
use claims::{Change, Experiment, Paper};
use plan::PointSpec;
use results::{self, Access, Host, RunInfo, Store};
use scenario::{Overrides, Problem, Problems, Scenario};

use crate::clock;
use crate::elsewhere::Elsewhere;
use crate::forecast;
use crate::output::Stop;
use crate::request::{Causes, Figures, cores};
use crate::simulate::{self, Room, Simulations};
use crate::told::Progress;

mod book;
mod trial;

use book::Book;
use trial::{Trial, changes_at_most, phases};

/// Who asked for figures: hears how it goes on, and ends it.
pub(crate) trait Front: Sync {
    /// Becomes true when the runs are to end.
    fn stop(&self) -> &AtomicBool;

    /// Who simulates, if not this process.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }

    /// Calls `work` once, which does what the stage says, and says whether a simulation failed.
    fn during(&self, stage: &Stage<'_>, work: Work<'_>) -> Result<bool, Stop>;

    /// Hears the verdicts on a figure as soon as its simulations are done, and whether causes are still to be tried.
    fn judged(&self, _figure: &Experiment, _claims: &[Judged], _more: bool) {}

    /// Hears why something is run anew.
    fn hint(&self, line: &str);
}

/// A part of the work: simulations, tables made from them, and claims judged.
pub(crate) struct Stage<'a> {
    /// What is run, or was found to be finished.
    pub(crate) runs: &'a [Run],
    /// Simulations that are missing.
    pub(crate) simulations: usize,
    /// Seconds that all of it is expected to take.
    pub(crate) expected: f64,
    /// Seconds that other readings and causes of what is missed may take afterwards, at most.
    pub(crate) causes: f64,
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
    let mut books: Vec<Book<'_>> = selections.iter().map(Book::new).collect();
    let more = changes_at_most(&selections, &jobs, asked)?;
    let mut failed = run_all((&jobs, more), asked, front, &mut |job| {
        let of_paper = |book: &&mut Book<'_>| book.selection.paper.name == job.paper;
        let Some(book) = books.iter_mut().find(of_paper) else {
            return Ok(());
        };
        for figure in book.add(job)? {
            let claims = book.claims(asked, figure)?;
            let missed = claims
                .iter()
                .any(|claim| tries(asked, claim.finding.verdict.is_missed()));
            front.judged(figure, &claims, missed && !figure.causes.is_empty());
        }
        Ok(())
    })?;
    let phases = phases(asked);
    let mut trials = Vec::new();
    for book in &books {
        trials.push(book.trials(asked, &phases)?);
    }
    let again = trials.iter().flatten();
    let again: Vec<Job> = again.filter_map(|trial| trial.job.clone()).collect();
    if !again.is_empty() {
        failed |= run_all((&again, 0.0), asked, front, &mut |job| {
            let mut trials = trials.iter_mut().flatten();
            let trial = trials.find(|trial| trial.is_about(&job.folder));
            trial.map_or(Ok(()), Trial::open)
        })?;
    }

    let mut judged = Vec::new();
    for (book, trials) in books.iter().zip(&mut trials) {
        book.weigh(trials)?;
        judged.push((&book.selection.paper, book.judge(asked, trials)?));
    }
    if asked.report {
        write_pages(&judged, asked, front)?;
    }
    Ok((failed, give(&judged)?))
}

/// Writes the page of every paper.
fn write_pages(judged: &Judgement<'_>, asked: &Figures, front: &dyn Front) -> Result<(), Stop> {
    let figures = judged.iter().flat_map(|(_, figures)| figures);
    let points = figures.map(|figure| figure.bench.own.scenario().points());
    let stage = Stage {
        causes: 0.0,
        runs: &[],
        simulations: 0,
        expected: points.map(forecast::report).sum(),
    };
    front.during(&stage, &mut |_| {
        for (paper, figures) in judged {
            let reproduction = ::report::Reproduction {
                paper,
                figures,
                full: asked.full,
            };
            let page = asked.out.join(&paper.name).join(crate::report::NAME);
            ::report::write_paper(&reproduction, &page).map_err(Problems::from)?;
        }
        Ok(false)
    })?;
    Ok(())
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
    /// Claims of the figure.
    claims: usize,
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
            claims: figure.claims.len(),
        }
    }

    /// The same as a change has it, with these schemes alone, in a folder below `folder`; none if it needs no other runs.
    /// Where nothing measures what completion times consist of, that is not recorded.
    fn with(
        &self,
        change: &Change,
        (schemes, records): (&BTreeSet<&str>, bool),
        folder: &Path,
    ) -> Option<Self> {
        if change.set.is_empty() {
            return None;
        }
        let mut overrides = self.overrides.clone();
        for (key, value) in &change.set {
            let same = format!("{key}=");
            overrides.sets.retain(|set| !set.starts_with(&same));
            overrides.sets.push(format!("{key}={value}"));
        }
        for (key, values) in &change.at {
            let same = format!("{key}=");
            overrides.sets.retain(|set| !set.starts_with(&same));
            overrides.sets.push(format!("{same}{}", values.join(",")));
        }
        if !records {
            // Nobody looks at single flows of these runs, whose tables would be the largest of all.
            overrides.sets.push("trace.breakdown=false".to_owned());
            if !self.source.text().contains("trace") {
                overrides.trace = Some("off".to_owned());
            }
        }
        if !schemes.is_empty() {
            let schemes: Vec<&str> = schemes.iter().copied().collect();
            overrides.schemes = Some(schemes.join(","));
        }
        Some(Self {
            folder: folder.join(&self.figure).join(&change.id),
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

/// A scenario of a figure, its folder, and what is still to be done there.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    folder: PathBuf,
    /// The folder as it is continued; none once it is complete, since whoever reads it shares it.
    store: Mutex<Option<Arc<Store>>>,
    /// Whether the folder gets a report of its own.
    report: bool,
    /// Claims that are judged by it.
    claims: usize,
}

impl Run {
    /// The folder as it is continued, if there is something to do.
    fn store(&self) -> Option<Arc<Store>> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.clone()
    }

    /// Its folder, and how many of its simulations are missing.
    pub(crate) fn progress(&self) -> (&Path, usize) {
        let points = self.scenario.points().len();
        let left = self.store().map_or(0, |store| {
            // A run that is complete has given its points away.
            let missing = (!store.is_assembled()).then(|| store.missing(&self.scenario, None));
            missing.map_or(0, |missing| missing.map_or(points, |missing| missing.len()))
        });
        (&self.folder, left)
    }

    /// Leaves the folder to those who read it.
    fn close(&self) {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        *store = None;
    }

    /// Seconds that what is made of its simulations is expected to take: tables and a report, then judging.
    fn afterwards(&self) -> (f64, f64) {
        let points = self.scenario.points();
        let report = if self.report {
            forecast::report(points)
        } else {
            0.0
        };
        let tables = forecast::tables(points) + report;
        (tables, forecast::judging(points, self.claims))
    }
}

/// Runs what is missing of all jobs one after the other, calls `then` for each that is complete, and says whether a
/// simulation failed.
fn run_all<'j>(
    (jobs, causes): (&'j [Job], f64),
    asked: &Figures,
    front: &dyn Front,
    then: &mut dyn FnMut(&'j Job) -> Result<(), Problems>,
) -> Result<bool, Stop> {
    let mut runs = Vec::new();
    let (mut simulations, mut expected) = (0, 0.0);
    let at_a_time = asked.allowance.jobs.unwrap_or_else(cores);
    // Every scenario is checked before the first is run.
    for job in jobs {
        let scenario = job.scenario()?;
        let store = job.open(&scenario, front)?.map(Arc::new);
        let run = Run {
            folder: job.folder.clone(),
            store: Mutex::new(store.clone()),
            report: job.report,
            claims: job.claims,
            scenario,
        };
        let (tables, judging) = run.afterwards();
        expected += judging;
        if let Some(store) = store {
            let missing = store.missing(&run.scenario, None)?;
            simulations += missing.len();
            expected += simulate::expected(&missing, store.captures(), at_a_time) + tables;
        }
        runs.push(run);
    }
    let stage = Stage {
        runs: &runs,
        simulations,
        expected,
        causes,
    };
    front.during(&stage, &mut |progress| {
        let mut failed = false;
        for (job, run) in jobs.iter().zip(&runs) {
            let (tables, judging) = run.afterwards();
            if let Some(store) = run.store() {
                failed |= run_one((run, &store), asked, (front, progress))?;
                progress.worked(tables);
            }
            run.close();
            then(job)?;
            progress.worked(judging);
        }
        Ok(failed)
    })
}

fn run_one(
    (run, store): (&Run, &Store),
    asked: &Figures,
    (front, progress): (&dyn Front, &dyn Progress),
) -> Result<bool, Stop> {
    let scenario = &run.scenario;
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
