//! Sentences about rounds and the slowest flows.

use results::statistics::Estimate;

use super::*;

const SEARCHED: &str =
    "schemes = [\"dctcp\"]\n[workload]\nrounds = 20\nsenders = [48, 52, 53, 59]\n";

/// Times of flows and rounds: flows always meet 5 ms, rounds only up to 52 senders.
fn fan(point: &PointSpec, metrics: &mut Metrics) {
    let senders = point.keys.workload.senders.0;
    metrics.flows_completed = 20 * u64::from(senders);
    metrics.fct_p99_us = 4.9e3;
    metrics.rounds_completed = Some(20);
    metrics.rounds_unfinished = Some(0);
    metrics.round_p50_us = 4.7e3;
    metrics.round_p99_us = match senders {
        59 => 1.02e6,
        53 => 2.06e5,
        _ => 4.8e3,
    };
    metrics.round_max_us = metrics.round_p99_us;
    metrics.fct_max_us = metrics.round_p99_us;
}

fn about_rounds(said: &[String]) -> &str {
    let about = said
        .iter()
        .find(|sentence| sentence.contains("round waits") || sentence.contains("Rounds"));
    about.unwrap_or_else(|| panic!("nothing about rounds: {said:?}"))
}

#[test]
fn a_goal_on_flows_that_rounds_miss_says_so() {
    let said = answered(&format!("goals = [\"fct_p99 < 5ms\"]\n{SEARCHED}"), fan);
    assert_eq!(
        about_rounds(&said),
        "A round waits for its slowest flow: 2 of the 4 rows that meet fct_p99 < 5ms miss round_p99 < 5ms. \
         At 59 senders the 99th percentile is 4.9 ms for flows of dctcp, and 1.02 s for its 20 rounds."
    );
}

#[test]
fn a_goal_on_rounds_that_flows_would_meet_says_why_it_is_missed() {
    let said = answered(&format!("goals = [\"round_p99 < 5ms\"]\n{SEARCHED}"), fan);
    assert_eq!(
        about_rounds(&said),
        "A round waits for its slowest flow: both rows that miss round_p99 < 5ms would meet fct_p99 < 5ms. \
         At 59 senders the 99th percentile is 4.9 ms for flows of dctcp, and 1.02 s for its 20 rounds."
    );
}

#[test]
fn who_asks_for_both_is_told_by_the_goals_themselves() {
    let both = "goals = [\"fct_p99 < 5ms\", \"round_p99 < 5ms\"]\n";
    let said = answered(&format!("{both}{SEARCHED}"), fan);
    assert!(
        about_rounds(&said).contains("would meet fct_p99 < 5ms"),
        "{said:?}"
    );
}

#[test]
fn where_rounds_agree_with_flows_nothing_is_said_of_them() {
    for goals in ["", "goals = [\"fct_p99 < 5ms\"]\n"] {
        let said = answered(&format!("{goals}{SEARCHED}"), |point, metrics| {
            fan(point, metrics);
            metrics.round_p99_us = 4.95e3;
            metrics.round_max_us = 4.95e3;
            metrics.fct_max_us = 4.95e3;
        });
        assert!(
            said.iter().all(|sentence| !sentence.contains("ound ")),
            "{said:?}"
        );
    }
}

#[test]
fn a_single_round_of_many_flows_is_not_called_slow() {
    let said = answered(SEARCHED, |point, metrics| {
        fan(point, metrics);
        metrics.rounds_completed = Some(1);
        metrics.fct_max_us = 2e4;
    });
    assert!(
        said.iter().all(|sentence| !sentence.contains("waits for")),
        "{said:?}"
    );
}

#[test]
fn another_scheme_with_faster_rounds_is_named() {
    let text = "schemes = [\"dctcp\", \"rcc\"]\n[workload]\nrounds = 20\nsenders = 59\n";
    let said = answered(text, |point, metrics| {
        fan(point, metrics);
        if point.scheme == "rcc" {
            metrics.fct_p99_us = 6e3;
            metrics.round_p99_us = 6.2e3;
            metrics.round_max_us = 6.2e3;
            metrics.fct_max_us = 6.2e3;
        }
    });
    assert_eq!(
        about_rounds(&said),
        "Rounds tell otherwise than flows: the 99th percentile of the rounds is 6.2 ms for rcc and 1.02 s for dctcp."
    );
}

#[test]
fn rounds_that_never_end_are_told_of() {
    let text = "goals = [\"fct_p99 < 5ms\"]\nschemes = [\"dctcp\"]\n[workload]\nrounds = 20\nsenders = 59\n";
    let said = answered(text, |point, metrics| {
        fan(point, metrics);
        metrics.round_p99_us = f64::INFINITY;
        metrics.round_max_us = f64::INFINITY;
        (metrics.rounds_completed, metrics.rounds_unfinished) = (Some(19), Some(1));
    });
    assert!(
        about_rounds(&said).ends_with("and without end for its 20 rounds."),
        "{said:?}"
    );
}

#[test]
fn a_slowest_flow_far_beyond_the_99th_percentile_is_told_of() {
    let text = "schemes = [\"dctcp\"]\n[workload]\nsenders = [48, 59]\n";
    let said = |us: f64| {
        answered(text, |point, metrics| {
            metrics.fct_p99_us = 4e3;
            metrics.fct_max_us = if point.keys.workload.senders.0 == 59 {
                us
            } else {
                4.2e3
            };
        })
    };
    let far = said(2.06e5);
    let expected = "At 59 senders the slowest flow of dctcp took 206.0 ms, 52 times the 99th percentile (4.0 ms).";
    assert!(far.iter().any(|sentence| sentence == expected), "{far:?}");
    assert!(
        said(3.9e4)
            .iter()
            .all(|sentence| !sentence.contains("slowest flow of"))
    );
}

#[test]
fn one_round_in_each_group_is_no_row_of_rounds() {
    let summary = made_up(SEARCHED, fan);
    let mut row = summary.rows[0].clone();
    assert!(row.has_rounds(None));
    let count = |rounds: f64| {
        let counts = [("rounds_completed", rounds), ("flows_completed", 24.0)];
        let counts = counts.map(|(name, count)| (name.to_owned(), Estimate::of([count])));
        counts.into_iter().collect()
    };
    row.groups.insert("reads".to_owned(), count(1.0));
    row.groups.insert("writes".to_owned(), count(1.0));
    assert!(!row.has_rounds(None) && !row.has_rounds(Some("reads")));
    row.groups.insert("others".to_owned(), count(12.0));
    assert!(row.has_rounds(None) && row.has_rounds(Some("others")));
    // Flows by themselves.
    row.groups.clear();
    row.groups.insert("single".to_owned(), count(24.0));
    assert!(!row.has_rounds(None));
}

#[test]
fn rounds_of_a_group_are_compared_with_the_flows_of_the_group() {
    let mut summary = made_up(
        "schemes = [\"dctcp\"]\n[workload]\nsenders = 59\n",
        |_, metrics| {
            // Other traffic has by far the slower flows.
            metrics.fct_p99_us = 2e6;
            metrics.fct_max_us = 2e6;
            metrics.round_p99_us = 1.04e6;
            metrics.rounds_completed = Some(30);
        },
    );
    let of_group = [
        ("fct_p99_us", 2.2e5),
        ("fct_max_us", 1.04e6),
        ("flows_completed", 600.0),
        ("rounds_completed", 30.0),
        ("round_p99_us", 1.04e6),
    ];
    let of_group = of_group.map(|(name, value)| (name.to_owned(), Estimate::of([value])));
    let group = of_group.into_iter().collect();
    summary.rows[0].groups.insert("reads".to_owned(), group);
    let expected = "Rounds take longer than flows, for each waits for its slowest: the 99th percentile is 220.0 ms \
                    for flows of reads with dctcp, and 1.04 s for its 30 rounds.";
    let said = of_run(&summary);
    assert!(said.iter().any(|sentence| sentence == expected), "{said:?}");
}

#[test]
fn the_slowest_of_several_seeds_is_told_as_the_mean_that_it_is() {
    let text = "schemes = [\"dctcp\"]\nseeds = 2\nworkload.jitter = \"1us\"\n";
    let said = answered(text, |point, metrics| {
        metrics.fct_p99_us = 4e4;
        metrics.fct_max_us = if point.seed == 1 { 1.03e6 } else { 4e4 };
    });
    let slowest = said
        .iter()
        .find(|sentence| sentence.contains("slowest flow"));
    assert_eq!(
        slowest.map(String::as_str),
        Some(
            "The slowest flow of dctcp took 535.0 ms on average over the seeds and 1.03 s at most, 13 times the 99th \
             percentile (40.0 ms)."
        )
    );
}
