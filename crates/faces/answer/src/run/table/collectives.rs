//! Collectives and the messages that held them up, as a table below the answer.

use results::{Row, Summary};
use sim::metrics::CollectiveMetrics;

use crate::layout;
use crate::words::{three_digits, time};

/// A header and a line for the collectives of each row and group; `None` without collectives.
pub(super) fn collectives(summary: &Summary) -> Option<String> {
    let rows = summary.rows.iter();
    let all = rows.flat_map(|row| row.collectives.iter().map(move |one| (row, one)));
    let all: Vec<(&Row, &CollectiveMetrics)> = all.collect();
    if all.is_empty() {
        return None;
    }
    let named = all.iter().any(|(_, one)| !one.group.is_empty());
    let axes = summary.axes.iter();
    let short = axes.map(|axis| axis.rsplit('.').next().unwrap_or(axis).to_owned());
    let mut header: Vec<String> = short.collect();
    header.push("scheme".to_owned());
    header.extend(named.then(|| "group".to_owned()));
    let words = header.len();
    header.extend(HEADER.map(str::to_owned));
    let lines = all.iter().map(|(row, one)| {
        let mut line: Vec<String> = row.set.iter().map(|(_, value)| value.clone()).collect();
        line.push(row.scheme.clone());
        line.extend(named.then(|| one.group.clone()));
        line.extend(numbers(one));
        line
    });
    let lines: Vec<Vec<String>> = [header].into_iter().chain(lines).collect();
    Some(layout::aligned(&lines, "  ", |column| column >= words))
}

/// The line above the table.
pub(super) const TITLE: &str =
    "Collectives, and the message that held the slowest one of each row up most:";

fn numbers(one: &CollectiveMetrics) -> [String; 8] {
    let known = |value: f64, text: fn(f64) -> String| {
        if value.is_finite() {
            text(value)
        } else {
            "-".to_owned()
        }
    };
    let held = one.held_up.as_ref();
    let held = held.map(|held| {
        [
            format!("{} of {}", held.step + 1, held.steps),
            held.flow.to_string(),
            format!("{} to {}", held.sender, held.receiver),
            time(held.took_us),
            time(held.ideal_us),
        ]
    });
    let [step, flow, hosts, took, ideal] =
        held.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned()));
    [
        known(one.mean_us, time),
        known(one.over_ideal(), three_digits),
        known(one.slowest_us, time),
        step,
        flow,
        hosts,
        took,
        ideal,
    ]
}

const HEADER: [&str; 8] = [
    "mean",
    "over ideal",
    "slowest",
    "step",
    "flow",
    "hosts",
    "took",
    "ideal",
];
