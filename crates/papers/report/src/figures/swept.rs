//! Metrics against the swept settings.

use base::Sort as _;
use plan::metric;
use results::Row;
use results::statistics::Estimate;
use sim::columns::METRICS;

use super::scales::{self, limits, same_scale};
use crate::data::Data;
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, slug};
use crate::units;

/// A metric and the names of its chart.
struct Chart {
    /// The name of the place in the report, which several metrics may share.
    place: &'static str,
    metric: &'static str,
    title: &'static str,
    /// The axis title before the choice.
    short: &'static str,
    /// The label that distinguishes it from other metrics of the chart.
    choice: &'static str,
}

const COMPLETION: [Chart; 6] = [
    completion_chart("fct_p99_us", "99th percentile"),
    completion_chart("fct_p50_us", "median"),
    completion_chart("fct_p95_us", "95th percentile"),
    completion_chart("fct_p999_us", "99.9th percentile"),
    completion_chart("fct_max_us", "slowest flow"),
    completion_chart("fct_mean_us", "mean"),
];

const COUNTS: [Chart; 20] = [
    chart(
        "rounds",
        "round_p99_us",
        "Time of rounds",
        "99th percentile",
    ),
    chart("rounds", "round_p50_us", "Time of rounds", "median"),
    chart("rounds", "round_max_us", "Time of rounds", "slowest round"),
    chart("slowdown", "slowdown_p99", "Slowdown", "99th percentile"),
    chart("slowdown", "slowdown_mean", "Slowdown", "mean"),
    chart("goodput", "goodput_bps", "Goodput", "to the end"),
    chart("goodput", "goodput_p50_bps", "Goodput", "first half"),
    chart("goodput", "goodput_weighted_bps", "Goodput", "by time"),
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
    chart("tail-probes", "tail_probes", "Probes of tails", ""),
    chart(
        "retransmissions",
        "retransmissions",
        "Retransmitted segments",
        "",
    ),
    chart("unfinished", "flows_unfinished", "Unfinished flows", ""),
    chart("failed", "flows_failed", "Failed flows", ""),
    chart("late", "flows_late", "Late flows", ""),
];

/// Percentiles of the completion times.
pub(super) fn completion(data: &Data<'_>) -> Vec<Figure> {
    views(data, &COMPLETION)
}

/// Goodput, queue and what happened to packets.
pub(super) fn counts(data: &Data<'_>) -> Vec<Figure> {
    let charts = shown_counts(data).into_iter();
    charts
        .flat_map(|chart| views(data, std::slice::from_ref(chart)))
        .collect()
}

/// Charts of rare events appear if the events happen, and means over time appear if the run is not mostly idle.
fn shown_counts(data: &Data<'_>) -> Vec<&'static Chart> {
    let idle = data.is_mostly_idle();
    let rows = || data.rows().map(|(_, row)| row);
    let any = |chart: &&Chart| match chart.place {
        _ if idle && results::counts_idle_time(chart.metric) => false,
        "unfinished" | "failed" | "late" | "syn-timeouts" | "tail-probes" => {
            rows().any(|row| row.value(chart.metric) > 0.0)
        }
        "rounds" => rows().any(|row| row.has_rounds(None)),
        "slowdown" => rows().any(Row::sizes_differ),
        _ => true,
    };
    COUNTS.iter().filter(any).collect()
}

/// One figure for each metric, each group of flows and each combination of the settings that are not on the axis.
fn views(data: &Data<'_>, charts: &[Chart]) -> Vec<Figure> {
    let sweep = Sweep::of(data, None);
    let groups = groups(data);
    let mut figures = Vec::new();
    for chart in charts {
        for group in chart.groups(&groups) {
            let panels = sweep.multiples(data, (chart, group), false).panels;
            // The last combination comes first: it is the hardest one of a growing sweep.
            figures.extend(panels.into_iter().rev().map(|(_, figure)| figure));
        }
    }
    figures
}

/// One view of a chart: panels on the same scales, one for each combination of the settings that are not on the axis.
pub(crate) struct Multiples {
    /// The name of the place in the report.
    pub(crate) place: &'static str,
    pub(crate) title: &'static str,
    /// What tells the view from others.
    pub(crate) choice: String,
    /// The figures, each with its combination in words.
    pub(crate) panels: Vec<(String, Figure)>,
}

/// Completion times: the 99th percentile of all flows and of every group over every swept setting, then other percentiles.
pub(crate) fn completion_views(data: &Data<'_>) -> Vec<Multiples> {
    let axes = &data.runs[0].summary.axes;
    let default = Sweep::of(data, None);
    let others = axes
        .iter()
        .filter(|axis| Some(*axis) != default.key.as_ref());
    let sweeps: Vec<Sweep> = others.map(|axis| Sweep::of(data, Some(axis))).collect();
    let groups = groups(data);
    let mut views = Vec::new();
    for sweep in std::iter::once(&default).chain(&sweeps) {
        for group in COMPLETION[0].groups(&groups) {
            views.push(sweep.multiples(data, (&COMPLETION[0], group), !sweeps.is_empty()));
        }
    }
    let more = COMPLETION[1..].iter();
    views.extend(more.map(|chart| default.multiples(data, (chart, None), false)));
    views.retain(|view| !view.panels.is_empty());
    // Groups with goals come first.
    let has_goal = |view: &Multiples| {
        let lines = view.panels.iter().flat_map(|(_, figure)| &figure.lines);
        lines.filter(|line| line.shape == Shape::Limit).count() > 0
    };
    views.order_by_key(|view| !has_goal(view));
    views
}

/// As [`counts`]: one view for each metric.
pub(crate) fn count_views(data: &Data<'_>) -> Vec<Multiples> {
    let sweep = Sweep::of(data, None);
    let charts = shown_counts(data).into_iter();
    let groups = groups(data);
    let views = charts.flat_map(|chart| {
        let own = chart.groups(&groups).into_iter();
        own.map(move |group| (chart, group))
    });
    let views = views.map(|(chart, group)| sweep.multiples(data, (chart, group), false));
    views.filter(|view| !view.panels.is_empty()).collect()
}

/// Names of groups and classes, in the order of the first row.
pub(super) fn groups<'a>(data: &Data<'a>) -> Vec<&'a str> {
    let names = data.rows().flat_map(|(_, row)| row.groups.keys());
    distinct(names.map(String::as_str))
}

/// The estimate of a metric, of all flows or of a group.
pub(super) fn estimate<'a>(
    row: &'a Row,
    group: Option<&str>,
    metric: &str,
) -> Option<&'a Estimate> {
    match group {
        None => row.metrics.get(metric),
        Some(group) => row.groups.get(group)?.get(metric),
    }
}

impl Chart {
    /// All flows and each group, of a metric that groups have.
    fn groups<'g>(&self, groups: &[&'g str]) -> Vec<Option<&'g str>> {
        // If there are several kinds of goodput, groups have the first one.
        let first = self.place != "goodput" || self.metric == "goodput_bps";
        let own = first && !metric::is_of_network(self.metric);
        let named = groups.iter().filter(|_| own).map(|group| Some(*group));
        std::iter::once(None).chain(named).collect()
    }
}

/// The positions of rows on the horizontal axis.
pub(super) struct Sweep {
    /// The swept setting on the axis; none if nothing is swept.
    pub(super) key: Option<String>,
    axis: Axis,
    /// Values of the setting with their places.
    places: Vec<(String, f64)>,
    /// Whether places are numbers rather than names.
    numeric: bool,
    /// Combinations of the other swept settings, in words.
    pub(super) rests: Vec<String>,
}

impl Sweep {
    /// With this setting on the axis, or with the first one of numbers.
    pub(super) fn of(data: &Data<'_>, chosen: Option<&str>) -> Self {
        let summary = data.runs[0].summary;
        let values = |key: &str| distinct(data.rows().filter_map(|(_, row)| row.setting(key)));
        let numbers = |key: &&String| units::quantities(&values(key)).is_some();
        let first = summary.axes.iter().find(numbers).or(summary.axes.first());
        let asked = chosen.map(str::to_owned).or(data.x.clone());
        let key = asked.or(first.cloned());
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

    /// Rows of a combination of the settings that are not on the axis.
    pub(super) fn rows<'a>(&self, data: &Data<'a>, rest: &str) -> Vec<(usize, &'a Row)> {
        let here = |row: &Row| self::rest(row, self.key.as_deref()) == rest;
        data.rows().filter(|(_, row)| here(row)).collect()
    }

    /// A combination of the settings that are not on the axis, in few words.
    pub(super) fn label(&self, data: &Data<'_>, rest: &str) -> String {
        let rows = self.rows(data, rest);
        let set = rows.first().map_or(&[][..], |(_, row)| &row.set);
        let others = set.iter().filter(|(key, _)| Some(key) != self.key.as_ref());
        units::short_place(&others.cloned().collect::<Vec<_>>())
    }

    /// A view; its choice names the axis if it is one of several.
    fn multiples(
        &self,
        data: &Data<'_>,
        (chart, group): (&Chart, Option<&str>),
        axes: bool,
    ) -> Multiples {
        let figures = self.rests.iter().map(|rest| {
            let figure = self.figure(data, (chart, group), rest);
            (self.label(data, rest), figure)
        });
        let mut panels: Vec<_> = figures.filter(|(_, figure)| !figure.is_empty()).collect();
        scales::show_goals(&mut panels);
        same_scale(&mut panels);
        let over = self.key.as_deref().filter(|_| axes).map(units::words);
        let over = over.map_or_else(String::new, |key| format!("over {}", units::lower(&key)));
        Multiples {
            place: chart.place,
            title: chart.title,
            choice: joined(&[group.unwrap_or_default(), chart.choice, &over]),
            panels,
        }
    }

    fn figure(
        &self,
        data: &Data<'_>,
        (chart, group): (&Chart, Option<&str>),
        rest: &str,
    ) -> Figure {
        let rows = self.rows(data, rest);
        // One unit for all views of a chart, so that they can be compared.
        let mean = |row: &Row| estimate(row, group, chart.metric).and_then(|found| found.mean);
        let values = data.rows().filter_map(|(_, row)| mean(row));
        let greatest = values.fold(0.0, f64::max);
        let column = METRICS.iter().find(|column| column.name == chart.metric);
        let unit = units::unit(column.map_or("", |column| column.unit), greatest);
        let choice = joined(&[group.unwrap_or_default(), chart.choice, rest]);
        let mut x = self.axis.clone();
        let mut lines = self.lines(data, &rows, (chart.metric, group), unit.size);
        if self.key.is_none() {
            // Nothing is swept: the schemes themselves are the places.
            x.categories = lines.iter().map(|line| line.label.clone()).collect();
            by_run(data, &rows, &mut x);
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
        if chart.place == "queue" && !lines.is_empty() {
            let shown = lines.iter().flat_map(|line| &line.points);
            let greatest = shown.map(|point| point.y).fold(0.0, f64::max);
            lines.extend(limits(data, &rows, (unit.size, greatest)));
        }
        if lines.iter().any(|line| !line.points.is_empty()) {
            let scale = (unit.size, greatest / unit.size);
            lines.extend(scales::goals(data, (chart.metric, group), scale));
        }
        let seeds = data.runs.iter().map(|run| run.summary.seeds).max();
        Figure {
            name: slug(&format!("{} {choice}", chart.place)),
            chart: chart.place.to_owned(),
            choice,
            title: chart.title.to_owned(),
            caption: caption(column.map_or("", |column| column.help), seeds)
                + &at(data, chart.place),
            x,
            y,
            lines,
        }
    }

    fn lines(
        &self,
        data: &Data<'_>,
        rows: &[(usize, &Row)],
        (metric, group): (&str, Option<&str>),
        size: f64,
    ) -> Vec<PlotLine> {
        let mut lines: Vec<PlotLine> = Vec::new();
        for (run, row) in rows {
            let label = data.label(&row.scheme, *run);
            let index = lines.iter().position(|line| line.label == label);
            let index = index.unwrap_or_else(|| {
                lines.push(PlotLine {
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
            let Some(estimate) = estimate(row, group, metric) else {
                continue;
            };
            if let (Some(x), Some(mean)) = (x, estimate.mean) {
                let interval = estimate.low.zip(estimate.high);
                let interval = interval.filter(|(low, high)| low < high);
                lines[index].points.push(PlotPoint {
                    x,
                    y: mean / size,
                    interval: interval.map(|(low, high)| (low / size, high / size)),
                    ..PlotPoint::default()
                });
            }
        }
        for line in &mut lines {
            line.points.order_by(|a, b| a.x.total_cmp(&b.x));
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

/// Names the run once below its schemes, if there are several runs and schemes.
fn by_run(data: &Data<'_>, rows: &[(usize, &Row)], x: &mut Axis) {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for (run, _) in rows {
        let name = &data.runs[*run].name;
        match groups.last_mut().filter(|(last, _)| last == name) {
            Some((_, count)) => *count += 1,
            None => groups.push((name.clone(), 1)),
        }
    }
    let several = groups.len() > 1 && groups.iter().any(|(_, count)| *count > 1);
    if several && rows.len() == x.categories.len() {
        x.groups = groups;
        x.short = rows.iter().map(|(_, row)| row.scheme.clone()).collect();
    }
}

/// The parts that are not empty, joined by commas.
fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.copied().collect::<Vec<_>>().join(", ")
}

/// Puts the bars of a place side by side.
fn spread_bars(lines: &mut [PlotLine]) {
    let count = f64::from(u32::try_from(lines.len()).unwrap_or(1));
    let width = 0.8 / count;
    for (line, index) in lines.iter_mut().zip(0_u32..) {
        line.shape = Shape::Bars(width);
        let offset = (f64::from(index) - (count - 1.0) / 2.0) * width;
        line.points.iter_mut().for_each(|point| point.x += offset);
    }
}

/// The swept settings of a row without the one on the axis, in words.
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

/// Which port a chart of the queue is about.
fn at(data: &Data<'_>, place: &str) -> String {
    let ports = data.runs.iter().filter_map(|run| run.bottleneck.as_ref());
    let ports = distinct(ports.map(String::as_str));
    if place != "queue" || ports.is_empty() {
        return String::new();
    }
    format!(" The bottleneck is the port {}.", ports.join(" or "))
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
