//! Figures for the browser: the traces and the layout that Plotly draws.
//!
//! The objects are written as Plotly's reference describes them. Colours of text and axes are left to the page, which knows whether it is dark.

use serde_json::{Value, json};

use crate::figure::{Axis, Cells, Figure, Line, Mark, Point, Shape, Style};
use crate::palette::Marker;

/// Plotly's script with what is drawn here: lines, markers and bars. A file, since the crate that brings the
/// whole of it needs many others, and every report would hold charts that it does not draw.
pub(crate) const SCRIPT: &str = include_str!("../assets/plotly-basic.min.js");

/// A figure as the page's script expects it.
pub(crate) fn json(figure: &Figure) -> Value {
    json!({
        "name": figure.name,
        "data": figure.lines.iter().flat_map(|line| traces(figure, line)).collect::<Vec<_>>(),
        "layout": layout(figure),
    })
}

fn layout(figure: &Figure) -> Value {
    let close = figure.lines.iter().all(|line| {
        let shape = line.shape;
        matches!(
            shape,
            Shape::Joined | Shape::Bars(_) | Shape::Model | Shape::Curve
        )
    });
    json!({
        "xaxis": axis(&figure.x),
        "yaxis": axis(&figure.y),
        "showlegend": figure.lines.iter().any(|line| figure.names(line)),
        "hovermode": if close && figure.x.categories.is_empty() { "x" } else { "closest" },
        "barmode": "overlay",
    })
}

fn axis(axis: &Axis) -> Value {
    let mut object = json!({
        "title": { "text": escape(&axis.title()) },
        "type": if axis.log { "log" } else { "linear" },
    });
    if !axis.categories.is_empty() {
        let names: Vec<_> = axis.categories.iter().map(|name| escape(name)).collect();
        object["tickmode"] = json!("array");
        object["tickvals"] = json!((0..names.len()).collect::<Vec<_>>());
        object["ticktext"] = json!(names);
        object["showgrid"] = json!(false);
    }
    match axis.range {
        Some(range) => {
            // Plotly counts the ends of a logarithmic axis in powers of ten.
            let ends = |end: f64| if axis.log { libm::log10(end) } else { end };
            let (low, high) = (ends(range.0), ends(range.1));
            let room = (high - low) * 0.02;
            object["range"] = json!([low - room, high + room]);
        }
        None if !axis.log && axis.categories.is_empty() => object["rangemode"] = json!("tozero"),
        None => {}
    }
    object
}

/// What Plotly draws of a line: one trace, and for ranges two more behind their markers.
fn traces(figure: &Figure, line: &Line) -> Vec<Value> {
    let mut trace = trace(figure, line);
    if line.shape != Shape::Ranges {
        return vec![trace];
    }
    trace["legendgroup"] = trace["name"].clone();
    let bars = line
        .points
        .iter()
        .map(|point| point.inner.or(point.interval));
    let mut bars = behind(&trace, bars.collect(), line.style);
    bars["error_y"]["thickness"] = json!(RANGE_PIXELS);
    bars["error_y"]["width"] = json!(0);
    bars["opacity"] = json!(0.45);
    let outer = line.points.iter().map(|point| point.interval);
    let mut outer = behind(&trace, outer.collect(), line.style);
    outer["error_y"]["width"] = json!(RANGE_PIXELS / 2);
    vec![bars, outer, trace]
}

/// A trace of upright lines over `intervals`, which need not hold the values of `trace`.
fn behind(trace: &Value, intervals: Vec<Option<(f64, f64)>>, style: Style) -> Value {
    let centred = intervals.into_iter().map(|interval| Point {
        y: interval.map_or(f64::NAN, |(low, high)| f64::midpoint(low, high)),
        interval,
        ..Point::default()
    });
    let centred: Vec<Point> = centred.collect();
    let mut behind = trace.clone();
    behind["y"] = centred.iter().map(|point| short(point.y)).collect();
    behind["error_y"] = arms(&centred, &json!(style.hex()));
    behind["marker"]["opacity"] = json!(0);
    behind["hoverinfo"] = json!("skip");
    behind["showlegend"] = json!(false);
    if let Some(members) = behind.as_object_mut() {
        members.remove("hovertemplate");
    }
    behind
}

fn trace(figure: &Figure, line: &Line) -> Value {
    let (points, colour) = (&line.points, line.style.hex());
    let mut trace = json!({
        "type": "scatter",
        "name": escape(&line.label),
        "x": points.iter().map(|point| short(point.x)).collect::<Vec<_>>(),
        "y": points.iter().map(|point| short(point.y)).collect::<Vec<_>>(),
        "hovertemplate": hover(figure, line),
    });
    let stroke = json!({ "color": colour, "width": 2, "dash": dash(line, 2.0) });
    match line.shape {
        Shape::Joined => {
            trace["mode"] = json!("lines+markers");
            trace["line"] = stroke;
            let mut symbol = symbol(line.style.marker()).to_owned();
            if line.style.open {
                symbol.push_str("-open");
            }
            trace["marker"] = json!({ "color": colour, "size": 8, "symbol": symbol });
        }
        Shape::Step | Shape::Faint => {
            let faint = line.shape == Shape::Faint;
            trace["mode"] = json!("lines");
            trace["line"] = json!({
                "color": colour,
                "width": if faint { 1.0 } else { 1.6 },
                "dash": dash(line, 1.6),
                "shape": "hv",
            });
            trace["opacity"] = json!(if faint { 0.55 } else { 1.0 });
            trace["showlegend"] = json!(!faint);
        }
        Shape::Curve => {
            trace["mode"] = json!("lines");
            trace["line"] = stroke;
        }
        Shape::Cells(shape) => cells(&mut trace, (figure, line), shape),
        Shape::Stack(..) | Shape::Limit => limits(&mut trace, line),
        Shape::Bars(width) => {
            trace["type"] = json!("bar");
            trace["width"] = json!(width);
            trace["marker"] = json!({ "color": colour });
        }
        Shape::Spans => spans(&mut trace, points, &colour),
        Shape::Ranges => {
            let symbol = symbol(line.style.marker());
            trace["mode"] = json!("markers");
            trace["marker"] = json!({ "color": colour, "size": 6, "symbol": symbol });
            let ends = points.iter().map(|point| {
                let (low, high) = point.interval.unwrap_or((point.y, point.y));
                [short(low), short(high)]
            });
            trace["customdata"] = json!(ends.collect::<Vec<_>>());
        }
        Shape::Model => {
            trace["mode"] = json!("lines");
            trace["line"] = json!({ "color": null, "width": 2, "dash": "7px,4px" });
        }
        Shape::Marks(mark) => {
            let symbol = match mark {
                Mark::Cross => "x-thin-open",
                Mark::Triangle => "triangle-up",
            };
            // About as high as the flow it belongs to, as long as it can be seen.
            let flows = figure.y.range.map_or(1.0, |(low, high)| high - low);
            let size = (1.5 * PLOT_PIXELS / flows).clamp(4.0, 8.0);
            trace["mode"] = json!("markers");
            // The page fills in the colour of its text.
            let edge = json!({ "width": 1, "color": null });
            trace["marker"] =
                json!({ "color": null, "size": size, "symbol": symbol, "line": edge });
        }
    }
    let single = line.shape != Shape::Ranges;
    if single && points.iter().any(|point| point.interval.is_some()) {
        // A bar of its own colour would vanish inside the bar.
        let own = if line.is_bars() {
            Value::Null
        } else {
            json!(colour)
        };
        trace["error_y"] = arms(points, &own);
    }
    trace
}

/// Parts of bars, and lines across.
fn limits(trace: &mut Value, line: &Line) {
    if let Shape::Stack(width, percent) = line.shape {
        let inner = line
            .points
            .iter()
            .map(|point| point.inner.unwrap_or_default());
        let (base, length): (Vec<f64>, Vec<f64>) =
            inner.map(|(low, high)| (low, high - low)).unzip();
        trace["type"] = json!("bar");
        trace["width"] = json!(width);
        trace["base"] = json!(base);
        trace["y"] = json!(length);
        let opacity = f64::from(percent) / 100.0;
        trace["marker"] = json!({ "color": line.style.hex(), "opacity": opacity });
    } else {
        trace["mode"] = json!("lines");
        trace["line"] = json!({ "color": null, "width": 1, "dash": "4px,4px" });
    }
}

/// Lines over the intervals of points.
fn arms(points: &[Point], colour: &Value) -> Value {
    let arm = |end: fn(&Point) -> Option<f64>| -> Vec<_> {
        let lengths = points.iter().map(|point| end(point).unwrap_or(0.0));
        lengths.map(|length| short(length.max(0.0))).collect()
    };
    json!({
        "type": "data",
        "symmetric": false,
        "array": arm(|point| Some(point.interval?.1 - point.y)),
        "arrayminus": arm(|point| Some(point.y - point.interval?.0)),
        "thickness": 1.2,
        "width": 4,
        "color": colour,
    })
}

/// Filled rectangles around the points, with gaps between their outlines.
fn cells(trace: &mut Value, (figure, line): (&Figure, &Line), shape: Cells) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for point in &line.points {
        let [left, right, lower, upper] = shape.around(figure, point);
        x.extend([left, right, right, left, left, f64::NAN].map(short));
        y.extend([lower, lower, upper, upper, lower, f64::NAN].map(short));
    }
    let (red, green, blue) = line.style.colour();
    let opacity = f64::from(shape.percent) / 100.0;
    trace["x"] = json!(x);
    trace["y"] = json!(y);
    trace["mode"] = json!("lines");
    trace["line"] = json!({ "width": 0, "color": line.style.hex() });
    trace["fill"] = json!("toself");
    trace["fillcolor"] = json!(format!("rgba({red},{green},{blue},{opacity})"));
    trace["hoveron"] = json!("fills");
    trace["hoverinfo"] = json!("name");
    if let Some(members) = trace.as_object_mut() {
        members.remove("hovertemplate");
    }
}

/// Lines from start to end of every flow, with gaps between.
fn spans(trace: &mut Value, points: &[Point], colour: &str) {
    let gaps = |of: fn(&Point) -> f64| -> Vec<Value> {
        let pairs = points.chunks(2);
        pairs
            .flat_map(|pair| {
                pair.iter()
                    .map(|point| short(of(point)))
                    .chain([Value::Null])
            })
            .collect()
    };
    trace["x"] = json!(gaps(|point| point.x));
    trace["y"] = json!(gaps(|point| point.y));
    trace["mode"] = json!("lines");
    let width = bar_width(points.len() / 2);
    trace["line"] = json!({ "color": colour, "width": width });
    trace["opacity"] = json!(0.75);
}

/// Pixels of a flow's bar, so that neighbours do not touch.
fn bar_width(flows: usize) -> usize {
    (PLOT_HEIGHT / flows.max(1)).saturating_sub(1).clamp(1, 12)
}

/// Pixels of the smallest plotting area.
const PLOT_HEIGHT: usize = 210;
const PLOT_PIXELS: f64 = 210.0;

/// Width of a range.
const RANGE_PIXELS: u32 = 4;

/// What is shown under the pointer, with units.
fn hover(figure: &Figure, line: &Line) -> String {
    let unit = |axis: &Axis| {
        if axis.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", escape(&axis.unit))
        }
    };
    let (x, y) = (&figure.x, &figure.y);
    let value = if line.shape == Shape::Ranges {
        format!(
            "%{{y:.4~g}}{unit} (%{{customdata[0]:.4~g}} to %{{customdata[1]:.4~g}})",
            unit = unit(y)
        )
    } else if line.points.iter().any(|point| point.interval.is_some()) {
        format!(
            "%{{y:.4~g}}{unit} (+%{{error_y.array:.3~g}} −%{{error_y.arrayminus:.3~g}})",
            unit = unit(y)
        )
    } else {
        format!("%{{y:.5~g}}{}", unit(y))
    };
    let name = escape(&line.label);
    let x_name = escape(&x.label);
    match line.shape {
        Shape::Spans | Shape::Marks(_) => {
            format!("flow %{{y}}: %{{x:.6~g}}{}<extra>{name}</extra>", unit(x))
        }
        _ if !x.categories.is_empty() => format!("{value}<extra>{name}</extra>"),
        _ => format!(
            "{value}<br>{x_name} %{{x:.6~g}}{}<extra>{name}</extra>",
            unit(x)
        ),
    }
}

fn dash(line: &Line, width: f64) -> String {
    let dashes = line.style.dashes();
    if dashes.is_empty() || line.shape == Shape::Faint {
        return "solid".into();
    }
    let lengths: Vec<_> = dashes
        .iter()
        .map(|length| format!("{:.1}px", length * width))
        .collect();
    lengths.join(",")
}

fn symbol(marker: Marker) -> &'static str {
    match marker {
        Marker::Circle => "circle",
        Marker::Square => "square",
        Marker::Diamond => "diamond",
        Marker::Up => "triangle-up",
        Marker::Down => "triangle-down",
        Marker::Plus => "cross",
        Marker::Cross => "x",
    }
}

/// Six significant digits: more than a screen can show, and a third of the bytes.
fn short(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    format!("{value:.5e}")
        .parse::<f64>()
        .map_or(Value::Null, |value| json!(value))
}

/// Plotly reads texts as a small part of HTML, and `%{` as a place to fill in.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace("%{", "%&#123;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_can_stand_in_a_page() {
        assert!(SCRIPT.starts_with("/**\n* plotly.js (basic - minified) v"));
        assert!(SCRIPT.contains("Licensed under the MIT license"));
        assert!(SCRIPT.trim_end().ends_with(';'), "it is whole");
        assert!(!SCRIPT.contains("</script"), "nothing ends it early");
    }

    #[test]
    fn numbers_are_rounded_to_six_digits() {
        assert_eq!(short(12.345_678_9), json!(12.3457));
        assert_eq!(short(f64::NAN), Value::Null);
    }
}
