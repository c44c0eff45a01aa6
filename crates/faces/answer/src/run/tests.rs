//! Renderings of made-up outcomes.

use plan::PointSpec;
use plan::metric::Selector;
use results::{PointResult, RunInfo, Summary};
use scenario::{Overrides, Scenario, Source};
use sim::metrics::{CollectiveMetrics, HeldUp, Metrics, RunCost};

use super::*;
use results::Finished;

const BURST: &str =
    "name = \"test\"\nschemes = [\"newreno\", \"rcc\"]\nworkload.senders = [10, 100]\n";

fn load(text: &str) -> Scenario {
    let source = Source::new("test.toml", text);
    Scenario::load(source, &Overrides::default()).expect("a correct scenario")
}

/// Completion times grow with the senders, and ten times faster under NewReno.
fn outcome(point: &PointSpec) -> PointResult {
    let senders = point.keys.workload.senders.0;
    let slow = point.scheme == "newreno";
    let ms = f64::from(senders) * 300.0 * if slow { 10.0 } else { 1.0 };
    let losses = if slow { u64::from(senders / 20) } else { 0 };
    PointResult {
        metrics: Metrics {
            goodput_bps: if slow { 4e8 } else { 9.4e8 },
            fct_mean_us: ms * 0.6,
            fct_p50_us: ms * 0.5,
            fct_p95_us: ms * 0.9,
            fct_p99_us: ms,
            fct_max_us: ms,
            timeouts: losses,
            timers: losses,
            timeout_rate: if slow { 0.001 } else { 0.0 },
            retransmissions: losses * 3,
            after_timeout: losses,
            packets: 23 * u64::from(senders) + losses * 3,
            fairness: 0.98,
            drops: losses * 3,
            marks: u64::from(!slow),
            queue_mean_bytes: 35_400.0,
            queue_p5_bytes: 12_000,
            queue_p50_bytes: 36_000,
            queue_p95_bytes: 52_500,
            queue_max_bytes: if slow { 120_000 } else { 57_000 },
            flows_completed: u64::from(senders),
            goodput_p50_bps: 1e9,
            goodput_weighted_bps: 1e9,
            bound_p50_us: 1.0,
            bound_p99_us: 1.0,
            bound_max_us: 1.0,
            active: 1.0,
            held_up: 0.0,
            ..Metrics::NONE
        },
        groups: Vec::new(),
        tiers: Vec::new(),
        deadlock: String::new(),
        collectives: Vec::new(),
        cost: RunCost {
            simulated_us: 5e4,
            packet_hops: 1000,
            events: 1000,
            cpu_us: 70.0,
            ns_per_hop: 70.0,
        },
        digest: 0xabc,
    }
}

fn finished(scenario: &Scenario, change: impl Fn(&PointSpec, &mut PointResult)) -> Finished {
    let outcome = |point: &PointSpec| {
        let mut outcome = outcome(point);
        change(point, &mut outcome);
        Ok(outcome)
    };
    with(scenario, scenario.points().iter().map(outcome).collect())
}

fn with(scenario: &Scenario, results: Vec<Result<PointResult, String>>) -> Finished {
    let mut info = RunInfo {
        jobs: 1,
        wall_us: 1000.0,
        ..RunInfo::default()
    };
    info.add_costs(&results);
    Finished {
        summary: Summary::new(scenario, &results),
        results,
        info,
        of: None,
    }
}

/// A terminal of 80 columns.
const NARROW: View = View {
    columns: None,
    rows: None,
    width: 80,
    styled: false,
};

fn printed(finished: &Finished) -> String {
    table(finished, &NARROW)
}

/// The part of a table's text that says who wins.
fn sentence(finished: &Finished) -> String {
    let text = printed(finished);
    let end = text.rsplit("\n\n").next().expect("a last paragraph");
    let end = end.split("\nCost:").next().expect("a sentence");
    end.replace('\n', " ")
}

#[test]
fn the_table_marks_the_best_of_each_group() {
    insta::assert_snapshot!(printed(&finished(&load(BURST), |_, _| ())));
}

#[test]
fn colours_are_only_for_terminals() {
    let scenario = load(BURST);
    let finished = finished(&scenario, |_, _| ());
    assert!(!printed(&finished).contains('\u{1b}'));
    let styled = View {
        styled: true,
        ..NARROW
    };
    assert!(table(&finished, &styled).contains('\u{1b}'));
}

#[test]
fn seeds_are_averaged_and_values_that_do_not_exist_left_out() {
    let scenario = load("schemes = [\"rcc\"]\nseeds = 3\nworkload.jitter = \"1us\"\n");
    let text = printed(&finished(&scenario, |point, outcome| {
        // Seeds 1 to 3: the median is 10 ms, 20 ms and unknown; the mean of the known ones is 15 ms.
        let seed = u32::try_from(point.seed).expect("a small seed");
        let p50 = f64::from(seed) * 1e4;
        outcome.metrics.fct_p50_us = if seed == 3 { f64::NAN } else { p50 };
    }));
    assert!(
        text.contains("mean over 3 seeds") && text.contains(" 15.0 "),
        "{text}"
    );
}

#[test]
fn the_answer_in_words_stands_below_the_table() {
    let scenario = load(BURST);
    assert_eq!(
        sentence(&finished(&scenario, |_, _| ())),
        "rcc is fastest at the 99th percentile at both points, 90 % less than the next best. At 100 \
         senders newreno waited for 5 retransmission timers of at least 200 ms, rcc for none."
    );
}

#[test]
fn flows_that_failed_are_told_apart_from_unfinished_ones() {
    let scenario = load("schemes = [\"rcc\"]\n");
    let finished = finished(&scenario, |_, outcome| {
        outcome.metrics.flows_completed = 5;
        outcome.metrics.flows_unfinished = 3;
        outcome.metrics.flows_failed = 2;
    });
    let text = sentence(&finished);
    let told = "Unfinished: 3 of 10 flows of rcc. Failed: 2 of 10 flows of rcc.";
    assert!(text.starts_with(told), "{text}");
}

#[test]
fn json_has_numbers_as_numbers_and_failures_in_a_list_of_their_own() {
    let scenario = load(
        "schemes = [\"rcc\"]\nworkload.senders = [10, 20]\nswitch.buffer = [\"64KB\"]\ndctcp.g = [0.5]\n",
    );
    let mut results = finished(&scenario, |_, outcome| {
        outcome.metrics.fct_p50_us = f64::NAN;
    })
    .results;
    results[1] = Err("internal error: a packet was lost".into());
    let text = json(&with(&scenario, results), None);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let point = &value["points"][0];
    assert_eq!(value["points"].as_array().map(Vec::len), Some(1));
    assert_eq!(point["set"]["workload.senders"], 10);
    assert_eq!(point["set"]["switch.buffer"], "64KB");
    assert_eq!(point["set"]["dctcp.g"], 0.5);
    assert!(point["metrics"]["fct_p50_us"].is_null());
    assert_eq!(point["metrics"]["queue_max_bytes"], 57_000);
    assert_eq!(point["metrics"]["packet_hops"], 1000);
    assert_eq!(point["digest"], "0000000000000abc");
    assert!(point.get("flows").is_none());
    assert_eq!(value["failed"][0]["set"]["workload.senders"], 20);
    assert_eq!(
        value["failed"][0]["error"],
        "internal error: a packet was lost"
    );
    assert_eq!(value["cost"]["ns_per_hop"], 70.0);
}

#[test]
fn csv_has_a_line_for_each_point_and_names_as_in_the_json() {
    let scenario = load(BURST);
    let text = csv(&finished(&scenario, |_, outcome| {
        outcome.metrics.fct_p50_us = f64::NAN;
    }));
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("scheme,seed,workload.senders,tcp.profile,goodput_bps,"));
    assert_eq!(lines.len(), 1 + 4);
    assert!(lines[1].starts_with("newreno,1,10,paper,400000000.0,18000.0,,27000.0,"));
    let fields = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| fields(line) == fields(lines[0])));
}

#[test]
fn a_table_takes_what_its_terminal_has_and_names_what_it_leaves_out() {
    let scenario = load(
        "schemes = [\"rcc\", \"newreno\"]\nworkload.senders = [10, 100]\nswitch.buffer = [\"64KB\", \"100KB\"]\n",
    );
    let finished = finished(&scenario, |point, outcome| {
        outcome.metrics.flows_late = u64::from(point.index == 0);
    });
    for width in [60, 80, 100, 140] {
        let text = table(&finished, &View { width, ..NARROW });
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{text}");
        assert!(text.contains(" late"), "{text}");
    }
    let narrow = printed(&finished);
    assert!(narrow.contains("Not shown: "), "{narrow}");
    // The queue's mean is the same in all rows, and gives way to columns that differ.
    assert!(narrow.contains("queue_mean"), "{narrow}");
    let all = View {
        columns: Some(Columns::All),
        ..NARROW
    };
    assert!(!table(&finished, &all).contains("Not shown"));
    let chosen = ["p50", "queue_max"].map(|word| Selector::parse(word).expect("a metric"));
    let chosen = View {
        columns: Some(Columns::Chosen(chosen.into())),
        ..NARROW
    };
    let text = table(&finished, &chosen);
    assert!(text.contains(" p50 ") && !text.contains(" p99 "), "{text}");
}

#[test]
fn a_long_sweep_prints_its_best_rows_and_how_to_see_all() {
    let scenario = load("schemes = [\"rcc\"]\nworkload.senders = \"10..300:10\"\n");
    let finished = finished(&scenario, |_, _| ());
    let text = printed(&finished);
    assert!(
        text.contains("The 10 best rows of 30; --rows all shows every row."),
        "{text}"
    );
    assert!(text.contains("\n     100 rcc ") && !text.contains("\n     110 rcc "));
    let all = View {
        rows: Some(usize::MAX),
        ..NARROW
    };
    assert!(table(&finished, &all).contains("\n     300 rcc "));
}

#[test]
fn goals_are_marked_row_by_row_and_rank_a_long_sweep() {
    let text =
        "schemes = [\"rcc\", \"newreno\"]\nworkload.senders = [10, 40]\ngoals = [\"p99 < 10ms\"]\n";
    let finished = finished(&load(text), |_, _| ());
    insta::assert_snapshot!(printed(&finished));
    let value: serde_json::Value = serde_json::from_str(&json(&finished, None)).expect("JSON");
    let goals = &value["goals"];
    assert_eq!(goals["goals"][0]["threshold"], 10_000.0);
    assert_eq!(goals["ranking"][0], 0);
    assert_eq!(goals["rows"][1]["standing"], "missed");
    let csv = csv(&finished);
    let mut lines = csv.lines();
    assert!(
        lines
            .next()
            .is_some_and(|head| head.ends_with(",digest,fct_p99 < 10ms"))
    );
    assert!(lines.next().is_some_and(|line| line.ends_with(",met")));
}

#[test]
fn a_single_round_is_a_column_where_a_goal_is_about_it() {
    let headed = |goals: &str| {
        let scenario = load(&format!("schemes = [\"rcc\"]\n{goals}"));
        let finished = finished(&scenario, |_, outcome| {
            let metrics = &mut outcome.metrics;
            metrics.rounds_completed = Some(1);
            metrics.rounds_unfinished = Some(0);
            metrics.round_p99_us = metrics.fct_max_us;
        });
        let text = table(&finished, &NARROW);
        text.lines()
            .any(|line| line.split_whitespace().any(|word| word == "round"))
    };
    assert!(headed("goals = [\"round_p99 < 1s\"]\n"));
    assert!(!headed(""));
}

#[test]
fn flows_without_an_end_have_no_columns_of_completion_times() {
    let scenario = load(BURST);
    let endless = finished(&scenario, |_, outcome| {
        let metrics = &mut outcome.metrics;
        for time in [
            &mut metrics.fct_mean_us,
            &mut metrics.fct_p50_us,
            &mut metrics.fct_p95_us,
            &mut metrics.fct_p99_us,
            &mut metrics.fct_max_us,
            &mut metrics.goodput_p50_bps,
        ] {
            *time = f64::NAN;
        }
    });
    let text = printed(&endless);
    assert!(text.contains("goodput") && !text.contains("FCT"), "{text}");
}

#[test]
fn a_mostly_idle_run_has_no_columns_of_means_over_time() {
    let scenario = load(BURST);
    let idle = finished(&scenario, |_, outcome| outcome.metrics.active = 0.001);
    let text = printed(&idle);
    let table = text.split("\n\n").take(2).collect::<String>();
    // The mean completion time is about flows.
    let means = table.matches("mean").count();
    assert!(!table.contains("goodput ") && means == 1, "{text}");
    let all = View {
        columns: Some(Columns::All),
        ..NARROW
    };
    assert!(super::table(&idle, &all).contains("goodput "));
    assert!(text.contains("goodput and the queue over time"), "{text}");
}

#[test]
fn columns_of_rounds_appear_where_several_flows_make_one_and_name_what_never_ended() {
    let scenario =
        load("schemes = [\"rcc\", \"newreno\"]\nworkload.senders = 8\nworkload.rounds = 20\n");
    let with_rounds = |count: u64, left: u64| {
        printed(&finished(&scenario, |point, outcome| {
            let metrics = &mut outcome.metrics;
            metrics.flows_completed = 8 * count;
            metrics.round_p50_us = 5e3;
            metrics.round_p99_us = 6e3;
            metrics.round_max_us = 6e3;
            metrics.rounds_completed = Some(count);
            metrics.rounds_unfinished = Some(0);
            if point.scheme == "newreno" && left > 0 {
                metrics.round_p99_us = f64::INFINITY;
                metrics.round_max_us = f64::INFINITY;
                metrics.rounds_completed = Some(count - left);
                metrics.rounds_unfinished = Some(left);
            }
        }))
    };
    let table = with_rounds(20, 2);
    let row = |scheme: &str| {
        let mut lines = table.lines();
        let found = lines.find(|line| line.trim_start().starts_with(scheme));
        found.unwrap_or_else(|| panic!("{table}"))
    };
    assert!(row("newreno").contains("never"), "{table}");
    assert!(
        row("rcc").contains("6.00*") && !row("rcc").contains("never"),
        "{table}"
    );
    // One round takes as long as its slowest flow.
    assert!(
        !with_rounds(1, 0).contains("round"),
        "{}",
        with_rounds(1, 0)
    );
}

/// Two groups of collectives; the second was never complete.
fn collectives() -> Vec<CollectiveMetrics> {
    let one = CollectiveMetrics {
        group: "rings".to_owned(),
        completed: 2,
        ideal_us: 9030.0,
        mean_us: 10_836.0,
        slowest_us: 11_000.0,
        held_up: Some(HeldUp {
            flow: 23,
            step: 2,
            steps: 14,
            sender: 7,
            receiver: 0,
            took_us: 2645.0,
            ideal_us: 645.0,
        }),
    };
    let none = CollectiveMetrics {
        group: "trees".to_owned(),
        completed: 0,
        mean_us: f64::NAN,
        slowest_us: f64::NAN,
        held_up: None,
        ..one.clone()
    };
    vec![one, none]
}

#[test]
fn collectives_are_told_by_row_with_the_message_that_held_them_up() {
    let scenario = load("name = \"test\"\nschemes = [\"newreno\", \"rcc\"]\n");
    let finished = finished(&scenario, |_, result| result.collectives = collectives());
    let text = printed(&finished);
    let table = text.split("Collectives, and the message").nth(1);
    let lines: Vec<Vec<&str>> = table
        .expect("a table")
        .lines()
        .skip(1)
        .take(5)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let header = "scheme group mean over ideal slowest step flow hosts took ideal";
    let rings = "newreno rings 10.8 ms 1.20 11.0 ms 3 of 14 23 7 to 0 2.6 ms 645 us";
    assert_eq!(lines[0].join(" "), header, "{text}");
    assert_eq!(lines[1].join(" "), rings, "{text}");
    assert_eq!(
        lines[2].join(" "),
        "newreno trees - - - - - - - -",
        "{text}"
    );
    assert_eq!((lines[3][0], lines[4][1]), ("rcc", "trees"), "{text}");
    // One sentence, however many rows there are.
    assert_eq!(text.matches("The slowest collective").count(), 1, "{text}");
    let json: serde_json::Value = serde_json::from_str(&json(&finished, None)).expect("JSON");
    for told in [&json["points"][1], &json["rows"][1]] {
        let ring = &told["collectives"][0];
        assert_eq!(ring["held_up"]["flow"], 23, "{told}");
        assert_eq!(ring["ideal_us"], 9030.0, "{told}");
    }
}
