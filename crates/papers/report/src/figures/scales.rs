//! Properties that panels share: scales, and limits from settings.

use results::Row;

use crate::data::Data;
use crate::figure::{Figure, PlotLine, PlotPoint, Shape, Style};
use crate::units;

/// The marking threshold and the buffer as horizontal lines, if all rows share them and they are near the data.
pub(super) fn limits(
    data: &Data<'_>,
    rows: &[(usize, &Row)],
    (size, greatest): (f64, f64),
) -> Vec<PlotLine> {
    let Some((run, _)) = rows.first() else {
        return Vec::new();
    };
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).collect();
    let limit = |(key, label): (&str, &str)| {
        let value = data.runs[*run].bytes_of(key, &rows)? / size;
        (value <= 3.0 * greatest).then(|| across(label, value))
    };
    let known = [("switch.ecn_threshold", "K"), ("switch.buffer", "buffer")];
    known.into_iter().filter_map(limit).collect()
}

/// The goals for a metric as horizontal lines, if they are near the data.
pub(super) fn goals(
    data: &Data<'_>,
    (metric, group): (&str, Option<&str>),
    (size, greatest): (f64, f64),
) -> Vec<PlotLine> {
    let goals = data
        .runs
        .iter()
        .filter_map(|run| run.summary.goals.as_ref());
    let goals = goals.flat_map(|goals| &goals.goals);
    let mut lines: Vec<PlotLine> = Vec::new();
    for goal in goals.filter(|goal| goal.metric == metric && goal.group.as_deref() == group) {
        let value = goal.threshold / size;
        let bound = goal.goal.trim_start_matches(goal.subject());
        let label = format!("goal {}", units::spaced(bound.trim()));
        if value <= 3.0 * greatest && lines.iter().all(|line| line.label != label) {
            lines.push(across(&label, value));
        }
    }
    lines
}

/// Gives panels a logarithmic axis if on a linear one the side of a goal on which points lie would not be visible.
pub(super) fn show_goals(panels: &mut [(String, Figure)]) {
    let lines = || panels.iter().flat_map(|(_, figure)| &figure.lines);
    let values = |limits: bool| {
        let lines = lines().filter(move |line| (line.shape == Shape::Limit) == limits);
        lines.flat_map(|line| &line.points).map(|point| point.y)
    };
    let goal = values(true).fold(f64::INFINITY, f64::min);
    let joined = lines().all(|line| matches!(line.shape, Shape::Joined | Shape::Limit));
    let bars = lines().all(|line| line.is_bars() || line.shape == Shape::Limit);
    let place = panels.first().map(|(_, figure)| figure.chart.as_str());
    // Lengths of bars are compared, so the shortest must be visible.
    let share = match (joined, bars) {
        (true, _) => 0.1,
        (_, true) => 0.05,
        _ => return,
    };
    let far = goal > 0.0 && goal < values(false).fold(0.0, f64::max) * share;
    if !(far && place == Some("fct")) {
        return;
    }
    for (_, figure) in panels {
        figure.y.log = true;
        figure.caption += " The axis is logarithmic, for the goal is far below the greatest value.";
    }
}

/// A line across with its name.
pub(crate) fn across(label: &str, value: f64) -> PlotLine {
    PlotLine {
        label: label.to_owned(),
        style: Style {
            slot: 6,
            dash: 0,
            open: false,
        },
        shape: Shape::Limit,
        points: vec![PlotPoint::new(0.0, value)],
    }
}

/// Gives all panels of a view the same vertical axis.
pub(super) fn same_scale(panels: &mut [(String, Figure)]) {
    if panels.len() < 2 {
        return;
    }
    let lines = panels.iter().flat_map(|(_, figure)| &figure.lines);
    let points = lines.flat_map(|line| &line.points);
    let ends = points.flat_map(|point| {
        let (low, high) = point.interval.or(point.inner).unwrap_or((point.y, point.y));
        [low, point.y, high]
    });
    let ends: Vec<f64> = ends.collect();
    let greatest = ends.iter().copied().fold(0.0, f64::max);
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let log = least > 0.0 && panels.iter().any(|(_, figure)| figure.y.log);
    for (_, figure) in panels {
        figure.y.log = log;
        figure.y.range = (greatest > 0.0).then_some(if log {
            (least / 1.2, greatest * 1.2)
        } else {
            (0.0, greatest * 1.06)
        });
    }
}

/// Gives all figures of a chart the same axes, wherever they are drawn.
pub(super) fn share_axes(figures: &mut Vec<Figure>) {
    let panels = figures.drain(..).map(|figure| (String::new(), figure));
    let mut panels: Vec<_> = panels.collect();
    same_axes(&mut panels);
    figures.extend(panels.into_iter().map(|(_, figure)| figure));
}

/// Gives all panels of a view the same axes.
fn same_axes(panels: &mut [(String, Figure)]) {
    same_scale(panels);
    let lines = panels.iter().flat_map(|(_, figure)| &figure.lines);
    let lines = lines.filter(|line| line.shape != Shape::Limit);
    let ends: Vec<f64> = lines
        .flat_map(|line| &line.points)
        .map(|point| point.x)
        .collect();
    let (least, greatest) = (
        ends.iter().copied().fold(f64::INFINITY, f64::min),
        ends.iter().copied().fold(0.0, f64::max),
    );
    let log = least > 0.0 && panels.iter().any(|(_, figure)| figure.x.log);
    for (_, figure) in panels.iter_mut().filter(|_| greatest > least) {
        figure.x.log = log;
        figure.x.range = Some((if log { least } else { 0.0 }, greatest));
        if figure.y.label == "Fraction of flows" {
            figure.y.range = Some((0.0, 1.0));
        }
    }
}
