//! A measure as bars: one for each scheme, in groups.

use scenario::Problems;

use super::point::{point, scale};
use super::{AxesAndLines, Panel, Track, joined, line};
use crate::figure::{Axis, PlotLine, PlotPoint, Shape};

/// Both axes and the lines. Groups are the lines of the description and the values of its axis; if there is only one
/// group, each scheme has its own place.
pub(super) fn draw(panel: &Panel<'_>) -> Result<AxesAndLines, Problems> {
    let key = panel.plot.x.key.as_deref();
    let tracks = panel.tracks(key);
    let mut groups: Vec<String> = Vec::new();
    let mut bars: Vec<(&str, String, PlotPoint)> = Vec::new();
    for track in &tracks {
        for row in &track.rows {
            let group = group(track, key.and_then(|key| panel.row(*row).setting(key)));
            if !groups.contains(&group) {
                groups.push(group.clone());
            }
            let point = point(panel, track.line, *row)?;
            bars.extend(point.map(|point| (track.scheme, group, point)));
        }
    }
    let greatest = bars.iter().map(|(_, _, point)| point.y).fold(0.0, f64::max);
    let (y, unit) = panel.y(greatest);
    let mut lines: Vec<PlotLine> = Vec::new();
    for (scheme, group, mut point) in bars {
        let place = groups.iter().position(|other| *other == group);
        point.x = count(place.unwrap_or(0));
        scale(&mut point, unit.size);
        if let Some(line) = lines.iter_mut().find(|line| line.label == scheme) {
            line.points.push(point);
        } else {
            let style = panel.palette.style(scheme, 0);
            let bars = Shape::Bars(BARS);
            lines.push(line(scheme.to_owned(), style, bars, vec![point]));
        }
    }
    let mut x = Axis::new(panel.plot.x.label.clone().unwrap_or_default(), "");
    x.categories = groups;
    if x.categories.len() == 1 && lines.len() > 1 {
        apart(&mut x, &mut lines);
    } else {
        side_by_side(&mut lines);
    }
    if panel.plot.lines.iter().any(|line| line.low.is_some()) {
        for line in &mut lines {
            line.shape = Shape::Ranges;
        }
    }
    Ok((x, y, lines))
}

/// The name of a bar's group.
fn group(track: &Track<'_>, value: Option<&str>) -> String {
    joined([value.unwrap_or_default(), &track.rest, &track.line.label])
}

/// Schemes as places of their own.
fn apart(x: &mut Axis, lines: &mut [PlotLine]) {
    x.categories = lines.iter().map(|line| line.label.clone()).collect();
    for (line, place) in lines.iter_mut().zip(0_u32..) {
        line.shape = Shape::Bars(0.6);
        for point in &mut line.points {
            point.x = f64::from(place);
        }
    }
}

/// Puts the bars of one place side by side.
pub(super) fn side_by_side(lines: &mut [PlotLine]) {
    let count = count(lines.len()).max(1.0);
    let width = BARS / count;
    for (line, index) in lines.iter_mut().zip(0_u32..) {
        if line.shape != Shape::Ranges {
            line.shape = Shape::Bars(width);
        }
        let offset = (f64::from(index) - (count - 1.0) / 2.0) * width;
        for point in &mut line.points {
            point.x += offset;
        }
    }
}

pub(super) fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

/// The part of a place that its bars fill.
const BARS: f64 = 0.8;
