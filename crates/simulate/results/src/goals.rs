//! Compares the rows of a sweep with its goals. This is done once, for the table, the answer, JSON and the report.
//!
//! A row meets a goal if its metric does. Over several seeds of a random scenario, the whole 95 % confidence interval
//! must meet it. A row is open if its interval contains the threshold, or if it has too few flows or rounds for the
//! goal's percentile. Percentiles are over completed flows. So a row misses every goal on completion times if it leaves
//! more flows incomplete than [`FEW`], if it has no value, or if its bytes alone take longer than the goal allows. The
//! same share of rounds may stay incomplete.

mod region;

use base::Sort as _;
use plan::metric::Selector;
use scenario::goal::Goal;
use serde::{Deserialize, Serialize};

use crate::row::{Row, Rows};
use crate::samples;
use crate::statistics::Estimate;
pub use region::{Region, Smallest, magnitude};

/// Goals, and the distance of every row from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goals {
    /// The goals, in the order in which they were given.
    pub goals: Vec<Demand>,
    /// The judgement of each row of the sweep, in the same order.
    pub rows: Vec<JudgedRow>,
    /// Indices of all rows. First come the rows that meet every goal, starting with the largest margin, then the
    /// others, starting with the nearest.
    pub ranking: Vec<u32>,
    /// The settings with which all goals are met, by scheme, in as few regions as cover them.
    pub regions: Vec<Region>,
    /// The smallest value of each numeric axis with which a scheme meets all goals.
    pub smallest: Vec<Smallest>,
}

/// A goal as results keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The whole goal: `reads.fct_p99 < 10ms`.
    pub goal: String,
    /// The group or class of the goal; `None`: all flows.
    pub group: Option<String>,
    /// The name of the metric.
    pub metric: String,
    /// `<`, `<=`, `>` or `>=`.
    pub comparison: String,
    /// The threshold, in the unit of the metric.
    pub threshold: f64,
}

/// A row and its verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedRow {
    /// Place of the row in [`Summary::rows`](crate::Summary::rows).
    pub row: u32,
    /// The worst result among all goals.
    pub standing: GoalState,
    /// The distance of the worst goal from its threshold, as a share of the threshold; negative if it is met. Goals on
    /// percentiles with too few values do not count. `None` if no other goal is left, if one has no value, or if flows
    /// that never ended make one meaningless.
    pub distance: Option<f64>,
    /// One for each goal.
    pub verdicts: Vec<GoalVerdict>,
}

/// A row and one goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// The metric, in its unit.
    pub value: Option<f64>,
    /// Flows with an end, among those of the goal, that did not complete.
    pub left: f64,
    /// Whether the goal is met.
    pub standing: GoalState,
}

/// Whether a goal is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalState {
    /// It is.
    Met,
    /// The confidence interval contains the threshold, or there are too few values for the percentile.
    Open,
    /// It is not.
    Missed,
}

impl Goals {
    /// None without goals.
    pub(super) fn judge(goals: &[Goal], sweep: &Rows<'_>) -> Option<Self> {
        if goals.is_empty() {
            return None;
        }
        let judge = |(row, number)| judged(row, number, goals, sweep.random);
        let rows: Vec<JudgedRow> = sweep.all.iter().zip(0..).map(judge).collect();
        let mut ranking: Vec<u32> = rows.iter().map(|judged| judged.row).collect();
        ranking.order_by(|a, b| {
            let [a, b] = [a, b].map(|row| &rows[*row as usize]);
            let distance = |judged: &JudgedRow| judged.distance.unwrap_or(f64::INFINITY);
            let left = |judged: &JudgedRow| {
                judged
                    .verdicts
                    .iter()
                    .map(|verdict| verdict.left)
                    .sum::<f64>()
            };
            // A row is open because little is known of it. That does not make it nearer.
            let met = b.is_met().cmp(&a.is_met());
            let nearer = || distance(a).total_cmp(&distance(b));
            met.then_with(nearer)
                .then_with(|| left(a).total_cmp(&left(b)))
        });
        let met: Vec<bool> = rows.iter().map(JudgedRow::is_met).collect();
        Some(Self {
            goals: goals.iter().map(Demand::of).collect(),
            regions: region::regions(sweep, &met),
            smallest: region::smallest(sweep, &met),
            rows,
            ranking,
        })
    }

    /// Rows that meet every goal.
    pub fn met(&self) -> usize {
        self.rows.iter().filter(|judged| judged.is_met()).count()
    }

    /// The rows, best first.
    pub fn ranked(&self) -> impl Iterator<Item = &JudgedRow> {
        self.ranking.iter().map(|row| &self.rows[*row as usize])
    }
}

impl Demand {
    fn of(goal: &Goal) -> Self {
        Self {
            goal: goal.to_string(),
            group: goal.selector.of.clone(),
            metric: goal.selector.metric.to_owned(),
            comparison: goal.comparison.name().to_owned(),
            threshold: goal.threshold,
        }
    }

    /// The value that no scheme can go below in a row: the bound of the goal's metric, or of a smaller metric. `None`
    /// if there is no bound, or if the goal is a lower limit.
    pub fn bound(&self, row: &Row) -> Option<f64> {
        if !self.comparison.starts_with('<') {
            return None;
        }
        bound(row, self.group.as_deref(), &self.metric)
    }

    /// The metric with its group, as a goal names it.
    pub fn subject(&self) -> &str {
        let end = self.goal.rfind(&self.comparison).unwrap_or(0);
        self.goal[..end].trim_end()
    }

    /// The prefix of the goal's time metrics, and the word for what is timed: a flow or a round.
    pub fn kind(&self) -> (&'static str, &'static str) {
        if self.metric.starts_with("round_") {
            ("round", "round")
        } else {
            ("fct", "flow")
        }
    }

    /// The threshold as it was written.
    pub fn written(&self) -> &str {
        let (_, written) = self.goal.rsplit_once(' ').unwrap_or(("", &self.goal));
        written
    }
}

impl JudgedRow {
    /// Whether every goal is met for certain.
    pub fn is_met(&self) -> bool {
        self.standing == GoalState::Met
    }

    /// Goals that are met.
    pub fn count(&self) -> usize {
        let met = |verdict: &&GoalVerdict| verdict.standing == GoalState::Met;
        self.verdicts.iter().filter(met).count()
    }
}

fn judged(row: &Row, number: u32, goals: &[Goal], random: bool) -> JudgedRow {
    let judgements = goals.iter().map(|goal| verdict(row, goal, random));
    let (verdicts, distances): (Vec<GoalVerdict>, Vec<f64>) = judgements.unzip();
    let distance = distances.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let standings = verdicts.iter().map(|verdict| verdict.standing);
    JudgedRow {
        row: number,
        standing: standings.max().unwrap_or(GoalState::Met),
        distance: Some(distance).filter(|distance| distance.is_finite()),
        verdicts,
    }
}

/// Whether a row meets a goal, and its distance from the goal.
fn verdict(row: &Row, goal: &Goal, random: bool) -> (GoalVerdict, f64) {
    let of = goal.selector.of.as_deref();
    let count = |metric| row.estimate(of, metric).and_then(|value| value.mean);
    let count = |metric| count(metric).unwrap_or(0.0);
    let left = count("flows_unfinished") + count("flows_failed");
    let all = left + count("flows_completed");
    let found = row.estimate(of, goal.selector.metric);
    let value = found.and_then(|estimate| estimate.mean);
    let rounds_left = count("rounds_unfinished");
    let metric = goal.selector.metric;
    let worthless = if metric.starts_with("fct_") {
        left > FEW * all
    } else {
        let rounds = rounds_left + count("rounds_completed");
        metric.starts_with("round_") && rounds_left > FEW * rounds
    };
    let too_few = !worthless && samples::are_too_few(row, of, metric);
    let (standing, distance) = match (found, value) {
        (Some(_), Some(value)) if !worthless && is_beyond(row, goal) => {
            (GoalState::Missed, distance(goal, value))
        }
        _ if too_few && !is_beyond(row, goal) => (GoalState::Open, f64::NEG_INFINITY),
        (Some(estimate), Some(value)) if !worthless => {
            (standing(goal, estimate, random), distance(goal, value))
        }
        _ => (GoalState::Missed, f64::INFINITY),
    };
    let verdict = GoalVerdict {
        value,
        left,
        standing,
    };
    (verdict, distance)
}

/// Whether no scheme can meet a goal in a row. More seeds cannot change that.
fn is_beyond(row: &Row, goal: &Goal) -> bool {
    let Selector { of, metric } = &goal.selector;
    let bound = bound(row, of.as_deref(), metric).filter(|_| goal.comparison.wants_less());
    bound.is_some_and(|bound| bound > goal.threshold)
}

/// The least value that a completion time of a row can have with any scheme.
fn bound(row: &Row, of: Option<&str>, metric: &str) -> Option<f64> {
    let bound = match metric {
        "fct_p50_us" | "fct_p95_us" => "bound_p50_us",
        "fct_p99_us" | "fct_p999_us" | "fct_p9999_us" => "bound_p99_us",
        "fct_max_us" => "bound_max_us",
        _ => return None,
    };
    row.estimate(of, bound)?.mean
}

fn standing(goal: &Goal, estimate: &Estimate, random: bool) -> GoalState {
    let holds = |value: Option<f64>| {
        let value = value.or(estimate.mean);
        value.is_some_and(|value| goal.comparison.holds(value, goal.threshold))
    };
    if !random {
        return if holds(None) {
            GoalState::Met
        } else {
            GoalState::Missed
        };
    }
    match (holds(estimate.low), holds(estimate.high)) {
        (true, true) => GoalState::Met,
        (false, false) => GoalState::Missed,
        _ => GoalState::Open,
    }
}

/// The distance from the threshold as a share of it; negative if there is a margin.
fn distance(goal: &Goal, value: f64) -> f64 {
    let beyond = if goal.comparison.wants_less() {
        value - goal.threshold
    } else {
        goal.threshold - value
    };
    if goal.threshold > 0.0 {
        beyond / goal.threshold
    } else {
        beyond
    }
}

/// The share of incomplete flows or rounds that a goal on their times ignores.
const FEW: f64 = 0.005;
