//! The layout of a figure: margins, legend, axes, data.

mod legend;
mod pen;

use std::collections::BTreeSet;

use super::clip;
use super::font;
use super::scene::{Anchor, INK, Item, PALE, Scene};
use super::ticks::{Room, Scale};
use crate::figure::{Cells, Figure, Line, Mark, Point, Shape, Style};
use legend::Legend;
use pen::{dashed, event, marker, stroke, whisker};

/// Sizes of text in points.
const LABEL: f64 = 8.0;
const TICK: f64 = 7.5;

/// Widths of lines in points.
const AXIS: f64 = 0.6;
const GRID: f64 = 0.4;
const CURVE: f64 = 1.1;
const THIN: f64 = 0.8;

/// Lengths of ticks.
const MAJOR: f64 = 3.0;
const MINOR: f64 = 1.8;

/// Half the size of a marker.
const MARKER: f64 = 2.0;

/// Half the width of a range, and of its marker: many stand side by side.
const RANGE: f64 = 1.4;

/// Around everything.
const EDGE: f64 = 3.0;

/// Where the data are drawn.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

/// The drawing of a figure on this many points of width and height.
pub(super) fn scene(figure: &Figure, size: (f64, f64)) -> Scene {
    let legend = Legend::of(figure, (size.0 - 2.0 * EDGE, size.1));
    below(figure, size, &legend)
}

/// The drawing of a figure whose legend stands elsewhere.
pub(super) fn without_legend(figure: &Figure, size: (f64, f64)) -> Scene {
    below(figure, size, &Legend::default())
}

/// The legend of a figure alone, on this width.
pub(super) fn legend(figure: &Figure, width: f64) -> Scene {
    let legend = Legend::of(figure, (width, f64::INFINITY));
    let mut scene = Scene {
        width,
        height: EDGE + legend.height(),
        items: Vec::new(),
    };
    legend::draw(&mut scene, &legend, EDGE);
    scene
}

fn below(figure: &Figure, (width, height): (f64, f64), legend: &Legend<'_>) -> Scene {
    let mut scene = Scene {
        width,
        height,
        items: Vec::new(),
    };
    let top = EDGE + legend.height() + 2.0;
    let frame = frame(figure, (width, height), top);
    grid(&mut scene, &frame);
    for line in &figure.lines {
        match line.shape {
            Shape::Cells(shape) => cells(&mut scene, &frame, (figure, line), shape),
            _ => draw(&mut scene, &frame, line),
        }
    }
    axes(&mut scene, &frame, figure);
    legend::draw(&mut scene, legend, frame.left);
    scene
}

/// Chooses scales and margins. The width of the labels of the vertical axis decides the left
/// margin, that of the categories the lower one.
fn frame(figure: &Figure, (width, height): (f64, f64), top: f64) -> Frame {
    let points = || figure.lines.iter().flat_map(|line| &line.points);
    let placed = |line: &Line| matches!(line.shape, Shape::Joined | Shape::Ranges);
    let joined = figure.lines.iter().any(placed);
    // A line across has no place of its own.
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
    if figure.y.log && figure.lines.iter().any(Line::is_bars) {
        // The shortest bar has a height too.
        let least = ys.iter().copied().filter(|y| *y > 0.0);
        ys.push(least.fold(f64::INFINITY, f64::min) / 2.0);
    }
    let bottom_of = |names: f64| height - EDGE - LABEL * 1.3 - names - MAJOR - 3.0;
    let rough = (bottom_of(TICK) - top).max(1.0);
    let y = Scale::new(&figure.y, &ys, Room::Above, rough / 22.0);
    let widest = y.major.iter().map(|(_, name)| font::width(name, TICK));
    let left = EDGE + LABEL * 1.35 + widest.fold(0.0, f64::max) + MAJOR + 3.0;
    let right = width - EDGE - 5.0;
    let x = if figure.x.categories.is_empty() {
        let room = if joined { Room::Around } else { Room::None };
        Scale::new(&figure.x, &xs, room, (right - left) / 38.0)
    } else {
        Scale::categories(&figure.x.categories)
    };
    let names = if upright(&x, right - left) {
        TICK
    } else {
        widest_name(&x)
    };
    Frame {
        left,
        right,
        top,
        bottom: bottom_of(names).max(top + 10.0),
        x,
        y,
    }
}

fn widest_name(scale: &Scale) -> f64 {
    let widths = scale.major.iter().map(|(_, name)| font::width(name, TICK));
    widths.fold(0.0, f64::max)
}

/// Whether the names of an axis fit side by side.
fn upright(scale: &Scale, width: f64) -> bool {
    !scale.categories || widest_name(scale) < width / (scale.high - scale.low) - 2.0
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        let shown = self.x.shows(point.x) && self.y.shows(point.y);
        shown.then(|| (self.x(point.x), self.y(point.y)))
    }

    /// Whether a place is within the axes, which may have been chosen without regard to the data.
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        let room = AXIS;
        x >= self.left - room
            && x <= self.right + room
            && y >= self.top - room
            && y <= self.bottom + room
    }

    /// A height, or the end of the axis that it is beyond.
    fn level(&self, value: f64) -> f64 {
        if self.y.shows(value) {
            self.y(value).clamp(self.top, self.bottom)
        } else {
            // What a logarithmic axis cannot show ends at the axis.
            self.bottom
        }
    }

    /// The parts of a line within the axes.
    fn clip(&self, path: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        clip::line(path, (self.left, self.top), (self.right, self.bottom))
    }
}

fn grid(scene: &mut Scene, frame: &Frame) {
    for (value, _) in &frame.y.major {
        let y = frame.y(*value);
        scene.line((frame.left, y), (frame.right, y), PALE, GRID);
    }
    if !frame.x.categories {
        for (value, _) in &frame.x.major {
            let x = frame.x(*value);
            scene.line((x, frame.top), (x, frame.bottom), PALE, GRID);
        }
    }
}

fn axes(scene: &mut Scene, frame: &Frame, figure: &Figure) {
    let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
    scene.line((left, top), (left, bottom), INK, AXIS);
    scene.line((left, bottom), (right, bottom), INK, AXIS);
    for (value, name) in &frame.y.major {
        let y = frame.y(*value);
        scene.line((left - MAJOR, y), (left, y), INK, AXIS);
        let at = (left - MAJOR - 2.0, y + TICK * 0.36);
        scene.text(at, TICK, Anchor::End, name);
    }
    for value in &frame.y.minor {
        let y = frame.y(*value);
        scene.line((left - MINOR, y), (left, y), INK, AXIS);
    }
    let flat = upright(&frame.x, right - left);
    for (value, name) in &frame.x.major {
        let x = frame.x(*value);
        scene.line((x, bottom), (x, bottom + MAJOR), INK, AXIS);
        let below = bottom + MAJOR + 1.5;
        if flat {
            // The last name of an axis that ends there stays on the page.
            let room = scene.width - 1.0 - font::width(name, TICK) / 2.0;
            let x = x.min(room);
            scene.text((x, below + TICK * 0.8), TICK, Anchor::Middle, name);
        } else {
            scene.text_upward((x + TICK * 0.36, below + 1.0), TICK, Anchor::End, name);
        }
    }
    for value in &frame.x.minor {
        let x = frame.x(*value);
        scene.line((x, bottom), (x, bottom + MINOR), INK, AXIS);
    }
    let (x_title, y_title) = (figure.x.title(), figure.y.title());
    let middle = f64::midpoint(left, right);
    let size = fitting(&x_title, right - left);
    if !x_title.is_empty() {
        let at = (middle, scene.height - EDGE - 1.0);
        scene.text(at, size, Anchor::Middle, &x_title);
    }
    let size = fitting(&y_title, scene.height - 2.0 * EDGE);
    // A title longer than the axis moves up or down to stay on the page.
    let half = font::width(&y_title, size) / 2.0;
    let (first, last) = (EDGE + half, scene.height - EDGE - half);
    let middle = f64::midpoint(top, bottom).clamp(first.min(last), last.max(first));
    scene.text_upward(
        (EDGE + LABEL * 0.85, middle),
        size,
        Anchor::Middle,
        &y_title,
    );
}

/// The size in which a title fits into a length.
fn fitting(title: &str, length: f64) -> f64 {
    LABEL.min(LABEL * length / font::width(title, LABEL).max(1.0))
}

fn draw(scene: &mut Scene, frame: &Frame, line: &Line) {
    let colour = line.style.colour();
    match line.shape {
        Shape::Joined => {
            let path: Vec<_> = line
                .points
                .iter()
                .filter_map(|point| frame.place(point))
                .collect();
            intervals(scene, frame, line);
            for part in frame.clip(&path) {
                stroke(scene, part, line.style, CURVE, 100);
            }
            for at in path.into_iter().filter(|at| frame.holds(*at)) {
                marker(scene, at, line.style, MARKER);
            }
        }
        Shape::Step => {
            for part in frame.clip(&steps(frame, line)) {
                stroke(scene, part, line.style, CURVE, 100);
            }
        }
        Shape::Faint => {
            let solid = Style {
                dash: 0,
                ..line.style
            };
            for part in frame.clip(&steps(frame, line)) {
                stroke(scene, part, solid, THIN, 50);
            }
        }
        Shape::Ranges => ranges(scene, frame, line),
        Shape::Model | Shape::Curve => {
            let path: Vec<_> = line
                .points
                .iter()
                .filter_map(|point| frame.place(point))
                .collect();
            for part in frame.clip(&path) {
                if line.shape == Shape::Model {
                    dashed(scene, part);
                } else {
                    stroke(scene, part, line.style, CURVE, 100);
                }
            }
        }
        Shape::Cells(_) => {}
        Shape::Stack(width, percent) => stack(scene, frame, line, (width, percent)),
        Shape::Limit => limit(scene, frame, line),
        Shape::Bars(width) => {
            for point in &line.points {
                let (from, to) = (
                    frame.x(point.x - width / 2.0),
                    frame.x(point.x + width / 2.0),
                );
                if frame.place(point).is_some() && frame.holds((from, frame.top)) {
                    scene.rectangle((from, frame.level(point.y)), (to, frame.bottom), colour);
                }
            }
            intervals(scene, frame, line);
        }
        Shape::Spans => {
            let flows = (frame.y.high - frame.y.low).max(1.0);
            let half = ((frame.bottom - frame.top) / flows * 0.36).clamp(0.2, 4.0);
            for ends in line.points.chunks_exact(2) {
                if let (Some(from), Some(to)) = (frame.place(&ends[0]), frame.place(&ends[1])) {
                    let within = |x: f64| x.clamp(frame.left, frame.right);
                    let (from, to) = ((within(from.0), from.1 - half), (within(to.0), to.1 + half));
                    scene.rectangle(from, to, colour);
                }
            }
        }
        Shape::Marks(mark) => marks(scene, frame, line, mark),
    }
}

/// Events.
fn marks(scene: &mut Scene, frame: &Frame, line: &Line, mark: Mark) {
    // No higher than the flow it belongs to, as long as it can be seen.
    let flow = (frame.bottom - frame.top) / (frame.y.high - frame.y.low);
    let r = (0.6 * flow).clamp(0.9, MARKER);
    let places = line.points.iter().filter_map(|point| frame.place(point));
    // Of marks that lie on each other one is enough.
    let mut drawn = BTreeSet::new();
    #[expect(clippy::cast_possible_truncation, reason = "a page has few points")]
    let cell = |value: f64| libm::floor(value / r) as i64;
    for at in places.filter(|at| frame.holds(*at)) {
        if drawn.insert((cell(at.0), cell(at.1))) {
            event(scene, at, mark, r);
        }
    }
}

/// Parts of bars.
fn stack(scene: &mut Scene, frame: &Frame, line: &Line, (width, percent): (f64, u8)) {
    for point in &line.points {
        let Some((low, high)) = point.inner else {
            continue;
        };
        let (left, right) = (
            frame.x(point.x - width / 2.0),
            frame.x(point.x + width / 2.0),
        );
        let (bottom, top) = (frame.level(low), frame.level(high));
        // Less than a drawing can show.
        if bottom - top >= 0.05 {
            scene.items.push(Item::Fill {
                path: vec![(left, bottom), (right, bottom), (right, top), (left, top)],
                colour: line.style.colour(),
                percent,
            });
        }
    }
}

/// A line across, named at its right end.
fn limit(scene: &mut Scene, frame: &Frame, line: &Line) {
    let Some(at) = line.points.first().filter(|at| frame.y.shows(at.y)) else {
        return;
    };
    let y = frame.y(at.y);
    if y < frame.top || y > frame.bottom {
        return;
    }
    dashed(scene, vec![(frame.left, y), (frame.right, y)]);
    let above = (frame.right - 1.0, y - 2.0);
    scene.text(above, TICK, Anchor::End, &line.label);
}

/// The corners of a line that holds each value until the next.
fn steps(frame: &Frame, line: &Line) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (x, y) in line.points.iter().filter_map(|point| frame.place(point)) {
        let before = path.last().map(|(_, before)| *before);
        path.extend(before.map(|before| (x, before)));
        path.push((x, y));
    }
    path
}

fn intervals(scene: &mut Scene, frame: &Frame, line: &Line) {
    let colour = if line.is_bars() {
        INK
    } else {
        line.style.colour()
    };
    for point in &line.points {
        let (Some((low, high)), Some((x, y))) = (point.interval, frame.place(point)) else {
            continue;
        };
        if !frame.holds((x, frame.top)) {
            continue;
        }
        let middle = y.clamp(frame.top, frame.bottom);
        let (low, high) = (frame.level(low).max(middle), frame.level(high).min(middle));
        whisker(scene, x, (low, high), colour, MARKER);
    }
}

/// Bars from percentile to percentile.
fn ranges(scene: &mut Scene, frame: &Frame, line: &Line) {
    for point in &line.points {
        let at = frame.place(point);
        let Some(at) = at.filter(|at| frame.holds((at.0, frame.top))) else {
            continue;
        };
        let ends = |(low, high): (f64, f64)| (frame.level(low), frame.level(high));
        if let Some((low, high)) = point.inner.or(point.interval).map(ends) {
            let path = vec![
                (at.0 - RANGE, low),
                (at.0 - RANGE, high),
                (at.0 + RANGE, high),
                (at.0 + RANGE, low),
            ];
            scene.items.push(Item::Fill {
                path,
                colour: line.style.colour(),
                percent: 45,
            });
        }
        if let Some(outer) = point.interval.map(ends) {
            whisker(scene, at.0, outer, line.style.colour(), RANGE);
        }
        if frame.holds(at) {
            marker(scene, at, line.style, RANGE);
        }
    }
}

/// The rectangles of a map.
fn cells(scene: &mut Scene, frame: &Frame, (figure, line): (&Figure, &Line), shape: Cells) {
    for point in &line.points {
        let [left, right, lower, upper] = shape.around(figure, point);
        let ends = [Point::new(left, lower), Point::new(right, upper)];
        let [Some(from), Some(to)] = ends.map(|end| frame.place(&end)) else {
            continue;
        };
        let x = |x: f64| x.clamp(frame.left, frame.right);
        let y = |y: f64| y.clamp(frame.top, frame.bottom);
        let ((left, bottom), (right, top)) = ((x(from.0), y(from.1)), (x(to.0), y(to.1)));
        scene.items.push(Item::Fill {
            path: vec![(left, bottom), (right, bottom), (right, top), (left, top)],
            colour: line.style.colour(),
            percent: shape.percent,
        });
    }
}
