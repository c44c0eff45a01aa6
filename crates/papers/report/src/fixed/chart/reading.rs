//! The values that a page shows for the position under the pointer: those of the axes, or of a point nearby.

use serde_json::{Value, json};

use super::frame::Frame;
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape};
use crate::units;
use base::cast::{index, whole};

/// JSON from which the script of a page reads values. It holds the edges of the frame and both axes. For every group of
/// the drawing it holds a label, the kind of reading, and the points, each with its position in the drawing and its
/// values in words. `groups` are the groups of the lines, in order; in a group of several lines the first counts. At
/// most `most` points are stored; lines with more points are read from their drawing.
pub(super) fn of(
    figure: &Figure,
    frame: &Frame,
    (aside, groups): (&[f64], &[usize]),
    most: usize,
) -> Value {
    let edges = [frame.left, frame.top, frame.right, frame.bottom].map(round);
    let mut read = Vec::new();
    let mut left = most;
    for ((line, aside), group) in figure.lines.iter().zip(aside).zip(groups) {
        if *group != read.len() {
            continue;
        }
        let (mut way, mut points) = (way(line.shape), points(figure, frame, line, *aside));
        if points.len() > left {
            points.clear();
            way = match way {
                Way::Whole => Way::Inside,
                _ => Way::Along,
            };
        }
        left -= points.len();
        read.push(json!([line.label, way as u8, points]));
    }
    json!({
        "f": edges,
        "x": axis(&figure.x, (frame.x.low, frame.x.high, frame.x.log)),
        "y": axis(&figure.y, (frame.y.low, frame.y.high, frame.y.log)),
        "p": read,
    })
}

/// How a line is read; the script knows these numbers.
#[derive(Clone, Copy)]
enum Way {
    /// A point near the pointer.
    Near = 0,
    /// The point nearest to the pointer at any distance, because bars are large.
    Whole = 1,
    /// The line itself, at the place of the pointer on the horizontal axis.
    Along = 2,
    /// The area under the pointer.
    Inside = 3,
}

fn way(shape: Shape) -> Way {
    match shape {
        Shape::Joined | Shape::Ranges | Shape::Marks(_) | Shape::Limit => Way::Near,
        Shape::Bars(_) | Shape::Stack(..) | Shape::Spans => Way::Whole,
        Shape::Step | Shape::Faint | Shape::Model | Shape::Curve => Way::Along,
        Shape::Cells(_) => Way::Inside,
    }
}

/// The ends, whether it is logarithmic, and its title; null for an axis of names.
fn axis(axis: &Axis, (low, high, log): (f64, f64, bool)) -> Value {
    if !axis.categories.is_empty() {
        return Value::Null;
    }
    json!([low, high, u8::from(log), axis.label, axis.unit])
}

/// The positions of a line's points with their values; empty for lines whose drawing shows the same.
fn points(figure: &Figure, frame: &Frame, line: &PlotLine, aside: f64) -> Vec<Value> {
    let place = |point: &PlotPoint, y: f64, text: String| {
        let (x, y) = frame.place(&PlotPoint::new(point.x, y))?;
        Some(json!([round(x + aside), round(y), text]))
    };
    let own = line.points.iter();
    match line.shape {
        Shape::Marks(_) => {
            let row = units::lower(&figure.y.label);
            let text = |point: &PlotPoint| {
                let (number, time) = (units::number(point.y, 4), amount(point.x, &figure.x));
                format!("{row} {number}: {time}")
            };
            own.filter_map(|point| place(point, point.y, text(point)))
                .collect()
        }
        Shape::Joined | Shape::Ranges => {
            let text =
                |point: &PlotPoint| format!("{}: {}", at(figure, point.x), value(figure, point));
            own.filter_map(|point| place(point, point.y, text(point)))
                .collect()
        }
        Shape::Bars(_) => {
            let text = |point: &PlotPoint| value(figure, point);
            let middle = |point: &PlotPoint| frame.y.low.max(point.y / 2.0).min(point.y);
            own.filter_map(|point| place(point, middle(point), text(point)))
                .collect()
        }
        Shape::Stack(..) => {
            let part = |point: &PlotPoint| {
                let (low, high) = point.inner.filter(|(low, high)| high > low)?;
                let text = format!("{}: {}", at(figure, point.x), amount(high - low, &figure.y));
                place(point, f64::midpoint(low, high), text)
            };
            own.filter_map(part).collect()
        }
        Shape::Spans => {
            let span = |ends: &[PlotPoint]| {
                let (from, to) = (&ends[0], &ends[1]);
                let (start, end) = (units::number(from.x, 4), amount(to.x, &figure.x));
                let flow = units::number(from.y, 4);
                let middle = PlotPoint::new(f64::midpoint(from.x, to.x), from.y);
                place(&middle, from.y, format!("flow {flow}: {start} to {end}"))
            };
            line.points.chunks_exact(2).filter_map(span).collect()
        }
        _ => Vec::new(),
    }
}

/// A place on the horizontal axis in words.
fn at(figure: &Figure, x: f64) -> String {
    let name = figure.x.categories.get(index(whole(libm::round(x))));
    name.cloned().unwrap_or_else(|| {
        let amount = amount(x, &figure.x);
        format!("{amount} {}", units::lower(&figure.x.label))
            .trim()
            .to_owned()
    })
}

/// The value of a point with its interval.
fn value(figure: &Figure, point: &PlotPoint) -> String {
    let own = amount(point.y, &figure.y);
    match point.interval {
        Some((low, high)) => {
            let (low, high) = (units::number(low, 4), amount(high, &figure.y));
            format!("{own} ({low} to {high})")
        }
        None => own,
    }
}

fn amount(value: f64, axis: &Axis) -> String {
    format!("{} {}", units::number(value, 4), axis.unit)
        .trim()
        .to_owned()
}

/// Tenths of a point.
fn round(value: f64) -> f64 {
    libm::round(value * 10.0) / 10.0
}
