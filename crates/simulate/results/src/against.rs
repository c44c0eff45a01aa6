//! Compares two runs: the settings that differ, and the differences between their rows.

use std::collections::BTreeMap;

use plan::metric::{Selector, Unknown};
use scenario::goal::{self, GoalSide};
use sim::columns::{METRICS, group_values, metric_values};

use crate::folder::Folder;
use crate::goals::GoalState;
use crate::identity;
use crate::row::Row;
use crate::statistics::{self, Estimate, Significance};
use crate::summary::{PointSummary, Summary};

/// The second of two runs compared with the first.
#[derive(Clone, Debug)]
pub struct Against {
    /// Settings whose texts differ, with both texts; `None` if a run lacks the setting.
    pub settings: Vec<(String, [Option<String>; 2])>,
    /// Rows that both have.
    pub rows: Vec<RowPair>,
    /// The number of rows that only the first run has, and that only the second has.
    pub alone: [usize; 2],
    /// The metrics by which the runs are compared: those of their goals, or completion times and goodput.
    pub headlines: Vec<Selector>,
    /// The goals that both runs have, each with the number of common rows that meet it in the first and in the second.
    pub goals: Vec<(Selector, String, [usize; 2])>,
    /// Seeds of each row, in the first and in the second.
    pub seeds: [u32; 2],
    /// Whether anything depends on the seed.
    pub random: bool,
}

/// A row of two runs.
#[derive(Clone, Debug)]
pub struct RowPair {
    /// Swept settings and their values.
    pub set: Vec<(String, String)>,
    /// The labels of the scheme in both runs. They differ only if each run has a single scheme.
    pub schemes: [String; 2],
    /// Changes of metrics of all flows, and of groups and classes that both have.
    pub changes: Vec<MetricChange>,
}

/// A metric of a row in two runs, over the seeds that both have.
#[derive(Clone, Debug)]
pub struct MetricChange {
    /// What it is.
    pub selector: Selector,
    /// The means over these seeds.
    pub means: [Option<f64>; 2],
    /// The second minus the first, seed by seed.
    pub difference: Estimate,
    /// What the difference says.
    pub verdict: Significance,
}

/// A change that is not accepted: `p99 > +5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The metric.
    pub selector: Selector,
    /// The side of the bound on which changes are not accepted.
    pub comparison: GoalSide,
    /// The change from the first run to the second.
    pub change: Amount,
    text: String,
}

/// How much a metric changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// As a share of the first run's value.
    Share(f64),
    /// In the unit of the metric.
    Absolute(f64),
}

impl Against {
    /// Compares two runs. Rows are matched by their swept values and their scheme; if each run has a single scheme, by
    /// their swept values only.
    pub fn of(first: &Folder, second: &Folder) -> Self {
        let (a, b) = (first.summary(), second.summary());
        let single = a.schemes.len() == 1 && b.schemes.len() == 1;
        let same =
            |row: &Row, other: &Row| row.set == other.set && (single || row.scheme == other.scheme);
        let pairs = a.rows.iter().filter_map(|row| {
            let other = b.rows.iter().find(|other| same(row, other))?;
            Some(pair((a, row), (b, other)))
        });
        let rows: Vec<RowPair> = pairs.collect();
        Self {
            settings: differing(first.scenario_text(), second.scenario_text()),
            alone: [a.rows.len() - rows.len(), b.rows.len() - rows.len()],
            headlines: headlines([a, b]),
            goals: shared_goals([a, b], &rows),
            seeds: [a.seeds, b.seeds],
            random: a.random || b.random,
            rows,
        }
    }

    /// The changes of a row that tables show: the headlines, and completion times of groups.
    pub fn shown<'a>(&'a self, row: &'a RowPair) -> impl Iterator<Item = &'a MetricChange> {
        row.changes.iter().filter(|change| {
            let Selector { of, metric } = &change.selector;
            let of_group = of.is_some() && *metric == "fct_p99_us";
            let usual = of_group || self.headlines.contains(&change.selector);
            usual && change.means.iter().any(Option::is_some)
        })
    }

    /// Rows with a change beyond `bound`, and that change.
    pub fn beyond(&self, bound: &Bound) -> Vec<(&RowPair, &MetricChange)> {
        let rows = self.rows.iter().filter_map(|row| {
            let mut changes = row.changes.iter();
            let change = changes.find(|change| change.selector == bound.selector)?;
            bound.is_beyond(change).then_some((row, change))
        });
        rows.collect()
    }
}

impl RowPair {
    /// The change of a metric.
    pub fn change(&self, of: Option<&str>, metric: &str) -> Option<&MetricChange> {
        let mut changes = self.changes.iter();
        changes
            .find(|change| change.selector.of.as_deref() == of && change.selector.metric == metric)
    }
}

impl MetricChange {
    /// The mean difference as a share of the first run's mean.
    pub fn share(&self) -> Option<f64> {
        let [first, _] = self.means;
        let (first, difference) = (first?, self.difference.mean?);
        (first.abs() > 0.0).then(|| difference / first)
    }

    /// The confidence interval of that share, over the first run's mean.
    pub fn share_interval(&self) -> Option<(f64, f64)> {
        let first = self.means[0].filter(|first| first.abs() > 0.0)?;
        Some((self.difference.low? / first, self.difference.high? / first))
    }
}

impl Bound {
    /// Reads `[GROUP.]METRIC COMPARISON CHANGE`; the change is in percent or in the metric's unit.
    pub fn parse(text: &str) -> Result<Self, Unknown> {
        let text = text.trim();
        let wrong = |cause: String| {
            Unknown {
            cause,
            remedy:
                "write a metric, a comparison and a change with its sign, as in 'p99 > +5%' or 'goodput < -2%'"
                    .to_owned(),
        }
        };
        let Some(at) = text.rfind(['<', '>']).filter(|at| *at > 0) else {
            return Err(wrong(format!("there is no comparison in {text:?}")));
        };
        let (left, right) = text.split_at(at);
        let (comparison, right) = match (&right[..1], right[1..].strip_prefix('=')) {
            ("<", None) => (GoalSide::Below, &right[1..]),
            ("<", Some(rest)) => (GoalSide::AtMost, rest),
            (_, None) => (GoalSide::Above, &right[1..]),
            (_, Some(rest)) => (GoalSide::AtLeast, rest),
        };
        let selector = Selector::parse(left)?;
        let right = right.trim();
        let (sign, size) = match right.strip_prefix('-') {
            Some(size) => (-1.0, size),
            None => (1.0, right.strip_prefix('+').unwrap_or(right)),
        };
        let share = size
            .strip_suffix('%')
            .map(|share| share.trim().parse::<f64>());
        let change = match share {
            Some(Ok(share)) if share.is_finite() && share >= 0.0 => {
                Amount::Share(sign * share / 100.0)
            }
            Some(_) => return Err(wrong(format!("there is no percentage in {right:?}"))),
            None => Amount::Absolute(sign * goal::amount(size, selector.column())?),
        };
        Ok(Self {
            selector,
            comparison,
            change,
            text: text.to_owned(),
        })
    }

    /// Whether a change is beyond it. A change whose 95 % interval contains zero is never beyond; a metric without a
    /// value in the second run always is.
    fn is_beyond(&self, change: &MetricChange) -> bool {
        let changed = match self.change {
            _ if change.means[0].is_some() && change.means[1].is_none() => return true,
            _ if matches!(change.verdict, Significance::Same) => Some(0.0),
            _ if change.difference.low.is_some()
                && change.verdict == Significance::NotEnoughRuns =>
            {
                Some(0.0)
            }
            // A change from zero to any value exceeds every share.
            Amount::Share(_) => change.share().or_else(|| {
                change
                    .difference
                    .mean
                    .map(|difference| difference * f64::INFINITY)
            }),
            Amount::Absolute(_) => change.difference.mean,
        };
        let (Amount::Share(bound) | Amount::Absolute(bound)) = self.change;
        changed.is_some_and(|changed| self.comparison.holds(changed, bound))
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Settings that differ, in the order of the scenario.
fn differing(first: &str, second: &str) -> Vec<(String, [Option<String>; 2])> {
    let (a, b) = (identity::settings(first), identity::settings(second));
    let names = |settings: &[(String, String)]| -> Vec<String> {
        settings.iter().map(|(name, _)| name.clone()).collect()
    };
    let mut all = names(&a);
    all.extend(
        names(&b)
            .into_iter()
            .filter(|name| a.iter().all(|(known, _)| known != name)),
    );
    let text = |settings: &[(String, String)], name: &str| {
        let found = settings.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.trim_matches('"').to_owned())
    };
    let both = all.into_iter().map(|name| {
        let texts = [text(&a, &name), text(&b, &name)];
        (name, texts)
    });
    // Goals, names and the choice of shown settings change no result.
    let telling = |name: &str| !["goals", "name", "title", "columns"].contains(&name);
    both.filter(|(name, [a, b])| a != b && telling(name))
        .collect()
}

/// The metrics of the runs' goals. Without goals: the 99th percentile of completion times and the goodput; for flows
/// without an end, the goodput and the queue.
fn headlines(of: [&Summary; 2]) -> Vec<Selector> {
    let goals = of.iter().flat_map(|summary| &summary.goals);
    let about = goals.flat_map(|goals| &goals.goals);
    let about = about.filter_map(|goal| Selector::parse(goal.subject()).ok());
    let mut selectors: Vec<Selector> = Vec::new();
    for selector in about {
        if !selectors.contains(&selector) {
            selectors.push(selector);
        }
    }
    if !selectors.is_empty() {
        return selectors;
    }
    let rows = || of.iter().flat_map(|summary| &summary.rows);
    let timed = rows().any(|row| !row.value("fct_p99_us").is_nan());
    // A few late flows determine the goodput to the last completion.
    let late = rows().any(|row| row.has_stragglers(None));
    let goodput = if late {
        "goodput_p50_bps"
    } else {
        "goodput_bps"
    };
    let metrics = match (timed, rows().all(Row::is_mostly_idle)) {
        (true, true) => vec!["fct_p99_us"],
        (true, false) => vec!["fct_p99_us", goodput],
        (false, _) => vec!["goodput_bps", "queue_mean_bytes"],
    };
    let selector = |metric| Selector { of: None, metric };
    metrics.into_iter().map(selector).collect()
}

/// Goals that both runs have: the metric, the goal, and how many rows of each run meet it.
fn shared_goals(of: [&Summary; 2], rows: &[RowPair]) -> Vec<(Selector, String, [usize; 2])> {
    let [Some(first), Some(_)] = of.map(|summary| summary.goals.as_ref()) else {
        return Vec::new();
    };
    let met = |summary: &Summary, side: usize, goal: &str| {
        let goals = summary.goals.as_ref()?;
        let at = goals.goals.iter().position(|other| other.goal == goal)?;
        let judged = goals.rows.iter().filter(|judged| {
            let row = &summary.rows[judged.row as usize];
            let paired = |pair: &RowPair| pair.set == row.set && pair.schemes[side] == row.scheme;
            judged.verdicts[at].standing == GoalState::Met && rows.iter().any(paired)
        });
        Some(judged.count())
    };
    let of_both = first.goals.iter().filter_map(|goal| {
        let selector = Selector::parse(goal.subject()).ok()?;
        let counts = [met(of[0], 0, &goal.goal)?, met(of[1], 1, &goal.goal)?];
        Some((selector, goal.goal.clone(), counts))
    });
    of_both.collect()
}

fn pair((a, row): (&Summary, &Row), (b, other): (&Summary, &Row)) -> RowPair {
    let (first, second) = (values(a, row), values(b, other));
    let mut changes = Vec::new();
    for (selector, ours) in &first {
        let Some((_, theirs)) = second.iter().find(|(known, _)| known == selector) else {
            continue;
        };
        let both = ours
            .iter()
            .filter_map(|(seed, value)| Some((*value, *theirs.get(seed)?)));
        let (before, after): (Vec<f64>, Vec<f64>) = both.unzip();
        let (difference, verdict) = statistics::paired(&after, &before, a.random || b.random);
        changes.push(MetricChange {
            selector: selector.clone(),
            means: [&before, &after].map(|values| Estimate::of(values.iter().copied()).mean),
            difference,
            verdict,
        });
    }
    RowPair {
        set: row.set.clone(),
        schemes: [row.scheme.clone(), other.scheme.clone()],
        changes,
    }
}

/// Every metric of a row by seed: first of all flows, then of its groups and classes.
fn values(summary: &Summary, row: &Row) -> Vec<(Selector, BTreeMap<u64, f64>)> {
    let points: Vec<&PointSummary> = summary
        .points
        .iter()
        .filter(|point| row.points.contains(&point.point))
        .collect();
    let mut found: Vec<(Selector, BTreeMap<u64, f64>)> = Vec::new();
    let mut add = |of: Option<&str>, metric: &'static str, seed: u64, value: f64| {
        let selector = Selector {
            of: of.map(str::to_owned),
            metric,
        };
        match found.iter_mut().find(|(known, _)| *known == selector) {
            Some((_, values)) => drop(values.insert(seed, value)),
            None => found.push((selector, BTreeMap::from([(seed, value)]))),
        }
    };
    for point in points {
        for (column, value) in METRICS.iter().zip(metric_values(&point.metrics)) {
            add(None, column.name, point.seed, value);
        }
        for group in &point.groups {
            for (metric, value) in group_values(group) {
                add(Some(&group.group), metric, point.seed, value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: f64, after: f64) -> MetricChange {
        let (difference, verdict) = statistics::paired(&[after], &[before], false);
        MetricChange {
            selector: Selector::parse("p99").unwrap(),
            means: [Some(before), Some(after)],
            difference,
            verdict,
        }
    }

    #[test]
    fn a_bound_is_a_share_or_an_amount_in_the_unit_of_its_metric() {
        let bound = |text: &str| Bound::parse(text).unwrap();
        assert_eq!(bound("p99 > +5%").change, Amount::Share(0.05));
        assert_eq!(bound("goodput < -2%").change, Amount::Share(-0.02));
        assert_eq!(bound("reads.p99>1ms").change, Amount::Absolute(1000.0));
        for wrong in ["p99", "p99 > much%", "p99 > 5", "p98 > 5%", "> 5%"] {
            assert!(Bound::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_changes_on_the_wrong_side_of_a_bound_are_beyond_it() {
        let slower = Bound::parse("p99 > +5%").unwrap();
        assert!(slower.is_beyond(&change(100.0, 106.0)));
        assert!(!slower.is_beyond(&change(100.0, 104.0)));
        assert!(!slower.is_beyond(&change(100.0, 50.0)));
        // From nothing to something.
        assert!(slower.is_beyond(&change(0.0, 1.0)));
        let less = Bound::parse("p99 < -1us").unwrap();
        assert!(less.is_beyond(&change(100.0, 50.0)));
        assert!(!less.is_beyond(&change(100.0, 100.0)));
    }

    #[test]
    fn a_change_that_may_be_chance_is_none() {
        let bound = Bound::parse("p99 > +5%").unwrap();
        let (before, after) = ([100.0, 200.0, 300.0], [300.0, 100.0, 260.0]);
        let (difference, verdict) = statistics::paired(&after, &before, true);
        let means = [&before, &after].map(|values| Estimate::of(values.iter().copied()).mean);
        let unsure = MetricChange {
            means,
            difference,
            verdict,
            ..change(1.0, 1.0)
        };
        assert!(unsure.share().unwrap() > 0.05);
        assert!(!bound.is_beyond(&unsure));
    }
}
