//! Charts over time, from `series.parquet`.

use base::Sort as _;

use super::flows::seed;
use super::scales;
use crate::data::{self, Data, Detail, Subject};
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, slug};
use crate::thin::Thinned;
use crate::units;

const QUEUE: &str = "queue_bytes";

/// The bottleneck queue of every scheme on one scale, a view for each combination.
pub(crate) fn queue(data: &Data<'_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let series = || {
        let runs = data.runs.iter().enumerate();
        runs.flat_map(|(number, run)| {
            run.details
                .values()
                .map(move |detail| (number, run, detail))
        })
        .filter_map(|(number, run, detail)| Some((number, run, detail, bottleneck(detail)?)))
    };
    let samples = || series().flat_map(|(_, _, detail, queue)| until_end(queue, detail));
    let time = units::unit("us", samples().map(|(time, _)| time).fold(0.0, f64::max));
    let size = units::unit(
        "bytes",
        samples().map(|(_, bytes)| bytes).fold(0.0, f64::max),
    );
    for (number, run, detail, queue) in series() {
        let row = run.row(detail);
        let choice = data::place(row);
        let samples = until_end(queue, detail).into_iter();
        let line = PlotLine {
            label: data.label(&row.scheme, number),
            style: data.palette.style(&row.scheme, number),
            shape: Shape::Step,
            points: samples
                .map(|(at, bytes)| PlotPoint::new(at / time.size, bytes / size.size))
                .collect(),
        };
        if let Some(figure) = figures.iter_mut().find(|figure| figure.choice == choice) {
            figure.lines.push(line);
            continue;
        }
        figures.push(Figure {
            name: slug(&format!("queue-time {choice}")),
            chart: "queue-time".into(),
            choice,
            title: "Bottleneck queue over time".into(),
            caption: format!(
                "Bytes waiting at the bottleneck port, the packet in service excluded, in one \
                 simulation of each scheme (seed {}).",
                seed(run, detail)
            ),
            x: Axis::new("Time since the first start", time.name),
            y: Axis::new("Queue", size.name),
            lines: vec![line],
        });
    }
    let greatest = samples().map(|(_, bytes)| bytes).fold(0.0, f64::max) / size.size;
    for figure in &mut figures {
        let rows = data.rows();
        let rows: Vec<_> = rows
            .filter(|(_, row)| data::place(row) == figure.choice)
            .collect();
        figure
            .lines
            .extend(scales::limits(data, &rows, (size.size, greatest)));
    }
    scales::share_axes(&mut figures);
    figures.reverse();
    figures
}

/// Windows and every other quantity that was recorded, a view for each simulation.
pub(crate) fn others(data: &Data<'_>) -> Vec<Figure> {
    let mut names: Vec<&str> = Vec::new();
    for run in &data.runs {
        for detail in run.close_ups() {
            for name in detail.series.keys().filter(|name| *name != QUEUE) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
    }
    // First what the congestion control allows, then what the receiver allows, then the rest.
    names.order_by_key(|name| (*name != "cwnd_bytes", *name != "rwnd_bytes", *name));
    names
        .into_iter()
        .flat_map(|name| quantity(data, name))
        .collect()
}

fn quantity(data: &Data<'_>, name: &str) -> Vec<Figure> {
    let (title, unit) = describe(name);
    let mut figures = Vec::new();
    for (number, run) in data.runs.iter().enumerate() {
        for detail in run.close_ups() {
            let Some(series) = detail.series.get(name) else {
                continue;
            };
            let row = run.row(detail);
            let lines: Vec<_> = series
                .iter()
                .map(|(subject, series)| (*subject, relative(series, detail)))
                .collect();
            let samples = || lines.iter().flat_map(|(_, samples)| samples);
            let time = units::unit("us", samples().map(|sample| sample.0).fold(0.0, f64::max));
            let size = units::unit(unit, samples().map(|sample| sample.1).fold(0.0, f64::max));
            let shape = if lines.len() > 1 {
                Shape::Faint
            } else {
                Shape::Step
            };
            let line = |(subject, samples): &(Subject, Vec<(f64, f64)>)| PlotLine {
                label: subject_name(*subject),
                style: data.palette.style(&row.scheme, number),
                shape,
                points: samples
                    .iter()
                    .map(|(at, value)| PlotPoint::new(at / time.size, value / size.size))
                    .collect(),
            };
            let place = data::place(row);
            let label = data.label(&row.scheme, number);
            let choice = [label, place].into_iter().filter(|text| !text.is_empty());
            let choice = choice.collect::<Vec<_>>().join(", ");
            let chart = slug(name.trim_end_matches("_bytes").trim_end_matches("_bps"));
            let unit = if size.name.is_empty() {
                unit
            } else {
                size.name
            };
            figures.push(Figure {
                name: slug(&format!("{chart} {choice}")),
                chart,
                choice,
                title: format!("{title} over time"),
                caption: format!(
                    "One line for each of {}, in one simulation (seed {}).",
                    counted(&lines),
                    seed(run, detail)
                ),
                x: Axis::new("Time since the first start", time.name),
                y: Axis::new(title.clone(), unit),
                lines: lines.iter().map(line).collect(),
            });
        }
    }
    figures
}

fn counted(lines: &[(Subject, Vec<(f64, f64)>)]) -> String {
    let noun = match lines.first() {
        Some((Subject::Flow(_), _)) => "flow",
        Some((Subject::Port(_), _)) => "port",
        _ => "host",
    };
    let plural = if lines.len() == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", lines.len())
}

fn subject_name(subject: Subject) -> String {
    match subject {
        Subject::Port(port) => format!("port {port}"),
        Subject::Flow(flow) => format!("flow {flow}"),
        Subject::Host(host) => format!("host {host}"),
    }
}

/// The name of a quantity in words, and its unit.
fn describe(name: &str) -> (String, &'static str) {
    match name {
        "cwnd_bytes" => ("Congestion window".into(), "bytes"),
        "rwnd_bytes" => ("Advertised window".into(), "bytes"),
        "throughput_bps" => ("Throughput".into(), "bit/s"),
        "marks" => ("Marked packets so far".into(), ""),
        "drops" => ("Dropped packets so far".into(), ""),
        _ => {
            let units = [("_bytes", "bytes"), ("_bps", "bit/s"), ("_us", "us")];
            let found = units
                .into_iter()
                .find_map(|(end, unit)| Some((name.strip_suffix(end)?, unit)));
            let (name, unit) = found.unwrap_or((name, ""));
            (units::words(name), unit)
        }
    }
}

fn bottleneck(detail: &Detail) -> Option<&Thinned> {
    let port = Subject::Port(detail.bottleneck?);
    detail.series.get(QUEUE)?.get(&port)
}

/// Samples of a queue from the first start, the last one held until the last completion.
fn until_end(series: &Thinned, detail: &Detail) -> Vec<(f64, f64)> {
    let mut samples = relative(series, detail);
    let ends = detail
        .flows
        .iter()
        .filter_map(|flow| flow.completion_us.get());
    let end = ends.fold(0.0, f64::max) - detail.start_us();
    if let Some((last, value)) = samples.last().copied()
        && last < end
    {
        samples.push((end, value));
    }
    samples
}

/// Samples with the time since the first start of a flow.
fn relative(series: &Thinned, detail: &Detail) -> Vec<(f64, f64)> {
    let start = detail.start_us();
    let samples = series.samples().into_iter();
    samples
        .map(|(time, value)| ((time - start).max(0.0), value))
        .collect()
}
