//! A picture of an incast: every flow as a bar, with its losses and timeouts.

use crate::data::{self, Data, Detail, Run};
use crate::figure::{Axis, EventMark, Figure, PlotLine, PlotPoint, Shape, Style, slug};
use crate::units;

/// A view for each simulation that is drawn.
pub(crate) fn all(data: &Data<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (number, run) in data.runs.iter().enumerate() {
        for detail in run.close_ups() {
            figures.push(figure(data, number, run, detail));
        }
    }
    figures
}

fn figure(data: &Data<'_>, number: usize, run: &Run<'_>, detail: &Detail) -> Figure {
    let row = run.row(detail);
    let label = data.label(&row.scheme, number);
    let place = data::place(row);
    let choice = if place.is_empty() {
        label
    } else {
        format!("{label}, {place}")
    };
    let start = detail.start_us();
    let ends = detail
        .flows
        .iter()
        .filter_map(|flow| flow.completion_us.get());
    let events = detail.events.iter().map(|(time, _, _)| *time);
    let end = ends.chain(events).fold(start, f64::max);
    let unit = units::unit("us", end - start);
    let at = |time_us: f64| (time_us - start) / unit.size;
    let style = data.palette.style(&row.scheme, number);
    let mut lines = bars(detail, style, &at, end);
    lines.extend(marks(detail, &at));
    let numbers = detail.flows.iter().map(|flow| f64::from(flow.flow));
    let mut y = Axis::new("Flow", "");
    // Half a flow of room below the first and above the last.
    y.range = Some((-0.7, numbers.fold(0.0, f64::max) + 0.7));
    let mut shown = String::new();
    if detail.flows.len() < detail.all_flows {
        let (few, all) = (detail.flows.len(), detail.all_flows);
        shown = format!(" The first {few} of {all} flows are shown.");
    }
    let traced = if run.has_events(detail) {
        ""
    } else {
        " Losses and timeouts are marked if the run recorded them: trace.series = \"events\"."
    };
    Figure {
        name: slug(&format!("flows {choice}")),
        chart: "flows".into(),
        choice,
        title: "Flows".into(),
        caption: format!(
            "Every flow from its start to its last byte in order at the receiver, in one \
             simulation (seed {}).{shown}{traced}",
            seed(run, detail)
        ),
        x: Axis::new("Time since the first start", unit.name),
        y,
        lines,
    }
}

/// Bars of complete flows, and of unfinished and of failed ones up to the end of the picture.
fn bars(detail: &Detail, style: Style, at: &dyn Fn(f64) -> f64, end: f64) -> Vec<PlotLine> {
    let mut complete = Vec::new();
    let mut unfinished = Vec::new();
    let mut failed = Vec::new();
    for flow in &detail.flows {
        let (bars, to) = match flow.completion_us.get() {
            Some(to) => (&mut complete, to),
            None if flow.failed => (&mut failed, end),
            None => (&mut unfinished, end),
        };
        let y = f64::from(flow.flow);
        bars.extend([
            PlotPoint::new(at(flow.start_us), y),
            PlotPoint::new(at(to), y),
        ]);
    }
    let lines = [
        ("start to completion", style, complete),
        ("not completed", plain(6), unfinished),
        ("failed", plain(7), failed),
    ];
    let lines = lines
        .into_iter()
        .filter(|(_, _, points)| !points.is_empty());
    lines
        .map(|(label, style, points)| PlotLine {
            label: label.into(),
            style,
            shape: Shape::Spans,
            points,
        })
        .collect()
}

fn marks(detail: &Detail, at: &dyn Fn(f64) -> f64) -> Vec<PlotLine> {
    let kinds = [
        ("drop", "packet dropped", EventMark::Cross, false),
        ("timeout", "timeout", EventMark::Triangle, false),
        ("syn_timeout", "timeout of a SYN", EventMark::Triangle, true),
    ];
    let lines = kinds.into_iter().map(|(event, label, mark, open)| {
        let points = detail.events.iter().filter(|(_, _, name)| name == event);
        let points = points.map(|(time, flow, _)| PlotPoint::new(at(*time), f64::from(*flow)));
        PlotLine {
            label: label.into(),
            style: Style { open, ..plain(0) },
            shape: Shape::Marks(mark),
            points: points.collect(),
        }
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// A colour that means no scheme.
fn plain(slot: usize) -> Style {
    Style {
        slot,
        dash: 0,
        open: false,
    }
}

/// The seed of a simulation.
pub(crate) fn seed(run: &Run<'_>, detail: &Detail) -> u64 {
    let first = run.row(detail).points.first();
    let points = &run.summary.points;
    let point = points.iter().find(|point| Some(&point.point) == first);
    point.map_or(run.summary.seed, |point| point.seed)
}
