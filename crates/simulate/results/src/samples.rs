//! How many values a percentile is over, and how many it needs.

use crate::row::Row;

/// Values from which on a percentile is another one than the greatest value: the 99th percentile by nearest rank of up
/// to 99 values is the greatest of them. `None` for other metrics.
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

/// Values of a metric in each run on average, which are one for each flow or round that completed: of all flows, or of a
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

/// Whether a percentile is missing because there are too few values for it: nothing is known about it then. Percentiles
/// that take more than 99 % of the values are missing where they would be the greatest value.
pub fn are_too_few(row: &Row, group: Option<&str>, metric: &str) -> bool {
    let missing = row
        .estimate(group, metric)
        .is_none_or(|value| value.runs == 0);
    let completed = of(row, group, metric);
    missing && completed > 0.0 && enough(metric).is_some_and(|enough| completed < enough)
}
