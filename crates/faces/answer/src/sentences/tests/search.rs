//! Sentences about searches: what was tried, what is inferred, and what is open.

use scenario::search::{Search, Searched};

use super::*;

/// A search over 8 to 96 senders that tried these numbers; `p99` gives their 99th percentiles in ms.
fn searched(seeds: &str, tried: &[u64], p99: impl Fn(u64, u64) -> f64) -> Summary {
    let range = Search::parse("workload.senders=8..96").expect("a range");
    let overrides = Overrides {
        search: Some(Searched {
            range,
            chosen: tried.iter().map(|senders| senders - 8).collect(),
        }),
        ..Overrides::default()
    };
    let text = format!("schemes = [\"dctcp\"]\ngoals = [\"fct_p99 < 5ms\"]\n{seeds}");
    made_up_with(&text, &overrides, |point, metrics| {
        let senders = point.keys.workload.senders.0;
        metrics.fct_p99_us = 1e3 * p99(senders.into(), point.seed);
    })
}

/// The part of the answer about the search.
fn sentence(summary: &Summary) -> String {
    of_run(summary)[1].clone()
}

#[test]
fn a_search_says_which_values_it_tried_and_which_it_infers() {
    let tried = [8, 96, 52, 30, 58, 59, 60];
    let found = searched(
        "",
        &tried,
        |senders, _| if senders < 60 { 4.0 } else { 200.0 },
    );
    assert_eq!(
        sentence(&found),
        "workload.senders from 8 to 59 meets it at each of the 5 values that were tried, and those between \
         them are inferred: 60 misses it (fct_p99 = 200.0 ms); 7 values (8, 30, 52, 58, 59, 60 and 96) were \
         tried."
    );
}

#[test]
fn a_search_that_tried_every_step_infers_nothing() {
    let found = searched("", &[8, 9, 10, 11, 96], |senders, _| {
        if senders < 11 { 4.0 } else { 200.0 }
    });
    let said = sentence(&found);
    assert!(
        said.starts_with("Every workload.senders from 8 to 10 meets it: 11 misses"),
        "{said}"
    );
}

#[test]
fn a_value_whose_interval_contains_the_threshold_is_open_and_does_not_miss() {
    let seeds = "seeds = 3\nworkload.jitter = \"1us\"\n";
    let found = searched(seeds, &[8, 96, 59, 60], |senders, seed| match senders {
        60 => [2.0, 5.0, 9.0][(seed % 3) as usize],
        96 => 200.0,
        _ => 4.0,
    });
    let said = sentence(&found);
    let open = "60 is open (fct_p99 = 5.3 ms; its 95 % interval contains the threshold)";
    assert!(said.contains(open), "{said}");
    assert!(!said.contains("60 misses"), "{said}");
}

#[test]
fn a_value_that_meets_the_goal_beyond_the_limit_is_said() {
    let found = searched("", &[8, 96, 52, 53, 60], |senders, _| {
        if [53, 96].contains(&senders) {
            200.0
        } else {
            4.0
        }
    });
    let said = sentence(&found);
    assert!(said.contains("but 60 meets it again"), "{said}");
}

#[test]
fn the_rows_next_to_the_limit_come_first() {
    let tried = [8, 96, 52, 30, 58, 59, 60];
    let found = searched(
        "",
        &tried,
        |senders, _| if senders < 60 { 4.0 } else { 200.0 },
    );
    let senders = |row: &u32| found.rows[*row as usize].set[0].1.clone();
    let nearest: Vec<String> = results::nearest(&found).iter().map(senders).collect();
    assert_eq!(nearest.len(), tried.len());
    let mut first = nearest[..2].to_vec();
    first.sort();
    assert_eq!(first, ["59", "60"]);
}
