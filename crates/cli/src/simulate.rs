//! Running the points of a scenario into a folder: what `run` and `reproduce` have in common.

use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::results::{Folder, Store};
use lab::scenario::{PointSpec, Problem, Problems, Scenario};
use lab::sweep;

use crate::output::{self, Stop};

/// Points of a scenario that are to be simulated into a folder that has begun.
pub(crate) struct Simulations<'a> {
    pub(crate) store: &'a Store,
    pub(crate) scenario: &'a Scenario,
    pub(crate) points: &'a [&'a PointSpec],
    /// Whether points that fail are named at once.
    pub(crate) say_failures: bool,
}

impl Simulations<'_> {
    /// Simulates them on so many threads and keeps what becomes of each.
    pub(crate) fn run(&self, jobs: NonZeroUsize, bar: &ProgressBar) -> Result<(), Stop> {
        let run = |point: &PointSpec| self.store.simulate(point, self.scenario);
        let results = sweep::run_all(self.points, jobs, run, |_, _| bar.inc(1));
        let mut lost = false;
        for (point, result) in self.points.iter().zip(results) {
            let Err(failure) = result else { continue };
            if self.say_failures {
                let line = format!("failed: {}: {failure}", describe(point));
                bar.suspend(|| output::complain(&line));
            }
            let failure = Err(failure.to_string());
            if let Err(error) = self.store.keep(point, self.scenario, failure) {
                output::complain(&error.to_string());
                lost = true;
            }
        }
        if !lost {
            return Ok(());
        }
        let folder = self.store.folder().display();
        output::complain(&format!(
            "some points could not be kept; what is in {folder} is whole, and --resume continues"
        ));
        Err(Stop::Failed)
    }
}

/// Writes the report and removes what the folder no longer needs.
pub(crate) fn finish(store: &Store) -> Result<Folder, Stop> {
    let folder = store.read()?;
    let out = folder.path().join(crate::report::NAME);
    ::report::write(&[&folder], &out).map_err(Problems::from)?;
    // Where a point failed, --resume runs it again and needs the others.
    if folder.summary().failures.is_empty() {
        store.complete()?;
    }
    Ok(folder)
}

/// Says that not all cores are used.
pub(crate) fn say_memory(jobs: NonZeroUsize, wanted: NonZeroUsize) {
    let text = format!("memory allows {jobs} of {wanted} simulations at a time");
    output::problems(&[Problem::warning(text).help("--memory SIZE raises the limit")]);
}

/// Threads that the machine runs at a time.
pub(crate) fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A bar on standard error; the library hides it where that is not a terminal.
pub(crate) fn progress(points: usize, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(points as u64), target);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command accounts for the cost of a sweep"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a run folder says when it was made, in the file that may differ"
)]
pub(crate) fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}

fn describe(point: &PointSpec) -> String {
    let set = point
        .set
        .iter()
        .map(|(key, value)| format!("{key} = {value}, "));
    let set = set.collect::<Vec<_>>().concat();
    format!("{}, {set}seed {}", point.scheme, point.seed)
}
