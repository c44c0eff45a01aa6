//! The parts of completion times, as stacked bars.

use base::Sort as _;
use results::Row;
use sim::breakdown::Part;
use sim::columns;

use super::scales::same_scale;
use super::stacked::Stacked;
use super::swept::{Multiples, Sweep, estimate, groups};
use crate::data::Data;
use crate::figure::Figure;

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
    // Groups with goals come first.
    let goals = data
        .runs
        .iter()
        .filter_map(|run| run.summary.goals.as_ref());
    let about = goals.flat_map(|goals| &goals.goals).next();
    let about = about.and_then(|goal| goal.group.as_deref());
    names.order_by_key(|name| Some(*name) != about);
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
    let values = |row: &Row| -> Option<Vec<f64>> {
        let mean = |name| estimate(row, group, name)?.mean;
        columns.iter().map(|column| mean(column.name)).collect()
    };
    let (label, caption) = if slowest {
        ("FCT of the slowest", CAPTION_SLOWEST)
    } else {
        ("FCT, mean", CAPTION_MEAN)
    };
    let stacked = Stacked {
        place: "causes",
        title: TITLE,
        choice,
        label,
        unit: "us",
        caption,
        parts: &Part::ALL.map(|part| (part.name(), look(part))),
    };
    stacked.figure(data, (sweep, rest), &values)
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
