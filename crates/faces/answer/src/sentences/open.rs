//! Which goals are open, and which percentiles are just the greatest of few values.

use results::{Demand, GoalState, GoalVerdict, Goals, Row, Summary, samples};

use crate::words::{averaged, rounded};

/// The differences that more seeds, or more flows, would show.
pub(super) fn sentences(summary: &Summary, goals: &Goals) -> Vec<String> {
    let mut sentences: Vec<String> = by_interval(goals).into_iter().collect();
    let demands = goals.goals.iter().enumerate();
    sentences.extend(demands.filter_map(|demand| too_few(summary, goals, demand)));
    let demands = goals.goals.iter();
    sentences.extend(demands.filter_map(|goal| greatest(summary, goal)));
    sentences
}

/// Rows that are open because their interval contains the threshold.
fn by_interval(goals: &Goals) -> Option<String> {
    let tells = "more seeds tell, and --until 5% runs as many as needed";
    let contains =
        |verdict: &GoalVerdict| verdict.standing == GoalState::Open && verdict.value.is_some();
    let open = goals.rows.iter().filter(|judged| {
        judged.standing == GoalState::Open && judged.verdicts.iter().any(contains)
    });
    match (open.count(), goals.rows.len()) {
        (0, _) => None,
        (1, 1) => Some(format!(
            "Its 95 % interval contains the threshold: {tells}."
        )),
        (1, all) => Some(format!(
            "1 of {all} rows is open, for its 95 % interval contains the threshold: {tells}."
        )),
        (open, all) => Some(format!(
            "{} are open, for their 95 % intervals contain the threshold: {tells}.",
            of_rows(open, all)
        )),
    }
}

/// A goal on a percentile without a value, because too few flows or rounds completed.
fn too_few(summary: &Summary, goals: &Goals, (at, goal): (usize, &Demand)) -> Option<String> {
    let few = goals.rows.iter().filter(|judged| {
        let verdict = &judged.verdicts[at];
        verdict.standing == GoalState::Open && verdict.value.is_none()
    });
    let few: Vec<&Row> = few
        .map(|judged| &summary.rows[judged.row as usize])
        .collect();
    let enough = samples::enough(&goal.metric).filter(|_| !few.is_empty())?;
    let (_, noun) = goal.kind();
    let (of, values) = (goal.subject(), values(&few, goal));
    let rows = in_rows(few.len(), summary);
    Some(format!(
        "{of} has no value{rows}: it needs {} in a run, and {values} completed. More of them tell, more seeds do not.",
        averaged(enough, noun)
    ))
}

/// A goal on a percentile that is just the greatest of few values.
fn greatest(summary: &Summary, goal: &Demand) -> Option<String> {
    let of = goal.group.as_deref();
    let enough = samples::enough(&goal.metric)?;
    let has_value = |row: &&Row| {
        let value = row.estimate(of, &goal.metric);
        value.is_some_and(|value| value.mean.is_some())
    };
    let few = summary.rows.iter().filter(has_value);
    let few: Vec<&Row> = few
        .filter(|row| samples::of(row, of, &goal.metric) < enough)
        .collect();
    if few.is_empty() {
        return None;
    }
    let (_, noun) = goal.kind();
    let is = if goal.metric.starts_with("slowdown_") {
        "the greatest slowdown".to_owned()
    } else {
        format!("the time of the slowest {noun}")
    };
    let (subject, values) = (goal.subject(), values(&few, goal));
    Some(format!(
        "{subject} is {is}{}: {values} completed, and only from {} on is it another one.",
        in_rows(few.len(), summary),
        averaged(enough, noun)
    ))
}

/// The number of values in these rows for a goal: `10 to 60 flows`.
fn values(rows: &[&Row], goal: &Demand) -> String {
    let numbers = || {
        let of = goal.group.as_deref();
        rows.iter()
            .map(move |row| samples::of(row, of, &goal.metric))
    };
    let (least, most) = (
        numbers().fold(f64::INFINITY, f64::min),
        numbers().fold(0.0, f64::max),
    );
    let (_, noun) = goal.kind();
    let most_of_them = averaged(most, noun);
    if rounded(least) == rounded(most) {
        most_of_them
    } else {
        format!("{} to {most_of_them}", rounded(least))
    }
}

/// ` in 6 of 9 rows`; empty for a single row.
fn in_rows(some: usize, summary: &Summary) -> String {
    match (some, summary.rows.len()) {
        (_, 1) => String::new(),
        (some, all) => format!(" in {}", of_rows(some, all).to_ascii_lowercase()),
    }
}

/// `All 6 rows`, `3 of 6 rows`.
fn of_rows(some: usize, all: usize) -> String {
    match (some, all) {
        (2, 2) => "Both rows".to_owned(),
        (some, all) if some == all => format!("All {all} rows"),
        (some, all) => format!("{some} of {all} rows"),
    }
}
