//! Sentences about timers: timers of all kinds are counted.

use sim::breakdown::{Parts, Split};

use super::*;

/// Slowest flows of 220 ms that spend `timers` of every millisecond waiting for timers.
fn waiting(timers: f64) -> Split {
    let parts = Parts {
        handshake_us: 0.0,
        serialisation_us: 220.0 * (1000.0 - timers),
        propagation_us: 0.0,
        window_us: 0.0,
        application_us: 0.0,
        queueing_us: 0.0,
        recovery_us: 0.0,
        timers_us: 220.0 * timers,
    };
    Split {
        mean: parts,
        tail: parts,
    }
}

#[test]
fn every_kind_of_timer_that_expired_is_counted_beside_the_timeouts() {
    let answer = answered("schemes = [\"rcc\"]\n", |_, metrics| {
        (metrics.syn_timeouts, metrics.tail_probes) = (2, 3);
        metrics.window_probes = 1;
        metrics.fct_p99_us = 2.2e5;
        metrics.breakdown = Some(waiting(980.0));
    });
    assert_eq!(
        answer,
        [
            "rcc completes 99 % of its flows within 220.0 ms, with 0 timeouts, 2 handshake timers, 3 tail \
             probes, 1 window probe and 0 drops.",
            "rcc waited for 2 handshake timers of at least 1 s and for 3 tail probes and for 1 window probe."
        ]
    );
}

#[test]
fn probes_that_make_the_tail_are_its_cause() {
    let answer = |share| {
        answered("schemes = [\"rcc\"]\n", move |_, metrics| {
            metrics.tail_probes = 3;
            metrics.fct_p99_us = 2.2e5;
            metrics.breakdown = Some(waiting(share));
        })
    };
    assert_eq!(answer(980.0)[1], "rcc waited for 3 tail probes.");
    // If the slowest flows spend their time otherwise, probes are not the reason.
    assert_eq!(
        answer(100.0)[1],
        "The slowest flows of rcc spent 90 % of their time sending."
    );
}

#[test]
fn waits_without_a_timer_of_the_sender_are_those_for_delayed_acks() {
    let answer = answered("schemes = [\"rcc\"]\n", |_, metrics| {
        metrics.breakdown = Some(waiting(980.0));
    });
    assert_eq!(
        answer[1],
        "The slowest flows of rcc spent 98 % of their time waiting for delayed ACKs."
    );
}

#[test]
fn a_goal_is_missed_for_the_timers_that_expired_and_met_with_those_that_did() {
    let text =
        "schemes = [\"rcc\"]\ngoals = [\"fct_p99 < 1s\"]\nworkload.senders = [10, 40, 100]\n";
    let answer = answered(text, |point, metrics| {
        let senders = point.keys.workload.senders.0;
        metrics.syn_timeouts = [(100, 2), (40, 1)]
            .iter()
            .find(|(at, _)| *at == senders)
            .map_or(0, |(_, count)| *count);
        if senders == 100 {
            metrics.fct_p99_us = 1.1e6;
        }
        metrics.flows_completed = senders.into();
    });
    let cause = answer.iter().find(|sentence| sentence.contains("timer"));
    assert_eq!(
        cause.map(String::as_str),
        Some(
            "In the row that misses it their flows waited for handshake timers of at least 1 s, in both \
             that meet it for 1 timer in all."
        ),
        "{answer:?}"
    );
}

#[test]
fn timers_of_schemes_that_are_alike_are_told_of_each() {
    let answer = answered("schemes = [\"newreno\", \"dctcp\"]\n", |point, metrics| {
        metrics.fct_p99_us = 1.01e6;
        metrics.syn_timeouts = if point.scheme == "dctcp" { 4 } else { 11 };
    });
    assert_eq!(
        answer[1],
        "Both waited for timers: newreno for 11 and dctcp for 4."
    );
}

#[test]
fn rows_that_are_open_are_not_said_to_miss_the_goal() {
    let text = "schemes = [\"rcc\"]\ngoals = [\"fct_p99 < 1s\"]\nworkload.senders = [10, 40, 100]\nseeds = 2\n\
                workload.jitter = \"1us\"\n";
    let answer = answered(text, |point, metrics| {
        metrics.fct_p99_us = match (point.keys.workload.senders.0, point.seed) {
            (100, _) => 1.1e6,
            (40, 1) => 1.2e6,
            _ => 9e5,
        };
        metrics.syn_timeouts = u64::from(metrics.fct_p99_us > 1e6) * 5;
    });
    let cause = answer.iter().find(|sentence| sentence.contains("timers"));
    assert!(
        cause.is_some_and(
            |cause| cause.starts_with("In both rows that do not meet it their flows waited")
        ),
        "{answer:?}"
    );
}

#[test]
fn timers_that_are_a_small_part_of_the_slowest_flows_time_are_no_cause() {
    let cause = |share| {
        let answer = answered(
            "schemes = [\"newreno\", \"dctcp\"]\n",
            move |point, metrics| {
                metrics.fct_p99_us = 2.2e5;
                metrics.timeouts = 5 + point.index as u64;
                metrics.breakdown = Some(waiting(share));
            },
        );
        answer
            .iter()
            .any(|sentence| sentence.contains("waited for timers"))
    };
    assert!(cause(400.0));
    assert!(
        !cause(110.0),
        "flows that last longer than a timer need not have waited for one"
    );
}

#[test]
fn timers_of_several_kinds_are_compared_with_all_timers_of_the_leader() {
    let answer = answered("schemes = [\"newreno\", \"dctcp\"]\n", |point, metrics| {
        let slow = point.scheme == "newreno";
        metrics.fct_p99_us = if slow { 2.6e5 } else { 8e4 };
        (metrics.timeouts, metrics.tail_probes) = if slow { (107, 35) } else { (55, 63) };
        metrics.breakdown = Some(waiting(900.0));
    });
    assert_eq!(
        answer[1],
        "newreno waited for 107 retransmission timers of at least 200 ms and for 35 tail probes, dctcp for 118 \
         timers and probes in all."
    );
}

#[test]
fn rounds_that_waited_for_a_timer_of_one_flow_are_missed_for_that_timer() {
    let text = "schemes = [\"newreno\", \"dctcp\"]\ngoals = [\"round_p99 < 12ms\"]\n[workload]\nrounds = 20\n";
    let answer = answered(text, |point, metrics| {
        metrics.flows_completed = 800;
        metrics.fct_p99_us = 8e3;
        (metrics.rounds_completed, metrics.rounds_unfinished) = (Some(20), Some(0));
        metrics.round_p99_us = 2.1e5;
        metrics.round_max_us = 2.1e5;
        // One flow of 800 is not in the slowest hundredth, and makes one round of 20 late.
        metrics.timeouts = 1 + point.index as u64;
        metrics.breakdown = Some(waiting(0.0));
    });
    assert_eq!(
        answer[1],
        "In both rows that miss it their flows waited for retransmission timers of at least 200 ms."
    );
}
