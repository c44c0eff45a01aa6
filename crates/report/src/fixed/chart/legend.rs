//! The legend: a sample and the name of every line that has one, in rows above the data.

use super::super::font;
use super::super::scene::{Anchor, Item, Scene};
use super::pen::{dashed, event, marker, stroke, whisker};
use super::{CURVE, EDGE, MARKER, RANGE, TICK};
use crate::figure::{Figure, Line, Shape};

/// The lines that need an entry, in rows that fit the width.
pub(super) fn rows(figure: &Figure, width: f64) -> Vec<Vec<&Line>> {
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    let mut used = 0.0;
    for line in figure.lines.iter().filter(|line| figure.names(line)) {
        let entry = entry_width(line);
        match rows.last_mut() {
            Some(row) if used + entry <= width - 40.0 => row.push(line),
            _ => {
                rows.push(vec![line]);
                used = 0.0;
            }
        }
        used += entry;
    }
    rows
}

fn entry_width(line: &Line) -> f64 {
    SAMPLE + GAP + font::width(&line.label, TICK) + 2.5 * GAP
}

/// Draws the rows from `left` on, below the upper edge.
pub(super) fn draw(scene: &mut Scene, rows: &[Vec<&Line>], left: f64) {
    for (row, index) in rows.iter().zip(0_u32..) {
        let mut x = left;
        let y = EDGE + ROW * (f64::from(index) + 0.5);
        for line in row {
            sample(scene, line, x, y);
            let at = (x + SAMPLE + GAP, y + TICK * 0.36);
            scene.text(at, TICK, Anchor::Start, &line.label);
            x += entry_width(line);
        }
    }
}

fn sample(scene: &mut Scene, line: &Line, x: f64, y: f64) {
    let middle = (x + SAMPLE / 2.0, y);
    match line.shape {
        Shape::Cells(shape) => {
            let (left, right) = (x + 4.0, x + SAMPLE - 2.0);
            scene.items.push(Item::Fill {
                path: vec![
                    (left, y - 3.0),
                    (right, y - 3.0),
                    (right, y + 3.0),
                    (left, y + 3.0),
                ],
                colour: line.style.colour(),
                percent: shape.percent,
            });
        }
        Shape::Joined if line.points.len() == 1 => marker(scene, middle, line.style, MARKER),
        Shape::Joined | Shape::Step | Shape::Faint | Shape::Curve => {
            stroke(scene, vec![(x, y), (x + SAMPLE, y)], line.style, CURVE, 100);
            if line.shape == Shape::Joined {
                marker(scene, middle, line.style, MARKER);
            }
        }
        Shape::Bars(_) | Shape::Spans => {
            let colour = line.style.colour();
            scene.rectangle((x + 4.0, y - 2.5), (x + SAMPLE - 2.0, y + 2.5), colour);
        }
        Shape::Marks(mark) => event(scene, middle, mark, MARKER),
        Shape::Ranges => {
            let colour = line.style.colour();
            whisker(scene, middle.0, (y + 4.0, y - 4.0), colour, RANGE);
            marker(scene, middle, line.style, RANGE);
        }
        Shape::Model => dashed(scene, vec![(x, y), (x + SAMPLE, y)]),
    }
}

/// Height of a row in points.
pub(super) const ROW: f64 = 11.0;
/// Length of the sample of a line in the legend, and gaps around it.
const SAMPLE: f64 = 17.0;
const GAP: f64 = 4.0;
