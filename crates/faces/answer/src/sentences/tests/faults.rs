//! Sentences about faults.

use super::*;

#[test]
fn losses_by_faults_and_failed_flows_are_told_with_their_reasons() {
    let text = "schemes = [\"newreno\", \"dctcp\"]\n";
    let answer = answered(text, |point, metrics| {
        metrics.drops_link_down = Some(if point.scheme == "dctcp" { 9 } else { 7 });
        metrics.drops_corrupt = Some(2);
        metrics.drops_restart = Some(0);
        metrics.flows_host_gone = Some(1);
        metrics.flows_gave_up = Some(if point.scheme == "dctcp" { 0 } else { 3 });
    });
    let answer = answer.join(" ");
    for expected in [
        "Flows of newreno failed: 1 because the host at one end had disappeared and 3 because nobody answered however often \
         they sent.",
        "Faults lost packets of dctcp: 9 because a link was down and 2 because they were damaged.",
    ] {
        assert!(answer.contains(expected), "{answer}");
    }
    let unhurt = answered(text, |_, metrics| {
        (metrics.drops_link_down, metrics.flows_host_gone) = (Some(0), Some(0));
    });
    assert!(
        unhurt.contains(&"Faults lost no packet.".to_owned()),
        "{unhurt:?}"
    );
    let without = answered(text, |_, _| {}).join(" ");
    assert!(!without.contains("ault"), "{without}");
}
