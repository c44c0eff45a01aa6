//! Strokes, markers and areas: what lines of a chart and samples in its legend are drawn with.

use super::super::scene::{Colour, Fill, INK, Item, PAPER, Scene, Stroke};
use super::{CURVE, THIN};
use crate::figure::{EventMark, Style};
use crate::palette::Marker;

/// A line in the colour and the dashes of a style.
pub(super) fn stroke(
    scene: &mut Scene,
    path: Vec<(f64, f64)>,
    style: Style,
    width: f64,
    percent: u8,
) {
    let dashes = style.dashes().iter().map(|dash| dash * width);
    scene.push(Item::Stroke(Stroke {
        path,
        colour: style.colour(),
        width,
        dashes: dashes.collect(),
        percent,
    }));
}

/// A thin upright line with a stroke at both ends.
pub(super) fn whisker(
    scene: &mut Scene,
    x: f64,
    (low, high): (f64, f64),
    colour: Colour,
    half: f64,
) {
    scene.line((x, low), (x, high), colour, THIN);
    for at in [low, high] {
        scene.line((x - half, at), (x + half, at), colour, THIN);
    }
}

/// The line of an equation.
pub(super) fn dashed(scene: &mut Scene, path: Vec<(f64, f64)>) {
    scene.push(Item::Stroke(Stroke {
        path,
        colour: INK,
        width: CURVE,
        dashes: vec![4.0, 2.2],
        percent: 100,
    }));
}

/// The sign of a style at a point.
pub(super) fn marker(scene: &mut Scene, (x, y): (f64, f64), style: Style, r: f64) {
    let path = match style.marker() {
        Marker::Circle => ring(x, y, r),
        Marker::Square => vec![
            (x - 0.9 * r, y - 0.9 * r),
            (x + 0.9 * r, y - 0.9 * r),
            (x + 0.9 * r, y + 0.9 * r),
            (x - 0.9 * r, y + 0.9 * r),
        ],
        Marker::Diamond => vec![
            (x, y - 1.3 * r),
            (x + 1.3 * r, y),
            (x, y + 1.3 * r),
            (x - 1.3 * r, y),
        ],
        Marker::Up => triangle(x, y, r),
        Marker::Down => vec![
            (x, y + 1.2 * r),
            (x + 1.1 * r, y - 0.8 * r),
            (x - 1.1 * r, y - 0.8 * r),
        ],
        Marker::Plus => {
            scene.line((x - 1.2 * r, y), (x + 1.2 * r, y), style.colour(), CURVE);
            scene.line((x, y - 1.2 * r), (x, y + 1.2 * r), style.colour(), CURVE);
            return;
        }
        Marker::Cross => return cross(scene, x, y, r, style.colour()),
    };
    if style.open {
        outline(scene, path, style);
    } else {
        fill(scene, path, style.colour());
    }
}

/// A marker with a white inside, which hides the line behind it.
fn outline(scene: &mut Scene, mut path: Vec<(f64, f64)>, style: Style) {
    scene.push(Item::Fill(Fill {
        path: path.clone(),
        colour: PAPER,
        percent: 100,
    }));
    let first = path.first().copied();
    path.extend(first);
    scene.push(Item::Stroke(Stroke {
        path,
        colour: style.colour(),
        width: THIN,
        dashes: Vec::new(),
        percent: 100,
    }));
}

/// The sign of an event at a point.
pub(super) fn event(scene: &mut Scene, (x, y): (f64, f64), mark: EventMark, r: f64) {
    match mark {
        EventMark::Cross => cross(scene, x, y, r, INK),
        EventMark::Triangle => fill(scene, triangle(x, y, 1.1 * r), INK),
    }
}

fn cross(scene: &mut Scene, x: f64, y: f64, r: f64, colour: Colour) {
    let r = 0.8 * r;
    scene.line((x - r, y - r), (x + r, y + r), colour, THIN);
    scene.line((x - r, y + r), (x + r, y - r), colour, THIN);
}

fn triangle(x: f64, y: f64, r: f64) -> Vec<(f64, f64)> {
    vec![
        (x, y - 1.2 * r),
        (x + 1.1 * r, y + 0.8 * r),
        (x - 1.1 * r, y + 0.8 * r),
    ]
}

/// A polygon with enough sides to look round.
fn ring(x: f64, y: f64, r: f64) -> Vec<(f64, f64)> {
    let corners = (0_u32..24).map(|corner| f64::from(corner) * std::f64::consts::TAU / 24.0);
    corners
        .map(|turn| (x + r * libm::cos(turn), y + r * libm::sin(turn)))
        .collect()
}

fn fill(scene: &mut Scene, path: Vec<(f64, f64)>, colour: Colour) {
    scene.push(Item::Fill(Fill {
        path,
        colour,
        percent: 100,
    }));
}
