//! Keeps the outcomes of points until all are there: on disk, or in memory for a run that leaves no files.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plan::PointSpec;
use scenario::{Problems, Scenario};
use sim::error::RunError;
use sim::metrics::{FlowRecord, Outcome};

use super::PointResults;
use super::part;
use super::point_result::PointResult;
use super::shard::Shard;
use super::store::Store;

/// Keeps the outcomes of points. Many threads may use it at a time.
pub trait Keep: Sync {
    /// The run folder, if there is one.
    fn store(&self) -> Option<&Store> {
        None
    }

    /// Keeps the outcome of a point, or the reason why it has none. The whole is kept, or nothing.
    fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: Result<Outcome, String>,
    ) -> Result<(), RunError>;

    /// Points of this process without a result: unfinished and failed ones.
    fn missing<'a>(
        &self,
        scenario: &'a Scenario,
        shard: Option<Shard>,
    ) -> Result<Vec<&'a PointSpec>, Problems>;

    /// The outcome of a point; `None` if it has not been finished.
    fn outcome(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Result<PointResult, String>>, Problems>;

    /// The flows of a point; `None` without a result.
    fn flows(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<FlowRecord>, Problems>;

    /// The results of all points, which must all be finished.
    fn results(&self, scenario: &Scenario) -> Result<PointResults, Problems>;
}

impl Keep for Store {
    fn store(&self) -> Option<&Store> {
        Some(self)
    }

    fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: Result<Outcome, String>,
    ) -> Result<(), RunError> {
        Self::keep(self, point, scenario, &result)
    }

    fn missing<'a>(
        &self,
        scenario: &'a Scenario,
        shard: Option<Shard>,
    ) -> Result<Vec<&'a PointSpec>, Problems> {
        Self::missing(self, scenario, shard)
    }

    fn outcome(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Result<PointResult, String>>, Problems> {
        let known = self.find(point, scenario)?;
        Ok(known.map(|known| known.map(|outcome| PointResult::from(&*outcome))))
    }

    fn flows(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<FlowRecord>, Problems> {
        Ok(match self.find(point, scenario)? {
            Some(Ok(outcome)) => outcome.flows,
            _ => Vec::new(),
        })
    }

    fn results(&self, scenario: &Scenario) -> Result<PointResults, Problems> {
        self.collect(scenario)
    }
}

/// Points in memory. They leave nothing behind, however the process ends. Series are not recorded, since nobody could
/// read them. O(points), and O(flows) if flows are kept.
#[derive(Debug)]
pub struct Transient {
    /// By the name of the point. It stays the same when the sweep gets more seeds.
    points: Mutex<BTreeMap<String, Known>>,
    keep_flows: bool,
}

#[derive(Debug)]
struct Known {
    result: Result<PointResult, String>,
    flows: Vec<FlowRecord>,
}

impl Transient {
    /// No points yet. `keep_flows` keeps the flows of later points, too.
    pub const fn new(keep_flows: bool) -> Self {
        Self {
            points: Mutex::new(BTreeMap::new()),
            keep_flows,
        }
    }

    fn insert(&self, point: &PointSpec, scenario: &Scenario, known: Known) {
        let name = part::name(point, scenario.seeds());
        self.points().insert(name, known);
    }

    /// A thread that panicked while it held the lock left no partial change.
    fn points(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keep for Transient {
    fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: Result<Outcome, String>,
    ) -> Result<(), RunError> {
        let mut flows = Vec::new();
        let result = result.map(|outcome| {
            let known = PointResult::from(&outcome);
            if self.keep_flows {
                flows = outcome.flows;
            }
            known
        });
        self.insert(point, scenario, Known { result, flows });
        Ok(())
    }

    fn missing<'a>(
        &self,
        scenario: &'a Scenario,
        shard: Option<Shard>,
    ) -> Result<Vec<&'a PointSpec>, Problems> {
        let points = self.points();
        let shard = shard.map(|shard| shard.runs(scenario.points(), false));
        let is_missing = |point: &&PointSpec| {
            if shard.as_ref().is_some_and(|ours| !ours[point.index]) {
                return false;
            }
            let known = points.get(&part::name(point, scenario.seeds()));
            known.is_none_or(|known| known.result.is_err())
        };
        Ok(scenario.points().iter().filter(is_missing).collect())
    }

    fn outcome(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Result<PointResult, String>>, Problems> {
        let points = self.points();
        let known = points.get(&part::name(point, scenario.seeds()));
        Ok(known.map(|known| known.result.clone()))
    }

    fn flows(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<FlowRecord>, Problems> {
        let points = self.points();
        let known = points.get(&part::name(point, scenario.seeds()));
        Ok(known.map_or_else(Vec::new, |known| known.flows.clone()))
    }

    fn results(&self, scenario: &Scenario) -> Result<PointResults, Problems> {
        let points = scenario.points().iter();
        let result = |point| {
            let known = self.outcome(point, scenario)?;
            Ok(known.unwrap_or_else(|| Err("it has not been simulated".to_owned())))
        };
        points.map(result).collect()
    }
}
