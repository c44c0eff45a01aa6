//! Slowdowns by the sizes of flows, as papers on transports for data centres plot them.

use crate::data::{self, Bin, Data};
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, slug};

/// A statistic of the flows of a bin, and its name.
type Statistic = (&'static str, fn(&Bin) -> Option<f64>);

const STATISTICS: [Statistic; 3] = [
    ("99th percentile", |bin| bin.percentile(99)),
    ("median", |bin| bin.percentile(50)),
    ("mean", |bin| Some(bin.mean())),
];

/// Views by statistic, each with a figure for every combination; empty if all flows have about the same size.
pub(crate) fn views(data: &Data<'_>) -> Vec<(String, Vec<Figure>)> {
    let mut all = data.runs.iter().flat_map(|run| run.slowdowns.values());
    if !all.any(|slowdowns| slowdowns.bins().count() > 1) {
        return Vec::new();
    }
    let views = STATISTICS.into_iter();
    let views = views.map(|(name, of)| (name.to_owned(), figures(data, (name, of))));
    views.filter(|(_, figures)| !figures.is_empty()).collect()
}

/// Every figure.
pub(crate) fn all(data: &Data<'_>) -> Vec<Figure> {
    let views = views(data).into_iter();
    views.flat_map(|(_, figures)| figures).collect()
}

fn figures(data: &Data<'_>, (name, of): Statistic) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (number, run) in data.runs.iter().enumerate() {
        for (index, slowdowns) in &run.slowdowns {
            let row = &run.summary.rows[*index];
            let place = data::place(row);
            let choice = if place.is_empty() {
                name.to_owned()
            } else {
                format!("{name}, {place}")
            };
            let points = slowdowns.bins().filter_map(|bin| {
                let slowdown = of(bin)?;
                Some(PlotPoint::new(bin.size() / 1e3, slowdown))
            });
            let line = PlotLine {
                label: data.label(&row.scheme, number),
                style: data.palette.style(&row.scheme, number),
                shape: Shape::Joined,
                points: points.collect(),
            };
            match figures.iter_mut().find(|figure| figure.choice == choice) {
                Some(figure) => figure.lines.push(line),
                None => figures.push(figure(name, choice, line)),
            }
        }
    }
    figures.retain(|figure| !figure.is_empty());
    figures.reverse();
    figures
}

fn figure(statistic: &str, choice: String, line: PlotLine) -> Figure {
    let mut x = Axis::new("Flow size", "KB");
    x.log = true;
    let mut y = Axis::new(format!("Slowdown, {statistic}"), "");
    y.log = true;
    Figure {
        name: slug(&format!("slowdown-sizes {choice}")),
        chart: "slowdown-sizes".into(),
        choice,
        title: "Slowdown by size".into(),
        caption: CAPTION.into(),
        x,
        y,
        lines: vec![line],
    }
}

const CAPTION: &str = "Completion time over the time that the flow would take alone in the network, of the flows of \
                       about one size, over all seeds: sizes from 1, 2 and 5 times a power of ten up to the next, each \
                       at its mean, and percentiles to one percent. A percentile beyond which fewer than one flow lies \
                       is left out.";
