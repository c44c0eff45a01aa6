//! The rows of a sweep.

use base::Span;
use indexmap::IndexMap;
use plan::PointSpec;
use serde::{Deserialize, Serialize};
use sim::metrics::CollectiveMetrics;

use crate::statistics::Estimate;
use crate::tiers::Tier;

/// One scheme under one combination of swept values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Swept settings and their values.
    pub set: Vec<(String, String)>,
    /// Label of the scheme.
    pub scheme: String,
    /// Its points, one per seed.
    pub points: Vec<u32>,
    /// By the name of the metric: mean and confidence interval over the seeds.
    pub metrics: IndexMap<String, Estimate>,
    /// What a loss costs that only a timer repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The marking threshold of its queues as it is set, if its endpoints act on marks; empty where queues mark by
    /// another rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<String>,
    /// The losses that are chosen, as `bottleneck.lose` is set, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose: Option<String>,
    /// The same of each group of flows, if the scenario has groups.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, IndexMap<String, Estimate>>,
    /// Every tier of ports, from the hosts upwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// The collectives of each group that has any: means over the seeds, and the slowest of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveMetrics>,
}

/// The shortest times that a sender waits for a timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// For data to be sent again: `tcp.min_rto`, the least of all groups.
    pub rto_us: f64,
    /// For a packet of the handshake: `tcp.syn_rto`, the least of all groups.
    pub syn_rto_us: f64,
}

/// The rows of a sweep, with what tells them apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Combinations of swept values times schemes; schemes change fastest.
    pub(super) all: &'a [Row],
    /// Labels of the schemes.
    pub(super) schemes: &'a [String],
    /// Swept settings.
    pub(super) axes: &'a [String],
    /// Whether the results depend on the seed.
    pub(super) random: bool,
}

impl Waits {
    pub(super) fn of(point: &PointSpec) -> Self {
        let groups = || point.groups.iter().map(|group| &group.keys.tcp);
        let least =
            |spans: &mut dyn Iterator<Item = Span>| spans.min().map_or(0.0, Span::as_micros);
        Self {
            rto_us: least(&mut groups().map(|tcp| tcp.min_rto)),
            syn_rto_us: least(&mut groups().map(|tcp| tcp.syn_rto)),
        }
    }
}

impl Row {
    /// The mean of the metric called `name`; `NaN` if there is none.
    pub fn value(&self, name: &str) -> f64 {
        let estimate = self.metrics.get(name);
        estimate.and_then(|found| found.mean).unwrap_or(f64::NAN)
    }

    /// The estimate of a metric of all flows, or of those of a group or class; none if there is no such.
    pub fn estimate(&self, of: Option<&str>, metric: &str) -> Option<&Estimate> {
        match of {
            None => self.metrics.get(metric),
            Some(of) => self.groups.get(of)?.get(metric),
        }
    }

    /// Whether no flow was under way for most of the time from the first start to the last completion, so that
    /// metrics for which [`counts_idle_time`] holds say little.
    pub fn is_mostly_idle(&self) -> bool {
        self.value("active") < BUSY
    }

    /// Whether a few flows of all, or of a group or class, waited for timers for so long that goodput is mostly their wait:
    /// the goodput of the first half of the flows tells more.
    pub fn has_stragglers(&self, of: Option<&str>) -> bool {
        let value = |metric| self.estimate(of, metric).and_then(|found| found.mean);
        let goodput = value("goodput_bps").zip(value("goodput_p50_bps"));
        let flows = value("flows_completed").unwrap_or(0.0);
        let few = value("timers").unwrap_or(0.0) <= FEW_LATE * flows;
        let held_up = value("held_up").is_some_and(|share| share >= HELD_UP);
        few && held_up && goodput.is_some_and(|(all, half)| half >= LATE * all)
    }

    /// Rounds of all flows, or of those of a group, the unfinished ones included.
    pub fn rounds(&self, of: Option<&str>) -> f64 {
        self.sum(of, &["rounds_completed", "rounds_unfinished"])
    }

    /// Whether there are several rounds, and rounds of several flows: else the time of a round is that of a flow. Of
    /// all flows whether any group has such rounds, for rounds of different groups do not belong together.
    pub fn has_rounds(&self, of: Option<&str>) -> bool {
        let groups = || self.groups.keys().map(|group| Some(group.as_str()));
        if of.is_none() && groups().any(|group| self.rounds(group) > 0.0) {
            return groups().any(|group| self.has_rounds(group));
        }
        let flows = ["flows_completed", "flows_unfinished", "flows_failed"];
        let rounds = self.rounds(of);
        rounds > 1.0 && self.sum(of, &flows) > rounds
    }

    /// Whether flows would take different times alone in the network: else slowdowns are completion times in another
    /// unit.
    pub fn sizes_differ(&self) -> bool {
        let names = ["fct_p50_us", "fct_p99_us", "slowdown_p50", "slowdown_p99"];
        let [p50, p99, slowdown_p50, slowdown_p99] = names.map(|name| self.value(name));
        (p99 / p50 - slowdown_p99 / slowdown_p50).abs() > 1e-3
    }

    fn sum(&self, of: Option<&str>, metrics: &[&str]) -> f64 {
        let means = metrics
            .iter()
            .filter_map(|name| self.estimate(of, name)?.mean);
        means.sum()
    }

    /// The value of a swept setting.
    pub fn setting(&self, key: &str) -> Option<&str> {
        let found = self.set.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }
}

/// Whether a metric is taken over all the time from the first start to the last completion.
pub fn counts_idle_time(metric: &str) -> bool {
    let over_time = [
        "goodput_bps",
        "goodput_p50_bps",
        "queue_mean_bytes",
        "queue_p5_bytes",
        "queue_p50_bytes",
        "queue_p95_bytes",
    ];
    over_time.contains(&metric)
}

/// Share of the time in which flows are under way from which on means over time are about flows.
const BUSY: f64 = 0.5;
/// Timers for each flow up to which those that waited are stragglers.
const FEW_LATE: f64 = 0.1;
/// Share of the time in which only flows that waited for timers were under way, from which on these decide the goodput.
const HELD_UP: f64 = 0.5;
/// How many times the goodput to the last completion that of the first half of the flows is, where stragglers decide
/// the former.
const LATE: f64 = 2.0;
