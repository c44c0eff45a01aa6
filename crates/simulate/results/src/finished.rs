//! A finished sweep: its summary, the results of its points, and its cost.

use sim::metrics::RunCost;

use super::folder::Folder;
use super::info::RunInfo;
use super::point_result::{PointResult, PointResults};
use super::summary::{PointSummary, Summary};

/// A sweep with its results.
#[derive(Debug)]
pub struct Finished {
    /// Rows, comparisons and every number over the seeds.
    pub summary: Summary,
    /// One for each point, in the same order.
    pub results: PointResults,
    /// The command, its cost and the machine.
    pub info: RunInfo,
    /// The number of points of the sweep, if it ended early.
    pub of: Option<usize>,
}

impl Finished {
    /// The contents of a run folder as a finished sweep, without the time of each point.
    pub fn of(folder: Folder) -> Self {
        let (summary, info) = folder.into_parts();
        Self::new(summary, info)
    }

    /// The same of its parts.
    pub fn new(summary: Summary, info: RunInfo) -> Self {
        let result = |point: &PointSummary| {
            Ok(PointResult {
                metrics: point.metrics.clone(),
                groups: point.groups.clone(),
                tiers: point.tiers.clone(),
                deadlock: point.deadlock.clone(),
                collectives: point.collectives.clone(),
                cost: RunCost {
                    simulated_us: point.simulated_us,
                    packet_hops: point.packet_hops,
                    events: point.events,
                    cpu_us: f64::NAN,
                    ns_per_hop: f64::NAN,
                },
                digest: u64::from_str_radix(&point.digest, 16).unwrap_or_default(),
            })
        };
        Self {
            results: summary.points.iter().map(result).collect(),
            summary,
            info,
            of: None,
        }
    }

    /// Points that have results.
    pub fn points(&self) -> impl Iterator<Item = (&PointSummary, &PointResult)> {
        self.summary
            .points
            .iter()
            .zip(self.results.iter().flatten())
    }

    /// The settings shown in results with their values, for the points of a row.
    pub fn settings(&self, row: u32) -> impl Iterator<Item = (&String, &String)> {
        let row = self.summary.rows[row as usize].set.iter();
        row.chain(&self.summary.constants)
            .map(|(key, value)| (key, value))
    }
}
