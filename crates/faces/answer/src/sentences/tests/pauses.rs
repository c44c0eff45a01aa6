//! Sentences about switches that pause.

use super::*;

#[test]
fn a_threshold_that_was_never_reached_is_told_with_its_distance() {
    let answer = answered("schemes = [\"newreno\", \"dctcp\"]\n", |point, metrics| {
        metrics.pfc_pauses = Some(if point.scheme == "dctcp" { 0 } else { 7 });
        metrics.pfc_margin_bytes = Some(31_000);
    });
    let answer = answer.join(" ");
    let expected = "PFC never paused with dctcp: the threshold was missed by 31.0 KB.";
    assert!(answer.contains(expected), "{answer}");
    let without = answered("schemes = [\"newreno\"]\n", |_, _| {}).join(" ");
    assert!(!without.contains("PFC"), "{without}");
}

#[test]
fn lossless_packets_that_were_lost_come_before_other_results() {
    let answer = answered("schemes = [\"newreno\"]\n", |_, metrics| {
        (metrics.pfc_pauses, metrics.drops_headroom) = (Some(7), Some(3));
    });
    let expected = "Not lossless: 3 packets of newreno came in after a pause and found switch.pfc_headroom full.";
    assert_eq!(answer[0], expected);
}

#[test]
fn a_deadlock_is_named_by_the_nodes_of_its_cycle() {
    let mut summary = made_up("schemes = [\"newreno\"]\n", |_, metrics| {
        metrics.pfc_pauses = Some(7);
    });
    summary.points[0].deadlock = "switch 0 -> switch 1 -> switch 0".to_owned();
    let answer = of_run(&summary);
    assert!(
        answer[0].starts_with(
            "Deadlock in every run, first with newreno: switch 0 -> switch 1 -> switch 0."
        ),
        "{answer:?}"
    );
}
