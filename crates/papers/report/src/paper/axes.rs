//! A chart of a run on the axes of a paper's figure, from the metrics of the run alone.
//!
//! A page that simulates has no run folders: series and single flows of a whole sweep are not kept. So it draws the lines of
//! a figure that are metrics, and of these the panels over a swept setting. [`OnAxes::of`] says which those are, and
//! `cargo test -p report` compares them with the panels of the page of the paper.

use claims::unit::Dimension;
use claims::{Measure, Of, Plot, PlotKind};
use results::{Recorded, Row};
use serde::{Deserialize, Serialize};

use super::given_axis::GivenAxis;
use super::panel::{self, point, sweep};
use crate::figure::{Figure, Line, Point, Shape};
use crate::palette::Palette;
use crate::units;

/// A panel of a paper's figure that metrics of a run fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnAxes {
    /// The setting along the horizontal axis.
    pub key: String,
    /// Values of other swept settings at which the paper draws it.
    pub at: Vec<(String, String)>,
    title: String,
    caption: String,
    x: GivenAxis,
    y: GivenAxis,
    /// How many of the metrics' units the unit of the vertical axis has; none where the axis takes one that fits.
    size: Option<f64>,
    lines: Vec<MetricLine>,
    /// Points of the paper's own figure, by scheme.
    published: Vec<(String, Vec<(f64, f64)>)>,
}

/// A metric that is drawn for each scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MetricLine {
    metric: String,
    /// Metrics at the ends of the bar at each point.
    ends: Option<(String, String)>,
    label: String,
    /// Schemes that it is drawn for; empty: all.
    schemes: Vec<String>,
}

impl OnAxes {
    /// The panel `plot` of a figure whose run sweeps `axes` and sends full packets of `packet` bytes. `None` if it is not over a
    /// swept setting of that run at one value of each other one, or no line of it is a metric.
    pub fn of(plot: &Plot, title: &str, axes: &[String], packet: f64) -> Option<Self> {
        let is_sweep = plot.kind == PlotKind::Sweep && plot.x.sizes.is_empty();
        if !is_sweep || plot.run.is_some() {
            return None;
        }
        let key = plot.x.key.as_ref().or(axes.first())?;
        let at = plot.at.iter().map(|(other, texts)| match &texts[..] {
            [text] if other != key => Some((other.clone(), text.clone())),
            _ => None,
        });
        let at = at.collect::<Option<_>>()?;
        let drawn = plot.lines.iter().filter_map(|line| {
            let ends = match line.low.as_ref().zip(line.high.as_ref()) {
                Some((low, high)) => Some((metric(low)?, metric(high)?)),
                None => None,
            };
            let schemes = if line.schemes.is_empty() {
                &plot.schemes
            } else {
                &line.schemes
            };
            let own = MetricLine {
                metric: metric(&line.measure)?.to_owned(),
                ends: ends.map(|(low, high)| (low.to_owned(), high.to_owned())),
                label: line.label.clone(),
                schemes: schemes.clone(),
            };
            // Lines at a value of their own are of another sweep than that of the page.
            line.at.is_empty().then_some((own, &line.measure))
        });
        let (lines, measures): (Vec<_>, Vec<_>) = drawn.unzip();
        let first: &Measure = measures.first()?;
        let dimension: Dimension = first.value_dimension();
        let size = plot.y.unit.as_deref();
        Some(Self {
            x: GivenAxis::of(&plot.x, || units::words(key)),
            y: GivenAxis::of(&plot.y, || panel::name(first)),
            key: key.clone(),
            at,
            title: [plot.title.as_str(), title]
                .into_iter()
                .find(|text| !text.is_empty())?
                .to_owned(),
            caption: plot.caption.clone(),
            size: size.and_then(|unit| dimension.scale(unit, packet)),
            lines,
            published: plot.paper.clone(),
        })
    }

    /// The figure of a run that sweeps the setting.
    pub fn figure(&self, run: &dyn Recorded) -> Figure {
        let summary = run.summary();
        let mut texts: Vec<&str> = Vec::new();
        for text in summary.rows.iter().filter_map(|row| row.setting(&self.key)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let (mut x, places) = sweep::places(&texts, &self.x);
        let place = |row: &Row| {
            let text = row.setting(&self.key)?;
            let found = texts.iter().position(|own| *own == text)?;
            Some(places[found])
        };
        let palette = Palette::new(summary.schemes.iter().map(String::as_str));
        let mut lines = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            for scheme in summary.schemes.iter().filter(|scheme| line.is_of(scheme)) {
                let rows = summary.rows.iter().filter(|row| row.scheme == *scheme);
                let points = rows.filter_map(|row| line.point(row, place(row)?));
                let mut points: Vec<Point> = points.collect();
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                lines.push(Line {
                    label: line.name(scheme, summary.schemes.len() > 1),
                    style: palette.style(scheme, index),
                    shape: line.shape(),
                    points,
                });
            }
        }
        let points = lines.iter().flat_map(|line| &line.points);
        let greatest = points.map(|point| point.y).fold(0.0, f64::max);
        let fitting = units::unit(units::of_metric(&self.lines[0].metric), greatest);
        let (size, unit) = match (self.size, &self.y.unit) {
            (Some(size), Some(unit)) => (size, unit.as_str()),
            _ => (fitting.size, fitting.name),
        };
        for point in lines.iter_mut().flat_map(|line| &mut line.points) {
            point::scale(point, size);
        }
        sweep::beside(&mut lines, &mut x);
        let shown = |(scheme, _): &&(String, _)| summary.schemes.contains(scheme);
        let published = self.published.iter().filter(shown);
        let published: Vec<Line> = published
            .map(|(scheme, points)| panel::published(&palette, scheme, points))
            .collect();
        // Behind ours, so that these stay legible.
        lines.splice(0..0, published);
        lines.retain(|line| !line.points.is_empty());
        Figure {
            name: "paper".to_owned(),
            chart: "paper".to_owned(),
            choice: String::new(),
            title: self.title.clone(),
            caption: self.caption.clone(),
            x,
            y: self.y.axis(unit),
            lines,
        }
    }
}

impl MetricLine {
    fn is_of(&self, scheme: &String) -> bool {
        self.schemes.is_empty() || self.schemes.contains(scheme)
    }

    /// The point of a row at `x`, in the units of the columns; none if nothing was measured.
    fn point(&self, row: &Row, x: f64) -> Option<Point> {
        let y = Some(row.value(&self.metric)).filter(|value| !value.is_nan())?;
        let ends = self.ends.as_ref();
        Some(Point {
            x,
            y,
            interval: ends.map(|(low, high)| (row.value(low), row.value(high))),
            ..Point::default()
        })
    }

    /// Its name in the legend, where there are `several` schemes or not.
    fn name(&self, scheme: &str, several: bool) -> String {
        let is_named = self.label.is_empty() || several;
        panel::joined([if is_named { scheme } else { "" }, &self.label])
    }

    const fn shape(&self) -> Shape {
        if self.ends.is_some() {
            Shape::Ranges
        } else {
            Shape::Joined
        }
    }
}

/// The metric that a measure is, if it is one as it stands.
fn metric(measure: &Measure) -> Option<&'static str> {
    match measure.of {
        Of::Metric(name) if measure.reduction_from.is_none() => Some(name),
        _ => None,
    }
}
