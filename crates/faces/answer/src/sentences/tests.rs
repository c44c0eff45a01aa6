//! Sentences about made-up results.

mod rounds;

use plan::PointSpec;
use results::{GoalState, PointResult, PointResults, Ties};
use scenario::{Overrides, Scenario, Source};
use sim::metrics::{Metrics, RunCost};

use super::*;

mod absent;
mod faults;
mod goals;
mod goodput;
mod open;
mod over_time;
mod pauses;
mod search;
mod sweep;
mod unchanged;
mod waits;

/// A hundred flows that all complete, within 30 ms, without a timer.
fn metrics() -> Metrics {
    Metrics {
        goodput_bps: 9.4e8,
        fct_mean_us: 2e4,
        fct_p50_us: 2e4,
        fct_p95_us: 3e4,
        fct_p99_us: 3e4,
        fct_max_us: 3e4,
        timeout_rate: 0.0,
        packets: 2300,
        fairness: 1.0,
        marks: 1,
        queue_mean_bytes: 35_400.0,
        queue_p5_bytes: 12_000,
        queue_p50_bytes: 36_000,
        queue_p95_bytes: 52_500,
        queue_max_bytes: 57_000,
        flows_completed: 100,
        goodput_p50_bps: 1e9,
        goodput_weighted_bps: 1e9,
        bound_p50_us: 1.0,
        bound_p99_us: 1.0,
        bound_max_us: 1.0,
        active: 1.0,
        held_up: 0.0,
        ..Metrics::NONE
    }
}

/// The answer to the scenario `text` with made-up metrics for each point.
fn answered(text: &str, change: impl Fn(&PointSpec, &mut Metrics)) -> Vec<String> {
    of_run(&made_up(text, change))
}

/// The scenario `text` with made-up metrics for each point.
fn made_up(text: &str, change: impl Fn(&PointSpec, &mut Metrics)) -> Summary {
    made_up_with(text, &Overrides::default(), change)
}

/// The same with arguments of the command.
fn made_up_with(
    text: &str,
    overrides: &Overrides,
    change: impl Fn(&PointSpec, &mut Metrics),
) -> Summary {
    let source = Source::new("test.toml", text);
    let scenario = Scenario::load(source, overrides).expect("a correct scenario");
    let result = |point: &PointSpec| {
        let mut metrics = metrics();
        // No two simulations come out the same.
        metrics.packets += point.index as u64;
        change(point, &mut metrics);
        Ok(PointResult {
            metrics,
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
            digest: 0,
        })
    };
    let results: PointResults = scenario.points().iter().map(result).collect();
    Summary::new(&scenario, &results)
}

/// Sets the 99th percentile of each scheme, in ms.
fn tails(of: &'static [(&str, f64)]) -> impl Fn(&PointSpec, &mut Metrics) {
    move |point, metrics| metrics.fct_p99_us = 1e3 * found(of, &point.scheme)
}

/// 99th percentiles, in ms, by number of senders and scheme.
fn swept(of: &'static [(u32, &[(&str, f64)])]) -> impl Fn(&PointSpec, &mut Metrics) {
    move |point, metrics| {
        let senders = point.keys.workload.senders.0;
        let row = of.iter().find(|(count, _)| *count == senders);
        metrics.fct_p99_us = 1e3 * found(row.expect("a row").1, &point.scheme);
    }
}

fn found(of: &[(&str, f64)], scheme: &str) -> f64 {
    of.iter()
        .find(|(name, _)| *name == scheme)
        .expect("a value for each scheme")
        .1
}

const THREE: &str = "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\n";
const SWEEP: &str =
    "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\nworkload.senders = [10, 40, 100]\n";
const SEEDS: &str = "schemes = [\"dctcp\", \"rcc\"]\nworkload.jitter = \"1us\"\nseeds = 4\n";

#[test]
fn the_winner_is_compared_with_the_next_best_and_not_with_the_worst() {
    let answer = answered(
        THREE,
        tails(&[("newreno", 90.0), ("dctcp", 35.0), ("rcc", 30.0)]),
    );
    assert_eq!(
        answer,
        ["rcc is fastest at the 99th percentile: 30.0 ms, 14 % less than dctcp (35.0 ms)."]
    );
}

#[test]
fn a_large_lead_is_a_ratio() {
    let answer = answered(
        THREE,
        tails(&[("newreno", 90.0), ("dctcp", 75.0), ("rcc", 30.0)]),
    );
    assert_eq!(
        answer,
        ["rcc is fastest at the 99th percentile: 30.0 ms, 2.5 times as fast as dctcp (75.0 ms)."]
    );
}

#[test]
fn a_tie_is_no_win() {
    let answer = answered(
        THREE,
        tails(&[("newreno", 45.0), ("dctcp", 35.5), ("rcc", 35.4)]),
    );
    assert_eq!(
        answer,
        [
            "Nothing to choose between rcc and dctcp at the 99th percentile: 35.4 ms to 35.5 ms; newreno \
          follows with 45.0 ms."
        ]
    );
    let equal = answered(THREE, |_, _| ());
    assert_eq!(
        equal,
        ["Nothing to choose between newreno, dctcp and rcc at the 99th percentile: 30.0 ms."]
    );
}

#[test]
fn a_winner_that_changes_over_the_sweep_is_told_point_by_point() {
    let answer = answered(
        SWEEP,
        swept(&[
            (10, &[("newreno", 3.0), ("dctcp", 3.1), ("rcc", 3.0)]),
            (40, &[("newreno", 11.1), ("dctcp", 9.0), ("rcc", 12.0)]),
            (100, &[("newreno", 41.0), ("dctcp", 34.0), ("rcc", 27.0)]),
        ]),
    );
    assert_eq!(
        answer,
        [
            "By the 99th percentile: nothing to choose between newreno and rcc at 10 senders (3.0 ms); \
          dctcp is fastest at 40 senders (9.0 ms, 19 % less than newreno (11.1 ms)); rcc is fastest at \
          100 senders (27.0 ms, 21 % less than dctcp (34.0 ms))."
        ]
    );
}

#[test]
fn neighbouring_points_with_the_same_leaders_are_one_clause() {
    let answer = answered(
        SWEEP,
        swept(&[
            (10, &[("newreno", 3.0), ("dctcp", 3.3), ("rcc", 3.6)]),
            (40, &[("newreno", 10.0), ("dctcp", 12.5), ("rcc", 14.0)]),
            (100, &[("newreno", 41.0), ("dctcp", 34.0), ("rcc", 27.0)]),
        ]),
    );
    assert_eq!(
        answer,
        [
            "By the 99th percentile: newreno is fastest at 10 to 40 senders (9.1 % to 20 % less than the \
          next best); rcc is fastest at 100 senders (27.0 ms, 21 % less than dctcp (34.0 ms))."
        ]
    );
}

#[test]
fn a_winner_of_every_point_is_told_with_its_least_and_greatest_lead() {
    let answer = answered(
        SWEEP,
        swept(&[
            (10, &[("newreno", 3.3), ("dctcp", 3.2), ("rcc", 3.0)]),
            (40, &[("newreno", 20.0), ("dctcp", 14.0), ("rcc", 11.0)]),
            (100, &[("newreno", 41.0), ("dctcp", 34.0), ("rcc", 27.0)]),
        ]),
    );
    assert_eq!(
        answer,
        [
            "rcc is fastest at the 99th percentile at all 3 points, from 6.2 % less than dctcp at 10 \
          senders to 21 % less than dctcp at 40 senders."
        ]
    );
    let ties = answered(SWEEP, |_, _| ());
    assert_eq!(
        ties,
        [
            "Nothing to choose between newreno, dctcp and rcc at the 99th percentile at any of 3 points."
        ]
    );
}

#[test]
fn where_the_winner_of_most_points_loses_is_told() {
    let text = "schemes = [\"dctcp\", \"rcc\"]\nworkload.senders = [10, 20]\n\
                switch.buffer = [\"60pkt\", \"80pkt\", \"100pkt\"]\n";
    let answer = answered(text, |point, metrics| {
        let small = point.set.iter().any(|(_, value)| value == "60pkt");
        let few = point.keys.workload.senders.0 == 10;
        let ms = match (point.scheme.as_str(), small, few) {
            ("dctcp", true, true) => 8.0,
            ("dctcp", true, false) => 9.0,
            ("dctcp", ..) => 20.0,
            _ => 10.0,
        };
        metrics.fct_p99_us = ms * 1e3;
    });
    assert_eq!(
        answer,
        [
            "By the 99th percentile: dctcp is fastest at 2 of 6 points (10 % to 20 % less than the next \
             best); rcc is fastest at 4 of 6 points (50 % less than the next best).",
            "rcc loses most at 10 senders and switch.buffer = 60pkt: 10.0 ms against 8.0 ms of dctcp."
        ]
    );
}

#[test]
fn many_changes_are_counted() {
    let text = "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\nworkload.senders = [10, 20, 30, 40, 50, 60]\n";
    let answer = answered(
        text,
        swept(&[
            (10, &[("newreno", 3.0), ("dctcp", 4.0), ("rcc", 5.0)]),
            (20, &[("newreno", 8.0), ("dctcp", 6.0), ("rcc", 7.0)]),
            (30, &[("newreno", 9.0), ("dctcp", 9.0), ("rcc", 9.9)]),
            (40, &[("newreno", 20.0), ("dctcp", 20.0), ("rcc", 10.0)]),
            (50, &[("newreno", 20.0), ("dctcp", 20.0), ("rcc", 10.0)]),
            (60, &[("newreno", 20.0), ("dctcp", 20.0), ("rcc", 10.0)]),
        ]),
    );
    assert_eq!(
        answer,
        [
            "By the 99th percentile rcc is fastest at 3 of 6 points, newreno at 1, dctcp at 1; at 1 there \
             is nothing to choose between the best.",
            "rcc loses most at 10 senders: 5.0 ms against 3.0 ms of newreno."
        ]
    );
}

#[test]
fn the_interval_is_that_of_the_difference_to_the_next_best() {
    let answer = answered(SEEDS, |point, metrics| {
        let noise = f64::from(u32::try_from(point.seed % 4).expect("below 4")) * 100.0;
        let rcc = point.scheme == "rcc";
        metrics.fct_p99_us = if rcc { 3e4 } else { 4e4 + noise };
    });
    // 10, 10.1, 10.2, 10.3 ms: mean 10.15, s = 0.129, half width 3.182 s / 2 = 0.205.
    assert_eq!(
        answer,
        [
            "rcc is fastest at the 99th percentile: 30.0 ms, 25 % less than dctcp (40.1 ms; the 95 % \
          interval of the difference is 9.9 ms to 10.4 ms)."
        ]
    );
}

#[test]
fn seeds_that_differ_more_than_schemes_leave_nothing_to_choose() {
    let answer = answered(SEEDS, |point, metrics| {
        let better = (point.scheme == "rcc") == (point.seed % 2 == 0);
        metrics.fct_p99_us = if better { 3e4 } else { 4e4 };
        metrics.fct_p99_us += if point.scheme == "dctcp" { 1e3 } else { 0.0 };
    });
    assert_eq!(
        answer,
        [
            "Nothing to choose between rcc and dctcp at the 99th percentile: 35.0 ms to 36.0 ms.",
            "4 seeds are not enough to tell them apart; --until 5% runs as many as needed."
        ]
    );
}

#[test]
fn one_seed_of_a_random_scenario_is_said_to_be_one() {
    let text = SEEDS.replace("seeds = 4", "seeds = 1");
    let answer = answered(&text, tails(&[("dctcp", 35.0), ("rcc", 30.0)]));
    assert_eq!(
        answer,
        [
            "rcc is fastest at the 99th percentile: 30.0 ms, 14 % less than dctcp (35.0 ms).",
            "One seed only: --seeds 10 tells what of this is chance, --until 5% runs as many as needed."
        ]
    );
}

#[test]
fn a_scheme_that_leaves_flows_behind_does_not_win_by_the_rest() {
    let answer = answered(THREE, |point, metrics| {
        if point.scheme != "rcc" {
            metrics.fct_p99_us = 1e3;
            metrics.fct_max_us = 1e3;
            metrics.flows_completed = 98;
            metrics.flows_unfinished = 2;
        }
    });
    assert_eq!(
        answer[1..],
        ["rcc completes the most flows: 100 of 100, newreno 98."]
    );
}

#[test]
fn a_few_flows_that_the_end_of_the_run_cuts_off_decide_nothing() {
    let answer = answered(THREE, |point, metrics| {
        let cut = u64::from(point.scheme == "rcc");
        metrics.flows_completed = 10_000 - cut;
        metrics.flows_unfinished = cut;
        metrics.fct_p99_us = if cut > 0 { 2e4 } else { 3e4 };
    });
    assert_eq!(
        answer[1..],
        ["rcc is fastest at the 99th percentile: 20.0 ms, 33 % less than newreno (30.0 ms)."]
    );
}

#[test]
fn flows_without_an_end_are_judged_by_their_queue() {
    let answer = answered(THREE, |point, metrics| {
        metrics.fct_p99_us = f64::NAN;
        metrics.queue_mean_bytes = match point.scheme.as_str() {
            "rcc" => 2e4,
            "dctcp" => 4e4,
            _ => 8e4,
        };
    });
    assert_eq!(
        answer,
        [
            "rcc keeps the shortest queue: 20.0 KB at 940 Mbit/s, 50 % less than dctcp (40.0 KB at 940 \
          Mbit/s)."
        ]
    );
}

#[test]
fn a_scheme_alone_is_told_over_the_sweep() {
    let text = "schemes = [\"rcc\"]\nworkload.senders = [10, 100]\n";
    let tails = swept(&[(10, &[("rcc", 3.0)]), (100, &[("rcc", 30.0)])]);
    assert_eq!(
        answered(text, tails),
        [
            "rcc completes 99 % of its flows within 3.0 ms at 10 senders and within 30.0 ms at 100 senders."
        ]
    );
    assert_eq!(
        answered("schemes = [\"rcc\"]\n", |_, metrics| metrics.drops = 3),
        ["rcc completes 99 % of its flows within 30.0 ms, with 0 timeouts and 3 drops."]
    );
}

#[test]
fn timers_that_show_in_the_tail_are_told_beside_those_of_the_leader() {
    let waiting = |timeouts: [u64; 2]| {
        answered(
            SEEDS.split("workload").next().expect("schemes"),
            move |point, metrics| {
                let rcc = point.scheme == "rcc";
                metrics.timeouts = timeouts[usize::from(rcc)];
                metrics.fct_p99_us = if rcc { 2.1e5 } else { 2.4e5 };
            },
        )
    };
    let cause = |answer: &[String]| answer.get(1).cloned();
    assert_eq!(
        cause(&waiting([5, 0])).as_deref(),
        Some("dctcp waited for 5 retransmission timers of at least 200 ms, rcc for none.")
    );
    assert_eq!(
        cause(&waiting([5, 2])).as_deref(),
        Some("dctcp waited for 5 retransmission timers of at least 200 ms, rcc for 2.")
    );
    // An equal number of timers does not distinguish the two.
    assert_eq!(cause(&waiting([5, 5])), None);
}

#[test]
fn timers_of_the_handshake_are_told_apart() {
    let waiting = |timeouts, syn_timeouts| {
        let answer = answered("schemes = [\"rcc\"]\n", move |_, metrics| {
            (metrics.timeouts, metrics.syn_timeouts) = (timeouts, syn_timeouts);
            metrics.fct_p99_us = 1.03e6;
        });
        answer[1].clone()
    };
    assert_eq!(waiting(0, 1), "rcc waited for 1 handshake timer of 1 s.");
    assert_eq!(
        waiting(2, 3),
        "rcc waited for 2 retransmission timers of at least 200 ms and for 3 handshake timers of at least \
         1 s."
    );
}

#[test]
fn lost_tails_are_told_among_timers() {
    let waiting = |timeouts, tail_timeouts| {
        let answer = answered("schemes = [\"rcc\"]\n", move |_, metrics| {
            (metrics.timeouts, metrics.tail_timeouts) = (timeouts, tail_timeouts);
            metrics.fct_p99_us = 1.03e6;
        });
        answer[1].clone()
    };
    assert_eq!(
        waiting(2, 2),
        "rcc waited for 2 retransmission timers of at least 200 ms for lost last segments."
    );
    assert_eq!(
        waiting(5, 3),
        "rcc waited for 5 retransmission timers of at least 200 ms, 3 of them for lost last segments."
    );
    assert_eq!(
        waiting(5, 2),
        "rcc waited for 5 retransmission timers of at least 200 ms."
    );
}

#[test]
fn timers_of_fewer_flows_than_the_tail_are_no_cause() {
    let waiting = |timeouts, ms: f64| {
        answered(THREE, move |point, metrics| {
            metrics.flows_completed = 1000;
            if point.scheme != "rcc" {
                metrics.timeouts = timeouts;
                metrics.fct_p99_us = ms * 1e3;
            }
        })
        .len()
    };
    assert_eq!(waiting(10, 240.0), 2);
    // 1 flow of 1000 is beyond the 99th percentile, and a tail of 40 ms cannot contain a timer of 200 ms.
    assert_eq!(waiting(1, 240.0), 1);
    assert_eq!(waiting(10, 40.0), 1);
}

#[test]
fn alike_leads_are_told_once() {
    let text = "schemes = [\"newreno\", \"rcc\"]\nworkload.senders = [10, 100]\n";
    let tails = swept(&[
        (10, &[("newreno", 6.0), ("rcc", 3.0)]),
        (100, &[("newreno", 60.0), ("rcc", 30.0)]),
    ]);
    assert_eq!(
        answered(text, tails),
        ["rcc is fastest at the 99th percentile at both points, 50 % less than the next best."]
    );
}

/// The answer about orders of events, for these 99th percentiles of two schemes in ms under three orders.
fn under_orders(of: [[f64; 3]; 2]) -> Vec<String> {
    let text = "schemes = [\"newreno\", \"dctcp\"]\n[workload]\nsenders = 20\n";
    let mut summary = made_up(text, tails(&[("newreno", 30.0), ("dctcp", 20.0)]));
    let row = |values: [f64; 3]| {
        let us = values.iter().map(|ms| ms * 1e3).collect();
        [("fct_p99_us".to_owned(), us)].into_iter().collect()
    };
    summary.ties = Some(Ties {
        orders: 3,
        rows: of.into_iter().map(row).collect(),
    });
    let all = of_run(&summary).into_iter();
    all.filter(|sentence| sentence.contains("simultaneous"))
        .collect()
}

#[test]
fn the_answer_says_whether_the_leader_hangs_on_the_order_of_events() {
    assert_eq!(
        under_orders([[30.0, 31.0, 29.0], [20.0, 21.0, 22.0]]),
        ["Whoever leads also leads under each of 3 orders of simultaneous events without jitter."]
    );
    let changes = under_orders([[30.0, 18.0, 29.0], [20.0, 21.0, 22.0]]);
    assert!(
        changes[0].contains("dctcp leads under 2 of 3, newreno leads under 1 of 3"),
        "{changes:?}"
    );
    let other = under_orders([[18.0, 18.0, 18.0], [20.0, 21.0, 22.0]]);
    assert!(
        other[0].starts_with("Without jitter another scheme leads under each of 3 orders")
            && other[0].contains("newreno"),
        "{other:?}"
    );
}

#[test]
fn a_goal_on_rounds_is_missed_where_more_than_a_few_never_ended() {
    let text = "goals = [\"round_p50 < 5ms\"]\nschemes = [\"newreno\"]\n[workload]\nsenders = [10, 20, 30]\n";
    let summary = made_up(text, |point, metrics| {
        metrics.round_p50_us = 4e3;
        // One of 200 is few, two are not; without half of them there is no median.
        let left = match point.keys.workload.senders.0 {
            10 => 1,
            20 => 2,
            _ => 100,
        };
        if left == 100 {
            metrics.round_p50_us = f64::INFINITY;
        }
        metrics.rounds_completed = Some(200 - left);
        metrics.rounds_unfinished = Some(left);
    });
    let goals = summary.goals.unwrap();
    let standings = goals.rows.iter().map(|judged| judged.standing);
    let expected = [GoalState::Met, GoalState::Missed, GoalState::Missed];
    assert!(standings.eq(expected), "{:?}", goals.rows);
    assert_eq!(goals.rows[2].verdicts[0].value, None);
}
