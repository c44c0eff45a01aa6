//! A measure over the values of a swept setting.

use base::Sort as _;
use results::Row;
use scenario::Problems;

use super::super::given_axis::GivenAxis;
use super::point::{point, scale};
use super::{AxesAndLines, Panel, Track, bars, is_model, line};
use crate::figure::{Axis, PlotLine, PlotPoint, Shape};
use crate::units;

/// Both axes and the lines.
pub(super) fn draw(panel: &Panel<'_>) -> Result<AxesAndLines, Problems> {
    let key = panel.plot.x.key.as_ref().or(panel.summary().axes.first());
    let key = key.map(String::as_str);
    let tracks = panel.tracks(key);
    let mut places = Places::of(panel, key, &tracks);
    let mut drawn: Vec<(&Track<'_>, Vec<PlotPoint>)> = Vec::new();
    for track in &tracks {
        let points = points(panel, track, &places)?;
        let same = drawn.iter_mut().find(|(other, _)| nests(other, track));
        match same {
            Some((_, outer)) => nest(outer, &points),
            None => drawn.push((track, points)),
        }
    }
    let values = drawn.iter().flat_map(|(_, points)| points);
    let greatest = values.map(|point| point.y).fold(0.0, f64::max);
    let (y, unit) = panel.y(greatest);
    let several = super::several(&tracks);
    let mut lines: Vec<PlotLine> = Vec::new();
    for (track, mut points) in drawn {
        for point in &mut points {
            scale(point, unit.size);
        }
        let shape = match &track.line.low {
            _ if is_model(&track.line.measure) => panel.equation(),
            Some(_) => Shape::Ranges,
            None => Shape::Joined,
        };
        let label = track.label(several);
        lines.push(line(label, panel.style(track), shape, points));
    }
    beside(&mut lines, &mut places.axis);
    Ok((places.axis, y, lines))
}

/// Puts the bars or ranges of one place of the axis side by side.
fn beside(lines: &mut [PlotLine], axis: &mut Axis) {
    if axis.categories.is_empty() {
        dodge(lines, axis);
    } else {
        bars::side_by_side(lines);
    }
}

/// The horizontal axis for these values of a setting, and the position of each: numbers, or else names side by side.
fn places(texts: &[&str], wanted: &GivenAxis) -> (Axis, Vec<f64>) {
    let placed = units::quantities(texts).filter(|_| !texts.is_empty());
    if let Some((numbers, unit)) = placed {
        let (factor, unit) = units::converted(unit, wanted.unit.as_deref());
        let numbers = numbers.iter().map(|number| number * factor);
        return (wanted.axis(&unit), numbers.collect());
    }
    let mut axis = Axis::new(wanted.label.clone(), "");
    axis.categories = texts.iter().map(|text| (*text).to_owned()).collect();
    (axis, (0_u32..).take(texts.len()).map(f64::from).collect())
}

/// The points of a track in the units of its columns.
fn points(
    panel: &Panel<'_>,
    track: &Track<'_>,
    places: &Places,
) -> Result<Vec<PlotPoint>, Problems> {
    let mut points = Vec::new();
    for row in &track.rows {
        let x = places.of_row(panel.row(*row));
        if let (Some(x), Some(point)) = (x, point(panel, track.line, *row)?) {
            points.push(PlotPoint { x, ..point });
        }
    }
    points.order_by(|a, b| a.x.total_cmp(&b.x));
    Ok(points)
}

/// Whether two tracks make one bar with two pairs of percentiles.
fn nests(outer: &Track<'_>, inner: &Track<'_>) -> bool {
    (outer.scheme, &outer.rest) == (inner.scheme, &inner.rest)
        && outer.line.measure == inner.line.measure
        && outer.line.label == inner.line.label
        && outer.line.low.is_some()
        && inner.line.low.is_some()
}

/// Gives points a second interval: the narrower of the two is the inner one.
fn nest(points: &mut [PlotPoint], others: &[PlotPoint]) {
    let width = |interval: Option<(f64, f64)>| interval.map_or(0.0, |(low, high)| high - low);
    for (point, other) in points.iter_mut().zip(others) {
        let pair = [point.interval, other.interval];
        let narrow = usize::from(width(pair[1]) < width(pair[0]));
        (point.inner, point.interval) = (pair[narrow], pair[1 - narrow]);
    }
}

/// Puts the ranges of one place side by side, so that none hides another. The axis has room for those of its first and
/// last place.
fn dodge(lines: &mut [PlotLine], axis: &mut Axis) {
    let ranges = |line: &&mut PlotLine| line.shape == Shape::Ranges;
    let count = lines.iter_mut().filter(ranges).count();
    let points = lines.iter().flat_map(|line| &line.points);
    let mut places: Vec<f64> = points.map(|point| point.x).collect();
    places.order_by(f64::total_cmp);
    let steps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let steps = steps.filter(|step| *step > 0.0);
    let step = steps.fold(f64::INFINITY, f64::min);
    if axis.log || count < 2 || !step.is_finite() {
        return;
    }
    let half = DODGED * step / 2.0;
    let ends = places.first().copied().zip(places.last().copied());
    if let (Some((low, high)), Some((first, last))) = (axis.range.as_mut(), ends) {
        if first >= *low {
            *low = low.min(first - half);
        }
        if last <= *high {
            *high = high.max(last + half);
        }
    }
    let count = bars::count(count);
    for (line, index) in lines.iter_mut().filter(ranges).zip(0_u32..) {
        let offset = (f64::from(index) - (count - 1.0) / 2.0) * DODGED * step / count;
        for point in &mut line.points {
            point.x += offset;
        }
    }
}

/// The part of the distance to the next place that ranges fill.
const DODGED: f64 = 0.7;

/// The positions of a setting's values.
struct Places {
    key: Option<String>,
    axis: Axis,
    of_texts: Vec<(String, f64)>,
}

impl Places {
    /// The places of the values of `key` that the tracks have.
    fn of(panel: &Panel<'_>, key: Option<&str>, tracks: &[Track<'_>]) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        let rows = tracks.iter().flat_map(|track| &track.rows);
        for text in rows.filter_map(|row| panel.row(*row).setting(key?)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let label = || key.map_or_else(String::new, units::words);
        let (axis, places) = places(&texts, &GivenAxis::of(&panel.plot.x, label));
        Self {
            key: key.map(str::to_owned),
            axis,
            of_texts: texts.into_iter().map(str::to_owned).zip(places).collect(),
        }
    }

    fn of_row(&self, row: &Row) -> Option<f64> {
        let Some(key) = &self.key else {
            return Some(0.0);
        };
        let text = row.setting(key)?;
        let found = self.of_texts.iter().find(|(own, _)| own == text);
        found.map(|(_, place)| *place)
    }
}
