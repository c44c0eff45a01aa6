//! A drawing as SVG, with text as text.

use std::fmt::Write;

use super::Size;
use super::scene::{Anchor, Colour, INK, Item, PALE, PAPER, Scene};

/// The file. The title is what a screen reader says.
pub(super) fn write(scene: &Scene, size: Size, font: Option<&str>, title: &str) -> String {
    let mut out = String::new();
    put(&mut out, scene, size, (font, title)).expect("writing to a string succeeds");
    out
}

fn put(
    out: &mut String,
    scene: &Scene,
    size: Size,
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
    for item in &scene.items {
        put_item(out, item)?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// The drawing as a part of a page, in few bytes: the page's style sheet gives colours to text, grid and axes, so that
/// they follow its theme, and what has the same look is one path.
pub(super) fn embed(scene: &Scene, title: &str) -> String {
    let (width, height) = (short(scene.width), short(scene.height));
    let reading = if scene.reading.is_empty() {
        String::new()
    } else {
        // JSON has many double quotes, each of which would take six bytes between double quotes.
        let text = scene.reading.replace('&', "&amp;").replace('<', "&lt;");
        format!(" data-reading='{}'", text.replace('\'', "&#39;"))
    };
    let mut out = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\"{reading}>");
    if !title.is_empty() {
        write!(out, "<title>{}</title>", escape(title)).expect(WRITES);
    }
    let (mut grid, mut axes) = (String::new(), String::new());
    let mut body = String::new();
    // The look of the path that is being written, and where the texts of the group that is are anchored.
    let mut open = String::new();
    let mut anchored = Anchor::Start;
    for item in &scene.items {
        let (look, data) = match item {
            Item::Stroke { path, colour, .. } if *colour == PALE => {
                grid += &steps(path);
                continue;
            }
            Item::Stroke {
                path,
                colour,
                dashes,
                ..
            } if *colour == INK && dashes.is_empty() => {
                axes += &steps(path);
                continue;
            }
            Item::Text { anchor, .. } => {
                close(&mut body, &mut open);
                gather(&mut body, &mut anchored, *anchor);
                put_text(&mut body, item).expect(WRITES);
                continue;
            }
            Item::Stroke { path, .. } => (look(item), steps(path)),
            // What is filled is closed anyway.
            Item::Fill { path, .. } => {
                let data = ring(path).unwrap_or_else(|| steps(path));
                if is_flat(&data) {
                    continue;
                }
                (look(item), data)
            }
        };
        gather(&mut body, &mut anchored, Anchor::Start);
        if look != open {
            close(&mut body, &mut open);
            body += "<path d=\"";
            open = look;
        }
        body += &data;
    }
    close(&mut body, &mut open);
    gather(&mut body, &mut anchored, Anchor::Start);
    // Marks of events are in the colour of axes, and lie on the data.
    write!(
        out,
        "<path class=\"g\" d=\"{grid}\"/>{body}<path class=\"a\" d=\"{axes}\"/></svg>"
    )
    .expect(WRITES);
    out
}

/// Begins a group of texts that are anchored alike, unless one has begun; what is anchored at its start has none.
fn gather(body: &mut String, anchored: &mut Anchor, anchor: Anchor) {
    if *anchored == anchor {
        return;
    }
    if *anchored != Anchor::Start {
        *body += "</g>";
    }
    *body += match anchor {
        Anchor::Start => "",
        Anchor::Middle => "<g class=\"m\">",
        Anchor::End => "<g class=\"e\">",
    };
    *anchored = anchor;
}

/// Ends the path that is being written, if there is one.
fn close(body: &mut String, look: &mut String) {
    if !look.is_empty() {
        *body += "\"";
        *body += &std::mem::take(look);
        *body += "/>";
    }
}

/// The attributes of a path.
fn look(item: &Item) -> String {
    let tone = |colour: Colour| match colour {
        INK => "currentColor".to_owned(),
        PAPER => "var(--box)".to_owned(),
        other => hex(other),
    };
    let opacity = |percent: u8| match percent {
        100 => String::new(),
        percent => format!(" opacity=\".{percent:02}\""),
    };
    match item {
        Item::Stroke {
            colour,
            width,
            dashes,
            percent,
            ..
        } => {
            let mut look = format!(
                " stroke=\"{}\" stroke-width=\"{}\"",
                tone(*colour),
                short(*width)
            );
            if !dashes.is_empty() {
                let dashes: Vec<_> = dashes.iter().map(|dash| short(*dash)).collect();
                write!(look, " stroke-dasharray=\"{}\"", dashes.join(" ")).expect(WRITES);
            }
            look + &opacity(*percent)
        }
        Item::Fill {
            colour, percent, ..
        } => {
            format!(" fill=\"{}\"{}", tone(*colour), opacity(*percent))
        }
        Item::Text { .. } => String::new(),
    }
}

fn put_text(out: &mut String, item: &Item) -> std::fmt::Result {
    let Item::Text {
        at,
        size,
        upward,
        text,
        ..
    } = item
    else {
        return Ok(());
    };
    let size = match short(*size).as_str() {
        "7.5" => String::new(),
        "8" => " class=\"t\"".to_owned(),
        size => format!(" style=\"font-size:{size}px\""),
    };
    let (x, y) = (tenth(at.0), tenth(at.1));
    let place = if *upward {
        format!("transform=\"translate({x} {y})rotate(-90)\"")
    } else {
        format!("x=\"{x}\" y=\"{y}\"")
    };
    write!(out, "<text {place}{size}>{}</text>", escape(text))
}

/// A circle, which drawings have as a polygon of many corners, as two arcs.
fn ring(path: &[(f64, f64)]) -> Option<String> {
    if path.len() < ROUND {
        return None;
    }
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (left, right) = ends(&mut path.iter().map(|(x, _)| *x));
    let (top, bottom) = ends(&mut path.iter().map(|(_, y)| *y));
    let (width, height) = (right - left, bottom - top);
    if (width - height).abs() > 0.05 * width {
        return None;
    }
    let (r, across) = (tenth(width / 2.0), tenth(width));
    let (x, y) = (tenth(left), tenth(f64::midpoint(top, bottom)));
    Some(format!(
        "M{x} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0-{across} 0"
    ))
}

/// A path in steps from point to point, in tenths of a point: finer than a screen. What a long path does within half a
/// point of width is one upright line.
fn steps(path: &[(f64, f64)]) -> String {
    let long = path.len() > LONG;
    let unit = if long { 2.0 } else { 10.0 };
    let grid = |value: f64| libm::round(value * unit);
    let mut data = String::new();
    let mut last: Option<(f64, f64)> = None;
    let mut column: Option<[f64; 4]> = None;
    let mut places: Vec<(f64, f64)> = Vec::new();
    for (x, y) in path.iter().map(|(x, y)| (grid(*x), grid(*y))) {
        match &mut column {
            _ if !long => places.push((x, y)),
            Some([at, low, high, end]) if at.total_cmp(&x).is_eq() => {
                (*low, *high, *end) = (low.min(y), high.max(y), y);
            }
            _ => {
                places.extend(column.iter().flat_map(upright));
                places.push((x, y));
                column = Some([x, y, y, y]);
            }
        }
    }
    places.extend(column.iter().flat_map(upright));
    for (x, y) in places {
        let step = last.map(|(before, above)| (x - before, y - above));
        match step {
            None => write!(data, "M{} {}", tenth(x / unit), tenth(y / unit)),
            Some((0.0, 0.0)) => Ok(()),
            Some((0.0, down)) => write!(data, "v{}", tenth(down / unit)),
            Some((right, 0.0)) => write!(data, "h{}", tenth(right / unit)),
            Some((right, down)) => {
                let (right, down) = (tenth(right / unit), tenth(down / unit));
                let space = if down.starts_with('-') { "" } else { " " };
                write!(data, "l{right}{space}{down}")
            }
        }
        .expect(WRITES);
        last = Some((x, y));
    }
    data
}

/// Whether a path goes along one line, so that it encloses nothing.
fn is_flat(data: &str) -> bool {
    let bends = data.contains('h') && data.contains('v');
    !(bends || data.contains(['a', 'l']))
}

/// The lowest and the highest place of a column, and the last one.
fn upright([x, low, high, end]: &[f64; 4]) -> [(f64, f64); 3] {
    [(*x, *low), (*x, *high), (*x, *end)]
}

/// A number with at most one decimal and without a needless zero before its point.
fn tenth(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_owned(),
        text => match text.strip_prefix("0.") {
            Some(rest) => format!(".{rest}"),
            None => text.replace("-0.", "-."),
        },
    }
}

/// Points of a path beyond which it is one of many samples.
const LONG: usize = 150;

/// Corners of a polygon that looks round.
const ROUND: usize = 16;

/// Why writing cannot fail.
const WRITES: &str = "writing to a string succeeds";

fn put_item(out: &mut String, item: &Item) -> std::fmt::Result {
    match item {
        Item::Stroke {
            path,
            colour,
            width,
            dashes,
            percent,
        } => {
            write!(
                out,
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\"",
                data(path),
                hex(*colour),
                short(*width)
            )?;
            if !dashes.is_empty() {
                let dashes: Vec<_> = dashes.iter().map(|dash| short(*dash)).collect();
                write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "))?;
            }
            if *percent < 100 {
                write!(
                    out,
                    " stroke-opacity=\"{}\"",
                    short(f64::from(*percent) / 100.0)
                )?;
            }
            writeln!(out, "/>")
        }
        Item::Fill {
            path,
            colour,
            percent,
        } => {
            write!(out, "<path d=\"{}Z\" fill=\"{}\"", data(path), hex(*colour))?;
            if *percent < 100 {
                write!(
                    out,
                    " fill-opacity=\"{}\"",
                    short(f64::from(*percent) / 100.0)
                )?;
            }
            writeln!(out, "/>")
        }
        Item::Text {
            at,
            size,
            anchor,
            upward,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (short(at.0), short(at.1));
            write!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"",
                short(*size)
            )?;
            write!(out, " text-anchor=\"{anchor}\" fill=\"{}\"", hex(INK))?;
            if *upward {
                write!(out, " transform=\"rotate(-90 {x} {y})\"")?;
            }
            writeln!(out, ">{}</text>", escape(text))
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

fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Hundredths of a point: finer than any printer.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
