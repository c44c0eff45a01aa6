//! Where the outcomes of points are kept until all are there: on disk, or in memory for a run that leaves
//! no files.

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

/// Keeps what becomes of points. Many threads may use it at a time.
pub trait Keep: Sync {
    /// The run folder, if there is one.
    fn store(&self) -> Option<&Store> {
        None
    }

    /// Keeps what became of a point, or why it has no outcome, whole or not at all.
    fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: Result<Outcome, String>,
    ) -> Result<(), RunError>;

    /// Points of this process without a result: those never finished and those that failed.
    fn missing<'a>(
        &self,
        scenario: &'a Scenario,
        shard: Option<Shard>,
    ) -> Result<Vec<&'a PointSpec>, Problems>;

    /// What is known of a point; none if it has not been finished.
    fn outcome(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Result<PointResult, String>>, Problems>;

    /// The flows of a point; none of one without a result.
    fn flows(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<FlowRecord>, Problems>;

    /// What became of every point, none of which is missing.
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

/// Points in memory, which leave nothing behind however the process ends. Series are not recorded, since
/// nobody could read them. O(points), and O(flows) if flows are kept.
#[derive(Debug)]
pub struct Transient {
    /// By the name that a point has in any sweep with more seeds.
    points: Mutex<BTreeMap<String, Known>>,
    keep_flows: bool,
}

#[derive(Debug)]
struct Known {
    result: Result<PointResult, String>,
    flows: Vec<FlowRecord>,
}

impl Transient {
    /// No points yet; of those to come the flows are kept too if `keep_flows` says so.
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

    /// A thread that panicked while it held them changed nothing by halves.
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
