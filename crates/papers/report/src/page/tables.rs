//! The tables of the report.

use base::Sort as _;
use plan::metric::{is_of_rounds, is_of_shared_buffers};
use results::statistics::{Estimate, Significance};
use results::{Comparison, Row, Summary};
use sim::columns::METRICS;

use crate::data::Data;
use crate::units::{self, Unit};

/// Every row with its metrics.
pub(super) struct Table {
    pub(super) headers: Vec<Header>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether any cell is marked as the best.
    pub(super) marks: bool,
}

pub(super) struct Header {
    pub(super) text: String,
    pub(super) unit: String,
    pub(super) help: String,
    pub(super) number: bool,
}

pub(super) struct Cell {
    pub(super) text: String,
    /// Half the width of the confidence interval.
    pub(super) half: String,
    /// The sort key of the table.
    pub(super) key: String,
    pub(super) best: bool,
    pub(super) number: bool,
    /// The colour of a scheme.
    pub(super) colour: String,
    /// Whether a new combination begins here.
    pub(super) first: bool,
}

/// A paired comparison in words.
pub(super) struct Compared {
    pub(super) place: String,
    pub(super) metric: String,
    pub(super) pair: String,
    pub(super) difference: String,
    pub(super) interval: String,
    pub(super) verdict: &'static str,
    pub(super) sure: bool,
}

/// A simulation without results.
pub(super) struct Failed {
    pub(super) what: String,
    pub(super) error: String,
    pub(super) reproduce: String,
}

/// The description of a metric's column: name, header, whether less or more is better.
struct MetricColumn {
    metric: &'static str,
    header: &'static str,
    better: Option<Better>,
}

#[derive(Clone, Copy, PartialEq)]
enum Better {
    Less,
    More,
}

const SHOWN: [MetricColumn; 33] = [
    shown("goodput_bps", "Goodput", Some(Better::More)),
    shown("goodput_p50_bps", "Goodput p50", Some(Better::More)),
    shown(
        "goodput_weighted_bps",
        "Goodput weighted",
        Some(Better::More),
    ),
    shown("fct_mean_us", "FCT mean", Some(Better::Less)),
    shown("fct_p50_us", "FCT p50", Some(Better::Less)),
    shown("fct_p95_us", "FCT p95", Some(Better::Less)),
    shown("fct_p99_us", "FCT p99", Some(Better::Less)),
    shown("fct_p999_us", "FCT p99.9", Some(Better::Less)),
    shown("fct_max_us", "FCT max", Some(Better::Less)),
    shown("round_p50_us", "Round p50", Some(Better::Less)),
    shown("round_p99_us", "Round p99", Some(Better::Less)),
    shown("round_max_us", "Round max", Some(Better::Less)),
    shown("rounds_unfinished", "Unfinished rounds", Some(Better::Less)),
    shown("rounds_over_ideal", "Time over ideal", Some(Better::Less)),
    shown("slowdown_p99", "Slowdown p99", Some(Better::Less)),
    shown("timeouts", "Timeouts", Some(Better::Less)),
    shown("syn_timeouts", "SYN timeouts", Some(Better::Less)),
    shown("tail_probes", "Tail probes", Some(Better::Less)),
    shown("window_probes", "Window probes", Some(Better::Less)),
    shown("drops", "Drops", Some(Better::Less)),
    shown("drops_pool", "Drops, pool full", Some(Better::Less)),
    shown("drops_threshold", "Drops, share full", Some(Better::Less)),
    shown("drops_headroom", "Drops, headroom full", Some(Better::Less)),
    shown("marks", "Marks", None),
    shown("queue_mean_bytes", "Queue mean", Some(Better::Less)),
    shown("queue_max_bytes", "Queue max", Some(Better::Less)),
    shown("pool_max_bytes", "Pool max", Some(Better::Less)),
    shown("pfc_pauses", "Pauses", Some(Better::Less)),
    shown("pfc_paused_us", "Paused", Some(Better::Less)),
    shown("pfc_victims", "Victims of pauses", Some(Better::Less)),
    shown("flows_late", "Late flows", Some(Better::Less)),
    shown("flows_unfinished", "Unfinished flows", Some(Better::Less)),
    shown("flows_failed", "Failed flows", Some(Better::Less)),
];

impl Table {
    pub(super) fn new(data: &Data<'_>) -> Self {
        let axes = &data.runs[0].summary.axes;
        let several = data.runs.len() > 1;
        let metrics: Vec<_> = SHOWN.iter().filter(|shown| worth(data, shown)).collect();
        let units: Vec<Unit> = metrics
            .iter()
            .map(|shown| unit(data, shown.metric))
            .collect();
        let decimals = metrics.iter().zip(&units);
        let decimals: Vec<usize> = decimals
            .map(|(shown, unit)| decimals_of(data, shown.metric, unit.size))
            .collect();
        let mut headers: Vec<_> = axes.iter().map(|axis| header(axis, "", "", true)).collect();
        headers.push(header("Scheme", "", "", false));
        let grouped = data.rows().any(|(_, row)| !row.groups.is_empty());
        if grouped {
            headers.push(header("Flows", "", "", false));
        }
        if several {
            headers.push(header("Run", "", "", false));
        }
        for (shown, unit) in metrics.iter().zip(&units) {
            let column = METRICS.iter().find(|column| column.name == shown.metric);
            let help = column.map_or("", |column| column.help);
            headers.push(header(shown.header, unit.name, help, true));
        }
        let mut rows = Vec::new();
        let mut marks = false;
        for group in groups(data) {
            for (index, (run, row, of)) in with_groups(&group).into_iter().enumerate() {
                let mut cells: Vec<_> = axes
                    .iter()
                    .map(|axis| text(row.setting(axis).unwrap_or("-"), true))
                    .collect();
                let mut scheme = text(&row.scheme, false);
                if of.is_none() {
                    scheme.colour = data.palette.style(&row.scheme, run).hex();
                }
                cells.push(scheme);
                if grouped {
                    cells.push(text(of.unwrap_or("all"), false));
                }
                if several {
                    cells.push(text(&data.runs[run].name, false));
                }
                for ((shown, unit), decimals) in metrics.iter().zip(&units).zip(&decimals) {
                    let mut cell = match row.estimate(of, shown.metric) {
                        Some(estimate) => value(estimate, unit.size, *decimals),
                        None => text("", true),
                    };
                    cell.best = is_best(shown, (row, of), &group);
                    marks |= cell.best;
                    cells.push(cell);
                }
                cells[0].first = index == 0;
                rows.push(cells);
            }
        }
        Self {
            headers,
            rows,
            marks,
        }
    }
}

/// Rows of all runs that have the same swept values, in the order of the first run.
fn groups<'a>(data: &Data<'a>) -> Vec<Vec<(usize, &'a Row)>> {
    let mut groups: Vec<Vec<(usize, &Row)>> = Vec::new();
    for (run, row) in data.rows() {
        match groups.iter_mut().find(|group| group[0].1.set == row.set) {
            Some(group) => group.push((run, row)),
            None => groups.push(vec![(run, row)]),
        }
    }
    for group in &mut groups {
        let order = |scheme: &str| group_order(data, scheme);
        group.order_by_key(|(run, row)| (order(&row.scheme), *run));
    }
    groups
}

/// Each row for all of its flows, then for each group and class.
fn with_groups<'a>(rows: &[(usize, &'a Row)]) -> Vec<(usize, &'a Row, Option<&'a str>)> {
    let with = |(run, row): &(usize, &'a Row)| {
        let (run, row) = (*run, *row);
        let groups = row.groups.keys().map(|group| Some(group.as_str()));
        let all = std::iter::once(None).chain(groups);
        all.map(move |of| (run, row, of))
    };
    rows.iter().flat_map(with).collect()
}

fn group_order(data: &Data<'_>, scheme: &str) -> usize {
    let mut names = data.runs.iter().flat_map(|run| &run.summary.schemes);
    names.position(|name| name == scheme).unwrap_or(usize::MAX)
}

/// Whether a column is worth showing. Columns of flows that all ended, of no failures, and of means over idle time are
/// not.
fn worth(data: &Data<'_>, shown: &MetricColumn) -> bool {
    if data.is_mostly_idle() && results::counts_idle_time(shown.metric) {
        return false;
    }
    let mut rows = data.rows().map(|(_, row)| row);
    match shown.metric {
        "flows_late" | "flows_unfinished" | "flows_failed" | "syn_timeouts" | "tail_probes"
        | "window_probes" | "fct_p999_us" | "rounds_unfinished" => {
            rows.any(|row| row.value(shown.metric) > 0.0)
        }
        metric if is_of_shared_buffers(metric) => rows.any(|row| row.value(metric) > 0.0),
        "rounds_over_ideal" => rows.any(|row| row.value(shown.metric).is_finite()),
        metric if is_of_rounds(metric) => rows.any(|row| row.has_rounds(None)),
        "slowdown_p99" => rows.any(Row::sizes_differ),
        _ => true,
    }
}

fn unit(data: &Data<'_>, metric: &str) -> Unit {
    let values = data.rows().map(|(_, row)| row.value(metric));
    units::unit(units::of_metric(metric), values.fold(0.0, f64::max))
}

/// Whether no row of the group is visibly better, and some are worse: in a metric of all flows or of one group of
/// flows.
fn is_best(shown: &MetricColumn, (row, of): (&Row, Option<&str>), group: &[(usize, &Row)]) -> bool {
    let Some(better) = shown.better else {
        return false;
    };
    let value = |row: &Row, metric: &str| {
        let estimate = row.estimate(of, metric);
        estimate.and_then(|found| found.mean).unwrap_or(f64::NAN)
    };
    // Percentiles are over completed flows, so a scheme that leaves flows incomplete is not fast.
    let completed = |row: &Row| value(row, "flows_completed");
    let all = group
        .iter()
        .map(|(_, row)| completed(row))
        .fold(0.0, f64::max);
    if shown.metric.starts_with("fct") && completed(row) < all {
        return false;
    }
    let sign = if better == Better::Less { 1.0 } else { -1.0 };
    let rank = |row: &Row| sign * value(row, shown.metric);
    let rival =
        |(_, other): &&(usize, &Row)| !shown.metric.starts_with("fct") || completed(other) >= all;
    let ranks = || group.iter().filter(rival).map(|(_, other)| rank(other));
    let least = ranks().fold(f64::INFINITY, f64::min);
    let worst = group
        .iter()
        .map(|(_, other)| rank(other))
        .fold(f64::NEG_INFINITY, f64::max);
    rank(row) <= least && least < worst
}

/// Paired comparisons of the schemes of each run.
pub(super) fn comparisons(data: &Data<'_>) -> Vec<Compared> {
    let mut compared = Vec::new();
    for (number, run) in data.runs.iter().enumerate() {
        for comparison in &run.summary.comparisons {
            if !COMPARED.contains(&comparison.metric.as_str()) {
                continue;
            }
            if comparison.group.is_some() && comparison.metric != "fct_p99_us" {
                continue;
            }
            let pair = format!(
                "{} against {}",
                data.label(&comparison.scheme, number),
                data.label(&comparison.baseline, number)
            );
            compared.push(in_words(data, comparison, pair));
        }
    }
    compared
}

fn in_words(data: &Data<'_>, comparison: &Comparison, pair: String) -> Compared {
    let Comparison {
        metric,
        difference,
        verdict,
        ..
    } = comparison;
    let unit = unit(data, metric);
    let shown = SHOWN.iter().find(|shown| shown.metric == metric);
    let signed = |value: f64| {
        let text = units::number(value.abs() / unit.size, 3);
        match value {
            value if value > 0.0 => format!("+{text}"),
            value if value < 0.0 => format!("−{text}"),
            _ => text,
        }
    };
    let name = if unit.name.is_empty() {
        String::new()
    } else {
        format!(" ({})", unit.name)
    };
    let of = comparison.group.as_ref();
    let of = of.map_or_else(String::new, |group| format!("{group}: "));
    let header = shown.map_or(metric.as_str(), |shown| shown.header);
    Compared {
        place: units::short_place(&comparison.set),
        metric: format!("{of}{header}{name}"),
        pair,
        difference: difference.mean.map_or("-".into(), signed),
        interval: match (difference.low, difference.high) {
            (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
            _ => "-".into(),
        },
        verdict: verdict.name(),
        sure: *verdict != Significance::NotEnoughRuns,
    }
}

/// How the numbers of the table are to be read.
pub(super) fn seeds_note(data: &Data<'_>) -> String {
    let seeds = data
        .runs
        .iter()
        .map(|run| run.summary.seeds)
        .max()
        .unwrap_or(1);
    if seeds < 2 {
        return String::new();
    }
    let random = data.runs.iter().any(|run| run.summary.random);
    if !random {
        return format!(
            "Nothing in the scenario is random: all {seeds} seeds give the same numbers."
        );
    }
    format!(
        "Every number is the mean over {seeds} seeds; ± is half the width of its 95 % confidence \
         interval (Student's t)."
    )
}

/// How the comparisons are to be read.
pub(super) fn pairs_note(data: &Data<'_>) -> &'static str {
    if data.runs.iter().any(|run| run.summary.random) {
        "Differences on the same seeds, hence the same arrivals and sizes, with 95 % confidence intervals."
    } else {
        "Nothing in the scenario is random, so one simulation of each shows the whole difference."
    }
}

pub(super) fn failures(data: &Data<'_>) -> Vec<Failed> {
    let runs = data.runs.iter();
    let failures =
        runs.flat_map(|run| run.summary.failures.iter().map(move |failed| (run, failed)));
    let describe = |summary: &Summary, row: u32| {
        let row = usize::try_from(row)
            .ok()
            .and_then(|row| summary.rows.get(row));
        row.map_or_else(String::new, |row| {
            let place = units::place(&row.set);
            let comma = if place.is_empty() { "" } else { ", " };
            format!("{}{comma}{place}", row.scheme)
        })
    };
    failures
        .map(|(run, failed)| Failed {
            what: format!(
                "{}, seed {}",
                describe(run.summary, failed.row),
                failed.seed
            ),
            error: failed.error.clone(),
            reproduce: failed.reproduce.clone(),
        })
        .collect()
}

fn header(text: &str, unit: &str, help: &str, number: bool) -> Header {
    Header {
        text: text.to_owned(),
        unit: unit.to_owned(),
        help: help.to_owned(),
        number,
    }
}

fn text(text: &str, number: bool) -> Cell {
    // Settings such as 64KB sort by their size.
    let key = units::quantities(&[text]).map(|(numbers, _)| numbers[0].to_string());
    Cell {
        text: text.to_owned(),
        half: String::new(),
        key: key.unwrap_or_else(|| text.to_owned()),
        best: false,
        number,
        colour: String::new(),
        first: false,
    }
}

fn value(estimate: &Estimate, size: f64, decimals: usize) -> Cell {
    let shown = |value: f64| format!("{:.decimals$}", value / size);
    let half = estimate.half_width().map(shown);
    // An interval too narrow to show in these digits is left out.
    let half = half.filter(|half| half.chars().any(|digit| ('1'..='9').contains(&digit)));
    let mut cell = text(&estimate.mean.map_or("-".into(), shown), true);
    cell.key = match (estimate.mean, &half) {
        // The sort key is the shown value. With an interval, the value is only a part of the text.
        (Some(mean), Some(_)) => shown(mean),
        (Some(_), None) => cell.text.clone(),
        (None, _) => String::new(),
    };
    cell.half = half.unwrap_or_default();
    cell
}

/// The number of decimals that shows four digits of the greatest value of a column; 0 if all values are whole.
fn decimals_of(data: &Data<'_>, metric: &str, size: f64) -> usize {
    let values = || data.rows().map(|(_, row)| row.value(metric) / size);
    let values = || values().filter(|value| value.is_finite());
    if values().all(|value| value.fract() == 0.0) {
        return 0;
    }
    match values().fold(0.0, f64::max) {
        greatest if greatest >= 1000.0 => 0,
        greatest if greatest >= 100.0 => 1,
        greatest if greatest >= 10.0 => 2,
        _ => 3,
    }
}

const fn shown(metric: &'static str, header: &'static str, better: Option<Better>) -> MetricColumn {
    MetricColumn {
        metric,
        header,
        better,
    }
}

/// Metrics whose paired comparisons are shown.
const COMPARED: [&str; 4] = [
    "fct_p50_us",
    "fct_p99_us",
    "goodput_bps",
    "queue_mean_bytes",
];
