//! What panels have in common: scales, and the limits that settings draw.

use results::Row;

use crate::data::Data;
use crate::figure::{Figure, Line, Point, Shape, Style};

/// The marking threshold and the buffer as lines across, where all rows share them and they are near the data.
pub(super) fn limits(
    data: &Data<'_>,
    rows: &[(usize, &Row)],
    (size, greatest): (f64, f64),
) -> Vec<Line> {
    let Some((run, _)) = rows.first() else {
        return Vec::new();
    };
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).collect();
    let limit = |(key, label): (&str, &str)| {
        let value = data.runs[*run].bytes_of(key, &rows)? / size;
        (value <= 3.0 * greatest).then(|| Line {
            label: label.to_owned(),
            style: Style {
                slot: 6,
                dash: 0,
                open: false,
            },
            shape: Shape::Limit,
            points: vec![Point::new(0.0, value)],
        })
    };
    let known = [("switch.ecn_threshold", "K"), ("switch.buffer", "buffer")];
    known.into_iter().filter_map(limit).collect()
}

/// Gives all panels of a view the same vertical axis.
pub(super) fn same_scale(panels: &mut [(String, Figure)]) {
    if panels.len() < 2 {
        return;
    }
    let lines = panels.iter().flat_map(|(_, figure)| &figure.lines);
    let points = lines.flat_map(|line| &line.points);
    let ends = points.flat_map(|point| {
        let (low, high) = point.interval.or(point.inner).unwrap_or((point.y, point.y));
        [low, point.y, high]
    });
    let ends: Vec<f64> = ends.collect();
    let greatest = ends.iter().copied().fold(0.0, f64::max);
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let log = least > 0.0 && panels.iter().any(|(_, figure)| figure.y.log);
    for (_, figure) in panels {
        figure.y.log = log;
        figure.y.range = (greatest > 0.0).then_some(if log {
            (least / 1.2, greatest * 1.2)
        } else {
            (0.0, greatest * 1.06)
        });
    }
}

/// Gives all panels of a view the same axes.
pub(crate) fn same_axes(panels: &mut [(String, Figure)]) {
    same_scale(panels);
    let points = panels.iter().flat_map(|(_, figure)| &figure.lines);
    let ends: Vec<f64> = points
        .flat_map(|line| &line.points)
        .map(|point| point.x)
        .collect();
    let (least, greatest) = (
        ends.iter().copied().fold(f64::INFINITY, f64::min),
        ends.iter().copied().fold(0.0, f64::max),
    );
    let log = least > 0.0 && panels.iter().any(|(_, figure)| figure.x.log);
    for (_, figure) in panels.iter_mut().filter(|_| greatest > least) {
        figure.x.log = log;
        figure.x.range = Some((if log { least } else { 0.0 }, greatest));
        if figure.y.label == "Fraction of flows" {
            figure.y.range = Some((0.0, 1.0));
        }
    }
}
