//! Whether a goal can be met at all: bytes take their time on the links of hosts with every scheme.

use results::{Demand, GoalState, Goals, Row, Summary};

use crate::words::{list, place, time};

/// The goals that no scheme can meet, and where.
pub(super) fn sentence(summary: &Summary, goals: &Goals) -> Option<String> {
    let beyond = goals.goals.iter().enumerate().filter_map(|(at, goal)| {
        let missed = goals.rows.iter().filter_map(|judged| {
            let row = &summary.rows[judged.row as usize];
            let missed = judged.verdicts[at].standing != GoalState::Met;
            let bound = goal
                .bound(row)
                .filter(|bound| missed && *bound > goal.threshold)?;
            Some((row, bound))
        });
        let missed: Vec<_> = missed.collect();
        (!missed.is_empty()).then(|| told(summary, goal, &missed))
    });
    let beyond: Vec<String> = beyond.collect();
    (!beyond.is_empty()).then(|| beyond.join(" "))
}

fn told(summary: &Summary, goal: &Demand, missed: &[(&Row, f64)]) -> String {
    let bounds = || missed.iter().map(|(_, bound)| *bound);
    let least = time(bounds().fold(f64::INFINITY, f64::min));
    let most = time(bounds().fold(0.0, f64::max));
    let takes = if least == most {
        format!("at least {least}")
    } else {
        format!("at least {least} to {most}")
    };
    // All schemes have the same bound, so the combinations of other settings tell where it applies.
    let mut places: Vec<String> = missed.iter().map(|(row, _)| place(row)).collect();
    places.dedup();
    let points = summary.rows.len() / summary.schemes.len().max(1);
    let at = match places.len() {
        _ if places.concat().is_empty() || points == 1 => String::new(),
        all if all == points => " at any point".to_owned(),
        few if few <= FEW => {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            format!(" at {}", list(&places))
        }
        many => format!(" at {many} of {points} points"),
    };
    format!(
        "No scheme can meet {}{at}: the bytes alone take {takes} on the links of the hosts.",
        goal.goal
    )
}

/// The most points that are named one by one.
const FEW: usize = 3;
