//! A drawing as pixels.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::font;
use super::scene::{Anchor, Colour, INK, Item, Scene};
use base::cast::{low_32, single, whole};

/// Dots per inch that publishers ask for.
const DPI: f64 = 300.0;

/// The file.
pub(super) fn write(scene: &Scene) -> Vec<u8> {
    let scale = DPI / 72.0;
    let pixels = |points: f64| pixel_count(points * scale);
    let pixmap = Pixmap::new(pixels(scene.width), pixels(scene.height));
    let mut pixmap = pixmap.expect("a figure has a size");
    pixmap.fill(tiny_skia::Color::WHITE);
    let to_pixels = Transform::from_scale(single(scale), single(scale));
    for (_, item) in &scene.items {
        draw(&mut pixmap, item, to_pixels);
    }
    pixmap.encode_png().expect("pixels can be encoded")
}

fn draw(pixmap: &mut Pixmap, item: &Item, to_pixels: Transform) {
    match item {
        Item::Stroke(stroke) => {
            let dashes = stroke.dashes.iter().map(|dash| single(*dash)).collect();
            let pen = tiny_skia::Stroke {
                width: single(stroke.width),
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: StrokeDash::new(dashes, 0.0),
                ..tiny_skia::Stroke::default()
            };
            if let Some(path) = polygon(&stroke.path, false) {
                pixmap.stroke_path(
                    &path,
                    &paint(stroke.colour, stroke.percent),
                    &pen,
                    to_pixels,
                    None,
                );
            }
        }
        Item::Fill(fill) => {
            if let Some(path) = polygon(&fill.path, true) {
                let paint = paint(fill.colour, fill.percent);
                pixmap.fill_path(&path, &paint, FillRule::Winding, to_pixels, None);
            }
        }
        Item::Text(label) => {
            if let Some(path) = outline(&label.text, label.size, label.anchor) {
                let turn = if label.upward { -90.0 } else { 0.0 };
                let place = to_pixels
                    .pre_translate(single(label.at.0), single(label.at.1))
                    .pre_concat(Transform::from_rotate(turn));
                pixmap.fill_path(&path, &paint(INK, 100), FillRule::Winding, place, None);
            }
        }
    }
}

fn polygon(points: &[(f64, f64)], close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, (x, y)) in points.iter().enumerate() {
        if index == 0 {
            path.move_to(single(*x), single(*y));
        } else {
            path.line_to(single(*x), single(*y));
        }
    }
    if close {
        path.close();
    }
    path.finish()
}

fn paint(colour: Colour, percent: u8) -> Paint<'static> {
    let mut paint = Paint::default();
    let mut colour = tiny_skia::Color::from_rgba8(colour.0, colour.1, colour.2, 255);
    colour.set_alpha(f32::from(percent) / 100.0);
    paint.set_color(colour);
    paint
}

/// The outlines of a text whose anchor is the origin.
fn outline(text: &str, size: f64, anchor: Anchor) -> Option<Path> {
    let scale = size / f64::from(font::face().units_per_em());
    let mut pen = Pen {
        path: PathBuilder::new(),
        x: single(-anchor.share() * font::width(text, size)),
        scale: single(scale),
    };
    for letter in text.chars() {
        let glyph = font::glyph(letter);
        // A space has no outline.
        let _bounds = font::face().outline_glyph(glyph, &mut pen);
        pen.x += single(font::advance(glyph) * size);
    }
    pen.path.finish()
}

/// Draws outlines of glyphs one behind the other; y grows upwards in a font.
struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path
            .cubic_to(first.0, first.1, second.0, second.1, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn pixel_count(value: f64) -> u32 {
    low_32(whole(libm::round(value)).max(1))
}
