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
    /// By metric: mean and confidence interval over the seeds.
    pub metrics: IndexMap<String, Estimate>,
    /// The waiting time after a loss that only a timer repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The configured marking threshold of its queues, if its endpoints react to marks; empty if queues mark by another
    /// rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<String>,
    /// The chosen losses, as in `bottleneck.lose`, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose: Option<String>,
    /// The metrics of each group of flows, if the scenario has groups.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, IndexMap<String, Estimate>>,
    /// Every tier of ports, from the hosts upwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// The collectives of each group that has any: means over the seeds, and the slowest collective of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveMetrics>,
}

/// The shortest times for which a sender waits for a timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Until it retransmits data: `tcp.min_rto`, the least of all groups.
    pub rto_us: f64,
    /// Until it retransmits a packet of the handshake: `tcp.syn_rto`, the least of all groups.
    pub syn_rto_us: f64,
}

/// The rows of a sweep, with the settings in which they differ.
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

    /// The estimate of a metric of all flows, or of a group or class; `None` if there is none.
    pub fn estimate(&self, of: Option<&str>, metric: &str) -> Option<&Estimate> {
        match of {
            None => self.metrics.get(metric),
            Some(of) => self.groups.get(of)?.get(metric),
        }
    }

    /// Whether no flow was under way for most of the time from the first start to the last completion. Then the metrics
    /// of [`counts_idle_time`] say little.
    pub fn is_mostly_idle(&self) -> bool {
        self.value("active") < BUSY
    }

    /// Whether a few flows (of all, or of a group or class) waited so long for timers that the goodput mainly shows
    /// their wait. Then the goodput of the first half of the flows says more.
    pub fn has_stragglers(&self, of: Option<&str>) -> bool {
        let value = |metric| self.estimate(of, metric).and_then(|found| found.mean);
        let goodput = value("goodput_bps").zip(value("goodput_p50_bps"));
        let flows = value("flows_completed").unwrap_or(0.0);
        let few = value("timers").unwrap_or(0.0) <= FEW_LATE * flows;
        let held_up = value("held_up").is_some_and(|share| share >= HELD_UP);
        few && held_up && goodput.is_some_and(|(all, half)| half >= LATE * all)
    }

    /// Rounds of all flows, or of a group, including unfinished ones.
    pub fn rounds(&self, of: Option<&str>) -> f64 {
        self.sum(of, &["rounds_completed", "rounds_unfinished"])
    }

    /// Whether there are several rounds with several flows each; otherwise the time of a round is the time of a flow.
    /// For all flows: whether any group has such rounds, because rounds of different groups are not related.
    pub fn has_rounds(&self, of: Option<&str>) -> bool {
        let groups = || self.groups.keys().map(|group| Some(group.as_str()));
        if of.is_none() && groups().any(|group| self.rounds(group) > 0.0) {
            return groups().any(|group| self.has_rounds(group));
        }
        let flows = ["flows_completed", "flows_unfinished", "flows_failed"];
        let rounds = self.rounds(of);
        rounds > 1.0 && self.sum(of, &flows) > rounds
    }

    /// Whether flows would take different times alone in the network; otherwise slowdowns are completion times in
    /// another unit.
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

/// Whether a metric covers all the time from the first start to the last completion.
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

/// The least share of busy time from which means over time describe the flows.
const BUSY: f64 = 0.5;
/// The most timers per flow with which the flows that waited count as stragglers.
const FEW_LATE: f64 = 0.1;
/// The least share of the time in which only flows that waited for timers were under way, from which these flows
/// determine the goodput.
const HELD_UP: f64 = 0.5;
/// The least ratio of the goodput of the first half of the flows to the goodput of all, from which stragglers determine
/// the latter.
const LATE: f64 = 2.0;
