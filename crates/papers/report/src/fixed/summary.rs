//! A figure in words, for readers who cannot see it.

use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape};
use crate::units;

/// The title, then the axes and the least and greatest value of each line:
/// `Goodput. Goodput (Mbit/s) over Senders from 4 to 8: dctcp 880 to 920, rcc 910.`
pub(super) fn of(figure: &Figure) -> String {
    let mut names: Vec<&str> = Vec::new();
    let lines = figure.lines.iter().filter(|line| !line.points.is_empty());
    for line in lines.filter(|line| line.shape != Shape::Limit) {
        if !line.label.is_empty() && !names.contains(&line.label.as_str()) {
            names.push(&line.label);
        }
    }
    let values = |name: &str| {
        let lines = figure.lines.iter().filter(|line| line.label == name);
        let values =
            ends(lines.flat_map(|line| line.points.iter().map(move |point| value(line, point))));
        format!("{name} {}", values.unwrap_or_default())
            .trim()
            .to_owned()
    };
    let mut said: Vec<String> = names.iter().take(NAMED).map(|name| values(name)).collect();
    if let Some(more @ 1..) = names.len().checked_sub(NAMED) {
        said.push(format!("and {more} more"));
    }
    let sentence = [axes(figure), said.join(", ")];
    let sentence = sentence.into_iter().filter(|part| !part.is_empty());
    let sentence = sentence.collect::<Vec<_>>().join(": ");
    format!("{}. {sentence}.", figure.full_title())
}

/// What is drawn over what.
fn axes(figure: &Figure) -> String {
    let is_named = |axis: &&Axis| !axis.label.is_empty();
    let named = [&figure.y, &figure.x].into_iter().filter(is_named);
    let named = named.map(Axis::title).collect::<Vec<_>>().join(" over ");
    let points = figure.lines.iter().flat_map(|line| &line.points);
    match ends(points.map(|point| point.x)) {
        Some(ends) if is_named(&&figure.x) && figure.x.categories.is_empty() => {
            format!("{named} from {ends}")
        }
        _ => named,
    }
}

/// The value of a point; for a part of a bar its size.
fn value(line: &PlotLine, point: &PlotPoint) -> f64 {
    match (line.shape, point.inner) {
        (Shape::Stack(..), Some((low, high))) => high - low,
        _ => point.y,
    }
}

/// The least and the greatest of values, or the only one.
fn ends(values: impl Iterator<Item = f64>) -> Option<String> {
    let values = values.filter(|value| value.is_finite());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return None;
    }
    let (low, high) = (units::number(low, 3), units::number(high, 3));
    Some(if low == high {
        low
    } else {
        format!("{low} to {high}")
    })
}

/// The most lines whose values are read.
const NAMED: usize = 8;
