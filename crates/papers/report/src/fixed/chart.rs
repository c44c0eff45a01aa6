//! The layout of a figure: margins, legend, axes, data.

mod frame;
mod legend;
mod pen;
mod reading;

use std::collections::BTreeSet;

use super::font;
use super::scene::{Anchor, Fill, INK, Item, Layer, PALE, Scene};
use crate::figure::{Cells, EventMark, Figure, PlotLine, PlotPoint, Shape, Style};
use base::cast::integer;
use frame::{Frame, aside, frame, upright};
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

/// The most by which lines with intervals move aside.
const ASIDE: f64 = 2.2;

/// Around everything.
const EDGE: f64 = 3.0;

/// The drawing of a figure on this many points of width and height. A page holds the values of `most` points.
pub(super) fn scene(figure: &Figure, size: (f64, f64), most: usize) -> Scene {
    below(figure, size, &legend(figure, size), most)
}

/// The drawing of a figure whose legend stands elsewhere.
pub(super) fn without_legend(figure: &Figure, size: (f64, f64), most: usize) -> Scene {
    below(figure, size, &Legend::default(), most)
}

/// The legend of a figure of this size.
fn legend(figure: &Figure, (width, height): (f64, f64)) -> Legend<'_> {
    Legend::of(figure, (width - 2.0 * EDGE, height))
}

/// Whether the legend of a figure of this size has room for all of its lines.
pub(super) fn names_all(figure: &Figure, size: (f64, f64)) -> bool {
    legend(figure, size).is_whole()
}

/// The legend of a figure alone, on this width.
pub(super) fn legend_alone(figure: &Figure, width: f64) -> Scene {
    let legend = Legend::of(figure, (width, f64::INFINITY));
    let mut scene = Scene::new((width, EDGE + legend.height()));
    legend::draw(&mut scene, &legend, EDGE);
    scene
}

fn below(figure: &Figure, size: (f64, f64), legend: &Legend<'_>, most: usize) -> Scene {
    let mut scene = Scene::new(size);
    let top = EDGE + legend.height() + 2.0;
    let frame = frame(figure, size, top);
    grid(&mut scene, &frame);
    let (aside, groups) = (aside(figure, &frame), groups(figure));
    scene.reading = reading::of(figure, &frame, (&aside, &groups), most).to_string();
    scene.groups = groups.iter().max().map_or(0, |last| last + 1);
    for ((line, group), aside) in figure.lines.iter().zip(groups).zip(aside) {
        scene.layer = Layer::Data(group);
        match line.shape {
            Shape::Cells(shape) => cells(&mut scene, &frame, (figure, line), shape),
            _ => draw(&mut scene, &frame, line, aside),
        }
    }
    axes(&mut scene, &frame, figure);
    legend::draw(&mut scene, legend, frame.left);
    scene
}

/// The group of each line, from 0. Faint lines of one look are one group, because there are hundreds of them without
/// names.
fn groups(figure: &Figure) -> Vec<usize> {
    let mut groups: Vec<usize> = Vec::new();
    for line in &figure.lines {
        let alike = |other: &PlotLine| other.shape == Shape::Faint && other.style == line.style;
        let first = figure.lines[..groups.len()].iter().position(alike);
        let next = groups.iter().max().map_or(0, |last| last + 1);
        let first = first.filter(|_| line.shape == Shape::Faint);
        groups.push(first.map_or(next, |first| groups[first]));
    }
    groups
}

fn grid(scene: &mut Scene, frame: &Frame) {
    scene.layer = Layer::Grid;
    for (value, _) in &frame.y.major {
        let y = frame.y(*value);
        scene.line((frame.left, y), (frame.right, y), PALE, GRID);
    }
    scene.layer = Layer::Upright;
    if !frame.x.categories {
        for (value, _) in &frame.x.major {
            let x = frame.x(*value);
            scene.line((x, frame.top), (x, frame.bottom), PALE, GRID);
        }
    }
}

fn axes(scene: &mut Scene, frame: &Frame, figure: &Figure) {
    let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
    scene.layer = Layer::Fixed;
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
    ticks(scene, frame);
    scene.layer = Layer::Fixed;
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

/// Ticks of the horizontal axis with their names, and the names of groups of them.
fn ticks(scene: &mut Scene, frame: &Frame) {
    let (left, right, bottom) = (frame.left, frame.right, frame.bottom);
    scene.layer = Layer::Ticks;
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
    for (name, first, last) in &frame.groups {
        let (from, to) = (frame.x(first - 0.4), frame.x(last + 0.4));
        scene.line((from, frame.under), (to, frame.under), INK, AXIS);
        let at = (f64::midpoint(from, to), frame.under + TICK * 1.15);
        scene.text(at, fitting(name, to - from).min(TICK), Anchor::Middle, name);
    }
}

/// The size in which a title fits into a length.
fn fitting(title: &str, length: f64) -> f64 {
    LABEL.min(LABEL * length / font::width(title, LABEL).max(1.0))
}

fn draw(scene: &mut Scene, frame: &Frame, line: &PlotLine, aside: f64) {
    let colour = line.style.colour();
    match line.shape {
        Shape::Joined => {
            let path: Vec<_> = line
                .points
                .iter()
                .filter_map(|point| frame.place(point))
                .map(|(x, y)| (x + aside, y))
                .collect();
            let data = scene.layer;
            intervals(scene, frame, line, aside);
            scene.layer = data;
            for part in frame.clip(&path) {
                stroke(scene, part, line.style, CURVE, 100);
            }
            scene.layer = data.signs();
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
                    let (value, zero) = (frame.level(point.y), frame.level(0.0));
                    scene.rectangle((from, value), (to, zero), colour);
                }
            }
            intervals(scene, frame, line, 0.0);
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
fn marks(scene: &mut Scene, frame: &Frame, line: &PlotLine, mark: EventMark) {
    scene.layer = scene.layer.signs();
    // As high as the flow's bar at most, as long as it is visible.
    let flow = (frame.bottom - frame.top) / (frame.y.high - frame.y.low);
    let r = (0.6 * flow).clamp(0.9, MARKER);
    let places = line.points.iter().filter_map(|point| frame.place(point));
    // Marks at the same position are drawn once.
    let mut drawn = BTreeSet::new();
    let cell = |value: f64| integer(libm::floor(value / r));
    for at in places.filter(|at| frame.holds(*at)) {
        if drawn.insert((cell(at.0), cell(at.1))) {
            event(scene, at, mark, r);
        }
    }
}

/// Parts of bars.
fn stack(scene: &mut Scene, frame: &Frame, line: &PlotLine, (width, percent): (f64, u8)) {
    for point in &line.points {
        let Some((low, high)) = point.inner else {
            continue;
        };
        let (left, right) = (
            frame.x(point.x - width / 2.0),
            frame.x(point.x + width / 2.0),
        );
        let (bottom, top) = (frame.level(low), frame.level(high));
        // A drawing cannot show less.
        if bottom - top >= 0.05 {
            scene.push(Item::Fill(Fill {
                path: vec![(left, bottom), (right, bottom), (right, top), (left, top)],
                colour: line.style.colour(),
                percent,
            }));
        }
    }
}

/// A line across, named at its right end.
fn limit(scene: &mut Scene, frame: &Frame, line: &PlotLine) {
    let Some(at) = line.points.first().filter(|at| frame.y.shows(at.y)) else {
        return;
    };
    let y = frame.y(at.y);
    if y < frame.top || y > frame.bottom {
        return;
    }
    scene.layer = Layer::Fixed;
    dashed(scene, vec![(frame.left, y), (frame.right, y)]);
    if frame.right < scene.width - EDGE - 6.0 {
        // Beside bars, on which it would lie.
        scene.text(
            (frame.right + 2.0, y + TICK * 0.36),
            TICK,
            Anchor::Start,
            &line.label,
        );
    } else {
        let above = (frame.right - 1.0, y - 2.0);
        scene.text(above, TICK, Anchor::End, &line.label);
    }
}

/// The corners of a line that holds each value until the next.
fn steps(frame: &Frame, line: &PlotLine) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (x, y) in line.points.iter().filter_map(|point| frame.place(point)) {
        let before = path.last().map(|(_, before)| *before);
        path.extend(before.map(|before| (x, before)));
        path.push((x, y));
    }
    path
}

fn intervals(scene: &mut Scene, frame: &Frame, line: &PlotLine, aside: f64) {
    let colour = if line.is_bars() {
        INK
    } else {
        line.style.colour()
    };
    scene.layer = scene.layer.signs();
    for point in &line.points {
        let (Some((low, high)), Some((x, y))) = (point.interval, frame.place(point)) else {
            continue;
        };
        if !frame.holds((x, frame.top)) {
            continue;
        }
        let middle = y.clamp(frame.top, frame.bottom);
        let (low, high) = (frame.level(low).max(middle), frame.level(high).min(middle));
        whisker(scene, x + aside, (low, high), colour, MARKER);
    }
}

/// Bars from percentile to percentile.
fn ranges(scene: &mut Scene, frame: &Frame, line: &PlotLine) {
    scene.layer = scene.layer.signs();
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
            scene.push(Item::Fill(Fill {
                path,
                colour: line.style.colour(),
                percent: 45,
            }));
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
fn cells(scene: &mut Scene, frame: &Frame, (figure, line): (&Figure, &PlotLine), shape: Cells) {
    for point in &line.points {
        let [left, right, lower, upper] = shape.around(figure, point);
        let ends = [PlotPoint::new(left, lower), PlotPoint::new(right, upper)];
        let [Some(from), Some(to)] = ends.map(|end| frame.place(&end)) else {
            continue;
        };
        let x = |x: f64| x.clamp(frame.left, frame.right);
        let y = |y: f64| y.clamp(frame.top, frame.bottom);
        let ((left, bottom), (right, top)) = ((x(from.0), y(from.1)), (x(to.0), y(to.1)));
        scene.push(Item::Fill(Fill {
            path: vec![(left, bottom), (right, bottom), (right, top), (left, top)],
            colour: line.style.colour(),
            percent: shape.percent,
        }));
    }
}
