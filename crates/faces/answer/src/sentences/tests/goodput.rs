//! Sentences about flows without an end, and about leads that do not count.

use super::*;

/// Endless flows with the goodput of each scheme in Mbit/s and its mean queue in KB.
fn endless(text: &str, of: &'static [(&str, f64, f64)]) -> Vec<String> {
    answered(text, move |point, metrics| {
        let (_, mbps, kb) = of
            .iter()
            .find(|(name, ..)| *name == point.scheme)
            .expect("a value for each scheme");
        metrics.fct_p99_us = f64::NAN;
        metrics.goodput_bps = mbps * 1e6;
        metrics.goodput_p50_bps = f64::NAN;
        metrics.queue_mean_bytes = kb * 1e3;
    })
}

#[test]
fn flows_without_an_end_are_compared_by_goodput_first() {
    let answer = endless(
        THREE,
        &[
            ("newreno", 400.0, 8.0),
            ("dctcp", 750.0, 20.0),
            ("rcc", 900.0, 90.0),
        ],
    );
    assert_eq!(
        answer,
        [
            "rcc carries most: 900 Mbit/s with a mean queue of 90.0 KB, 20 % more than dctcp (750 Mbit/s \
             with a mean queue of 20.0 KB)."
        ]
    );
}

#[test]
fn a_large_lead_in_goodput_is_a_ratio_and_one_everywhere_is_told_once() {
    const OF: &[(&str, f64, f64)] = &[
        ("newreno", 200.0, 8.0),
        ("dctcp", 300.0, 9.0),
        ("rcc", 900.0, 9.0),
    ];
    let answer = endless(THREE, OF);
    assert!(
        answer[0].contains("3.0 times as much as dctcp"),
        "{answer:?}"
    );
    assert_eq!(
        endless(SWEEP, OF),
        ["rcc carries most at all 3 points, 200 % more than the next best."]
    );
}

#[test]
fn slow_flows_without_an_end_do_not_carry_0_mbit() {
    let answer = endless("schemes = [\"rcc\"]\n", &[("rcc", 0.0166, 0.01)]);
    assert_eq!(
        answer,
        ["rcc carries 16.6 kbit/s with a mean queue of 10 B."]
    );
}

#[test]
fn where_no_scheme_leads_anywhere_none_is_said_to_lead() {
    let text = "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\n[switch]\nbuffer = [\"64KB\", \"128KB\"]\n\
                [workload]\nsenders = [10, 20, 30, 40, 50]\n";
    // At each point another pair of schemes leads with equal values.
    let answer = answered(text, |point, metrics| {
        let senders = point.keys.workload.senders.0;
        let last = ["newreno", "dctcp", "rcc"][(senders / 10 % 3) as usize];
        metrics.fct_p99_us = if point.scheme == last { 9e4 } else { 3e4 };
    });
    assert_eq!(answer.len(), 1, "{answer:?}");
    assert!(!answer[0].contains("at 0 of"), "{answer:?}");
}

/// The leading pairs of schemes, point by point.
const PAIRS: [[&str; 2]; 6] = [
    ["newreno", "dctcp"],
    ["newreno", "rcc"],
    ["newreno", "rwndq"],
    ["dctcp", "rcc"],
    ["dctcp", "rwndq"],
    ["rcc", "rwndq"],
];

#[test]
fn many_points_without_a_leader_are_one_sentence() {
    let text = "schemes = [\"newreno\", \"dctcp\", \"rcc\", \"rwndq\"]\n\
                [workload]\nsenders = [10, 20, 30, 40, 50, 60]\n";
    let answer = answered(text, |point, metrics| {
        let pair = PAIRS[(point.keys.workload.senders.0 / 10 - 1) as usize];
        let ahead = pair.contains(&point.scheme.as_str());
        metrics.fct_p99_us = if ahead { 3e4 } else { 9e4 };
    });
    assert_eq!(
        answer,
        ["By the 99th percentile there is nothing to choose between the best at any of 6 points."]
    );
}
