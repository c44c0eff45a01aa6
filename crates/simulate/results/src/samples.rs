//! How many values a percentile has, and how many it needs.

use crate::row::Row;

/// The number of values from which a percentile differs from the greatest value. For up to 99 values, the 99th
/// percentile by nearest rank is the greatest one. `None` for other metrics.
pub fn enough(metric: &str) -> Option<f64> {
    let (_, statistic) = metric.trim_end_matches("_us").rsplit_once('_')?;
    Some(match statistic {
        "p95" => 20.0,
        "p99" => 100.0,
        "p999" => 1_000.0,
        "p9999" => 10_000.0,
        _ => return None,
    })
}

/// The mean number of values of a metric in each run: one for each flow or round that completed, of all flows or of a
/// group or class.
pub fn of(row: &Row, of: Option<&str>, metric: &str) -> f64 {
    let completed = if metric.starts_with("round_") {
        "rounds_completed"
    } else {
        "flows_completed"
    };
    let completed = row.estimate(of, completed);
    completed.and_then(|count| count.mean).unwrap_or(0.0)
}

/// Whether a percentile is missing because it has too few values. Then nothing is known about it. A percentile above 99
/// % is missing if it would be the greatest value.
pub fn are_too_few(row: &Row, group: Option<&str>, metric: &str) -> bool {
    let missing = row
        .estimate(group, metric)
        .is_none_or(|value| value.runs == 0);
    let completed = of(row, group, metric);
    missing && completed > 0.0 && enough(metric).is_some_and(|enough| completed < enough)
}
