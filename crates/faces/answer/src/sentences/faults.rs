//! Packets that faults lost, and why flows failed.

use results::{Row, Summary};

use crate::words::{amount, list, named};

/// A sentence about the row with most losses by faults, and one about the row with most failed flows.
pub(super) fn sentences(summary: &Summary) -> Vec<String> {
    let sentences = [failed(summary), lost(summary)];
    sentences.into_iter().flatten().collect()
}

/// Why flows failed.
fn failed(summary: &Summary) -> Option<String> {
    let row = most(summary, &[GONE, GAVE_UP])?;
    let part = |metric, why: &str| {
        let flows = row.value(metric);
        (flows > 0.0).then(|| format!("{} because {why}", amount(flows)))
    };
    let parts = [
        part(GONE, "the host at one end had disappeared"),
        part(GAVE_UP, "nobody answered however often they sent"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Some(format!("Flows of {} failed: {}.", named(row), list(&parts)))
}

/// The causes that lost packets, or that none was lost.
fn lost(summary: &Summary) -> Option<String> {
    let metrics = CAUSES.map(|(metric, _)| metric);
    let faulty = |row: &&Row| row.metrics.contains_key(CAUSES[0].0);
    summary.rows.iter().find(faulty)?;
    let Some(row) = most(summary, &metrics) else {
        return Some("Faults lost no packet.".to_owned());
    };
    let causes = CAUSES.into_iter().filter_map(|(metric, cause)| {
        let packets = row.value(metric);
        (packets > 0.0).then(|| format!("{} {cause}", amount(packets)))
    });
    let causes: Vec<String> = causes.collect();
    let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
    Some(format!(
        "Faults lost packets of {}: {}.",
        named(row),
        list(&causes)
    ))
}

/// The row in which the sum of these metrics is greatest, if it is above zero.
fn most<'a>(summary: &'a Summary, metrics: &[&str]) -> Option<&'a Row> {
    // A missing metric counts as zero.
    let sum = |row: &Row| -> f64 {
        metrics
            .iter()
            .map(|metric| row.value(metric).max(0.0))
            .sum()
    };
    let rows = summary.rows.iter().filter(|row| sum(row) > 0.0);
    // Among equal rows the first one counts.
    rows.rev()
        .max_by(|one, other| sum(one).total_cmp(&sum(other)))
}

const GONE: &str = "flows_host_gone";
const GAVE_UP: &str = "flows_gave_up";
/// Losses by faults, with their causes in words.
const CAUSES: [(&str, &str); 5] = [
    ("drops_link_down", "because a link was down"),
    ("drops_restart", "because a switch restarted"),
    (
        "drops_host_gone",
        "on the way to or from a host that had disappeared",
    ),
    ("drops_lossy", "at random"),
    ("drops_corrupt", "because they were damaged"),
];
