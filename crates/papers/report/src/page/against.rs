//! The comparison of two runs in the report: a sentence for each headline, the settings that differ, and every row of
//! both.

use results::statistics::Significance;
use results::{Against, RowPair};

use crate::units;

/// A run against the first.
pub(super) struct RunComparison {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) sentences: Vec<String>,
    pub(super) settings: Vec<[String; 3]>,
    pub(super) rows: Vec<ComparedMetric>,
    /// Rows that only one of the runs has.
    pub(super) alone: usize,
}

/// A metric of a row in both runs.
pub(super) struct ComparedMetric {
    pub(super) what: String,
    pub(super) metric: String,
    pub(super) values: [String; 2],
    pub(super) change: String,
    pub(super) interval: String,
    pub(super) verdict: &'static str,
    pub(super) sure: bool,
}

/// The part of `against` below its sentences, for runs of these names.
pub(super) fn block(
    against: &Against,
    [first, second]: [&str; 2],
    sentences: Vec<String>,
) -> RunComparison {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let settings = against.settings.iter();
    let settings = settings.map(|(name, [a, b])| [name.clone(), text(a), text(b)]);
    RunComparison {
        first: first.to_owned(),
        second: second.to_owned(),
        sentences,
        settings: settings.collect(),
        rows: against
            .rows
            .iter()
            .flat_map(|row| compared(against, row))
            .collect(),
        alone: against.alone[0] + against.alone[1],
    }
}

/// The headlines, and the 99th percentile of every group.
fn compared(against: &Against, row: &RowPair) -> Vec<ComparedMetric> {
    let place = units::place(&row.set);
    let [a, b] = &row.schemes;
    let scheme = if a == b {
        a.clone()
    } else {
        format!("{a} → {b}")
    };
    let comma = if place.is_empty() { "" } else { ", " };
    let changes = against.shown(row);
    let lines = changes.map(|change| {
        let greatest = change.means.iter().flatten().copied().fold(0.0, f64::max);
        let value = |value: Option<f64>| {
            value.map_or_else(
                || "-".to_owned(),
                |value| units::amount(change.selector.metric, value, greatest),
            )
        };
        let percent = |share: f64| format!("{:+.1} %", share * 100.0);
        let interval = change
            .share_interval()
            .map(|(low, high)| format!("{} to {}", percent(low), percent(high)));
        ComparedMetric {
            what: format!("{scheme}{comma}{place}"),
            metric: change.selector.to_string(),
            values: change.means.map(value),
            change: change.share().map_or_else(|| "-".to_owned(), percent),
            interval: interval.unwrap_or_else(|| "-".to_owned()),
            verdict: change.verdict.name(),
            sure: change.verdict != Significance::NotEnoughRuns,
        }
    });
    lines.collect()
}
