//! Results for spreadsheets: one line for each point and seed.

use base::shown::cell;
use results::GoalState;
use serde_json::Value;
use sim::columns::{COST, METRICS};

use super::json;
use results::Finished;

/// A header and one line for each outcome, with names as in the JSON. A column for each goal has the row's verdict.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(finished: &Finished) -> String {
    let summary = &finished.summary;
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let columns = || METRICS.iter().chain(COST).map(|column| column.name);
    let mut header = vec!["scheme", "seed"];
    header.extend(summary.axes.iter().map(String::as_str));
    header.extend(summary.constants.iter().map(|(key, _)| key.as_str()));
    header.extend(columns());
    header.push("digest");
    let goals = summary.goals.iter().flat_map(|goals| &goals.goals);
    header.extend(goals.map(|goal| goal.goal.as_str()));
    writer
        .write_record(header)
        .expect("writing to memory succeeds");
    for (point, result) in finished.points() {
        let scheme = &summary.rows[point.row as usize].scheme;
        let mut line = vec![cell(scheme).into_owned(), point.seed.to_string()];
        line.extend(
            finished
                .settings(point.row)
                .map(|(_, value)| cell(value).into_owned()),
        );
        let metrics = json::metrics(result);
        line.extend(columns().map(|name| match metrics.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        }));
        line.push(point.digest.clone());
        let judged = summary
            .goals
            .as_ref()
            .and_then(|goals| goals.rows.get(point.row as usize));
        let verdicts = judged.into_iter().flat_map(|judged| &judged.verdicts);
        line.extend(verdicts.map(|verdict| match verdict.standing {
            GoalState::Met => "met".to_owned(),
            GoalState::Open => "open".to_owned(),
            GoalState::Missed => "missed".to_owned(),
        }));
        writer
            .write_record(line)
            .expect("writing to memory succeeds");
    }
    let bytes = writer.into_inner().expect("flushing to memory succeeds");
    String::from_utf8(bytes).expect("fields are text")
}
