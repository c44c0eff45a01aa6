//! The leaders among rows that differ only in the scheme, and the order of all rows.

use crate::comparison::Comparison;
use crate::row::Row;
use crate::statistics::{Estimate, Significance, paired};
use crate::summary::Summary;
use base::Sort as _;
use base::cast::real;

/// The measure by which schemes are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankingMeasure {
    /// 99th percentile of completion times.
    Tail,
    /// Goodput, if no flow has an end.
    Goodput,
    /// Mean queue, if no flow has an end and all schemes have the same goodput.
    Queue,
}

impl RankingMeasure {
    /// Completion times if any flow has an end. Otherwise goodput if it differs between schemes, or else queues.
    pub fn of(summary: &Summary) -> Self {
        let timed = |row: &Row| !row.value(Self::Tail.metric()).is_nan();
        if summary.rows.iter().any(timed) {
            return Self::Tail;
        }
        let differs = |group: &[Row]| {
            let mut rows = group.iter().filter(|row| Self::Goodput.value(row) > 0.0);
            let Some(first) = rows.next() else {
                return false;
            };
            rows.any(|row| {
                let [a, b] = [first, row].map(|row| Self::Goodput.cost(row));
                let apart = !within_a_percent(a.min(b), a.max(b));
                let known = difference(summary, [first, row], Self::Goodput).is_some();
                apart && (summary.seeds == 1 || known)
            })
        };
        if summary.schemes.len() > 1 && summary.groups().any(differs) {
            Self::Goodput
        } else {
            Self::Queue
        }
    }

    /// The name of the metric.
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Tail => "fct_p99_us",
            Self::Goodput => "goodput_bps",
            Self::Queue => "queue_mean_bytes",
        }
    }

    /// The metric of a row; `NaN` if it has none.
    pub fn value(self, row: &Row) -> f64 {
        row.value(self.metric())
    }

    /// A value for which less is better.
    pub fn cost(self, row: &Row) -> f64 {
        self.cost_of(self.value(row))
    }

    /// The same for a value of the metric.
    pub fn cost_of(self, value: f64) -> f64 {
        match self {
            Self::Goodput => 1.0 / value,
            Self::Tail | Self::Queue => value,
        }
    }

    /// The difference between leader and other, as a share of the other's value.
    pub fn share(self, ratio: f64) -> f64 {
        match self {
            Self::Goodput => ratio - 1.0,
            Self::Tail | Self::Queue => 1.0 - 1.0 / ratio,
        }
    }
}

/// The rows of one group, ranked.
pub struct Ranking<'a> {
    /// The measure that ranks the rows.
    pub measure: RankingMeasure,
    /// The best row, and the rows without a clear difference from it, best first.
    pub leaders: Vec<&'a Row>,
    /// The other rows that have results, best first.
    pub behind: Vec<&'a Row>,
    /// Whether there are several leaders because runs differ too much, and not because values are within 1 %.
    pub uncertain: bool,
    /// The 95 % interval of the next best row's distance from a single leader, if there is one.
    pub interval: Option<(f64, f64)>,
}

impl<'a> Ranking<'a> {
    /// None if no row has a value.
    pub fn of(summary: &Summary, group: &'a [Row], measure: RankingMeasure) -> Option<Self> {
        let mut ranked: Vec<&Row> = group
            .iter()
            .filter(|row| !measure.value(row).is_nan())
            .collect();
        // Percentiles are over completed flows, so a scheme that leaves flows incomplete is not fast.
        let most = ranked.iter().map(|row| completed(row)).fold(0.0, f64::max);
        let left = |row: &Row| match measure {
            RankingMeasure::Tail if most - completed(row) >= FEW => 1.0 - completed(row),
            _ => 0.0,
        };
        ranked.order_by(|a, b| {
            let fewer = left(a).total_cmp(&left(b));
            fewer.then(measure.cost(a).total_cmp(&measure.cost(b)))
        });
        let (best, others) = ranked.split_first()?;
        let mut ranking = Self {
            measure,
            leaders: vec![*best],
            behind: Vec::new(),
            uncertain: false,
            interval: None,
        };
        for other in others {
            let fewer = left(other) > left(best);
            let leaves_flows = fewer && completes_fewer(summary, other, best);
            let alike = within_a_percent(measure.cost(best), measure.cost(other));
            let open = summary.seeds > 1 && difference(summary, [best, other], measure).is_none();
            let open = open || fewer && !leaves_flows;
            if leaves_flows || !(alike || open) {
                ranking.behind.push(other);
            } else {
                ranking.uncertain |= !alike;
                ranking.leaders.push(other);
            }
        }
        if let ([leader], Some(next)) = (ranking.leaders.as_slice(), ranking.behind.first()) {
            let difference = difference(summary, [leader, next], measure);
            ranking.interval =
                difference.and_then(|difference| interval(summary, difference, (leader, measure)));
        }
        Some(ranking)
    }

    /// The only leader, if there is one.
    pub fn winner(&self) -> Option<&'a Row> {
        match self.leaders.as_slice() {
            [winner] => Some(winner),
            _ => None,
        }
    }

    /// The cost of the next best row over the cost of the only leader; `None` if there is no next best row, or if it
    /// leaves more flows unfinished.
    pub fn margin(&self) -> Option<f64> {
        let (winner, next) = (self.winner()?, self.behind.first()?);
        let (ours, theirs) = (self.measure.cost(winner), self.measure.cost(next));
        (!self.leads_by_flows()).then_some(theirs / ours)
    }

    /// Whether the next best is behind because flows did not complete.
    pub fn leads_by_flows(&self) -> bool {
        let next = self.behind.first();
        self.measure == RankingMeasure::Tail
            && next.is_some_and(|next| completed(self.leaders[0]) - completed(next) >= FEW)
    }

    /// The labels of the leaders.
    pub fn names(&self) -> Vec<&'a str> {
        self.leaders.iter().map(|row| row.scheme.as_str()).collect()
    }
}

/// Whether a sweep of several schemes without goals has a load as its axis, so that rows are ranked for each load.
pub fn ranks_by_load(summary: &Summary) -> bool {
    let several = summary.schemes.len() > 1 && summary.goals.is_none();
    several && summary.axes.iter().any(|axis| is_load(axis))
}

/// Indices of all rows, best first. With goals: by the goals. Otherwise: by the 99th percentile of completion times,
/// or, if no flow has an end, by goodput or the mean queue. If the axis is a load, each value is divided by the best
/// scheme's value for the same load, because the least load is best for every scheme.
pub fn best_first(summary: &Summary) -> Vec<u32> {
    match &summary.goals {
        Some(goals) => goals.ranking.clone(),
        None => by_measure(summary, RankingMeasure::of(summary)),
    }
}

/// Indices of all rows, best first; rows without a value come last. If the axis is a load, rows are sorted by their
/// distance from the best row of their load; among equals, the greatest load comes first.
fn by_measure(summary: &Summary, measure: RankingMeasure) -> Vec<u32> {
    let left = |row: &Row| match measure {
        RankingMeasure::Tail if completed(row) < 1.0 - FEW => 1.0 - completed(row),
        _ => 0.0,
    };
    let along_load = ranks_by_load(summary);
    let mut keys: Vec<(f64, f64, f64)> = Vec::new();
    for group in summary.groups() {
        let costs = group.iter().map(|row| measure.cost(row));
        let best = costs.fold(f64::INFINITY, f64::min);
        keys.extend(group.iter().map(|row| {
            let cost = measure.cost(row);
            // A negative NaN would sort first.
            let cost = if cost.is_nan() { f64::INFINITY } else { cost };
            if along_load {
                let over = if best > 0.0 { cost / best } else { cost };
                (left(row), over, -cost)
            } else {
                (left(row), cost, 0.0)
            }
        }));
    }
    let mut ranked: Vec<(u32, (f64, f64, f64))> = (0..).zip(keys).collect();
    ranked.order_by(|(_, a), (_, b)| {
        let nearer = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
        nearer.then(a.2.total_cmp(&b.2))
    });
    ranked.into_iter().map(|(place, _)| place).collect()
}

/// The row with the most telling tiers: the one with the most drops, or, without drops, with the longest queue. `None`
/// in a network with a single tier of switches.
pub fn worst_tiers(summary: &Summary) -> Option<&Row> {
    let drops = |row: &Row| row.tiers.iter().map(|tier| tier.drops).sum::<f64>();
    let queue = |row: &Row| {
        let queues = row.tiers.iter().map(|tier| tier.worst_queue_max_bytes);
        queues.max()
    };
    // Among equal rows the first one counts.
    let rows = summary.rows.iter().rev();
    let row = rows.max_by(|a, b| {
        let drops = drops(a).total_cmp(&drops(b));
        drops.then_with(|| queue(a).cmp(&queue(b)))
    })?;
    let switches = row.tiers.iter().filter(|tier| tier.tier != "host");
    (switches.count() > 1).then_some(row)
}

/// Whether one row certainly completes fewer flows than another, by the confidence interval of the paired difference.
fn completes_fewer(summary: &Summary, row: &Row, other: &Row) -> bool {
    if summary.seeds == 1 || !summary.random {
        return true;
    }
    let shares = [row, other].map(|row| {
        let points = row.points.iter().filter_map(|number| {
            let mut points = summary.points.iter();
            points.find(|point| point.point == *number)
        });
        let shares = points.map(|point| {
            let metrics = &point.metrics;
            let all = metrics.flows_completed + metrics.flows_unfinished + metrics.flows_failed;
            share(metrics.flows_completed, all)
        });
        shares.collect::<Vec<f64>>()
    });
    let [ours, theirs] = shares;
    paired(&ours, &theirs, true).1 == Significance::Lower
}

fn share(some: u64, all: u64) -> f64 {
    real(some) / real(all)
}

/// The paired difference between two rows of the same group, unless it may be zero.
fn difference<'a>(
    summary: &'a Summary,
    rows: [&Row; 2],
    measure: RankingMeasure,
) -> Option<&'a Comparison> {
    let names = rows.map(|row| &row.scheme);
    summary.comparisons.iter().find(|comparison| {
        comparison.group.is_none()
            && comparison.metric == measure.metric()
            && comparison.set == rows[0].set
            && names.contains(&&comparison.scheme)
            && names.contains(&&comparison.baseline)
            && comparison.verdict != Significance::NotEnoughRuns
    })
}

/// How much better `best` is: the 95 % interval of a difference, if the seeds give one.
fn interval(
    summary: &Summary,
    comparison: &Comparison,
    (best, measure): (&Row, RankingMeasure),
) -> Option<(f64, f64)> {
    let Estimate { low, high, .. } = comparison.difference;
    let (low, high) = low.zip(high).filter(|_| summary.random)?;
    let less = measure != RankingMeasure::Goodput;
    Some(if (comparison.scheme == best.scheme) == less {
        (-high, -low)
    } else {
        (low, high)
    })
}

/// Whether more of a setting is more work for a network.
pub fn is_load(axis: &str) -> bool {
    let words = ["senders", "load", "size", "flows", "connections"];
    words.iter().any(|word| {
        let key = axis.strip_suffix(word);
        key.is_some_and(|key| key.ends_with("workload."))
    })
}

/// The share of flows with an end that completed; 1 without such flows.
fn completed(row: &Row) -> f64 {
    let completed = row.value("flows_completed");
    let all = completed + row.value("flows_unfinished") + row.value("flows_failed");
    if all > 0.0 { completed / all } else { 1.0 }
}

/// Whether a cost is at most 1 % above the best one. Such a lead does not count as a win.
pub fn within_a_percent(best: f64, other: f64) -> bool {
    other - best <= 0.01 * other
}

/// A share of flows that may be missing from a 99th percentile without improving it.
const FEW: f64 = 0.005;
