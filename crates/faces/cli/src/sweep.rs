//! From a request to results: simulates what is missing, then more seeds or more values, then the files.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use plan::PointSpec;
use results::{Access, Host, Keep, PointResults, RunInfo, Store, Summary, Ties, Transient, Until};
use scenario::search::Searched;
use scenario::{Argument, Help, Problem, Problems, Scenario};

use crate::clock::unix_seconds;
use crate::elsewhere::Elsewhere;
use crate::output::Stop;
use crate::request::Request;
use crate::search;
use crate::simulate::{Room, Simulations};
use crate::told::Progress;
use answer::run::Finished;

/// Who started a run: hears how it goes on, and ends it.
pub(crate) trait Front: Sync {
    /// Becomes true when the run is to end.
    fn stop(&self) -> &AtomicBool;

    /// Who simulates, if not this process.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }

    /// Calls `work` once, which simulates points and says why their results cannot be kept.
    fn during(&self, batch: &Batch<'_>, work: Work<'_>) -> Result<(), Stop>;

    /// Hears why more is simulated.
    fn hint(&self, line: &str);
}

/// Simulates a batch and tells what becomes of each point.
pub(crate) type Work<'a> = &'a mut dyn FnMut(&dyn Progress) -> Result<(), String>;

/// Points that are about to be simulated.
pub(crate) struct Batch<'a> {
    pub(crate) sweep: &'a Sweep<'a>,
    /// The sweep that they are part of.
    pub(crate) scenario: &'a Scenario,
    /// Those that are missing.
    pub(crate) points: &'a [&'a PointSpec],
    pub(crate) room: Room,
}

/// What the phases of a run share.
pub(crate) struct Sweep<'a> {
    request: &'a Request,
    pub(crate) kept: &'a dyn Keep,
    front: &'a dyn Front,
    start: Instant,
    started_unix_s: u64,
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(
        request: &'a Request,
        kept: &'a dyn Keep,
        front: &'a dyn Front,
        start: Instant,
    ) -> Self {
        Self {
            request,
            kept,
            front,
            start,
            started_unix_s: unix_seconds(),
        }
    }

    /// Simulates what is missing, and if asked for more seeds and other orders of simultaneous events.
    pub(crate) fn complete(&self, scenario: &mut Scenario) -> Result<Finished, Stop> {
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

    /// Simulates every row under several orders of simultaneous events, without jitter, and keeps no files of that.
    fn ties(&self, summary: &Summary) -> Result<Option<Ties>, Stop> {
        let Some(scenario) = self.request.under_orders()? else {
            return Ok(None);
        };
        let kept = Transient::new(false);
        let sweep = Sweep {
            kept: &kept,
            ..*self
        };
        sweep.simulate(&scenario)?;
        let results = kept.results(&scenario)?;
        let under_orders = Summary::new(&scenario, &results);
        Ok(Some(Ties::new(&summary.rows, &under_orders.rows)))
    }

    /// Numbers of the points, of which this many were there before, on this many threads.
    pub(crate) fn finished(
        &self,
        summary: Summary,
        results: PointResults,
        (runs_before, jobs): (usize, usize),
    ) -> Finished {
        let mut info = RunInfo {
            command: self.request.command.clone(),
            started_unix_s: self.started_unix_s,
            host: Host::this(),
            jobs,
            runs_before,
            wall_us: self.start.elapsed().as_secs_f64() * 1e6,
            ..RunInfo::default()
        };
        info.add_costs(&results);
        Finished {
            summary,
            results,
            info,
            of: None,
        }
    }

    /// Simulates every point that is missing, and says on how many threads.
    pub(crate) fn simulate(&self, scenario: &Scenario) -> Result<usize, Stop> {
        let missing = self.missing(scenario)?;
        let store = self.kept.store();
        let folder = store.map(Store::folder);
        let room = Room::for_points(&missing, folder, &self.request.allowance)?;
        if let Some(store) = store {
            store.begin(scenario)?;
        }
        let run = Simulations {
            kept: self.kept,
            scenario,
            points: &missing,
            room,
            stop: self.front.stop(),
            elsewhere: self.front.elsewhere(),
        };
        let batch = Batch {
            sweep: self,
            scenario,
            points: &missing,
            room,
        };
        self.front
            .during(&batch, &mut |progress| run.run(progress))?;
        if self.front.stop().load(Ordering::Relaxed) {
            return Err(Stop::Ended);
        }
        Ok(room.jobs.get())
    }

    /// Points that this process is to run.
    pub(crate) fn missing<'b>(
        &self,
        scenario: &'b Scenario,
    ) -> Result<Vec<&'b PointSpec>, Problems> {
        self.kept.missing(scenario, self.request.shard)
    }

    /// Simulates the values that a search asks for, one per scheme at a time, until it has ended.
    fn search(&self, scenario: &mut Scenario) -> Result<(), Stop> {
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
                self.front.hint(&format!("value {number}: {key} = {value}"));
            }
            *scenario = self.request.with(None, Some(searched.clone()))?;
            self.simulate(scenario)?;
        }
    }

    /// Runs more seeds until the wanted precision is reached, if there is one.
    fn more_seeds(&self, scenario: &mut Scenario) -> Result<Option<Until>, Stop> {
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
            // The width falls with the root of the number of seeds: half as many again is a step of
            // a fifth.
            let more = (seeds + seeds.div_ceil(2)).min(until.bound);
            let widest = until.widest.map_or(f64::NAN, |widest| widest * 100.0);
            self.front.hint(&format!(
                "{seeds} seeds: the widest 95 % interval is ±{widest:.1} %; going on to {more}"
            ));
            *scenario = self.request.with(Some(more), None)?;
            self.simulate(scenario)?;
        }
    }
}

/// Makes the files of a complete run, all but its report.
pub(crate) fn write(
    store: &Store,
    scenario: &Scenario,
    finished: &Finished,
) -> Result<(), Problems> {
    let told = &finished.summary;
    store.assemble(scenario, |summary| {
        summary.until.clone_from(&told.until);
        summary.ties.clone_from(&told.ties);
    })?;
    store.write_info(&finished.info)
}

/// A folder for the run of a request, whose points may be there already.
pub(crate) fn open(
    folder: &Path,
    request: &Request,
    scenario: &Scenario,
    access: Access,
) -> Result<Store, Problems> {
    let access = request.shard.map_or(access, |_| Access::Shard);
    Store::open(folder, scenario, request.captures.as_ref(), access)
}

/// The results of an earlier run if there is nothing to add: only the last of its points and its report
/// may be left to do.
pub(crate) fn finished_before(
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
        // A finished run keeps no points, so that all of it is simulated again.
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
