//! Sentences about idle time and late flows.

use super::*;

#[test]
fn goodput_that_a_late_flow_decides_is_told_by_its_median() {
    let late = |timers: u64| {
        answered("schemes = [\"dctcp\"]\n", move |_, metrics| {
            metrics.goodput_bps = 1.13e9;
            metrics.goodput_p50_bps = 2.27e10;
            metrics.held_up = 0.9;
            (metrics.timers, metrics.syn_timeouts) = (timers, timers);
        })
    };
    assert_eq!(
        late(2).last().map(String::as_str),
        Some(
            "The goodput of dctcp is mostly the wait of a few flows for timers: 1.13 Gbit/s, but 22.7 Gbit/s until \
             half of them were complete."
        )
    );
    // If most flows wait, the goodput is a fair measure.
    assert!(!late(60).concat().contains("mostly the wait"));
}

#[test]
fn flows_that_start_late_are_no_stragglers() {
    let answer = answered("schemes = [\"dctcp\"]\n", |_, metrics| {
        (metrics.goodput_bps, metrics.goodput_p50_bps) = (1.13e9, 2.27e10);
        (metrics.timers, metrics.syn_timeouts, metrics.held_up) = (2, 2, 0.1);
    });
    assert!(!answer.concat().contains("mostly the wait"), "{answer:?}");
}

#[test]
fn a_goal_on_goodput_tells_the_median_beside_what_late_flows_leave() {
    let text = "schemes = [\"dctcp\"]\ngoals = [\"goodput > 10Gbps\"]\n";
    let answer = answered(text, |_, metrics| {
        metrics.goodput_bps = 1.13e9;
        metrics.goodput_p50_bps = 2.27e10;
        metrics.held_up = 0.9;
    });
    let told =
        "goodput is 1.13 Gbit/s, 89 % below, but 22.7 Gbit/s until half of the flows were complete";
    assert!(answer[0].contains(told), "{answer:?}");
}

#[test]
fn means_over_idle_time_are_left_out_and_that_is_said() {
    let answer = answered(THREE, |_, metrics| metrics.active = 0.001);
    assert_eq!(
        answer.last().map(String::as_str),
        Some(
            "Flows were under way for 0.1 % of the time, so goodput and the queue over time say little and \
             are not shown; --columns all shows them."
        )
    );
}
