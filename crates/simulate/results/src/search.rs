//! The values tried by a search along one axis, and the limits among them.

use base::Sort as _;
use scenario::search::Search;

use crate::goals::{GoalState, Goals, JudgedRow, magnitude};
use crate::summary::Summary;

/// The values that were tried with one scheme, the smallest first.
pub struct TriedValues<'a> {
    /// The setting that was searched.
    pub axis: &'a str,
    /// The range that was searched, if it can be parsed.
    range: Option<Search>,
    /// The goals of the search.
    pub goals: &'a Goals,
    /// The values, each with the judgement of its row.
    pub values: Vec<(&'a str, &'a JudgedRow)>,
}

impl<'a> TriedValues<'a> {
    /// None if the sweep has no axis.
    pub fn of(summary: &'a Summary, goals: &'a Goals, scheme: &str) -> Option<Self> {
        let axis = summary.axes.first()?;
        let own = goals.rows.iter().filter_map(|judged| {
            let row = &summary.rows[judged.row as usize];
            let value = row.setting(axis).filter(|_| row.scheme == scheme)?;
            Some((magnitude(value)?, value, judged))
        });
        let mut values: Vec<_> = own.collect();
        values.order_by(|(a, ..), (b, ..)| a.total_cmp(b));
        Some(Self {
            axis,
            range: summary
                .search
                .as_deref()
                .and_then(|range| Search::parse(range).ok()),
            goals,
            values: values
                .into_iter()
                .map(|(_, value, judged)| (value, judged))
                .collect(),
        })
    }

    /// The result of the goals at a value.
    pub fn standing(&self, at: usize) -> GoalState {
        self.values[at].1.standing
    }

    /// The first value that meets the goals, and the last value up to which all following tried values meet them.
    pub fn met(&self) -> Option<(usize, usize)> {
        let is_met = |at: &usize| self.standing(*at) == GoalState::Met;
        let first = (0..self.values.len()).find(is_met)?;
        let last = (first..self.values.len()).take_while(is_met).last()?;
        Some((first, last))
    }

    /// Places of the values on both sides of each limit, where the goals begin or cease to be met.
    fn limits(&self) -> Vec<usize> {
        match self.met() {
            Some((first, _)) if first > 0 => vec![first - 1, first],
            Some((_, last)) if last + 1 < self.values.len() => vec![last, last + 1],
            _ => Vec::new(),
        }
    }

    /// Whether every step of the range from one tried value to another was tried.
    pub fn is_complete(&self, first: usize, last: usize) -> bool {
        let Some(range) = &self.range else {
            return false;
        };
        let (from, to) = (self.values[first].0, self.values[last].0);
        let steps = (0..STEPS).map(|number| range.value(number));
        let between = steps
            .skip_while(|value| value != from)
            .take(last - first + 1);
        between.last().is_some_and(|end| end == to)
    }
}

/// Indices of the rows of a search: first the rows next to the limits of the schemes, then the others, the nearest
/// first.
pub fn nearest(summary: &Summary) -> Vec<u32> {
    let Some(goals) = &summary.goals else {
        return Vec::new();
    };
    let mut rows: Vec<(usize, u32)> = Vec::new();
    for scheme in &summary.schemes {
        let Some(tried) = TriedValues::of(summary, goals, scheme) else {
            continue;
        };
        let limits = tried.limits();
        let far = |at: usize| limits.iter().map(|limit| limit.abs_diff(at)).min();
        let own = tried.values.iter().enumerate();
        rows.extend(own.map(|(at, (_, judged))| (far(at).unwrap_or(at), judged.row)));
    }
    rows.order();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The most steps of a range that are examined. In a longer range, not every step was tried.
const STEPS: u64 = 100_000;
