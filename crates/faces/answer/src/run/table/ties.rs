//! Results under several orders of simultaneous events, as a table below the answer.

use results::Summary;
use results::statistics::Estimate;

use super::column::count;
use crate::layout;

/// Rows and columns: the values of each scheme under all orders, and over the seeds. `None` without `--ties`.
pub(super) fn ties(summary: &Summary) -> Option<(String, String)> {
    let ties = summary.ties.as_ref()?;
    let timed = summary.rows.iter().any(|row| !row.value(TIME).is_nan());
    let mut lines = vec![header(summary, timed)];
    for (number, row) in summary.rows.iter().enumerate() {
        let mut line: Vec<String> = row.set.iter().map(|(_, value)| value.clone()).collect();
        line.push(row.scheme.clone());
        let metrics = [(TIME, 1e3), ("drops", 1.0)];
        for (metric, unit) in metrics.into_iter().skip(usize::from(!timed)) {
            line.push(range(ties.range(number, metric), unit));
            line.push(interval(&row.metrics[metric], unit));
        }
        lines.push(line);
    }
    let title = format!(
        "Without jitter, under {} orders of simultaneous events, from the least to the greatest; beside it the mean \
         over the seeds:",
        ties.orders
    );
    let words = summary.axes.len() + 1;
    let lines = layout::aligned(&lines, "  ", |column| column >= words);
    Some((title, lines))
}

fn header(summary: &Summary, timed: bool) -> Vec<String> {
    let mut header = summary.axes.clone();
    header.push("scheme".to_owned());
    if timed {
        header.extend(["FCT p99 ms, orders", "seeds"].map(str::to_owned));
    }
    header.extend(["drops, orders", "seeds"].map(str::to_owned));
    header
}

fn range(range: Option<(f64, f64)>, unit: f64) -> String {
    let Some((least, greatest)) = range else {
        return "-".to_owned();
    };
    let (least, greatest) = (count(least / unit), count(greatest / unit));
    if least == greatest {
        least
    } else {
        format!("{least} to {greatest}")
    }
}

fn interval(estimate: &Estimate, unit: f64) -> String {
    let Some(mean) = estimate.mean else {
        return "-".to_owned();
    };
    let half = estimate.high.filter(|high| *high > mean);
    let half = half.map(|high| format!(" \u{b1}{}", count((high - mean) / unit)));
    format!("{}{}", count(mean / unit), half.unwrap_or_default())
}

const TIME: &str = "fct_p99_us";
