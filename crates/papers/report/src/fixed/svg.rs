//! A drawing as SVG, with text as text.

use std::fmt::Write;

use super::FigureSize;
use super::scene::{Anchor, Colour, INK, Item, Scene};

/// The file. A screen reader reads the title.
pub(super) fn write(scene: &Scene, size: FigureSize, font: Option<&str>, title: &str) -> String {
    let mut out = String::new();
    put(&mut out, scene, size, (font, title)).expect("writing to a string succeeds");
    out
}

fn put(
    out: &mut String,
    scene: &Scene,
    size: FigureSize,
    (font, title): (Option<&str>, &str),
) -> std::fmt::Result {
    let (width, height) = (short(scene.width), short(scene.height));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}cm\" height=\"{}cm\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">",
        short(size.width_cm),
        short(size.height_cm)
    )?;
    writeln!(out, "<title>{}</title>", escape(title))?;
    writeln!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    )?;
    // Verdana has nearly the widths of DejaVu Sans, where that is not installed.
    let usual = "DejaVu Sans, Verdana, sans-serif";
    let fonts = font.map_or_else(
        || usual.to_owned(),
        |font| format!("{}, {usual}", escape(font)),
    );
    writeln!(
        out,
        "<g font-family=\"{fonts}\" fill=\"none\" stroke-linejoin=\"round\">"
    )?;
    for (_, item) in &scene.items {
        put_item(out, item)?;
    }
    writeln!(out, "</g>\n</svg>")
}

fn put_item(out: &mut String, item: &Item) -> std::fmt::Result {
    match item {
        Item::Stroke(stroke) => {
            write!(
                out,
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\"",
                data(&stroke.path),
                hex(stroke.colour),
                short(stroke.width)
            )?;
            if !stroke.dashes.is_empty() {
                let dashes: Vec<_> = stroke.dashes.iter().map(|dash| short(*dash)).collect();
                write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "))?;
            }
            if stroke.percent < 100 {
                write!(
                    out,
                    " stroke-opacity=\"{}\"",
                    short(f64::from(stroke.percent) / 100.0)
                )?;
            }
            writeln!(out, "/>")
        }
        Item::Fill(fill) => {
            write!(
                out,
                "<path d=\"{}Z\" fill=\"{}\"",
                data(&fill.path),
                hex(fill.colour)
            )?;
            if fill.percent < 100 {
                write!(
                    out,
                    " fill-opacity=\"{}\"",
                    short(f64::from(fill.percent) / 100.0)
                )?;
            }
            writeln!(out, "/>")
        }
        Item::Text(label) => {
            let anchor = match label.anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (short(label.at.0), short(label.at.1));
            write!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"",
                short(label.size)
            )?;
            write!(out, " text-anchor=\"{anchor}\" fill=\"{}\"", hex(INK))?;
            if label.upward {
                write!(out, " transform=\"rotate(-90 {x} {y})\"")?;
            }
            writeln!(out, ">{}</text>", escape(&label.text))
        }
    }
}

fn data(path: &[(f64, f64)]) -> String {
    let mut data = String::new();
    for (index, (x, y)) in path.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(data, "{command}{} {}", short(*x), short(*y)).expect("writing to a string succeeds");
    }
    data
}

pub(super) fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Hundredths of a point: finer than any printer.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
