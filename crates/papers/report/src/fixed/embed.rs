//! A drawing as a part of a page, in few bytes. The page's style sheet gives colours to text, grid and axes, so that
//! they follow its theme. All lines of one look are one path. The page's script finds layers by their classes.

use std::fmt::Write;

use super::scene::{Anchor, Colour, INK, Item, Label, Layer, PALE, PAPER, Scene};
use super::svg::{escape, hex, short};

/// The element. A screen reader reads the summary; without one it reads nothing.
pub(super) fn write(scene: &Scene, summary: &str) -> String {
    let (width, height) = (short(scene.width), short(scene.height));
    let mut out = format!("<svg viewBox=\"0 0 {width} {height}\"");
    if summary.is_empty() {
        out += " aria-hidden=\"true\"";
    } else {
        write!(out, " role=\"img\" aria-label=\"{}\"", escape(summary)).expect(WRITES);
    }
    if !scene.reading.is_empty() {
        // JSON has many double quotes, each of which would take six bytes between double quotes.
        let text = scene.reading.replace('&', "&amp;").replace('<', "&lt;");
        write!(out, " data-reading='{}'", text.replace('\'', "&#39;")).expect(WRITES);
    }
    let grid = layer(scene, Layer::Grid);
    write!(
        out,
        ">{grid}<g class=\"u\">{}</g><g class=\"z\">",
        layer(scene, Layer::Upright)
    )
    .expect(WRITES);
    for line in 0..scene.groups {
        let signs = layer(scene, Layer::Signs(line)).replace("<path ", "<path data-s ");
        write!(out, "<g>{}{signs}</g>", layer(scene, Layer::Data(line))).expect(WRITES);
    }
    let ticks = layer(scene, Layer::Ticks);
    write!(
        out,
        "</g>{}<g class=\"x\">{ticks}</g>",
        layer(scene, Layer::Fixed)
    )
    .expect(WRITES);
    for entry in 0.. {
        let drawn = layer(scene, Layer::Entry(entry));
        if drawn.is_empty() {
            break;
        }
        write!(out, "<g class=\"n\">{drawn}</g>").expect(WRITES);
    }
    out + "</svg>"
}

/// The items of a layer. Items with the same look become one path; the signs of a line need no order.
fn layer(scene: &Scene, layer: Layer) -> String {
    let mut body = String::new();
    // Paths that are not written yet, each with its look.
    let mut paths: Vec<(String, String)> = Vec::new();
    let mut anchored = Anchor::Start;
    let items = scene.items.iter().filter(|(own, _)| *own == layer);
    for (_, item) in items {
        let data = match item {
            Item::Text(label) => {
                put_paths(&mut body, &mut paths);
                gather(&mut body, &mut anchored, label.anchor);
                put_text(&mut body, label).expect(WRITES);
                continue;
            }
            Item::Stroke(stroke) => steps(&stroke.path),
            // A filled path is closed anyway.
            Item::Fill(fill) => ring(&fill.path).unwrap_or_else(|| steps(&fill.path)),
        };
        if matches!(item, Item::Fill(_)) && is_flat(&data) {
            continue;
        }
        gather(&mut body, &mut anchored, Anchor::Start);
        let look = look(item);
        let first = match layer {
            Layer::Signs(_) => 0,
            _ => paths.len().saturating_sub(1),
        };
        match paths[first..].iter_mut().find(|(own, _)| *own == look) {
            Some((_, path)) => *path += &data,
            None => paths.push((look, data)),
        }
    }
    put_paths(&mut body, &mut paths);
    gather(&mut body, &mut anchored, Anchor::Start);
    body
}

fn put_paths(body: &mut String, paths: &mut Vec<(String, String)>) {
    for (look, data) in paths.drain(..) {
        write!(body, "<path d=\"{data}\"{look}/>").expect(WRITES);
    }
}

/// Begins a group of texts with the same anchor, unless one has begun. Texts anchored at their start have no group.
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
        Item::Stroke(stroke) if stroke.colour == PALE => " class=\"g\"".to_owned(),
        Item::Stroke(stroke) if stroke.colour == INK && stroke.dashes.is_empty() => {
            " class=\"a\"".to_owned()
        }
        Item::Stroke(stroke) => {
            let mut look = format!(
                " stroke=\"{}\" stroke-width=\"{}\"",
                tone(stroke.colour),
                short(stroke.width)
            );
            if !stroke.dashes.is_empty() {
                let dashes: Vec<_> = stroke.dashes.iter().map(|dash| short(*dash)).collect();
                write!(look, " stroke-dasharray=\"{}\"", dashes.join(" ")).expect(WRITES);
            }
            look + &opacity(stroke.percent)
        }
        Item::Fill(fill) => format!(" fill=\"{}\"{}", tone(fill.colour), opacity(fill.percent)),
        Item::Text(_) => String::new(),
    }
}

fn put_text(out: &mut String, label: &Label) -> std::fmt::Result {
    let size = match short(label.size).as_str() {
        "7.5" => String::new(),
        "8" => " class=\"t\"".to_owned(),
        size => format!(" style=\"font-size:{size}px\""),
    };
    let (x, y) = (tenth(label.at.0), tenth(label.at.1));
    let place = if label.upward {
        format!("transform=\"translate({x} {y})rotate(-90)\"")
    } else {
        format!("x=\"{x}\" y=\"{y}\"")
    };
    write!(out, "<text {place}{size}>{}</text>", escape(&label.text))
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

/// A path in steps from point to point, in tenths of a point: finer than a screen.
fn steps(path: &[(f64, f64)]) -> String {
    let mut data = String::new();
    let mut last: Option<(f64, f64)> = None;
    let grid = |value: f64| libm::round(value * 10.0);
    for (x, y) in thinned(path).into_iter().map(|(x, y)| (grid(x), grid(y))) {
        let step = last.map(|(before, above)| (x - before, y - above));
        match step {
            None => {
                put_tenths(&mut data, "M", x);
                put_tenths(&mut data, " ", y);
            }
            Some((0.0, 0.0)) => {}
            Some((0.0, down)) => put_tenths(&mut data, "v", down),
            Some((right, 0.0)) => put_tenths(&mut data, "h", right),
            Some((right, down)) => {
                put_tenths(&mut data, "l", right);
                // A sign separates numbers, too.
                put_tenths(&mut data, if down < 0.0 { "" } else { " " }, down);
            }
        }
        last = Some((x, y));
    }
    data
}

/// For a long path the first, the lowest, the highest and the last corner of each column: see [`crate::thin`].
fn thinned(path: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if path.len() <= LONG {
        return path.to_vec();
    }
    let column = |(x, _): &(f64, f64)| libm::floor(x / COLUMN);
    let columns = path.chunk_by(|one, next| column(one).total_cmp(&column(next)).is_eq());
    let corners = columns.flat_map(|corners| {
        let by_height = |one: &usize, other: &usize| corners[*one].1.total_cmp(&corners[*other].1);
        let places = 0..corners.len();
        let (least, greatest) = (places.clone().min_by(by_height), places.max_by(by_height));
        let mut kept = [
            0,
            least.unwrap_or(0),
            greatest.unwrap_or(0),
            corners.len() - 1,
        ];
        kept.sort_unstable();
        kept.map(|place| corners[place])
    });
    corners.collect()
}

/// Whether a path is a straight line, so that it encloses nothing.
fn is_flat(data: &str) -> bool {
    let bends = data.contains('h') && data.contains('v');
    !(bends || data.contains(['a', 'l']))
}

/// A number with at most one decimal, and without a zero before the point.
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

/// Appends `before` and what [`tenth`] returns for a whole number of tenths. Most of a drawing is such numbers, and to
/// write the digits of an integer takes a tenth of the time.
fn put_tenths(out: &mut String, before: &str, tenths: f64) {
    out.push_str(before);
    if libm::fabs(tenths) < EXACT {
        let whole = base::cast::whole(libm::fabs(tenths));
        let (points, rest) = (whole / 10, whole % 10);
        *out += if tenths < 0.0 { "-" } else { "" };
        if points > 0 || rest == 0 {
            write!(out, "{points}").expect(WRITES);
        }
        if rest > 0 {
            write!(out, ".{rest}").expect(WRITES);
        }
    } else {
        out.push_str(&tenth(tenths / 10.0));
    }
}

/// Tenths below which every whole number has a text of its own.
const EXACT: f64 = 1e12;

/// The number of corners from which a path counts as long, and the width of a column of its samples in points.
const LONG: usize = 500;
const COLUMN: f64 = 0.5;

/// Corners of a polygon that looks round.
const ROUND: usize = 16;

/// Why writing cannot fail.
const WRITES: &str = "writing to a string succeeds";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_have_the_same_text_as_integers_and_as_floats() {
        let near = (-2_000..2_000).map(f64::from);
        let strange = [-0.0, 1e11, -1e13, f64::NAN, f64::INFINITY];
        for tenths in near.chain(strange) {
            let mut out = String::new();
            put_tenths(&mut out, "h", tenths);
            assert_eq!(out, format!("h{}", tenth(tenths / 10.0)));
        }
    }
}
