//! Metrics against the swept setting.

use results::Row;
use sim::columns::METRICS;

use crate::data::Data;
use crate::figure::{Axis, Figure, Line, Point, Shape, slug};
use crate::units;

/// A metric and how its chart is called.
struct Chart {
    /// The name of the place in the report, which several metrics may share.
    place: &'static str,
    metric: &'static str,
    title: &'static str,
    /// What the axis calls it before the choice.
    short: &'static str,
    /// What tells it from other metrics of the chart.
    choice: &'static str,
}

const COMPLETION: [Chart; 5] = [
    completion_chart("fct_p99_us", "99th percentile"),
    completion_chart("fct_p50_us", "median"),
    completion_chart("fct_p95_us", "95th percentile"),
    completion_chart("fct_max_us", "slowest flow"),
    completion_chart("fct_mean_us", "mean"),
];

const COUNTS: [Chart; 11] = [
    chart("goodput", "goodput_bps", "Goodput", ""),
    chart("queue", "queue_mean_bytes", "Bottleneck queue", "mean"),
    chart(
        "queue",
        "queue_p95_bytes",
        "Bottleneck queue",
        "95th percentile",
    ),
    chart("queue", "queue_max_bytes", "Bottleneck queue", "maximum"),
    chart("drops", "drops", "Dropped packets", ""),
    chart("marks", "marks", "Marked packets", ""),
    chart("timeouts", "timeouts", "Timeouts", ""),
    chart("syn-timeouts", "syn_timeouts", "Timeouts of SYNs", ""),
    chart(
        "retransmissions",
        "retransmissions",
        "Retransmitted segments",
        "",
    ),
    chart("unfinished", "flows_unfinished", "Unfinished flows", ""),
    chart("failed", "flows_failed", "Failed flows", ""),
];

/// Percentiles of the completion times.
pub(super) fn completion(data: &Data<'_>) -> Vec<Figure> {
    views(data, &COMPLETION)
}

/// Goodput, queue and what happened to packets.
pub(super) fn counts(data: &Data<'_>) -> Vec<Figure> {
    // Charts of what rarely happens appear where it does.
    let any = |chart: &&Chart| {
        !matches!(chart.place, "unfinished" | "failed" | "syn-timeouts")
            || data.rows().any(|(_, row)| row.value(chart.metric) > 0.0)
    };
    let charts: Vec<&Chart> = COUNTS.iter().filter(any).collect();
    charts
        .into_iter()
        .flat_map(|chart| views(data, std::slice::from_ref(chart)))
        .collect()
}

/// One figure for each metric and each combination of the settings that are not on the axis.
fn views(data: &Data<'_>, charts: &[Chart]) -> Vec<Figure> {
    let sweep = Sweep::of(data);
    let mut figures = Vec::new();
    for chart in charts {
        // The last combination first: it is the hardest of a sweep that grows.
        for rest in sweep.rests.iter().rev() {
            figures.push(sweep.figure(data, chart, rest));
        }
    }
    figures
}

/// Where rows stand on the horizontal axis.
struct Sweep {
    /// The swept setting on the axis; none if nothing is swept.
    key: Option<String>,
    axis: Axis,
    /// Values of the setting with their places.
    places: Vec<(String, f64)>,
    /// Whether places are numbers rather than names.
    numeric: bool,
    /// Combinations of the other swept settings, in words.
    rests: Vec<String>,
}

impl Sweep {
    fn of(data: &Data<'_>) -> Self {
        let summary = data.runs[0].summary;
        let values = |key: &str| distinct(data.rows().filter_map(|(_, row)| row.setting(key)));
        let numbers = |key: &&String| units::quantities(&values(key)).is_some();
        let first = summary.axes.iter().find(numbers).or(summary.axes.first());
        let key = data.x.as_ref().or(first).cloned();
        let texts = key.as_deref().map_or_else(Vec::new, values);
        let (numeric, axis, places) = match units::quantities(&texts) {
            Some((numbers, unit)) if !texts.is_empty() => {
                let axis = Axis::new(units::words(key.as_deref().unwrap_or_default()), unit);
                (true, axis, numbers)
            }
            _ => {
                let label = key.as_deref().map_or_else(String::new, units::words);
                let mut axis = Axis::new(label, "");
                axis.categories = texts.iter().map(|text| (*text).to_owned()).collect();
                let places = (0_u32..).take(texts.len()).map(f64::from).collect();
                (false, axis, places)
            }
        };
        let rests = data.rows().map(|(_, row)| rest(row, key.as_deref()));
        let rests: Vec<String> = rests.collect();
        let rests = distinct(rests.iter().map(String::as_str));
        Self {
            rests: rests.into_iter().map(str::to_owned).collect(),
            places: texts
                .iter()
                .map(|text| (*text).to_owned())
                .zip(places)
                .collect(),
            key,
            axis,
            numeric,
        }
    }

    fn figure(&self, data: &Data<'_>, chart: &Chart, rest: &str) -> Figure {
        let here = |row: &Row| self::rest(row, self.key.as_deref()) == rest;
        let rows: Vec<_> = data.rows().filter(|(_, row)| here(row)).collect();
        // One unit for all views of a chart, so that they can be compared.
        let values = data.rows().map(|(_, row)| row.value(chart.metric));
        let greatest = values.fold(0.0, f64::max);
        let column = METRICS.iter().find(|column| column.name == chart.metric);
        let unit = units::unit(column.map_or("", |column| column.unit), greatest);
        let choices = [chart.choice, rest].map(str::to_owned);
        let choice = choices.into_iter().filter(|choice| !choice.is_empty());
        let choice = choice.collect::<Vec<_>>().join(", ");
        let mut x = self.axis.clone();
        let mut lines = self.lines(data, &rows, chart.metric, unit.size);
        if self.key.is_none() {
            // Nothing is swept: the schemes themselves are the places.
            x.categories = lines.iter().map(|line| line.label.clone()).collect();
            for (line, place) in lines.iter_mut().zip(0_u32..) {
                line.shape = Shape::Bars(0.6);
                line.points
                    .iter_mut()
                    .for_each(|point| point.x = f64::from(place));
            }
        } else if !self.numeric {
            spread_bars(&mut lines);
        }
        let mut y = Axis::new(chart.title, unit.name);
        if !chart.choice.is_empty() {
            y.label = format!("{}, {}", chart.short, chart.choice);
        }
        let seeds = data.runs.iter().map(|run| run.summary.seeds).max();
        Figure {
            name: slug(&format!("{} {choice}", chart.place)),
            chart: chart.place.to_owned(),
            choice,
            title: chart.title.to_owned(),
            caption: caption(column.map_or("", |column| column.help), seeds),
            x,
            y,
            lines,
        }
    }

    fn lines(&self, data: &Data<'_>, rows: &[(usize, &Row)], metric: &str, size: f64) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for (run, row) in rows {
            let label = data.label(&row.scheme, *run);
            let index = lines.iter().position(|line| line.label == label);
            let index = index.unwrap_or_else(|| {
                lines.push(Line {
                    label,
                    style: data.palette.style(&row.scheme, *run),
                    shape: Shape::Joined,
                    points: Vec::new(),
                });
                lines.len() - 1
            });
            let x = match &self.key {
                None => Some(0.0),
                Some(key) => self.place(row.setting(key)),
            };
            let estimate = &row.metrics[metric];
            if let (Some(x), Some(mean)) = (x, estimate.mean) {
                let interval = estimate.low.zip(estimate.high);
                let interval = interval.filter(|(low, high)| low < high);
                lines[index].points.push(Point {
                    x,
                    y: mean / size,
                    interval: interval.map(|(low, high)| (low / size, high / size)),
                    ..Point::default()
                });
            }
        }
        for line in &mut lines {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        lines
    }

    fn place(&self, value: Option<&str>) -> Option<f64> {
        let found = self
            .places
            .iter()
            .find(|(text, _)| Some(text.as_str()) == value);
        found.map(|(_, place)| *place)
    }
}

/// Puts the bars of a place side by side.
fn spread_bars(lines: &mut [Line]) {
    let count = f64::from(u32::try_from(lines.len()).unwrap_or(1));
    let width = 0.8 / count;
    for (line, index) in lines.iter_mut().zip(0_u32..) {
        line.shape = Shape::Bars(width);
        let offset = (f64::from(index) - (count - 1.0) / 2.0) * width;
        line.points.iter_mut().for_each(|point| point.x += offset);
    }
}

/// The swept settings of a row but for the one on the axis, in words.
fn rest(row: &Row, key: Option<&str>) -> String {
    let others = row
        .set
        .iter()
        .filter(|(name, _)| Some(name.as_str()) != key);
    units::place(&others.cloned().collect::<Vec<_>>())
}

fn caption(help: &str, seeds: Option<u32>) -> String {
    match seeds {
        Some(seeds) if seeds > 1 => format!(
            "{help} Means over {seeds} seeds; bars are 95 % confidence intervals (Student's t)."
        ),
        _ => help.to_owned(),
    }
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

const fn completion_chart(metric: &'static str, choice: &'static str) -> Chart {
    Chart {
        short: "FCT",
        ..chart("fct", metric, "Flow completion time", choice)
    }
}

const fn chart(
    place: &'static str,
    metric: &'static str,
    title: &'static str,
    choice: &'static str,
) -> Chart {
    Chart {
        place,
        metric,
        title,
        short: title,
        choice,
    }
}
