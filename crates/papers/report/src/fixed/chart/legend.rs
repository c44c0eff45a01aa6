//! The legend: a sample and the name of every line that has one, in rows above the data.

use super::super::font;
use super::super::scene::{Anchor, Fill, Item, Layer, Scene};
use super::pen::{dashed, event, marker, stroke, whisker};
use super::{CURVE, EDGE, MARKER, RANGE, TICK};
use crate::figure::{Figure, PlotLine, Shape};

/// The legend of a figure.
#[derive(Default)]
pub(super) struct Legend<'a> {
    rows: Vec<Vec<&'a PlotLine>>,
    /// The number of lines for which it has no room.
    more: usize,
}

impl<'a> Legend<'a> {
    /// The lines that need an entry, in rows that fit the width and a quarter of the height. A larger legend would
    /// leave too little room for the data.
    pub(super) fn of(figure: &'a Figure, (width, height): (f64, f64)) -> Self {
        let mut rows = rows(figure, width);
        let mut more = 0;
        while rows.len() > 1 && ROW * count(rows.len()) > height / 4.0 {
            more += rows.pop().map_or(0, |row| row.len());
        }
        // If lines are left out, their number needs room.
        if let (1.., Some(row)) = (more, rows.last_mut())
            && row.len() > 1
        {
            more += usize::from(row.pop().is_some());
        }
        Self { rows, more }
    }

    /// Whether every line has room.
    pub(super) fn is_whole(&self) -> bool {
        self.more == 0
    }

    /// Its height.
    pub(super) fn height(&self) -> f64 {
        ROW * count(self.rows.len())
    }
}

fn count(rows: usize) -> f64 {
    f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// The lines that need an entry, in rows that fit the width.
fn rows(figure: &Figure, width: f64) -> Vec<Vec<&PlotLine>> {
    let mut rows: Vec<Vec<&PlotLine>> = Vec::new();
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

fn entry_width(line: &PlotLine) -> f64 {
    SAMPLE + GAP + font::width(&line.label, TICK) + 2.5 * GAP
}

/// Draws the rows from `left` on, below the upper edge.
pub(super) fn draw(scene: &mut Scene, legend: &Legend<'_>, left: f64) {
    let last = legend.rows.len().saturating_sub(1);
    let mut entries = 0_usize..;
    for (row, index) in legend.rows.iter().zip(0_u32..) {
        let mut x = left;
        let y = EDGE + ROW * (f64::from(index) + 0.5);
        for line in row {
            scene.layer = Layer::Entry(entries.next().unwrap_or_default());
            sample(scene, line, x, y);
            let at = (x + SAMPLE + GAP, y + TICK * 0.36);
            scene.text(at, TICK, Anchor::Start, &line.label);
            x += entry_width(line);
        }
        if legend.more > 0 && index as usize == last {
            let text = format!("and {} more", legend.more);
            scene.layer = Layer::Fixed;
            scene.text((x, y + TICK * 0.36), TICK, Anchor::Start, &text);
        }
    }
}

fn sample(scene: &mut Scene, line: &PlotLine, x: f64, y: f64) {
    let middle = (x + SAMPLE / 2.0, y);
    match line.shape {
        Shape::Cells(shape) => {
            let (left, right) = (x + 4.0, x + SAMPLE - 2.0);
            scene.push(Item::Fill(Fill {
                path: vec![
                    (left, y - 3.0),
                    (right, y - 3.0),
                    (right, y + 3.0),
                    (left, y + 3.0),
                ],
                colour: line.style.colour(),
                percent: shape.percent,
            }));
        }
        Shape::Joined if line.points.len() == 1 => marker(scene, middle, line.style, MARKER),
        Shape::Joined | Shape::Step | Shape::Faint | Shape::Curve => {
            stroke(scene, vec![(x, y), (x + SAMPLE, y)], line.style, CURVE, 100);
            if line.shape == Shape::Joined {
                marker(scene, middle, line.style, MARKER);
            }
        }
        Shape::Stack(_, percent) => scene.push(Item::Fill(Fill {
            path: vec![
                (x + 6.0, y - 3.0),
                (x + SAMPLE - 2.0, y - 3.0),
                (x + SAMPLE - 2.0, y + 3.0),
                (x + 6.0, y + 3.0),
            ],
            colour: line.style.colour(),
            percent,
        })),
        Shape::Limit => {}
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
const ROW: f64 = 11.0;
/// Length of the sample of a line in the legend, and gaps around it.
const SAMPLE: f64 = 17.0;
const GAP: f64 = 4.0;
