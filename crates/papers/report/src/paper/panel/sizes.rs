//! A measure over the sizes of flows.

use claims::PlotKind;
use claims::unit::Dimension;
use scenario::Problems;

use super::point::{point, scale};
use super::{AxesAndLines, Panel, Track, bars, given, is_model, line};
use crate::figure::{Axis, PlotLine, PlotPoint, Shape};
use crate::units;

/// Both axes and the lines: along an axis of sizes, or as bars with a group for each size. Equations are drawn on top.
pub(super) fn draw(panel: &Panel<'_>) -> Result<AxesAndLines, Problems> {
    let tracks = panel.tracks(None);
    let (x, places) = places(panel);
    let mut drawn = Vec::new();
    for track in &tracks {
        drawn.push((track, points(panel, track, &places)?));
    }
    let values = drawn.iter().flat_map(|(_, points)| points);
    let greatest = values.map(|point| point.y).fold(0.0, f64::max);
    let (y, unit) = panel.y(greatest);
    let several = super::several(&tracks);
    let (mut measured, mut equations): (Vec<PlotLine>, Vec<PlotLine>) = (Vec::new(), Vec::new());
    for (track, mut points) in drawn {
        for point in &mut points {
            scale(point, unit.size);
        }
        let (label, style) = (track.label(several), panel.style(track));
        if is_model(&track.line.measure) {
            equations.push(line(label, style, panel.equation(), points));
        } else {
            let ranges = track.line.low.is_some();
            let shape = if ranges { Shape::Ranges } else { Shape::Joined };
            measured.push(line(label, style, shape, points));
        }
    }
    if panel.plot.kind == PlotKind::Bars {
        bars::side_by_side(&mut measured);
    }
    measured.extend(equations);
    Ok((x, y, measured))
}

/// The horizontal axis, and the position of each size on it.
fn places(panel: &Panel<'_>) -> (Axis, Vec<f64>) {
    let axis = &panel.plot.x;
    let packet = panel.run.packet_bytes(0);
    let bytes = axis.sizes.iter().map(|size| {
        let bytes = size.in_column(Dimension::Bytes, packet);
        bytes.unwrap_or(f64::NAN)
    });
    let bytes: Vec<f64> = bytes.collect();
    let greatest = bytes.last().copied().unwrap_or(0.0);
    let unit = panel.unit(axis.unit.as_deref(), Dimension::Bytes, greatest);
    let label = axis.label.clone().unwrap_or_else(|| "Flow size".into());
    let numbers: Vec<f64> = bytes.iter().map(|bytes| bytes / unit.size).collect();
    if panel.plot.kind != PlotKind::Bars {
        return (given(axis, label, &unit.name), numbers);
    }
    let mut groups = Axis::new(label, &unit.name);
    let names = numbers.iter().map(|number| units::number(*number, 3));
    groups.categories = names.collect();
    let places = (0_u32..).take(numbers.len()).map(f64::from);
    (groups, places.collect())
}

/// A point for each size that a track has flows of, in the units of its columns.
fn points(
    panel: &Panel<'_>,
    track: &Track<'_>,
    places: &[f64],
) -> Result<Vec<PlotPoint>, Problems> {
    let mut points = Vec::new();
    for (class, x) in panel.plot.x.size_classes().iter().zip(places) {
        let line = track.line.of_sizes(class);
        for row in &track.rows {
            let point = point(panel, &line, *row)?;
            points.extend(point.map(|point| PlotPoint { x: *x, ..point }));
        }
    }
    Ok(points)
}
