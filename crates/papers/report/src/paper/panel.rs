//! A panel of a paper's figure, from its description and the run that it shows.
//!
//! Axes, ranges and order are taken from the description, which follows the paper, so that the two pictures can be
//! compared. Values outside a range, and values that a logarithmic axis cannot show, are mentioned in the caption.

mod bars;
mod cdf;
mod point;
mod sizes;
mod sweep;
mod time;

use claims::unit::Dimension;
use claims::{Measure, MeasuredRun, Of, Plot, PlotKind, Statistic};
use results::{Row, Summary};
use scenario::Problems;

use super::given_axis::GivenAxis;
use crate::figure::{self, Axis, Figure, PlotLine, Shape, Style};
use crate::palette::Palette;
use crate::units;

/// The data of a panel.
pub(super) struct Panel<'a> {
    /// The description.
    pub(super) plot: &'a Plot,
    /// The run it shows.
    pub(super) run: &'a MeasuredRun,
    /// The colours of the paper's schemes.
    pub(super) palette: &'a Palette,
}

/// A line of the description for one scheme at one combination of the settings that are on no axis.
struct Track<'a> {
    /// Index of the line in the description.
    index: usize,
    line: &'a claims::PanelLine,
    scheme: &'a str,
    /// This combination in words; empty if there is only one.
    rest: String,
    /// Places in [`Summary::rows`].
    rows: Vec<usize>,
}

/// A unit and the divisor for values of the column.
#[derive(Clone, Debug, PartialEq)]
struct ColumnUnit {
    size: f64,
    name: String,
}

/// Both axes and the lines.
type AxesAndLines = (Axis, Axis, Vec<PlotLine>);

/// The panel as a figure of this name.
pub(super) fn draw(panel: &Panel<'_>, name: String, title: String) -> Result<Figure, Problems> {
    let (x, y, lines) = match panel.plot.kind {
        _ if !panel.plot.x.sizes.is_empty() => sizes::draw(panel)?,
        PlotKind::Sweep => sweep::draw(panel)?,
        PlotKind::Cdf => cdf::draw(panel)?,
        PlotKind::Time => time::draw(panel)?,
        PlotKind::Bars => bars::draw(panel)?,
    };
    let mut figure = Figure {
        chart: name.clone(),
        name,
        choice: String::new(),
        title,
        caption: String::new(),
        x,
        y,
        lines,
    };
    // Behind our lines, so that ours stay legible.
    figure.lines.splice(0..0, panel.published());
    figure.lines.retain(|line| !line.points.is_empty());
    if let [line] = figure.lines.as_mut_slice() {
        // There is no other line to distinguish it from.
        line.style.dash = 0;
    }
    figure.caption = caption(panel, &figure);
    Ok(figure)
}

impl<'a> Panel<'a> {
    fn summary(&self) -> &'a Summary {
        self.run.run().summary()
    }

    fn row(&self, index: usize) -> &'a Row {
        &self.summary().rows[index]
    }

    /// Every line for every scheme, in the order of the legend. Values of `key` are on an axis.
    fn tracks(&self, key: Option<&str>) -> Vec<Track<'a>> {
        let mut tracks: Vec<Track<'a>> = Vec::new();
        for (index, line) in self.plot.lines.iter().enumerate() {
            for scheme in self.schemes(line) {
                for row in self.run.rows(scheme, &[&self.plot.at, &line.at]) {
                    let rest = rest(self.row(row), key);
                    let same = |track: &&mut Track<'_>| {
                        (track.index, track.scheme) == (index, scheme) && track.rest == rest
                    };
                    match tracks.iter_mut().find(same) {
                        Some(track) => track.rows.push(row),
                        None => tracks.push(Track {
                            index,
                            line,
                            scheme,
                            rest,
                            rows: vec![row],
                        }),
                    }
                }
            }
        }
        without_common(&mut tracks);
        tracks
    }

    /// The schemes for which a line is drawn. An equation does not depend on the scheme.
    fn schemes(&self, line: &'a claims::PanelLine) -> Vec<&'a str> {
        let lists = [&line.schemes, &self.plot.schemes, &self.summary().schemes];
        let list = lists.into_iter().find(|schemes| !schemes.is_empty());
        let mut schemes: Vec<&str> = list.into_iter().flatten().map(String::as_str).collect();
        if is_model(&line.measure) {
            schemes.truncate(1);
        }
        schemes
    }

    /// The points of the paper's own figure: open markers in the colours of the schemes.
    fn published(&self) -> Vec<PlotLine> {
        let schemes = self.plot.paper.iter();
        let lines = schemes.map(|(scheme, points)| published(self.palette, scheme, points));
        lines.collect()
    }

    fn style(&self, track: &Track<'_>) -> Style {
        self.palette.style(track.scheme, track.index)
    }

    /// The unit of an axis that shows values of this dimension, up to the greatest.
    fn unit(&self, wanted: Option<&str>, dimension: Dimension, greatest: f64) -> ColumnUnit {
        let packet = self.run.packet_bytes(0);
        if let Some(name) = wanted
            && let Some(size) = dimension.scale(name, packet)
        {
            return ColumnUnit {
                size,
                name: name.to_owned(),
            };
        }
        let column = match dimension {
            Dimension::Time => "us",
            Dimension::TimeSquared => "us²",
            Dimension::Bytes => "bytes",
            Dimension::Rate => "bit/s",
            Dimension::Count | Dimension::Share => "",
        };
        let unit = units::unit(column, greatest);
        ColumnUnit {
            size: unit.size,
            name: unit.name.to_owned(),
        }
    }

    /// The vertical axis, for values whose greatest is this.
    fn y(&self, greatest: f64) -> (Axis, ColumnUnit) {
        let axis = &self.plot.y;
        let measure = self.measure();
        let dimension = measure.map_or(Dimension::Count, Measure::value_dimension);
        let unit = self.unit(axis.unit.as_deref(), dimension, greatest);
        let label = axis.label.clone();
        let label = label.unwrap_or_else(|| measure.map_or_else(String::new, name));
        (given(axis, label, &unit.name), unit)
    }

    /// The shape of an equation: different from measurements or, if there are only equations, in the colour of its
    /// scheme.
    fn equation(&self) -> Shape {
        let mut lines = self.plot.lines.iter();
        if lines.all(|line| is_model(&line.measure)) {
            Shape::Curve
        } else {
            Shape::Model
        }
    }

    /// The measure that determines the unit of an axis: the one of the first measured line.
    fn measure(&self) -> Option<&'a Measure> {
        let mut lines = self.plot.lines.iter().map(|line| &line.measure);
        let measured = lines.clone().find(|measure| !is_model(measure));
        measured.or(lines.next())
    }
}

impl Track<'_> {
    /// Its name in the legend; `several` says whether there are several schemes.
    fn label(&self, several: bool) -> String {
        let own = self.line.label.as_str();
        let scheme = match (is_model(&self.line.measure), own.is_empty()) {
            (true, true) => "equation",
            (false, unnamed) if unnamed || several => self.scheme,
            _ => "",
        };
        joined([scheme, own, &self.rest])
    }
}

/// The swept settings of a row that are on no axis, in words.
fn rest(row: &Row, key: Option<&str>) -> String {
    let others = row.set.iter();
    let others = others.filter(|(name, _)| Some(name.as_str()) != key);
    units::place(&others.cloned().collect::<Vec<_>>())
}

/// Removes the parts that all tracks share from their names.
fn without_common(tracks: &mut [Track<'_>]) {
    let first = tracks.first().map(|track| track.rest.clone());
    if tracks
        .iter()
        .all(|track| Some(&track.rest) == first.as_ref())
    {
        for track in tracks {
            track.rest.clear();
        }
    }
}

/// Whether the tracks have more than one scheme.
fn several(tracks: &[Track<'_>]) -> bool {
    let mut measured = tracks
        .iter()
        .filter(|track| !is_model(&track.line.measure))
        .map(|track| track.scheme);
    let first = measured.next();
    measured.any(|scheme| Some(scheme) != first)
}

fn is_model(measure: &Measure) -> bool {
    matches!(measure.of, Of::Model { .. })
}

/// Points of the paper's own figure for a scheme.
fn published(palette: &Palette, scheme: &str, points: &[(f64, f64)]) -> PlotLine {
    let points = points.iter().map(|(x, y)| figure::PlotPoint::new(*x, *y));
    let style = Style {
        open: true,
        ..palette.style(scheme, 0)
    };
    let label = joined([scheme, "paper"]);
    line(label, style, Shape::Ranges, points.collect())
}

/// An axis as the description has it.
fn given(axis: &claims::PanelAxis, label: String, unit: &str) -> Axis {
    let own = GivenAxis::of(axis, String::new);
    GivenAxis { label, ..own }.axis(unit)
}

/// A measure in words, for an axis without a label in the description.
fn name(measure: &Measure) -> String {
    let column = measure.column();
    let ends = ["_us", "_bytes", "_bps"];
    let bare = ends.iter().find_map(|end| column.strip_suffix(end));
    units::words(bare.unwrap_or(column))
}

/// The description's caption, or an explanation; then the values that the axes leave out.
fn caption(panel: &Panel<'_>, figure: &Figure) -> String {
    let mut sentences = vec![panel.plot.caption.clone()];
    if panel.plot.caption.is_empty() {
        sentences[0] = explained(panel);
    }
    if !panel.plot.paper.is_empty() {
        sentences.push("Open markers without a line: the paper's figure.".to_owned());
    }
    if figure.y.log {
        let zero = |line: &PlotLine| line.points.iter().any(|point| point.y <= 0.0);
        let zero = labels(figure, zero);
        if !zero.is_empty() {
            sentences.push(format!("Zero, and so not on the logarithmic axis: {zero}."));
        }
    }
    let x: fn(&figure::PlotPoint) -> f64 = |point| point.x;
    for (axis, of) in [(&figure.x, x), (&figure.y, |point| point.y)] {
        let Some((low, high)) = axis.range else {
            continue;
        };
        let beyond = |line: &PlotLine| {
            let mut values = line.points.iter().map(of);
            values.any(|value| value > high || value < low && !axis.log)
        };
        let beyond = labels(figure, beyond);
        if !beyond.is_empty() {
            let label = units::lower(&axis.label);
            sentences.push(format!("Partly beyond the axis of {label}: {beyond}."));
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

/// The names of the lines that `has` holds for, joined by commas.
fn labels(figure: &Figure, has: impl Fn(&PlotLine) -> bool) -> String {
    let lines = figure.lines.iter().filter(|line| has(line));
    let mut labels: Vec<&str> = lines.map(|line| line.label.as_str()).collect();
    labels.dedup();
    labels.join(", ")
}

/// How to read a panel whose description has no caption.
fn explained(panel: &Panel<'_>) -> String {
    let seeds = panel.summary().seeds;
    let over = match seeds {
        1 => "of one simulation each".to_owned(),
        seeds => format!("over {seeds} seeds"),
    };
    let ends = panel.plot.lines.iter().find_map(|line| {
        let (low, high) = line.low.as_ref().zip(line.high.as_ref())?;
        Some((end(low), end(high)))
    });
    match (panel.plot.kind, ends) {
        (PlotKind::Cdf, _) => format!("The share of what was measured up to each value, {over}."),
        (PlotKind::Time, _) => format!("One simulation each (seed {}).", panel.summary().seed),
        (_, Some((low, high))) if low != high => {
            format!("Means {over}; bars from the {low} to the {high}.")
        }
        (_, None) if seeds > 1 => {
            format!("Means {over}; bars are 95 % confidence intervals (Student's t).")
        }
        (_, Some(_)) if seeds > 1 => format!("Means {over}."),
        (_, _) => "One simulation each.".to_owned(),
    }
}

/// An end of a bar in words: `5th percentile`.
fn end(measure: &Measure) -> String {
    let metric = match measure.of {
        Of::Metric(name) => name,
        _ => "",
    };
    let mut parts = metric.split('_').filter_map(|part| part.strip_prefix('p'));
    let percent = parts.find_map(|part| part.parse().ok());
    let percent = match measure.statistic {
        Some(Statistic::Percentile(percent)) => Some(percent),
        _ => percent,
    };
    match (percent, &measure.statistic) {
        (Some(percent), _) => format!("{} percentile", ordinal(percent)),
        (None, Some(Statistic::Min)) => "least".to_owned(),
        (None, Some(Statistic::Max)) => "greatest".to_owned(),
        (None, _) => units::lower(&name(measure)),
    }
}

/// `1st`, `50th`, `97.5th`.
fn ordinal(number: f64) -> String {
    let text = number.to_string();
    let end = match (text.as_str(), text.as_bytes().last()) {
        ("11" | "12" | "13", _) => "th",
        (_, Some(b'1')) => "st",
        (_, Some(b'2')) => "nd",
        (_, Some(b'3')) => "rd",
        _ => "th",
    };
    format!("{text}{end}")
}

/// A line of a figure.
fn line(label: String, style: Style, shape: Shape, points: Vec<figure::PlotPoint>) -> PlotLine {
    PlotLine {
        label,
        style,
        shape,
        points,
    }
}

/// The parts that are there, joined by commas.
fn joined<const N: usize>(parts: [&str; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
