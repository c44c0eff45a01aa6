//! Sentences about switches that pause.

use results::statistics::Estimate;

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

#[test]
fn connections_to_idle_ports_that_waited_are_told_with_their_groups() {
    let text = "schemes = [\"newreno\", \"dctcp\"]\n[group.many]\n[group.others]\n";
    let mut summary = made_up(text, |point, metrics| {
        metrics.pfc_pauses = Some(7);
        metrics.pfc_victims = Some(if point.scheme == "dctcp" { 1 } else { 4 });
    });
    for (group, held) in [("many", 1.0), ("others", 3.0), ("idle", 0.0)] {
        let held = Estimate::of([held]);
        let metrics = [("pfc_victims".to_owned(), held)].into_iter().collect();
        summary.rows[0].groups.insert(group.to_owned(), metrics);
    }
    let answer = of_run(&summary).join(" ");
    let expected = "Pauses of newreno held up 4 connections although nothing waited at the port that they went on to \
                    (1 of many and 3 of others), the most of all rows.";
    assert!(answer.contains(expected), "{answer}");
}
