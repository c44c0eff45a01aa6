//! Charts of models as figures.

use ::report::{Axis, Cells, Figure, PlotLine, PlotPoint, Shape, Style};
use theory::answer::{self, Chart, Colour, Curve};

/// Turns a chart into a figure for the renderers.
pub(super) fn figure(chart: &Chart) -> Figure {
    let mut figure = Figure {
        name: chart.name.to_owned(),
        chart: chart.name.to_owned(),
        choice: String::new(),
        title: chart.title.to_owned(),
        caption: chart.caption.clone(),
        x: axis(chart.x),
        y: axis(chart.y),
        lines: Vec::new(),
    };
    for curve in &chart.curves {
        let slot = figure.lines.len();
        figure.lines.push(line(curve, slot));
    }
    // The ends of a map are those of its cells.
    let ends: Vec<[f64; 4]> = chart.curves.iter().flat_map(edges).collect();
    if !ends.is_empty() {
        let range = |low: usize, high: usize| {
            let least = ends
                .iter()
                .map(|end| end[low])
                .fold(f64::INFINITY, f64::min);
            let most = ends.iter().map(|end| end[high]).fold(0.0, f64::max);
            Some((least, most))
        };
        figure.x.range = range(0, 1);
        figure.y.range = range(2, 3);
    }
    figure
}

/// Points joined by lines, with this number in the palette.
pub(super) fn line(curve: &Curve, slot: usize) -> PlotLine {
    let (shape, slot) = match curve.shape {
        answer::CurveShape::Line => (Shape::Curve, slot),
        answer::CurveShape::Reference => (Shape::Model, slot),
        answer::CurveShape::Markers => (Shape::Joined, YELLOW),
        answer::CurveShape::Cells {
            x,
            y,
            percent,
            colour,
        } => {
            let slot = match colour {
                Colour::Good => BLUE,
                Colour::Bad => RED,
                Colour::None => GREY,
            };
            (Shape::Cells(Cells { x, y, percent }), slot)
        }
    };
    let points = curve.points.iter().map(|(x, y)| PlotPoint::new(*x, *y));
    PlotLine {
        label: curve.label.clone(),
        style: Style {
            slot,
            dash: if shape == Shape::Curve { slot } else { 0 },
            open: false,
        },
        shape,
        points: points.collect(),
    }
}

fn axis(axis: answer::ChartAxis) -> Axis {
    Axis {
        log: axis.log,
        ..Axis::new(axis.label, axis.unit)
    }
}

/// Left, right, lower and upper ends of the cells of a map on logarithmic axes.
fn edges(curve: &Curve) -> Vec<[f64; 4]> {
    let answer::CurveShape::Cells { x, y, .. } = curve.shape else {
        return Vec::new();
    };
    let points = curve.points.iter();
    let ends = points.map(|(at, height)| [at / x, at * x, height / y, height * y]);
    ends.collect()
}

/// Places in the palette.
const BLUE: usize = 0;
const RED: usize = 1;
const YELLOW: usize = 4;
const GREY: usize = 6;
