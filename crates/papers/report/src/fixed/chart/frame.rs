//! The area for the data of a figure: scales and margins.

use base::Sort as _;

use super::super::clip;
use super::super::font;
use super::super::ticks::{Room, Scale};
use super::{ASIDE, AXIS, EDGE, LABEL, MAJOR, TICK};
use crate::figure::{Figure, PlotLine, PlotPoint, Shape};

/// Where the data are drawn.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Names below the names of places, each with its first and last place.
    pub(super) groups: Vec<(String, f64, f64)>,
    /// The height of the line above these.
    pub(super) under: f64,
}

/// Chooses scales and margins. The width of the labels of the vertical axis decides the left
/// margin, that of the categories the lower one.
pub(super) fn frame(figure: &Figure, (width, height): (f64, f64), top: f64) -> Frame {
    let points = || figure.lines.iter().flat_map(|line| &line.points);
    let placed = |line: &PlotLine| matches!(line.shape, Shape::Joined | Shape::Ranges);
    let joined = figure.lines.iter().any(placed);
    // A horizontal line has no position of its own.
    let placed = figure
        .lines
        .iter()
        .filter(|line| line.shape != Shape::Limit);
    let placed = placed.flat_map(|line| &line.points);
    let xs: Vec<f64> = placed.map(|point| point.x).collect();
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [low, point.y, high]
    });
    let mut ys: Vec<f64> = ends.collect();
    if figure.y.log && figure.lines.iter().any(PlotLine::is_bars) {
        // The shortest bar has a height too.
        let least = ys.iter().copied().filter(|y| *y > 0.0);
        ys.push(least.fold(f64::INFINITY, f64::min) / 2.0);
    }
    let grouped = if figure.x.groups.is_empty() {
        0.0
    } else {
        TICK + 3.0
    };
    let title = if figure.x.label.is_empty() {
        0.0
    } else {
        LABEL * 1.3
    };
    let bottom_of = |names: f64| height - EDGE - title - names - grouped - MAJOR - 3.0;
    let rough = (bottom_of(TICK) - top).max(1.0);
    let y = Scale::new(&figure.y, &ys, Room::Above, rough / 22.0);
    let widest = y.major.iter().map(|(_, name)| font::width(name, TICK));
    let left = EDGE + LABEL * 1.35 + widest.fold(0.0, f64::max) + MAJOR + 3.0;
    let right = width - EDGE - 5.0 - beside_bars(figure, width);
    let x = if figure.x.categories.is_empty() {
        let room = if joined { Room::Around } else { Room::None };
        Scale::new(&figure.x, &xs, room, (right - left) / 38.0)
    } else if figure.x.groups.is_empty() {
        Scale::categories(&figure.x.categories)
    } else {
        Scale::categories(&figure.x.short)
    };
    let names = if upright(&x, right - left) {
        TICK
    } else {
        widest_name(&x)
    };
    let bottom = bottom_of(names).max(top + 10.0);
    Frame {
        left,
        right,
        top,
        bottom,
        under: bottom + MAJOR + 3.0 + names,
        x,
        y,
        groups: groups(&figure.x.groups),
    }
}

/// The first and the last place of each group.
fn groups(groups: &[(String, usize)]) -> Vec<(String, f64, f64)> {
    let mut next = 0.0;
    let ends = groups.iter().map(|(name, count)| {
        let first = next;
        next += f64::from(u32::try_from(*count).unwrap_or(u32::MAX));
        (name.clone(), first, next - 1.0)
    });
    ends.collect()
}

/// Room to the right of bars for the names of horizontal lines, which would otherwise lie on the bars.
fn beside_bars(figure: &Figure, width: f64) -> f64 {
    if !on_bars(figure) {
        return 0.0;
    }
    let limits = figure
        .lines
        .iter()
        .filter(|line| line.shape == Shape::Limit);
    let names = limits.map(|line| font::width(&line.label, TICK) + 2.0);
    names.fold(0.0, f64::max).min(width / 3.0)
}

fn on_bars(figure: &Figure) -> bool {
    let mut lines = figure.lines.iter();
    lines.any(|line| line.is_bars() || matches!(line.shape, Shape::Stack(..)))
}

/// How far each line moves aside, so that intervals at the same place are side by side and do not hide each other.
pub(super) fn aside(figure: &Figure, frame: &Frame) -> Vec<f64> {
    let moves = |line: &&PlotLine| {
        line.shape == Shape::Joined && line.points.iter().any(|point| point.interval.is_some())
    };
    let count = figure.lines.iter().filter(moves).count();
    let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let mut places: Vec<f64> = figure
        .lines
        .iter()
        .filter(moves)
        .flat_map(|line| &line.points)
        .map(|point| frame.x(point.x))
        .collect();
    places.order_by(f64::total_cmp);
    places.dedup();
    let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let step = (gaps.fold(f64::INFINITY, f64::min) * 0.5 / count.max(1.0)).min(ASIDE);
    let mut next = -(count - 1.0) / 2.0;
    let aside = figure.lines.iter().map(|line| {
        if !moves(&line) {
            return 0.0;
        }
        let own = next * step;
        next += 1.0;
        own
    });
    aside.collect()
}

fn widest_name(scale: &Scale) -> f64 {
    let widths = scale.major.iter().map(|(_, name)| font::width(name, TICK));
    widths.fold(0.0, f64::max)
}

/// Whether the names of an axis fit side by side.
pub(super) fn upright(scale: &Scale, width: f64) -> bool {
    !scale.categories || widest_name(scale) < width / (scale.high - scale.low) - 2.0
}

impl Frame {
    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    pub(super) fn place(&self, point: &PlotPoint) -> Option<(f64, f64)> {
        let shown = self.x.shows(point.x) && self.y.shows(point.y);
        shown.then(|| (self.x(point.x), self.y(point.y)))
    }

    /// Whether a position is within the axes, which may have been chosen independently of the data.
    pub(super) fn holds(&self, (x, y): (f64, f64)) -> bool {
        let room = AXIS;
        x >= self.left - room
            && x <= self.right + room
            && y >= self.top - room
            && y <= self.bottom + room
    }

    /// A height, or the end of the axis if the value is beyond it.
    pub(super) fn level(&self, value: f64) -> f64 {
        if self.y.shows(value) {
            self.y(value).clamp(self.top, self.bottom)
        } else {
            // A value that a logarithmic axis cannot show ends at the axis.
            self.bottom
        }
    }

    /// The parts of a line within the axes.
    pub(super) fn clip(&self, path: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        clip::line(path, (self.left, self.top), (self.right, self.bottom))
    }
}
