//! Runs the points of a scenario, for runs and reproductions.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use base::cast::count;
use plan::PointSpec;
use plan::work::Work;
use results::shard::first_twins;
use results::{Folder, Keep, Store};
use scenario::{Problems, Scenario, limits};
use sim::error::RunError;
use sim::memory;
use sim::run::Limits;
use sim::sweep::{self, PointFailure};
use sim::threads::{Ledger, Threads};

use crate::executor::{Executor, Job, JobOrder};
use crate::forecast;
use crate::monitor::Monitor;
use crate::point::Point;
use crate::request::{Allowance, cores};

/// The points of a scenario to simulate.
pub(crate) struct Simulations<'a> {
    pub(crate) kept: &'a dyn Keep,
    pub(crate) scenario: &'a Scenario,
    pub(crate) points: &'a [&'a PointSpec],
    pub(crate) room: Room,
    /// Ends them; set once nothing can be kept.
    pub(crate) stop: &'a AtomicBool,
    /// Simulates them, if this process does not.
    pub(crate) executor: Option<&'a dyn Executor>,
    /// Records how many threads each took.
    pub(crate) ledger: &'a Ledger,
}

/// Limits of simulations.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// Simulations that run at a time.
    pub(crate) jobs: NonZeroUsize,
    /// Threads.
    all: NonZeroUsize,
    /// The number of threads that share each simulation, if it is not the number of idle ones.
    threads: Option<NonZeroUsize>,
    /// Bytes of memory that packets of one simulation may take.
    memory: u64,
    /// Steps of one simulation.
    steps: u64,
}

impl Room {
    /// The resources for `points`, or an error if they do not suffice. Recorded data goes into `folder`, if there is
    /// one.
    pub(crate) fn for_points(
        points: &[&PointSpec],
        folder: Option<&Path>,
        allowed: &Allowance,
    ) -> Result<Self, Problems> {
        let steps = allowed.work.unwrap_or(limits::MOST_STEPS);
        limits::check_steps(points, folder.is_some(), steps)?;
        if let Some(folder) = folder {
            limits::check_series(points, allowed.disk.unwrap_or_else(|| free_space(folder)))?;
        }
        let memory = allowed.memory.unwrap_or_else(results::available_memory);
        let all = allowed.jobs.unwrap_or_else(cores);
        let jobs = memory::fit(points, share_of(all, allowed.threads), memory);
        let jobs = jobs.map_err(|large| {
            limits::too_large(points[large.index], large.needed, large.available)
        })?;
        let memory = memory / jobs.get() as u64;
        Ok(Self {
            jobs,
            all,
            threads: allowed.threads,
            memory,
            steps,
        })
    }

    /// Seconds that a simulation is expected to add to the whole, given that several run at a time.
    pub(crate) fn share(self, point: &PointSpec) -> f64 {
        forecast::simulation(point) / count(self.jobs.get())
    }

    /// The total number of threads of the simulations.
    pub(crate) fn used(self) -> NonZeroUsize {
        let each = self.threads.unwrap_or(NonZeroUsize::MIN);
        self.jobs.saturating_mul(each).min(self.all)
    }

    /// Steps of one simulation.
    pub(crate) const fn steps(self) -> u64 {
        self.steps
    }

    /// The number of threads that may share each simulation, if there are this many simulations.
    fn threads(self, simulations: usize, taken: &Ledger) -> Threads<'_> {
        let points = NonZeroUsize::new(simulations);
        Threads {
            most: (self.threads).unwrap_or_else(|| share_of(self.all, points)),
            only_where_it_gains: self.threads.is_none(),
            taken,
        }
    }

    /// The limits of one simulation, until `stop` becomes true.
    pub(crate) const fn limits(self, stop: &AtomicBool) -> Limits<'_> {
        Limits {
            steps: self.steps,
            memory: self.memory,
            stop: Some(stop),
            ..Limits::NONE
        }
    }
}

impl Simulations<'_> {
    /// Simulates them and keeps the result of each; an error if a result cannot be kept, after which no other
    /// simulation begins.
    pub(crate) fn run(&self, monitor: &dyn Monitor) -> Result<(), String> {
        let lost = Mutex::new(None);
        let twins = twins(self.points, self.kept.store().is_some_and(Store::captures));
        let of = |point: &PointSpec| twins.get(&point.index).map_or(&[][..], Vec::as_slice);
        let done = |point: &PointSpec, result: &Result<(), PointFailure>| {
            let share = self.room.share(point);
            let twins = of(point).iter().map(|twin| (*twin, 0.0));
            let mut settled = [(point, share)].into_iter().chain(twins);
            let settled =
                settled.try_for_each(|(point, share)| self.settle((point, share), result, monitor));
            let Err(error) = settled else { return };
            self.stop.store(true, Ordering::Relaxed);
            if let Ok(mut lost) = lost.lock() {
                // Later errors most likely have the same cause.
                lost.get_or_insert(error);
            }
        };
        let others: BTreeSet<usize> = twins.values().flatten().map(|twin| twin.index).collect();
        let points = self.points.iter().copied();
        let points: Vec<_> = points
            .filter(|point| !others.contains(&point.index))
            .collect();
        if let Some(executor) = self.executor {
            return self.execute(executor, &twins, (&points, monitor));
        }
        let limits = Limits {
            threads: Some(self.room.threads(points.len(), self.ledger)),
            ..self.room.limits(self.stop)
        };
        let run = |point: &PointSpec| {
            let store = self.kept.store();
            let attempt = store.map(|store| store.attempt(point, self.scenario));
            let attempt = attempt.transpose()?;
            if matches!(attempt, Some(None)) {
                // Another process simulates it and will keep its result.
                return Err(RunError::Stopped);
            }
            results::simulate_with(self.kept, point, of(point), self.scenario, limits)
        };
        sweep::run_all(&points, self.room.jobs, self.stop, run, done);
        match lost.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Has an executor simulate them and keeps the result of each.
    fn execute(
        &self,
        executor: &dyn Executor,
        twins: &BTreeMap<usize, Vec<&PointSpec>>,
        (points, monitor): (&[&PointSpec], &dyn Monitor),
    ) -> Result<(), String> {
        let Some(store) = self.kept.store() else {
            return Err(
                "simulations in other processes need a folder for their results".to_owned(),
            );
        };
        let job = |point: &&PointSpec| {
            let others = twins.get(&point.index).into_iter().flatten();
            let others = others.map(|twin| twin.index);
            Job {
                points: [point.index].into_iter().chain(others).collect(),
                steps: Work::of(point, true).steps(),
            }
        };
        let order = JobOrder {
            toml: self.scenario.resolved(),
            jobs: points.iter().map(job).collect(),
            steps: self.room.steps(),
            stop: self.stop,
        };
        let all = self.scenario.points();
        executor.execute(&order, &mut |number, answers| {
            let job = &order.jobs[number];
            if answers.len() != job.points.len() {
                return Err("a worker did not answer for every point".to_owned());
            }
            for (place, (index, answer)) in job.points.iter().zip(answers).enumerate() {
                let point = &all[*index];
                let kept = store.unpack(point, self.scenario, answer);
                kept.map_err(|error| error.to_string())?;
                monitor.on_simulation(if place == 0 {
                    self.room.share(point)
                } else {
                    0.0
                });
            }
            Ok(())
        })
    }

    /// Keeps a failure and reports it, unless nothing can be kept.
    fn settle(
        &self,
        (point, expected): (&PointSpec, f64),
        result: &Result<(), PointFailure>,
        monitor: &dyn Monitor,
    ) -> Result<(), String> {
        match result {
            Ok(()) => {}
            Err(PointFailure::NotRun | PointFailure::Run(RunError::Stopped)) => return Ok(()),
            Err(PointFailure::Run(RunError::Storage(error))) => return Err(error.clone()),
            Err(failure) => {
                monitor.on_failure(&Point::of(point), failure);
                let kept = self
                    .kept
                    .keep(point, self.scenario, Err(failure.to_string()));
                kept.map_err(|error| error.to_string())?;
            }
        }
        monitor.on_simulation(expected);
        Ok(())
    }
}

/// `all` threads divided by `among`, but at least one.
fn share_of(all: NonZeroUsize, among: Option<NonZeroUsize>) -> NonZeroUsize {
    let share = among.map_or(all.get(), |among| all.get() / among);
    NonZeroUsize::new(share).unwrap_or(NonZeroUsize::MIN)
}

/// Points with the same outcome as an earlier point, by the index of the earlier one. With captures every point needs
/// its own simulation, because captures carry the names of their points.
pub(crate) fn twins<'a>(
    points: &[&'a PointSpec],
    captures: bool,
) -> BTreeMap<usize, Vec<&'a PointSpec>> {
    let firsts = first_twins(points.iter().copied(), captures);
    let mut twins: BTreeMap<usize, Vec<&PointSpec>> = BTreeMap::new();
    for (point, first) in points.iter().zip(firsts) {
        if first != point.index {
            twins.entry(first).or_default().push(point);
        }
    }
    twins
}

/// Seconds that these simulations are expected to take with `jobs` at a time.
pub(crate) fn expected(points: &[&PointSpec], captures: bool, jobs: NonZeroUsize) -> f64 {
    let twins = twins(points, captures);
    let others: BTreeSet<usize> = twins.values().flatten().map(|twin| twin.index).collect();
    let own = points.iter().filter(|point| !others.contains(&point.index));
    let all: f64 = own.map(|point| forecast::simulation(point)).sum();
    all / count(jobs.get())
}

/// Writes the report and removes what the folder no longer needs.
///
/// # Errors
/// If the report cannot be written.
pub fn finish(store: &Store) -> Result<Folder, Problems> {
    let folder = store.read()?;
    let out = folder.path().join(REPORT);
    report::write(&[&folder], &answer::SENTENCES, &out).map_err(Problems::from)?;
    tidy(store, &folder)?;
    Ok(folder)
}

/// Removes what the folder no longer needs.
pub(crate) fn tidy(store: &Store, folder: &Folder) -> Result<(), Problems> {
    // If a point failed, --resume runs it again and needs the others.
    if folder.summary().failures.is_empty() {
        store.complete()?;
    }
    Ok(())
}

/// The name of the report in a run folder, unless another was chosen.
pub const REPORT: &str = "report.html";

/// Bytes that may still be written to the disk of a folder that may not exist yet.
#[cfg(unix)]
fn free_space(folder: &Path) -> u64 {
    let here = std::path::absolute(folder).unwrap_or_default();
    let found = here
        .ancestors()
        .find_map(|path| rustix::fs::statvfs(path).ok());
    found.map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Unknown; the first failing write detects a full disk.
#[cfg(not(unix))]
fn free_space(_folder: &Path) -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use results::Transient;
    use scenario::{Overrides, Source};

    use super::*;
    use crate::monitor::Silent;

    #[test]
    fn of_points_that_cannot_differ_one_is_simulated() {
        let overrides = Overrides {
            schemes: Some("newreno,dctcp".to_owned()),
            sets: vec!["dctcp.g=0.0625,0.125,0.25".to_owned()],
            ..Overrides::default()
        };
        let source = Source::new("test.toml", "seeds = 1\n");
        let scenario = Scenario::load(source, &overrides).unwrap();
        let kept = Transient::new(false);
        let points: Vec<_> = scenario.points().iter().collect();
        let room = Room::for_points(&points, None, &Allowance::default()).unwrap();
        let simulations = Simulations {
            kept: &kept,
            scenario: &scenario,
            points: &points,
            room,
            stop: &AtomicBool::new(false),
            executor: None,
            ledger: &Ledger::default(),
        };
        let twins = twins(&points, false);
        let (first, others) = twins.first_key_value().unwrap();
        let scheme = |index: usize| scenario.points()[index].scheme.as_str();
        assert_eq!(
            (twins.len(), scheme(*first), others.len()),
            (1, "newreno", 2)
        );
        simulations.run(&Silent).unwrap();
        assert_eq!(kept.missing(&scenario, None).unwrap().len(), 0);
    }
}
