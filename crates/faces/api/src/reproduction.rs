//! Figures of papers: runs them, judges their claims by every reading, and tries causes.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use claims::catalogue::{self, Selection};
use claims::judge::{Judged, JudgedFigure, Standing, Verdict};
use claims::{Experiment, ExperimentChange, Paper};
use plan::PointSpec;
use results::{Access, Machine, RunInfo, Store};
use scenario::{Overrides, Problem, Problems, Scenario};
use sim::threads::Ledger;

use crate::clock;
use crate::error::{Error, not_kept};
use crate::forecast;
use crate::monitor::{Stage, Verdicts};
use crate::options::RunOptions;
use crate::request::{Causes, Figures, cores};
use crate::simulate::{self, REPORT, Room, Simulations};

mod book;
mod run;
mod trial;

use book::Book;
use run::{Run, Runs};
use trial::{Trial, changes_at_most, phases};

/// Figures of papers to run and judge: the request, and how to run it.
#[derive(Clone, Copy)]
struct Commission<'a> {
    asked: &'a Figures,
    options: RunOptions<'a>,
    /// Ends the runs.
    stop: &'a AtomicBool,
}

/// Papers with their figures that have been judged.
pub type Judgement<'a> = [(&'a Paper, Vec<JudgedFigure<'a>>)];

/// The results of figures of papers.
#[derive(Debug)]
pub struct Reproduced<T> {
    /// The caller's result from the judged figures.
    pub made: T,
    /// The written pages of their papers.
    pub pages: Vec<PathBuf>,
    /// Whether a simulation failed.
    pub failed: bool,
}

/// Runs the missing points of figures of papers, judges their claims, tries causes, writes the pages of papers, and
/// passes the judged figures to `make`.
///
/// # Errors
/// See [`run_folder`](crate::run_folder).
pub fn reproduce<T>(
    asked: &Figures,
    options: &RunOptions<'_>,
    make: impl FnOnce(&Judgement<'_>) -> T,
) -> Result<Reproduced<T>, Error> {
    let stop = AtomicBool::new(false);
    let all = Commission {
        asked,
        options: *options,
        stop: options.stop.unwrap_or(&stop),
    };
    let selections = catalogue::find(&asked.what)?;
    let mut jobs = Vec::new();
    for selection in &selections {
        jobs.extend(FigureJob::of_paper(selection, asked)?);
    }
    let mut books: Vec<Book<'_>> = selections.iter().map(Book::new).collect();
    let more = changes_at_most(&selections, &jobs, all)?;
    let mut failed = run_all((&jobs, more), all, &mut |job| {
        let of_paper = |book: &&mut Book<'_>| book.selection.paper.name == job.paper;
        let Some(book) = books.iter_mut().find(of_paper) else {
            return Ok(());
        };
        for figure in book.add(job)? {
            let claims = book.claims(asked, figure)?;
            let missed = claims
                .iter()
                .any(|claim| tries(asked, claim.finding.verdict.is_missed()));
            options.monitor.on_verdicts(&Verdicts {
                figure,
                claims: &claims,
                causes_follow: missed && !figure.causes.is_empty(),
            });
        }
        Ok(())
    })?;
    let phases = phases(asked);
    let mut trials = Vec::new();
    for book in &books {
        trials.push(book.trials(asked, &phases)?);
    }
    let again = trials.iter().flatten();
    let again: Vec<FigureJob> = again.filter_map(|trial| trial.job.clone()).collect();
    if !again.is_empty() {
        failed |= run_all((&again, 0.0), all, &mut |job| {
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
    let pages = if asked.report {
        write_pages(&judged, all)?
    } else {
        Vec::new()
    };
    Ok(Reproduced {
        made: make(&judged),
        pages,
        failed,
    })
}

/// Writes the page of every paper.
fn write_pages(judged: &Judgement<'_>, all: Commission<'_>) -> Result<Vec<PathBuf>, Error> {
    let Commission { asked, options, .. } = all;
    let figures = judged.iter().flat_map(|(_, figures)| figures);
    let points = figures.map(|figure| figure.bench.own.scenario().points());
    let stage = Stage {
        simulations: 0,
        expected_s: points.map(forecast::report).sum(),
        causes_s: 0.0,
        jobs: asked_jobs(options),
        content: &(),
    };
    let mut pages = Vec::new();
    options.monitor.during(&stage, &mut || {
        for (paper, figures) in judged {
            let reproduction = report::Reproduction {
                paper,
                figures,
                full: asked.full,
            };
            let page = asked.out.join(&paper.name).join(REPORT);
            report::write_paper(&reproduction, &page).map_err(Problems::from)?;
            pages.push(page);
        }
        Ok(())
    })?;
    Ok(pages)
}

/// Simulations at a time, as far as memory allows.
fn asked_jobs(options: RunOptions<'_>) -> NonZeroUsize {
    options.allowance.jobs.unwrap_or_else(cores)
}

/// Whether a claim that counts is not reproduced, not even in part.
pub fn misses_any(judged: &Judgement<'_>) -> bool {
    let missed = |judged: &Judged| {
        judged.finding.verdict == Verdict::NotReproduced
            && !matches!(judged.standing, Standing::Own(_))
    };
    let mut all = judged.iter().flat_map(|(_, figures)| figures);
    all.any(|figure| figure.claims.iter().any(missed))
}

/// A scenario of a figure and the folder in which it is run.
#[derive(Clone)]
struct FigureJob {
    paper: String,
    figure: String,
    folder: PathBuf,
    overrides: Overrides,
    source: scenario::Source,
    /// Whether the folder gets a report of its own.
    report: bool,
    /// Whether something measures the parts of completion times.
    parts: bool,
}

impl FigureJob {
    /// A job for each scenario that the chosen figures of a paper show or refer to.
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
        let job = |figure| Self::of((paper, figure), asked);
        Ok(needed.map(job).collect())
    }

    /// The runs of a figure. Completion times are only broken down if the figure or one that reads its runs measures
    /// the parts, as that takes half of a simulation's time again.
    fn of((paper, figure): (&Paper, &Experiment), asked: &Figures) -> Self {
        let mut overrides = Overrides {
            seed: asked.seed,
            seeds: asked.seeds,
            ..Overrides::default()
        };
        if asked.full {
            overrides.seeds = asked.seeds.or(figure.full.seeds);
            let sets = figure.full.set.iter();
            overrides.sets = sets.map(|(key, value)| format!("{key}={value}")).collect();
        }
        let parts = paper.measures_parts(figure);
        if !parts {
            overrides.sets.push("trace.breakdown=false".to_owned());
        }
        Self {
            paper: figure.paper.clone(),
            figure: figure.name.clone(),
            folder: asked.out.join(&figure.paper).join(&figure.name),
            overrides,
            source: figure.source.clone(),
            report: asked.report,
            parts,
        }
    }

    /// A copy of the job with a change, for these schemes only, in a folder below `folder`; `None` if the change
    /// needs no other runs.
    fn with(
        &self,
        change: &ExperimentChange,
        schemes: &BTreeSet<&str>,
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
        // Nobody reads single flows of these runs, and their tables would be the largest of all.
        if !self.parts && !self.source.text().contains("trace") {
            overrides.trace = Some("off".to_owned());
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

    /// The scenario, with a single seed if nothing in it is random.
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

    /// The folder to continue; `None` if there is nothing to do.
    fn open(&self, scenario: &Scenario, all: Commission<'_>) -> Result<Option<Store>, Problems> {
        let replaced = match Store::open(&self.folder, scenario, None, Access::Resume) {
            Ok(store) if !store.is_assembled() => return Ok(Some(store)),
            Ok(store) => {
                let folder = store.read()?;
                let summary = folder.summary();
                if summary.seeds == scenario.seeds() && summary.failures.is_empty() {
                    // An interruption may have left points in a folder that is complete without them.
                    store.complete()?;
                    return Ok(None);
                }
                if summary.seeds == scenario.seeds() {
                    return Ok(Some(store));
                }
                format!("{} seeds", summary.seeds)
            }
            // A folder that is no run folder must not be cleared.
            Err(problems) if !self.folder.join("scenario.toml").is_file() => return Err(problems),
            Err(_) => "another scenario or version".to_owned(),
        };
        results::clear(&self.folder)?;
        let folder = self.folder.display();
        let hint = format!("{folder} held {replaced}: it is run anew");
        all.options.monitor.on_hint(&hint);
        Store::open(&self.folder, scenario, None, Access::Resume).map(Some)
    }
}

/// Runs the missing points of all jobs one after the other, calls `then` for each complete job, and returns whether a
/// simulation failed.
fn run_all<'j>(
    (jobs, causes): (&'j [FigureJob], f64),
    all: Commission<'_>,
    then: &mut dyn FnMut(&'j FigureJob) -> Result<(), Problems>,
) -> Result<bool, Error> {
    let Commission { options, .. } = all;
    let mut runs = Vec::new();
    let (mut simulations, mut expected) = (0, 0.0);
    let at_a_time = asked_jobs(options);
    // Every scenario is checked before the first is run.
    for job in jobs {
        let scenario = job.scenario()?;
        let store = job.open(&scenario, all)?.map(Arc::new);
        let run = Run {
            folder: job.folder.clone(),
            store: Mutex::new(store.clone()),
            report: job.report,
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
        simulations,
        expected_s: expected,
        causes_s: causes,
        jobs: at_a_time,
        content: &Runs(&runs),
    };
    let mut failed = false;
    options.monitor.during(&stage, &mut || {
        for (job, run) in jobs.iter().zip(&runs) {
            let (tables, judging) = run.afterwards();
            if let Some(store) = run.store() {
                failed |= run_one((run, &store), all)?;
                options.monitor.on_work(tables);
            }
            run.close();
            then(job)?;
            options.monitor.on_work(judging);
        }
        Ok(())
    })?;
    Ok(failed)
}

fn run_one(
    (run, store): (&Run, &Store),
    Commission {
        asked,
        options,
        stop,
    }: Commission<'_>,
) -> Result<bool, Error> {
    let scenario = &run.scenario;
    let start = clock::now();
    let started_unix_s = clock::unix_seconds();
    let missing: Vec<&PointSpec> = store.missing(scenario, None)?;
    let room = Room::for_points(&missing, Some(store.folder()), &options.allowance)?;
    options.monitor.on_start(room.jobs, options.allowance.jobs);
    store.begin(scenario)?;
    let ledger = Ledger::default();
    let simulations = Simulations {
        kept: store,
        scenario,
        points: &missing,
        room,
        stop,
        executor: options.executor,
        ledger: &ledger,
    };
    simulations.run(options.monitor).map_err(not_kept)?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Stopped);
    }
    let (summary, results) = store.assemble(scenario, |_| ())?;
    let mut info = RunInfo {
        command: asked.command.clone(),
        started_unix_s,
        jobs: room.used().get(),
        runs_before: scenario.points().len() - missing.len(),
        host: Machine::this(),
        wall_us: start.elapsed().as_secs_f64() * 1e6,
        ..RunInfo::default()
    };
    info.add_costs(&results);
    info.shared = ledger.taken().into();
    store.write_info(&info)?;
    if run.report {
        simulate::finish(store)?;
    } else if summary.failures.is_empty() {
        store.complete()?;
    }
    Ok(!summary.failures.is_empty())
}

/// Whether to try causes for a claim, depending on whether it is `missed`.
fn tries(asked: &Figures, missed: bool) -> bool {
    match asked.causes {
        Causes::Missed => missed,
        Causes::All => true,
        Causes::None => false,
    }
}

/// The scale of a run, with the changes of the command line.
fn scale(stated: &str, asked: &Figures) -> String {
    let seed = asked.seed.map(|seed| format!("--seed {seed}"));
    let seeds = asked.seeds.map(|seeds| format!("--seeds {seeds}"));
    let given: Vec<String> = seed.into_iter().chain(seeds).collect();
    if given.is_empty() {
        return stated.to_owned();
    }
    format!("{stated}; here {}", given.join(" "))
}

fn find<'a>(paper: &'a Paper, name: &str) -> Result<&'a Experiment, Problems> {
    let found = paper.experiments.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| Problem::new(format!("{} has no figure {name}", paper.name)).into())
}
