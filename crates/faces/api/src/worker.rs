//! Simulates points for another process, which keeps their results.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use plan::PointSpec;
use record::pcap::CapturePoints;
use results::{Access, Store};
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use sim::error::RunError;
use sim::sweep::{self, PointFailure};

use crate::error::{Error, not_kept};
use crate::options::RunOptions;
use crate::point::Point;
use crate::simulate::Room;

/// Simulates points for another process.
pub struct Worker {
    scenario: Scenario,
    store: Store,
}

impl Worker {
    /// A worker for the points of a scenario from a process with this version and with the same captures; `folder`,
    /// which must be its own, keeps answers until they are sent.
    ///
    /// # Errors
    /// If this program is another version, or does not know a scheme.
    pub fn new(
        version: &str,
        toml: String,
        captures: Option<&str>,
        folder: &Path,
    ) -> Result<Self, Problems> {
        if version != sim::VERSION {
            let problem = Problem::new(format!(
                "a worker has version {}, but the run has version {version}",
                sim::VERSION
            ));
            let help =
                "install the same version everywhere: results of two versions are never mixed";
            return Err(problem.help(help).into());
        }
        let scenario = Scenario::load(Source::new("scenario", toml), &Overrides::default())?;
        let places = captures.map(CapturePoints::parse).transpose()?;
        let store = Store::open(folder, &scenario, places.as_ref(), Access::Scratch)?;
        store.begin(&scenario)?;
        Ok(Self { scenario, store })
    }

    /// The stored results of the points of a job, within the memory and steps of `options`. The failure of a simulation
    /// is an answer, and the monitor sees it.
    ///
    /// # Errors
    /// If it was stopped, or an answer cannot be written.
    pub fn simulate(
        &self,
        points: &[usize],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let all = self.scenario.points();
        let points = points.iter().map(|index| all.get(*index));
        let points: Option<Vec<&PointSpec>> = points.collect();
        let points = points.unwrap_or_default();
        let Some((first, twins)) = points.split_first() else {
            return Err(Problem::new("an order names a point that does not exist").into());
        };
        let room = Room::for_points(&[first], Some(self.store.folder()), &options.allowance)?;
        let stop = AtomicBool::new(false);
        let limits = room.limits(options.stop.unwrap_or(&stop));
        let run = |point: &PointSpec| {
            results::simulate_with(&self.store, point, twins, &self.scenario, limits)
        };
        match sweep::run_one(first, run) {
            Ok(()) => {}
            Err(PointFailure::NotRun | PointFailure::Run(RunError::Stopped)) => {
                return Err(Error::Stopped);
            }
            Err(PointFailure::Run(RunError::Storage(error))) => {
                return Err(not_kept(error));
            }
            Err(failure) => {
                options.monitor.on_failure(&Point::of(first), &failure);
                for point in &points {
                    let kept = self
                        .store
                        .keep(point, &self.scenario, &Err(failure.to_string()));
                    kept.map_err(|error| not_kept(error.to_string()))?;
                }
            }
        }
        let packed = points.iter().map(|point| {
            let packed = self.store.pack(point, &self.scenario)?;
            self.store.forget(point, &self.scenario)?;
            Ok(packed)
        });
        Ok(packed.collect::<Result<_, Problems>>()?)
    }
}
