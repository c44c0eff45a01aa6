//! Goals in the report: the rows by rank, each with its marks, and the smallest passing values.

use results::{Goals, Row, Summary};

use super::map::{self, Map, word};
use crate::units;

/// The goals of a run.
pub(super) struct RunGoals {
    /// The run, where there are several.
    pub(super) run: String,
    pub(super) goals: Vec<String>,
    /// An overview of every row, for each goal; empty if the sweep is no plane.
    pub(super) maps: Vec<Map>,
    /// Every row, the best first.
    pub(super) rows: Vec<Ranked>,
    pub(super) smallest: Vec<[String; 4]>,
}

/// A row at its place in the ranking.
pub(super) struct Ranked {
    pub(super) what: String,
    /// For each goal the value and its verdict.
    pub(super) verdicts: Vec<(String, &'static str)>,
}

/// None for a run without goals.
pub(super) fn block(summary: &Summary, run: &str) -> Option<RunGoals> {
    let goals = summary.goals.as_ref()?;
    // The values of a goal are compared and share a unit, chosen for the first rows.
    let greatest: Vec<f64> = (0..goals.goals.len())
        .map(|goal| {
            let values = goals.ranked().take(NEAREST);
            let values = values.filter_map(|judged| judged.verdicts[goal].value);
            values.fold(0.0, f64::max)
        })
        .collect();
    let ranked = goals.ranked().map(|judged| {
        let row = &summary.rows[judged.row as usize];
        let verdicts = judged.verdicts.iter().zip(&goals.goals).zip(&greatest);
        let verdicts = verdicts.map(|((verdict, goal), greatest)| {
            let value = verdict
                .value
                .map(|value| units::amount(&goal.metric, value, *greatest));
            (
                value.unwrap_or_else(|| "-".to_owned()),
                word(verdict.standing),
            )
        });
        Ranked {
            what: what(row),
            verdicts: verdicts.collect(),
        }
    });
    Some(RunGoals {
        run: run.to_owned(),
        goals: goals.goals.iter().map(|goal| goal.goal.clone()).collect(),
        maps: (0..goals.goals.len())
            .filter_map(|goal| map::of_goal(summary, goal))
            .collect(),
        rows: ranked.collect(),
        smallest: smallest(goals),
    })
}

/// Axis, scheme, and the smallest values that meet the goals with some and with all other settings.
fn smallest(goals: &Goals) -> Vec<[String; 4]> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let all = goals.smallest.iter().map(|smallest| {
        [
            smallest.axis.clone(),
            smallest.scheme.clone(),
            text(&smallest.some),
            text(&smallest.every),
        ]
    });
    all.collect()
}

fn what(row: &Row) -> String {
    let place = units::place(&row.set);
    let comma = if place.is_empty() { "" } else { ", " };
    format!("{}{comma}{place}", row.scheme)
}

/// The number of rows whose values determine the unit.
const NEAREST: usize = 40;
