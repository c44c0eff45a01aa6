//! What completion times consist of, as bars of parts on each other.

use results::Row;
use sim::breakdown::Part;
use sim::columns;

use super::scales::same_scale;
use super::swept::{Multiples, Sweep, estimate, groups};
use crate::data::Data;
use crate::figure::{Axis, Figure, Line, Point, Shape, Style, slug};
use crate::units;

/// Every view as a list of figures.
pub(super) fn all(data: &Data<'_>) -> Vec<Figure> {
    let views = views(data).into_iter();
    let panels = views.flat_map(|view| view.panels.into_iter().rev());
    panels.map(|(_, figure)| figure).collect()
}

/// Views of the slowest flows and of the mean, of all flows and of every group.
pub(crate) fn views(data: &Data<'_>) -> Vec<Multiples> {
    let sweep = Sweep::of(data, None);
    let mut names = groups(data);
    // What a goal is about comes first.
    let goals = data
        .runs
        .iter()
        .filter_map(|run| run.summary.goals.as_ref());
    let about = goals.flat_map(|goals| &goals.goals).next();
    let about = about.and_then(|goal| goal.group.as_deref());
    names.sort_by_key(|name| Some(*name) != about);
    let mut views = Vec::new();
    for slowest in [true, false] {
        let mut shown: Vec<Option<&str>> = names.iter().map(|name| Some(*name)).collect();
        shown.insert(usize::from(about.is_some()).min(shown.len()), None);
        for group in shown {
            let choice = [
                group.unwrap_or_default(),
                if slowest { SLOWEST } else { MEAN },
            ];
            let choice = choice.into_iter().filter(|text| !text.is_empty());
            let choice = choice.collect::<Vec<_>>().join(", ");
            let panels = sweep.rests.iter().filter_map(|rest| {
                let figure = figure(data, &sweep, rest, (group, slowest, &choice))?;
                Some((sweep.label(data, rest), figure))
            });
            let mut panels: Vec<_> = panels.collect();
            same_scale(&mut panels);
            views.push(Multiples {
                place: "causes",
                title: TITLE,
                choice,
                panels,
            });
        }
    }
    views.retain(|view| !view.panels.is_empty());
    views
}

fn figure(
    data: &Data<'_>,
    sweep: &Sweep,
    rest: &str,
    (group, slowest, choice): (Option<&str>, bool, &str),
) -> Option<Figure> {
    let columns = columns::part_columns(slowest);
    let parts = |row: &Row| -> Option<Vec<f64>> {
        let mean = |name| estimate(row, group, name)?.mean;
        columns.iter().map(|column| mean(column.name)).collect()
    };
    let whole = |row: &Row| parts(row).map(|parts| parts.iter().sum::<f64>());
    let greatest = data.rows().filter_map(|(_, row)| whole(row));
    let unit = units::unit("us", greatest.fold(0.0, f64::max));
    let rows = sweep.rows(data, rest).into_iter();
    let rows: Vec<_> = rows
        .filter_map(|(run, row)| Some((run, row, parts(row)?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut x = Axis::new("", "");
    x.categories = rows
        .iter()
        .map(|(run, row, _)| place(data, sweep, (*run, row)))
        .collect();
    let values = rows
        .iter()
        .map(|(_, row, _)| sweep.key.as_deref().and_then(|key| row.setting(key)));
    x.groups = grouped(values);
    if !x.groups.is_empty() {
        x.label = sweep.key.as_deref().map_or_else(String::new, units::words);
        let short = rows
            .iter()
            .map(|(run, row, _)| data.label(&row.scheme, *run));
        x.short = short.collect();
    }
    let lines = Part::ALL.iter().enumerate().map(|(index, part)| {
        let points = rows.iter().zip(0_u32..).map(|((_, _, parts), at)| {
            let low: f64 = parts[..index].iter().sum();
            let high = low + parts[index];
            Point {
                inner: Some((low / unit.size, high / unit.size)),
                ..Point::new(f64::from(at), high / unit.size)
            }
        });
        let (slot, percent) = look(*part);
        Line {
            label: part.name().to_owned(),
            style: Style {
                slot,
                dash: 0,
                open: false,
            },
            shape: Shape::Stack(0.7, percent),
            points: points.collect(),
        }
    });
    let mut lines: Vec<Line> = lines.collect();
    // A legend names what is there.
    lines.retain(|line| {
        line.points
            .iter()
            .any(|point| point.inner.is_some_and(|(low, high)| high > low))
    });
    let all = [choice, rest].into_iter().filter(|text| !text.is_empty());
    let all = all.collect::<Vec<_>>().join(", ");
    let (label, caption) = if slowest {
        ("FCT of the slowest", CAPTION_SLOWEST)
    } else {
        ("FCT, mean", CAPTION_MEAN)
    };
    Some(Figure {
        name: slug(&format!("causes {all}")),
        chart: "causes".into(),
        choice: all,
        title: TITLE.into(),
        caption: caption.into(),
        x,
        y: Axis::new(label, unit.name),
        lines,
    })
}

/// Values that follow each other, each with how often it does; nothing if a row has none or no value has several rows.
fn grouped<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Vec<(String, usize)> {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for value in values {
        let Some(value) = value else {
            return Vec::new();
        };
        match groups.last_mut().filter(|(last, _)| last == value) {
            Some((_, count)) => *count += 1,
            None => groups.push((value.to_owned(), 1)),
        }
    }
    if groups.iter().all(|(_, count)| *count == 1) {
        groups.clear();
    }
    groups
}

/// What stands below a bar: its value on the axis and its scheme.
fn place(data: &Data<'_>, sweep: &Sweep, (run, row): (usize, &Row)) -> String {
    let scheme = data.label(&row.scheme, run);
    let value = sweep.key.as_deref().and_then(|key| row.setting(key));
    value.map_or_else(|| scheme.clone(), |value| format!("{value} {scheme}"))
}

/// Colour and opacity of a part.
const fn look(part: Part) -> (usize, u8) {
    match part {
        Part::Handshake => (6, 100),
        Part::Serialisation => (2, 100),
        Part::Propagation => (5, 100),
        Part::Window => (0, 100),
        Part::Application => (6, 45),
        Part::Queueing => (4, 100),
        Part::Recovery => (3, 100),
        Part::Timers => (1, 100),
    }
}

const TITLE: &str = "What completion times consist of";
const SLOWEST: &str = "slowest flows";
const MEAN: &str = "mean";
const CAPTION_SLOWEST: &str = "The mean over the slowest one in a hundred flows: what the slowest \
    waited for. The parts of every flow sum to its completion time.";
const CAPTION_MEAN: &str =
    "The mean over all complete flows. The parts of every flow sum to its completion time.";
