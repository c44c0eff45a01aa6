//! An overview of a metric of all rows: settings across and down, a cell for each row.

use std::collections::BTreeMap;

use base::cast::{low_32, whole};
use results::{GoalState, Row, Summary};

use crate::units;

/// A table whose cells are the rows of a sweep.
pub(super) struct Map {
    /// The metric, or the goal.
    pub(super) title: String,
    /// How to read the cells.
    pub(super) note: String,
    /// The settings that change from line to line.
    pub(super) keys: Vec<String>,
    /// The setting that changes from column to column; empty if only the scheme does.
    pub(super) across: String,
    /// Schemes, with the number of columns of each.
    pub(super) schemes: Vec<(String, usize)>,
    /// A second heading of each column, below its scheme; empty if the scheme is the only heading.
    pub(super) columns: Vec<String>,
    pub(super) lines: Vec<MapLine>,
}

/// Cells beside each other.
pub(super) struct MapLine {
    pub(super) values: Vec<String>,
    pub(super) cells: Vec<GridCell>,
    /// Whether the first of several settings changes here.
    pub(super) first: bool,
}

/// A row of the results; empty if there is none.
#[derive(Default)]
pub(super) struct GridCell {
    pub(super) text: String,
    /// `met`, `missed` or `open` if there is a goal.
    pub(super) standing: &'static str,
    /// The strength of its colour, in percent of the strongest. It grows with the value.
    pub(super) shade: u32,
}

/// The contents of a cell: its text, its verdict, and the value for its colour.
type CellContents = (String, &'static str, Option<f64>);

/// The map of a goal.
pub(super) fn of_goal(summary: &Summary, goal: usize) -> Option<Map> {
    let goals = summary.goals.as_ref()?;
    let demand = &goals.goals[goal];
    let values = goals.rows.iter().filter_map(|row| row.verdicts[goal].value);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let unit = CellUnit::of(&demand.metric, (least, values.fold(0.0, f64::max)));
    let title = demand.goal.clone();
    let note = format!(
        "{}. Bold with a tick: the goal is met.",
        unit.said("Values")
    );
    grid(summary, (title, note), &|at, _| {
        let verdict = &goals.rows[at].verdicts[goal];
        let text = verdict.value.map(|value| unit.text(value));
        (
            text.unwrap_or_else(|| "-".to_owned()),
            word(verdict.standing),
            None,
        )
    })
}

/// The verdict on a row, in one word.
pub(super) const fn word(standing: GoalState) -> &'static str {
    match standing {
        GoalState::Met => "met",
        GoalState::Open => "open",
        GoalState::Missed => "missed",
    }
}

/// The map of the 99th percentile of completion times, if settings span a plane.
pub(super) fn of_tail(summary: &Summary) -> Option<Map> {
    if summary.axes.len() < 2 || summary.goals.is_some() {
        return None;
    }
    let values = summary.rows.iter().filter_map(tail);
    let greatest = values.clone().fold(0.0, f64::max);
    let unit = CellUnit::of(TAIL, (values.fold(f64::INFINITY, f64::min), greatest));
    let title = "99th percentile of completion times".to_owned();
    let note = format!(
        "{}. The stronger the colour, the longer.",
        unit.said("Values")
    );
    let map = grid(summary, (title, note), &|_, row| {
        let text = tail(row).map(|value| unit.text(value));
        (text.unwrap_or_else(|| "-".to_owned()), "", tail(row))
    });
    map.filter(|_| greatest > 0.0)
}

fn tail(row: &Row) -> Option<f64> {
    row.metrics.get(TAIL)?.mean
}

/// Rows of a complete grid. All settings but the last go down; the last one and the scheme go across if there is room.
fn grid(
    summary: &Summary,
    (title, note): (String, String),
    show: &dyn Fn(usize, &Row) -> CellContents,
) -> Option<Map> {
    let axes = &summary.axes;
    // The values of a search are no grid.
    if axes.is_empty() || summary.search.is_some() {
        return None;
    }
    let schemes = summary.schemes.len();
    let last = values(summary, axes.len() - 1);
    let across = axes.len() > 1 && schemes * last.len() <= COLUMNS;
    let (key, last) = if across {
        (units::words(&axes[axes.len() - 1]), last)
    } else {
        (String::new(), Vec::new())
    };
    let down = axes.len() - usize::from(across);
    let each = last.len().max(1);
    if schemes * each > COLUMNS || summary.rows.len() / (schemes * each) > LINES {
        return None;
    }
    let columns = summary.schemes.iter().flat_map(|_| last.clone());
    Some(Map {
        title,
        note,
        keys: axes[..down].iter().map(|key| units::words(key)).collect(),
        across: key,
        schemes: summary
            .schemes
            .iter()
            .map(|scheme| (scheme.clone(), each))
            .collect(),
        columns: columns.collect(),
        lines: lines(summary, (down, &last), show),
    })
}

/// The lines of a grid. The first `down` settings lead each line; the values `last` of the setting across, if any, and
/// the schemes make its cells.
fn lines(
    summary: &Summary,
    (down, last): (usize, &[String]),
    show: &dyn Fn(usize, &Row) -> CellContents,
) -> Vec<MapLine> {
    let place = |row: &Row| -> Vec<String> {
        let set = row.set.iter().map(|(_, value)| value.clone());
        set.chain([row.scheme.clone()]).collect()
    };
    let rows = || summary.rows.iter().enumerate();
    let known: BTreeMap<Vec<String>, (usize, &Row)> =
        rows().map(|(at, row)| (place(row), (at, row))).collect();
    let mut leading: Vec<Vec<String>> = Vec::new();
    for row in &summary.rows {
        let own: Vec<String> = place(row).into_iter().take(down).collect();
        if leading.last() != Some(&own) {
            leading.push(own);
        }
    }
    let greatest = rows().filter_map(|(at, row)| show(at, row).2);
    let greatest = greatest.fold(0.0, f64::max);
    let cell = |leading: &[String], scheme: &str, column: Option<&String>| {
        let key = leading.iter().chain(column).cloned();
        let key: Vec<String> = key.chain([scheme.to_owned()]).collect();
        let (at, row) = known.get(&key)?;
        let (text, standing, value) = show(*at, row);
        Some(GridCell {
            text,
            standing,
            shade: value.map_or(0, |value| share(value, greatest)),
        })
    };
    let columns: Vec<Option<&String>> = match last {
        [] => vec![None],
        last => last.iter().map(Some).collect(),
    };
    let lines = leading.iter().enumerate().map(|(at, own)| {
        let schemes = summary.schemes.iter();
        let cells = schemes.flat_map(|scheme| {
            let cells = columns.iter().map(|column| cell(own, scheme, *column));
            cells.map(Option::unwrap_or_default).collect::<Vec<_>>()
        });
        MapLine {
            values: own.clone(),
            cells: cells.collect(),
            first: own.len() > 1 && at > 0 && leading[at - 1][0] != own[0],
        }
    });
    lines.collect()
}

/// The values of a swept setting, in the order of the sweep.
fn values(summary: &Summary, axis: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for row in &summary.rows {
        let value = &row.set[axis].1;
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

/// A share in percent.
fn share(value: f64, greatest: f64) -> u32 {
    low_32(whole((100.0 * value / greatest).clamp(0.0, 100.0)))
}

/// The unit of all cells; `None` if values of very different sizes need their own units.
struct CellUnit {
    metric: String,
    common: Option<units::Unit>,
}

impl CellUnit {
    fn of(metric: &str, (least, greatest): (f64, f64)) -> Self {
        let common = units::unit(units::of_metric(metric), greatest);
        let alike = least >= 0.01 * common.size || greatest <= 0.0;
        Self {
            metric: metric.to_owned(),
            common: alike.then_some(common),
        }
    }

    fn text(&self, value: f64) -> String {
        match self.common {
            Some(unit) => units::number(value / unit.size, 3),
            None => units::amount(&self.metric, value, value),
        }
    }

    /// "Values in ms", or the word alone.
    fn said(&self, what: &str) -> String {
        match self.common {
            Some(unit) if !unit.name.is_empty() => format!("{what} in {}", unit.name),
            _ => what.to_owned(),
        }
    }
}

const TAIL: &str = "fct_p99_us";
/// More columns do not fit side by side, and more lines are no overview.
const COLUMNS: usize = 12;
const LINES: usize = 48;
