//! Sentences about timers: what is waited for is counted, whatever kind it is.

use sim::breakdown::{Parts, Split};

use super::*;

/// Slowest flows that spend `timers` of every millisecond of their 220 ms waiting for timers.
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
    // Where the slowest flows spend their time with other things, probes are not why they are slow.
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
        "All waited for timers: newreno for 11 and dctcp for 4."
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
