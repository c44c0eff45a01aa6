//! The results of a point that a sweep's tables need.

use sim::metrics::{CollectiveMetrics, GroupMetrics, Metrics, Outcome, RunCost, TierMetrics};

/// The numbers of one point.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// Results.
    pub metrics: Metrics,
    /// Results of each group of flows, if the scenario has groups.
    pub groups: Vec<GroupMetrics>,
    /// Every tier of ports.
    pub tiers: Vec<TierMetrics>,
    /// Nodes that wait for each other for good; empty without a deadlock.
    pub deadlock: String,
    /// The collectives of each group that has any.
    pub collectives: Vec<CollectiveMetrics>,
    /// Their cost.
    pub cost: RunCost,
    /// The digest of all events.
    pub digest: u64,
}

/// For every point of a scenario its results, or the reason why there are none.
pub type PointResults = Vec<Result<PointResult, String>>;

impl From<&Outcome> for PointResult {
    fn from(outcome: &Outcome) -> Self {
        Self {
            metrics: outcome.metrics.clone(),
            groups: outcome.groups.clone(),
            tiers: outcome.tiers.clone(),
            deadlock: outcome.deadlock.clone(),
            collectives: outcome.collectives.clone(),
            cost: outcome.cost,
            digest: outcome.digest,
        }
    }
}
