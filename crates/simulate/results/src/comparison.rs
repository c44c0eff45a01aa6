//! Compares the schemes of a combination of settings, seed by seed.

use base::Ordered as _;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sim::columns::{METRICS, group_values};

use crate::point_result::PointResult;
use crate::row::Row;
use crate::statistics::{self, Estimate, Significance};

/// A paired difference between two schemes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Swept settings and their values.
    pub set: Vec<(String, String)>,
    /// The group or class of flows; `None`: all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Name of the metric.
    pub metric: String,
    /// Label of the scheme.
    pub scheme: String,
    /// Label of the scheme with which `scheme` is compared.
    pub baseline: String,
    /// `scheme - baseline`, seed by seed.
    pub difference: Estimate,
    /// What that says.
    pub verdict: Significance,
}

/// By group and metric, the values for all seeds of a row; `NaN` for a failed seed.
pub(super) type Groups = IndexMap<String, IndexMap<&'static str, Vec<f64>>>;

/// The values of every group of a row.
pub(super) fn by_group(seeds: &[Result<PointResult, String>]) -> Groups {
    let mut groups = Groups::new();
    for (seed, result) in seeds.iter().enumerate() {
        for group in result.iter().flat_map(|result| &result.groups) {
            let metrics = groups.entry(group.group.clone()).or_default();
            for (name, value) in group_values(group) {
                let values = metrics.entry(name);
                values.or_insert_with(|| vec![f64::NAN; seeds.len()])[seed] = value;
            }
        }
    }
    groups
}

/// Compares every scheme of a combination with the schemes before it. The rows differ only in the scheme; each comes
/// with its values for all flows, by metric and seed, and with those of its groups.
pub(super) fn compare(
    rows: &[Row],
    (values, groups): (&[Vec<Vec<f64>>], &[Groups]),
    random: bool,
) -> Vec<Comparison> {
    let mut all = Vec::new();
    for scheme in 1..rows.len() {
        for baseline in 0..scheme {
            let mut add = |group: Option<&str>, metric: &str, of: &[f64], other: &[f64]| {
                let (difference, verdict) = statistics::paired(of, other, random);
                all.push(Comparison {
                    set: rows[0].set.clone(),
                    group: group.map(str::to_owned),
                    metric: metric.to_owned(),
                    scheme: rows[scheme].scheme.clone(),
                    baseline: rows[baseline].scheme.clone(),
                    difference,
                    verdict,
                });
            };
            let columns = METRICS.iter().enumerate();
            for (column, metric) in columns.filter(|(_, metric)| is_compared(metric.name)) {
                let [of, other] = [scheme, baseline].map(|row| &values[row][column]);
                add(None, metric.name, of, other);
            }
            for (group, metrics) in &groups[scheme] {
                let Some(others) = groups[baseline].get(group) else {
                    continue;
                };
                for (metric, of) in metrics.iter().filter(|(metric, _)| is_compared(metric)) {
                    if let Some(other) = others.get(metric) {
                        add(Some(group), metric, of, other);
                    }
                }
            }
        }
    }
    all
}

/// The `comparisons` whose combination occurs in `rows`.
pub(super) fn kept(comparisons: Vec<Comparison>, rows: &[Row]) -> Vec<Comparison> {
    let sets = rows.iter().map(|row| &row.set).into_set();
    let comparisons = comparisons.into_iter();
    comparisons
        .filter(|comparison| sets.contains(&comparison.set))
        .collect()
}

fn is_compared(metric: &str) -> bool {
    COMPARED.contains(&metric)
}

/// Metrics by which schemes are compared.
const COMPARED: [&str; 8] = [
    "goodput_bps",
    "fct_mean_us",
    "fct_p50_us",
    "fct_p99_us",
    "fct_max_us",
    "timeouts",
    "drops",
    "queue_mean_bytes",
];
