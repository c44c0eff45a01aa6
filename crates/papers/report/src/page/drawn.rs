//! Charts in the form of the page: drawings that need no script.

use crate::data::Data;
use crate::figure::{Axis, Figure, Shape, slug};
use crate::figures::swept::{self, Multiples};
use crate::figures::{causes, distribution, drops, flows, scales, slowdown, time};
use crate::fixed;
use crate::units;

/// A place in the report that shows one of several views; without scripts all views are shown one below the other.
pub(crate) struct Drawn {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) views: Vec<View>,
    /// Whether it needs the whole width of the page.
    pub(crate) full: bool,
}

impl Drawn {
    /// The views on the scales of their figures, which can be chosen by name.
    pub(crate) fn choices(&self) -> Vec<&View> {
        let views = self.views.iter();
        views.filter(|view| view.scale.is_empty()).collect()
    }

    /// The axes that can be made logarithmic.
    pub(crate) fn scales(&self) -> Vec<&'static str> {
        let has = |axis: &&str| self.views.iter().any(|view| view.scale == *axis);
        ["x", "y"].into_iter().filter(has).collect()
    }
}

/// Panels on the same scales, with their common parts.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) choice: String,
    /// The axes that are logarithmic although the figure's are linear: `x`, `y`, `xy` or nothing.
    pub(crate) scale: &'static str,
    pub(crate) caption: String,
    /// A drawing of the legend; empty where the only panel has its own.
    pub(crate) legend: String,
    pub(crate) panels: Vec<PanelDrawing>,
}

/// One drawing.
pub(crate) struct PanelDrawing {
    /// The combination of settings, in words.
    pub(crate) label: String,
    pub(crate) svg: String,
    /// The same for a narrow screen; empty if the other drawing is readable there, too.
    pub(crate) narrow: String,
    /// Whether it is the only panel, and whether it has much side by side.
    pub(crate) single: bool,
    pub(crate) wide: bool,
}

/// The chart that the report begins with: completion times over the sweep, or the flows of a single run.
pub(super) fn main(data: &Data<'_>) -> Option<Drawn> {
    let views = if is_alone(data) {
        singles(flows::all(data), true)
    } else {
        multiples(swept::completion_views(data), true)
    };
    gathered(views).into_iter().next()
}

/// The parts of completion times.
pub(super) fn causes(data: &Data<'_>) -> Option<Drawn> {
    gathered(multiples(causes::views(data), true))
        .into_iter()
        .next()
}

/// Everything else.
pub(super) fn more(data: &Data<'_>) -> Vec<Drawn> {
    let shown = data.runs.iter().map(super::super::data::Run::shown);
    let shown: String = shown.collect();
    let mut views = Vec::new();
    if !is_alone(data) {
        views.extend(multiples(swept::count_views(data), false));
    }
    views.extend(multiples(drops::views(data), false));
    let distributions = distribution::views(data).into_iter();
    let queue = [(String::new(), time::queue(data))];
    let slowdowns = slowdown::views(data).into_iter();
    let several = distributions.chain(slowdowns).chain(queue);
    views.extend(several.filter_map(|(choice, figures)| several_places(choice, figures, &shown)));
    if !is_alone(data) {
        views.extend(singles(flows::all(data), false));
    }
    views.extend(singles(time::others(data), false));
    gathered(views)
}

/// The charts of a page that shows one run after the other: one view each, because nobody looks at more.
pub(super) fn few(data: &Data<'_>) -> Vec<Drawn> {
    let first = |mut views: Vec<Multiples>| {
        views.truncate(1);
        multiples(views, false)
    };
    let mut goodput = swept::count_views(data);
    goodput.retain(|view| view.place == "goodput");
    let mut distributions = distribution::views(data);
    distributions.truncate(1);
    for figure in distributions.iter_mut().flat_map(|(_, figures)| figures) {
        figure.lines.push(scales::across("p99", 0.99));
    }
    let queue = (String::new(), time::queue(data));
    let places = distributions.into_iter().chain([queue]);
    let places = places.filter_map(|(choice, figures)| several_places(choice, figures, ""));
    let completion = first(swept::completion_views(data));
    let rest = first(causes::views(data)).into_iter().chain(first(goodput));
    // For a sweep, the first question is where it changes.
    let views: Vec<Placed> = if data.runs[0].summary.axes.is_empty() {
        places.chain(completion).chain(rest).collect()
    } else {
        completion.into_iter().chain(places).chain(rest).collect()
    };
    gathered(views)
}

/// A chart of one figure for each combination of settings.
fn several_places(choice: String, mut figures: Vec<Figure>, note: &str) -> Option<Placed> {
    figures.reverse();
    let panels: Vec<(String, Figure)> = figures
        .into_iter()
        .map(|figure| {
            let place = figure.choice.trim_start_matches(&choice);
            (units::shortened(place.trim_start_matches(", ")), figure)
        })
        .collect();
    let (_, first) = panels.first()?;
    let (title, place) = (first.title.clone(), first.chart.clone());
    Some((place, title, view(choice, &panels, (note, false))))
}

/// Figures on charts of this breadth, in the order of their charts; each choice is a view of its chart.
pub(crate) fn charts(figures: &[Figure], breadth: Breadth) -> Vec<Drawn> {
    let drawn = figures.iter().filter(|figure| !figure.is_empty());
    let views = drawn.flat_map(|figure| {
        let scaled = match breadth {
            Breadth::Half => scaled(figure),
            // The axes of a paper's figure stay as in the paper.
            Breadth::Quarter | Breadth::Column => vec![("", figure.clone())],
        };
        scaled.into_iter().map(|(scale, figure)| {
            let names_all = fixed::names_all(&figure, breadth.size(false));
            let wide = is_wide(&figure) || is_dense(&figure) || !names_all;
            let view = View {
                name: figure.name.clone(),
                choice: figure.choice.clone(),
                scale,
                caption: figure.caption.clone(),
                legend: String::new(),
                panels: vec![panel(&figure, "", (breadth.size(wide), true), wide)],
            };
            (figure.chart, figure.title, view)
        })
    });
    gathered(views.collect())
}

/// A figure, and the same with each of its linear axes logarithmic, and with both.
fn scaled(figure: &Figure) -> Vec<(&'static str, Figure)> {
    let is_free = |axis: &Axis| !axis.log && axis.range.is_none() && axis.categories.is_empty();
    let [x, y] = [&figure.x, &figure.y].map(is_free);
    let x = x && !is_over_time(figure);
    let scales = [("", true), ("x", x), ("y", y), ("xy", x && y)];
    let scales = scales.into_iter().filter(|(_, is_there)| *is_there);
    let scaled = scales.map(|(scale, _)| {
        let mut scaled = figure.clone();
        scaled.x.log |= scale.contains('x');
        scaled.y.log |= scale.contains('y');
        (scale, scaled)
    });
    scaled.collect()
}

/// The part of a page that a chart takes.
#[derive(Clone, Copy)]
pub(crate) enum Breadth {
    /// Half of the page, or all of it for a wide chart.
    Half,
    /// Half of a column beside text, or the whole column for a wide chart.
    Quarter,
    /// A column beside text, alone.
    Column,
}

impl Breadth {
    fn size(self, wide: bool) -> (f64, f64) {
        match (self, wide) {
            (Self::Half | Self::Column, false) => LARGE,
            (Self::Half, true) => WIDE,
            (Self::Quarter, false) => MIDDLE,
            (Self::Quarter | Self::Column, true) => COLUMN,
        }
    }
}

/// A single row has nothing to be compared with: its report shows the course of the run.
fn is_alone(data: &Data<'_>) -> bool {
    data.rows().count() == 1
}

type Placed = (String, String, View);

/// Views of panels; whether a lone panel has the whole width.
fn multiples(views: Vec<Multiples>, whole: bool) -> Vec<Placed> {
    let placed = views.into_iter().map(|all| {
        let (place, title) = (all.place.to_owned(), all.title.to_owned());
        (place, title, view(all.choice, &all.panels, ("", whole)))
    });
    placed.collect()
}

/// Views of one figure each; whether they have the whole width.
fn singles(figures: Vec<Figure>, whole: bool) -> Vec<Placed> {
    let drawn = figures.into_iter().filter(|figure| !figure.is_empty());
    let placed = drawn.map(|figure| {
        let (place, title) = (figure.chart.clone(), figure.title.clone());
        let choice = units::shortened(&figure.choice);
        (
            place,
            title,
            view(choice, &[(String::new(), figure)], ("", whole)),
        )
    });
    placed.collect()
}

fn view(choice: String, panels: &[(String, Figure)], (note, whole): (&str, bool)) -> View {
    let alone = panels.len() == 1;
    let wide =
        alone && whole && !is_few(&panels[0].1) || panels.iter().any(|(_, figure)| is_wide(figure));
    let size = match (alone, wide) {
        (true, true) => WIDE,
        (true, false) if is_few(&panels[0].1) && is_stacked(&panels[0].1) => TALL,
        (true, false) => LARGE,
        (false, _) if is_stacked(&panels[0].1) => TALL,
        (false, _) => SMALL,
    };
    // The legend names lines missing in the first panel where they first appear.
    let mut all = panels[0].1.clone();
    for line in panels.iter().flat_map(|(_, figure)| &figure.lines) {
        if all.lines.iter().all(|known| known.label != line.label) {
            all.lines.push(line.clone());
        }
    }
    let legend = if alone {
        String::new()
    } else {
        fixed::embed_legend(&all, LEGEND)
    };
    let figure = &panels[0].1;
    View {
        name: slug(&format!("{} {choice}", figure.chart)),
        caption: format!("{}{note}", figure.caption),
        choice,
        scale: "",
        legend,
        panels: panels
            .iter()
            .map(|(label, figure)| panel(figure, label, (size, alone), wide))
            .collect(),
    }
}

/// One drawing, alone with its legend or one of several.
fn panel(
    figure: &Figure,
    label: &str,
    (size, alone): ((f64, f64), bool),
    wide: bool,
) -> PanelDrawing {
    PanelDrawing {
        label: if alone {
            String::new()
        } else {
            label.to_owned()
        },
        svg: fixed::embed(figure, size, alone),
        narrow: if alone && size == WIDE {
            fixed::embed_narrow(figure, NARROW)
        } else {
            String::new()
        },
        single: alone,
        wide,
    }
}

/// Whether a figure is so few bars that a third of the page is enough.
fn is_few(figure: &Figure) -> bool {
    (1..=FEW).contains(&figure.x.categories.len())
}

/// Whether its bars have parts, which need room and a legend of several lines.
fn is_stacked(figure: &Figure) -> bool {
    let mut lines = figure.lines.iter();
    lines.any(|line| matches!(line.shape, Shape::Stack(..)))
}

/// Whether a figure has so much side by side that it needs the whole width.
fn is_wide(figure: &Figure) -> bool {
    figure.x.categories.len() > MANY || is_over_time(figure)
}

fn is_over_time(figure: &Figure) -> bool {
    figure.x.label.starts_with("Time")
}

/// Whether a figure has ranges at many places, which stand side by side.
fn is_dense(figure: &Figure) -> bool {
    let ranges = figure
        .lines
        .iter()
        .filter(|line| line.shape == Shape::Ranges);
    figure.x.categories.is_empty() && ranges.map(|line| line.points.len()).sum::<usize>() > MANY
}

/// Views of one chart in one place.
fn gathered(views: Vec<Placed>) -> Vec<Drawn> {
    let mut charts: Vec<Drawn> = Vec::new();
    for (id, title, view) in views {
        let full = view.panels.len() > 1 || view.panels.iter().any(|panel| panel.wide);
        match charts.iter_mut().find(|chart| chart.id == id) {
            Some(chart) => {
                chart.full |= full;
                chart.views.push(view);
            }
            None => charts.push(Drawn {
                id,
                title,
                views: vec![view],
                full,
            }),
        }
    }
    charts
}

/// The most bars that fit into half of the page, and into a third.
const MANY: usize = 12;
const FEW: usize = 4;

/// Width and height in points. A drawing is as wide as its card. On a narrow screen it is as wide as the screen, where
/// its text should still have ten pixels; so a drawing over the full page has a second version.
const LARGE: (f64, f64) = (290.0, 180.0);
const WIDE: (f64, f64) = (600.0, 220.0);
const NARROW: (f64, f64) = (258.0, 190.0);
const COLUMN: (f64, f64) = (330.0, 165.0);
const MIDDLE: (f64, f64) = (215.0, 165.0);
const SMALL: (f64, f64) = (195.0, 130.0);
const TALL: (f64, f64) = (230.0, 175.0);
const LEGEND: f64 = 250.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{PlotLine, PlotPoint, Style};

    #[test]
    fn panels_of_papers_name_all_their_lines() {
        let line = |slot: usize| PlotLine {
            label: format!("scheme {slot}, paper"),
            style: Style {
                slot,
                dash: 0,
                open: false,
            },
            shape: Shape::Curve,
            points: vec![PlotPoint::new(0.0, 0.0), PlotPoint::new(1.0, 1.0)],
        };
        for count in 1..10 {
            let figure = Figure {
                name: "panel".into(),
                chart: "panel".into(),
                choice: String::new(),
                title: "A panel".into(),
                caption: String::new(),
                x: Axis::new("x", ""),
                y: Axis::new("y", ""),
                lines: (0..count).map(line).collect(),
            };
            let charts = charts(&[figure], Breadth::Quarter);
            let svg = &charts[0].views[0].panels[0].svg;
            for slot in 0..count {
                let name = format!(">scheme {slot}, paper</text>");
                assert!(svg.contains(&name), "{slot} of {count}");
            }
            assert!(!svg.contains(" more</text>"), "{count}");
        }
    }
}
