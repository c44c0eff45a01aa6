//! From a request to results: simulates missing points, then more seeds or more values, then makes the files.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use plan::PointSpec;
use results::{
    Access, Finished, Keep, Machine, PointResults, RunInfo, Store, Summary, Ties, Transient, Until,
};
use scenario::search::Searched;
use scenario::{Argument, Help, Problem, Problems, Scenario};
use sim::threads::Ledger;

use crate::clock::{now, unix_seconds};
use crate::error::{Error, not_kept};
use crate::monitor::{Content, Flows, RunProgress, Stage};
use crate::options::RunOptions;
use crate::request::{Allowance, Request};
use crate::search;
use crate::simulate::{Room, Simulations, expected};

/// A sweep in phases, between which a caller may print or write files.
pub struct Sweep<'a> {
    request: &'a Request,
    kept: &'a dyn Keep,
    options: RunOptions<'a>,
    /// Ends it.
    stop: &'a AtomicBool,
    start: Instant,
    started_unix_s: u64,
    /// How many threads its simulations took.
    ledger: Arc<Ledger>,
}

impl<'a> Sweep<'a> {
    /// A sweep of `request` with its points in `kept`. Its cost counts from now on.
    pub fn new(
        request: &'a Request,
        kept: &'a dyn Keep,
        options: &RunOptions<'a>,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            request,
            kept,
            options: *options,
            stop,
            start: now(),
            started_unix_s: unix_seconds(),
            ledger: Arc::default(),
        }
    }

    /// Sets the beginning to `start`.
    #[must_use]
    pub fn since(self, start: Instant) -> Self {
        Self { start, ..self }
    }

    /// Simulates missing points and, if wanted, more seeds and other orders of simultaneous events.
    ///
    /// # Errors
    /// If it was stopped, or a result cannot be kept. Finished points are kept.
    pub fn complete(&self, scenario: &mut Scenario) -> Result<Finished, Error> {
        let before = scenario.points().len() - self.missing(scenario)?.len();
        let jobs = self.simulate(scenario)?;
        self.search(scenario)?;
        let until = self.more_seeds(scenario)?;
        let results = self.kept.results(scenario)?;
        let mut summary = Summary::new(scenario, &results);
        summary.until = until;
        summary.ties = self.ties(&summary)?;
        Ok(self.finished(summary, results, (before, jobs)))
    }

    /// Simulates every row under several orders of simultaneous events, without jitter and without files.
    fn ties(&self, summary: &Summary) -> Result<Option<Ties>, Error> {
        let Some(scenario) = self.request.under_orders()? else {
            return Ok(None);
        };
        let kept = Transient::new(false);
        let sweep = Sweep {
            kept: &kept,
            ledger: Arc::clone(&self.ledger),
            ..*self
        };
        sweep.simulate(&scenario)?;
        let results = kept.results(&scenario)?;
        let under_orders = Summary::new(&scenario, &results);
        Ok(Some(Ties::new(&summary.rows, &under_orders.rows)))
    }

    /// The finished sweep with its points, the number of points that existed before, and the number of
    /// threads.
    fn finished(
        &self,
        summary: Summary,
        results: PointResults,
        (runs_before, jobs): (usize, usize),
    ) -> Finished {
        let mut info = RunInfo {
            command: self.request.command.clone(),
            started_unix_s: self.started_unix_s,
            host: Machine::this(),
            jobs,
            runs_before,
            wall_us: self.start.elapsed().as_secs_f64() * 1e6,
            ..RunInfo::default()
        };
        info.add_costs(&results);
        info.shared = self.ledger.taken().into();
        Finished {
            summary,
            results,
            info,
            of: None,
        }
    }

    /// Simulates every missing point, and returns the number of threads.
    ///
    /// # Errors
    /// See [`complete`](Self::complete).
    pub fn simulate(&self, scenario: &Scenario) -> Result<usize, Error> {
        let mut missing = self.missing(scenario)?;
        let store = self.kept.store();
        if let Some(store) = store {
            missing = store.without_suspects(missing, scenario)?;
        }
        let jobs = self.simulate_these(scenario, &missing, &self.options.allowance)?;
        let suspects = store.map(|store| store.suspects(scenario)).transpose()?;
        for suspect in suspects.into_iter().flatten() {
            self.try_again(scenario, suspect)?;
        }
        Ok(jobs)
    }

    /// Simulates a point at which a process has died before, with nothing beside it, so that a second death has one
    /// cause.
    fn try_again(&self, scenario: &Scenario, suspect: &PointSpec) -> Result<(), Error> {
        self.options.monitor.on_hint(&format!(
            "a worker ended at point {} ({}, seed {}): it is tried once more, alone",
            suspect.index, suspect.scheme, suspect.seed
        ));
        let alone = Allowance {
            jobs: Some(NonZeroUsize::MIN),
            ..self.options.allowance
        };
        self.simulate_these(scenario, &[suspect], &alone).map(drop)
    }

    /// Simulates these points, and returns the number of threads.
    fn simulate_these(
        &self,
        scenario: &Scenario,
        missing: &[&PointSpec],
        allowance: &Allowance,
    ) -> Result<usize, Error> {
        let store = self.kept.store();
        let folder = store.map(Store::folder);
        let room = Room::for_points(missing, folder, allowance)?;
        if let Some(store) = store {
            store.begin(scenario)?;
        }
        let run = Simulations {
            kept: self.kept,
            scenario,
            points: missing,
            room,
            stop: self.stop,
            executor: self.options.executor,
            ledger: &self.ledger,
        };
        let stage = Stage {
            simulations: missing.len(),
            expected_s: expected(missing, store.is_some_and(Store::captures), room.jobs),
            causes_s: 0.0,
            jobs: room.used(),
            content: &Points {
                sweep: self,
                scenario,
                jobs: room.used().get(),
            },
        };
        let monitor = self.options.monitor;
        monitor.during(&stage, &mut || run.run(monitor).map_err(not_kept))?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        Ok(room.used().get())
    }

    /// Flows of every point, by its index.
    ///
    /// # Errors
    /// If a point cannot be read.
    pub fn flows(&self, scenario: &Scenario) -> Result<Flows, Problems> {
        let points = (0..).zip(scenario.points());
        let flows = points.map(|(index, point)| Ok((index, self.kept.flows(point, scenario)?)));
        flows.collect()
    }

    /// Points that this process is to run.
    ///
    /// # Errors
    /// If a point cannot be read.
    pub fn missing<'b>(&self, scenario: &'b Scenario) -> Result<Vec<&'b PointSpec>, Problems> {
        self.kept.missing(scenario, self.request.shard)
    }

    /// Simulates the values that a search asks for, one per scheme at a time, until it has ended.
    fn search(&self, scenario: &mut Scenario) -> Result<(), Error> {
        let Some(mut searched) = self.request.search.clone().map(Searched::begin) else {
            return Ok(());
        };
        loop {
            let results = self.kept.results(scenario)?;
            let next = search::next(&Summary::new(scenario, &results), &searched);
            if next.is_empty() {
                return Ok(());
            }
            let before = searched.chosen.len();
            searched.chosen.extend(next);
            let key = searched.range.key();
            for (number, at) in searched.chosen.iter().enumerate().skip(before) {
                let (number, value) = (number + 1, searched.range.value(*at));
                self.options
                    .monitor
                    .on_hint(&format!("value {number}: {key} = {value}"));
            }
            *scenario = self.request.with(None, Some(searched.clone()))?;
            self.simulate(scenario)?;
        }
    }

    /// Runs more seeds until the wanted precision is reached, if there is one.
    fn more_seeds(&self, scenario: &mut Scenario) -> Result<Option<Until>, Error> {
        let Some(target) = self.request.until else {
            return Ok(None);
        };
        loop {
            let results = self.kept.results(scenario)?;
            let summary = Summary::new(scenario, &results);
            let until = summary.precision(target.width, target.max_seeds.get());
            let seeds = scenario.seeds();
            if until.reached || seeds >= until.bound || !scenario.is_random() {
                return Ok(Some(until));
            }
            // The width falls with the square root of the number of seeds; 1.5 times as many reduce it by a fifth.
            let more = (seeds + seeds.div_ceil(2)).min(until.bound);
            let widest = until.widest.map_or(f64::NAN, |widest| widest * 100.0);
            self.options.monitor.on_hint(&format!(
                "{seeds} seeds: the widest 95 % interval is ±{widest:.1} %; going on to {more}"
            ));
            *scenario = self.request.with(Some(more), None)?;
            self.simulate(scenario)?;
        }
    }
}

/// The points of a sweep while they are simulated.
struct Points<'a> {
    sweep: &'a Sweep<'a>,
    scenario: &'a Scenario,
    jobs: usize,
}

impl Content for Points<'_> {
    fn progress(&self) -> Vec<RunProgress> {
        let Self {
            sweep, scenario, ..
        } = *self;
        let points = scenario.points().iter();
        let known = |point| sweep.kept.outcome(point, scenario).ok().flatten();
        let known: Vec<_> = points.map(known).collect();
        let (done, points) = (known.iter().flatten().count(), known.len());
        let results = Summary::so_far(scenario, known).map(|(summary, results)| Finished {
            of: Some(points),
            ..sweep.finished(summary, results, (0, self.jobs))
        });
        let folder = sweep.kept.store().map(|store| store.folder().to_owned());
        vec![RunProgress {
            folder,
            done,
            points,
            results,
        }]
    }

    fn abandon(&self) {
        if let Some(store) = self.sweep.kept.store() {
            store.abandon();
        }
    }

    fn flows(&self) -> Result<Flows, Problems> {
        self.sweep.flows(self.scenario)
    }
}

/// Makes the files of a complete run, all but its report.
///
/// # Errors
/// If they cannot be written.
pub fn write(store: &Store, scenario: &Scenario, finished: &Finished) -> Result<(), Problems> {
    let done = &finished.summary;
    store.assemble(scenario, |summary| {
        summary.until.clone_from(&done.until);
        summary.ties.clone_from(&done.ties);
    })?;
    store.write_info(&finished.info)
}

/// A folder for the run of a request, which may have points already.
///
/// # Errors
/// If it holds something else.
pub fn open(
    folder: &Path,
    request: &Request,
    scenario: &Scenario,
    access: Access,
) -> Result<Store, Problems> {
    let access = request.shard.map_or(access, |_| Access::Shard);
    Store::open(folder, scenario, request.captures.as_ref(), access)
}

/// The results of an earlier run if nothing needs to be added; only its final cleanup and its report may be missing.
///
/// # Errors
/// If the folder cannot be read, or is of another number of seeds.
pub fn finished_before(
    request: &Request,
    store: &Store,
    scenario: &Scenario,
) -> Result<Option<Finished>, Problems> {
    if !store.is_assembled() {
        return Ok(None);
    }
    let folder = store.read()?;
    if !folder.summary().failures.is_empty() {
        return Ok(None);
    }
    folder.check_all()?;
    let mut finished = Finished::of(folder);
    let summary = &finished.summary;
    let asked = request
        .until
        .map(|until| (until.width, until.max_seeds.get()));
    let done = summary
        .until
        .as_ref()
        .map(|until| (until.target, until.bound));
    let same = match asked {
        None => summary.seeds == scenario.seeds(),
        Some(_) => asked == done,
    };
    let orders = summary.ties.as_ref().map(|ties| ties.orders);
    if same
        && request
            .ties
            .is_some_and(|asked| orders != Some(asked.get()))
    {
        // A finished run has no points, so everything is simulated again.
        return Ok(None);
    }
    if same {
        if store.judge_again(scenario)? {
            finished.summary.judge(scenario.goals());
        }
        return Ok(Some(finished));
    }
    let folder = store.folder().display();
    let there = summary.seeds;
    let problem = Problem::new(match asked {
        None => format!(
            "{folder} holds a finished run of {there} seeds, and {} are asked for",
            scenario.seeds()
        ),
        Some(_) => {
            format!("{folder} holds a finished run of {there} seeds, of another precision")
        }
    });
    let help = Help::from("choose another ").argument(Argument::Folder);
    Err(problem.help(help).into())
}
