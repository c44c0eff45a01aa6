//! Sentences about settings that changed nothing.

use super::*;

/// The sentences with any of these words.
fn with(answer: &[String], words: &[&str]) -> Vec<String> {
    let has = |sentence: &&String| words.iter().any(|word| sentence.contains(word));
    answer.iter().filter(has).cloned().collect()
}

#[test]
fn schemes_with_the_same_results_everywhere_are_said_to_have_them() {
    let alike = |apart: f64| {
        let answer = answered(SWEEP, move |point, metrics| {
            let senders = f64::from(point.keys.workload.senders.0);
            metrics.fct_p99_us = senders * 1e3;
            metrics.packets = 2300;
            if point.scheme == "rcc" {
                metrics.fct_p99_us *= 0.5;
            }
            if point.scheme == "dctcp" && senders > 50.0 {
                metrics.fct_p50_us += apart;
            }
        });
        with(&answer, &["exactly the same"])
    };
    assert_eq!(
        alike(0.0),
        [
            "newreno and dctcp have exactly the same results at all 3 points: nothing that tells them apart \
             happened here."
        ]
    );
    assert_eq!(alike(1e-9), [""; 0]);
}

#[test]
fn an_axis_without_effect_is_said_to_have_none() {
    let text = "schemes = [\"newreno\", \"rcc\"]\nswitch.buffer = [\"64KB\", \"128KB\"]\nworkload.senders = [10, 40]\n";
    let effect = |of: &'static [&str]| {
        let answer = answered(text, move |point, metrics| {
            metrics.fct_p99_us = 1e3 * f64::from(point.keys.workload.senders.0);
            metrics.fct_p99_us *= if point.scheme == "rcc" { 0.5 } else { 1.0 };
            metrics.packets = 2300;
            metrics.threshold_crossings = point.index as u64;
            let large = point.set.iter().any(|(_, value)| value == "128KB");
            if of.contains(&point.scheme.as_str()) && large {
                metrics.drops = 1;
            }
        });
        with(&answer, &["changed nothing"])
    };
    assert_eq!(
        effect(&[]),
        ["switch.buffer changed nothing: all its values have the same results."]
    );
    assert_eq!(
        effect(&["newreno"]),
        ["switch.buffer changed nothing for rcc: all its values have the same results."]
    );
    assert_eq!(effect(&["newreno", "rcc"]), [""; 0]);
}

#[test]
fn a_scheme_that_acts_on_marks_and_gets_none_is_said_to_with_the_longest_queue() {
    let marks = |marks, drops| {
        let answer = answered(
            "schemes = [\"newreno\", \"dctcp\"]\n",
            move |point, metrics| {
                metrics.fct_p99_us = if point.scheme == "dctcp" { 3e4 } else { 9e4 };
                (metrics.marks, metrics.drops) = (marks, drops);
            },
        );
        with(&answer, &["marks"])
    };
    assert_eq!(
        marks(0, 1),
        [
            "dctcp acts on marks and got none: no queue reached switch.ecn_threshold = 40pkt; the longest at \
             the bottleneck was 57.0 KB."
        ]
    );
    assert_eq!(marks(1, 1), [""; 0]);
    // It did well without.
    assert_eq!(marks(0, 0), [""; 0]);
}

#[test]
fn thresholds_above_what_the_queue_ever_was_are_named() {
    let text = "schemes = [\"dctcp\"]\n[switch]\nbuffer = \"400KB\"\necn_threshold = [\"20KB\", \"60KB\", \"90KB\"]\n";
    let answer = answered(text, |point, metrics| {
        let low = point.set.iter().any(|(_, value)| value == "20KB");
        metrics.marks = u64::from(low);
        metrics.fct_p99_us = if low { 2e4 } else { 3e4 };
    });
    assert_eq!(
        with(&answer, &["marks"]),
        ["dctcp got no marks with switch.ecn_threshold = 60KB and 90KB: no queue became as long."]
    );
}

#[test]
fn losses_that_were_chosen_and_never_happened_are_named() {
    let text = "schemes = [\"newreno\", \"dctcp\"]\ntopology.kind = \"dumbbell\"\n\
                bottleneck.lose = [\"segment 14 of flow 0\", \"from 250ms to 320ms\", \"off\"]\n";
    let answer = answered(text, |point, metrics| {
        metrics.drops = u64::from(point.set[0].1.contains("segment"));
    });
    assert_eq!(
        with(&answer, &["lost no packet"]),
        ["bottleneck.lose = from 250ms to 320ms lost no packet."]
    );
}

#[test]
fn a_threshold_that_is_off_is_not_called_too_high_for_the_queue() {
    let text = "schemes = [\"rcc\"]\nswitch.ecn_threshold = [\"20pkt\", \"70pkt\", \"off\"]\n";
    let answer = answered(text, |point, metrics| {
        metrics.marks = u64::from(point.set[0].1 == "20pkt");
    });
    let said = with(&answer, &["got no marks"]);
    assert!(
        said.iter().all(|sentence| !sentence.contains("off")),
        "{said:?}"
    );
}
