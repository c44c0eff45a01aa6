//! Sentences about goals with too few data.

use super::*;

const FEW: &str = "schemes = [\"newreno\", \"dctcp\"]\n";

/// A scheme with 40 flows; the slowest took 3 ms.
fn forty(point: &PointSpec, metrics: &mut Metrics) {
    metrics.flows_completed = 40;
    metrics.fct_p99_us = 3e3;
    metrics.fct_max_us = 3e3;
    metrics.drops = u64::from(point.scheme == "newreno");
}

fn with<'a>(answer: &'a [String], word: &str) -> Vec<&'a str> {
    let with = answer.iter().filter(|sentence| sentence.contains(word));
    with.map(String::as_str).collect()
}

#[test]
fn a_goal_on_a_percentile_of_too_few_flows_is_open_and_says_why() {
    let summary = made_up(&format!("goals = [\"fct_p999 < 30ms\"]\n{FEW}"), forty);
    let goals = summary.goals.as_ref().expect("a goal");
    let standings = goals.rows.iter().map(|judged| judged.standing);
    assert!(
        standings
            .clone()
            .all(|standing| standing == GoalState::Open)
    );
    assert_eq!(
        of_run(&summary)[..2],
        [
            "No row meets fct_p999 < 30ms for certain; the nearest is newreno (fct_p999 has no value: 40 flows are \
             too few, and the slowest took 3.0 ms).",
            "fct_p999 has no value in both rows: it needs 1000 flows in a run, and 40 flows completed. More of them \
             tell, more seeds do not."
        ]
    );
}

#[test]
fn a_goal_on_a_percentile_of_too_few_rounds_is_open_and_says_why() {
    let text = "schemes = [\"dctcp\"]\ngoals = [\"round_p999 < 30ms\"]\n[workload]\nrounds = 20\n";
    let said = answered(text, |_, metrics| {
        (metrics.rounds_completed, metrics.rounds_unfinished) = (Some(20), Some(0));
        metrics.round_max_us = 3e3;
    });
    assert_eq!(
        said[..2],
        [
            "Whether round_p999 < 30ms is met is open: dctcp (round_p999 has no value: 20 rounds are too few, and \
             the slowest took 3.0 ms).",
            "round_p999 has no value: it needs 1000 rounds in a run, and 20 rounds completed. More of them tell, more \
             seeds do not."
        ]
    );
}

#[test]
fn what_the_bytes_alone_exceed_is_missed_however_few_flows_there_are() {
    let summary = made_up(
        &format!("goals = [\"fct_p999 < 30ms\"]\n{FEW}"),
        |point, metrics| {
            forty(point, metrics);
            metrics.bound_p99_us = 4e4;
        },
    );
    let goals = summary.goals.expect("a goal");
    let missed = |judged: &results::JudgedRow| judged.standing == GoalState::Missed;
    assert!(goals.rows.iter().all(missed));
}

#[test]
fn a_goal_without_a_value_does_not_hide_how_near_the_others_are() {
    let text = format!("goals = [\"fct_p99 < 2ms\", \"fct_p999 < 30ms\"]\n{FEW}");
    let said = answered(&text, |point, metrics| {
        forty(point, metrics);
        if point.scheme == "dctcp" {
            metrics.fct_p99_us = 2.1e3;
        }
    });
    assert!(
        said[0].contains("the nearest is dctcp (fct_p99 is 2.1 ms"),
        "{said:?}"
    );
}

#[test]
fn a_percentile_that_is_the_greatest_of_few_values_is_told_to_be() {
    let text = format!("goals = [\"fct_p99 < 30ms\"]\n{FEW}");
    let said = answered(&text, forty);
    assert_eq!(
        with(&said, "slowest flow"),
        [
            "fct_p99 is the time of the slowest flow in both rows: 40 flows completed, and only from 100 flows on is \
             it another one."
        ]
    );
    let enough = answered(&text, |_, metrics| metrics.flows_completed = 100);
    assert_eq!(with(&enough, "slowest flow"), [""; 0]);
}

#[test]
fn a_row_of_which_little_is_known_is_not_the_nearest_for_that() {
    let text = format!("goals = [\"fct_p99 < 12ms\"]\nseeds = 3\nworkload.jitter = \"1us\"\n{FEW}");
    let said = answered(&text, |point, metrics| {
        let seed = (point.seed % 3) as usize;
        metrics.fct_p99_us = match point.scheme.as_str() {
            "newreno" => [2.7e5, 3.4e4, 3.5e4][seed],
            _ => [2.9e4, 3e4, 2.9e4][seed],
        };
    });
    assert_eq!(
        said[0],
        "No row meets fct_p99 < 12ms for certain; the nearest is dctcp (fct_p99 is 29.3 ms, 144 % above)."
    );
}

#[test]
fn all_rows_that_are_open_are_counted_as_all() {
    let text = format!("goals = [\"fct_p99 < 12ms\"]\nseeds = 3\nworkload.jitter = \"1us\"\n{FEW}");
    let said = answered(&text, |point, metrics| {
        metrics.fct_p99_us = [2e3, 1e4, 1.6e4][(point.seed % 3) as usize];
    });
    assert_eq!(with(&said, "open,").len(), 1, "{said:?}");
    assert!(said[0].ends_with("(fct_p99 is 9.3 ms, open)."), "{said:?}");
    assert!(
        said.iter()
            .any(|sentence| sentence.starts_with("Both rows are open, for their 95 %")),
        "{said:?}"
    );
}
