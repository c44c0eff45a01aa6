//! The table of results under several orders of simultaneous events.

use results::Summary;
use results::statistics::Estimate;

use crate::data::Data;
use crate::units;

/// A row of a run that was simulated under several orders.
pub(super) struct TiesRow {
    pub(super) place: String,
    pub(super) scheme: String,
    /// The 99th percentile of completion times in ms: the least and the greatest over all orders, each as a mean over
    /// seeds.
    pub(super) time: [String; 2],
    /// The same of drops.
    pub(super) drops: [String; 2],
}

/// Every row of the runs that have them.
pub(super) fn table(data: &Data<'_>) -> Vec<TiesRow> {
    let mut rows = Vec::new();
    for (number, run) in data.runs.iter().enumerate() {
        let Some(ties) = &run.summary.ties else {
            continue;
        };
        for (place, row) in run.summary.rows.iter().enumerate() {
            let both = |metric: &str, unit: f64| {
                let range = ties.range(place, metric).map(|(least, greatest)| {
                    let (least, greatest) = (
                        units::number(least / unit, 3),
                        units::number(greatest / unit, 3),
                    );
                    if least == greatest {
                        least
                    } else {
                        format!("{least} to {greatest}")
                    }
                });
                [
                    range.unwrap_or_default(),
                    interval(&row.metrics[metric], unit),
                ]
            };
            rows.push(TiesRow {
                place: units::short_place(&row.set),
                scheme: data.label(&row.scheme, number),
                time: both("fct_p99_us", 1e3),
                drops: both("drops", 1.0),
            });
        }
    }
    rows
}

/// How many orders there were in any run.
pub(super) fn orders<'a>(mut summaries: impl Iterator<Item = &'a Summary>) -> u32 {
    let found = summaries.find_map(|summary| summary.ties.as_ref());
    found.map_or(0, |ties| ties.orders)
}

fn interval(estimate: &Estimate, unit: f64) -> String {
    let Some(mean) = estimate.mean else {
        return String::new();
    };
    let half = estimate.high.map(|high| (high - mean) / unit);
    let half = half.filter(|half| *half > 0.0);
    let half = half.map(|half| format!(" \u{b1} {}", units::number(half, 2)));
    format!(
        "{}{}",
        units::number(mean / unit, 3),
        half.unwrap_or_default()
    )
}
