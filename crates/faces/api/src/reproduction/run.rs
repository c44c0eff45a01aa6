//! One scenario of a figure, on its way into a run folder.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use results::Store;
use scenario::Scenario;

use crate::forecast;
use crate::monitor::{Content, RunProgress};

/// A scenario of a figure, its folder, and its remaining work.
pub(super) struct Run {
    pub(super) scenario: Scenario,
    pub(super) folder: PathBuf,
    /// The folder while it is being filled; `None` once it is complete, because its readers share it.
    pub(super) store: Mutex<Option<Arc<Store>>>,
    /// Whether the folder gets a report of its own.
    pub(super) report: bool,
}

/// Scenarios of figures while they are run.
pub(super) struct Runs<'a>(pub(super) &'a [Run]);

impl Content for Runs<'_> {
    fn progress(&self) -> Vec<RunProgress> {
        self.0.iter().map(Run::progress).collect()
    }
}

impl Run {
    /// The folder to continue, if there is anything to do.
    pub(super) fn store(&self) -> Option<Arc<Store>> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.clone()
    }

    /// How far it has come.
    fn progress(&self) -> RunProgress {
        let points = self.scenario.points().len();
        let left = self.store().map_or(0, |store| {
            // A complete run has removed its points.
            let missing = (!store.is_assembled()).then(|| store.missing(&self.scenario, None));
            missing.map_or(0, |missing| missing.map_or(points, |missing| missing.len()))
        });
        RunProgress {
            folder: Some(self.folder.clone()),
            done: points - left,
            points,
            results: None,
        }
    }

    /// Leaves the folder to those who read it.
    pub(super) fn close(&self) {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        *store = None;
    }

    /// Seconds that the work after its simulations is expected to take: tables and a report, then judging.
    pub(super) fn afterwards(&self) -> (f64, f64) {
        let points = self.scenario.points();
        let report = if self.report {
            forecast::report(points)
        } else {
            0.0
        };
        let tables = forecast::tables(points) + report;
        (tables, forecast::judging(points))
    }
}
