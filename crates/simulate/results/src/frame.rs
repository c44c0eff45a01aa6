//! The numbers of a summary as tables, with a row for each scheme and combination or for each simulation.

use sim::columns::{METRICS, metric_values};
use sim::metrics::{CollectiveMetrics, HeldUp};
use tables::decoded::{Array, Description};
use tables::{Cell, ColumnType, Field};

use super::columns::{setting_cell, setting_field};
use super::statistics::Estimate;
use super::{PointSummary, Summary};

/// A table in memory.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The descriptions of its columns.
    pub columns: Vec<Description>,
    /// Their values, in the same order.
    pub arrays: Vec<Array>,
}

/// A row for each scheme under each combination of swept values. Every metric is the mean over the seeds; with several
/// seeds, both ends of its 95 % confidence interval follow.
pub fn rows(summary: &Summary) -> Frame {
    let mut frame = Frame::default();
    let schemes = summary.rows.iter().map(|row| Cell::Text(&row.scheme));
    frame.add(text("scheme", "Scheme or variant."), schemes);
    for (place, key) in summary.axes.iter().enumerate() {
        let values = summary.rows.iter().map(|row| row.set[place].1.as_str());
        frame.setting(key, values);
    }
    for metric in METRICS {
        let estimates = || summary.rows.iter().map(|row| row.metrics.get(metric.name));
        if estimates().all(|estimate| estimate.is_none()) {
            // Results leave out parts that were not measured, and rounds if there are none.
            continue;
        }
        let parts: [(&str, &str, EstimateNumber); 3] = [
            ("", "Mean over the seeds: ", |estimate| estimate.mean),
            ("_low", LOW, |estimate| estimate.low),
            ("_high", HIGH, |estimate| estimate.high),
        ];
        let single = if summary.seeds > 1 { 3 } else { 1 };
        for (ending, what, part) in parts.into_iter().take(single) {
            let values = estimates().map(|estimate| estimate.and_then(part));
            let what = if summary.seeds > 1 { what } else { "" };
            let described = Description {
                name: format!("{}{ending}", metric.name),
                kind: ColumnType::Double,
                optional: true,
                unit: metric.unit.to_owned(),
                help: format!("{what}{}", metric.help),
            };
            frame.add(described, values.map(real));
        }
    }
    frame
}

/// A row for each simulation with results, as `--format csv` prints them, without the cost.
pub fn points(summary: &Summary) -> Frame {
    let mut frame = Frame::default();
    let all = || summary.points.iter();
    frame.leading(summary, &all());
    let values: Vec<Vec<f64>> = all().map(|point| metric_values(&point.metrics)).collect();
    for (place, metric) in METRICS.iter().enumerate() {
        let column = values.iter().map(|values| values[place]);
        let is_part = !summary
            .rows
            .iter()
            .any(|row| row.metrics.contains_key(metric.name));
        if is_part {
            continue;
        }
        let described = Description {
            name: metric.name.to_owned(),
            kind: ColumnType::Double,
            optional: true,
            unit: metric.unit.to_owned(),
            help: metric.help.to_owned(),
        };
        frame.add(described, column.map(|value| real(Some(value))));
    }
    let digests = all().map(|point| Cell::Text(&point.digest));
    frame.add(
        text("digest", "Digest of everything that happened."),
        digests,
    );
    frame
}

/// A row for the collectives of each group of each simulation, with the message that held up the slowest one most.
pub fn collectives(summary: &Summary) -> Frame {
    let mut frame = Frame::default();
    let all = || {
        let points = summary.points.iter();
        points.flat_map(|point| point.collectives.iter().map(move |one| (point, one)))
    };
    frame.leading(summary, &all().map(|(point, _)| point));
    let group = text(
        "group",
        "Name of the group of flows; empty if the scenario has none.",
    );
    frame.add(group, all().map(|(_, one)| Cell::Text(&one.group)));
    for (name, unit, help, value) in COLLECTIVES {
        let described = Description {
            name: (*name).to_owned(),
            kind: ColumnType::Double,
            optional: true,
            unit: (*unit).to_owned(),
            help: (*help).to_owned(),
        };
        frame.add(described, all().map(|(_, one)| real(Some(value(one)))));
    }
    for (name, help, value) in HELD_UP {
        let described = Description {
            name: (*name).to_owned(),
            kind: ColumnType::Int64,
            optional: true,
            unit: String::new(),
            help: (*help).to_owned(),
        };
        let held = all().map(|(_, one)| one.held_up.as_ref());
        let cell = |held: &HeldUp| Cell::Int(value(held).into());
        frame.add(described, held.map(|held| held.map_or(Cell::Null, cell)));
    }
    frame
}

impl Frame {
    /// The columns that identify the simulation of each row: its number, scheme, seed and settings.
    fn leading<'a>(
        &mut self,
        summary: &'a Summary,
        points: &(impl Iterator<Item = &'a PointSummary> + Clone),
    ) {
        let row = |point: &PointSummary| &summary.rows[point.row as usize];
        for field in super::leading_fields() {
            let cells = points.clone().map(|point| match field.name.as_str() {
                "point" => Cell::Int(point.point.into()),
                "scheme" => Cell::Text(&row(point).scheme),
                // A seed beyond 63 bits wraps, as in the tables of files.
                _ => Cell::Int(point.seed.cast_signed()),
            });
            self.add(described(&field), cells);
        }
        for (place, key) in summary.axes.iter().enumerate() {
            let values = points.clone().map(|point| row(point).set[place].1.as_str());
            self.setting(key, values);
        }
        for (key, value) in &summary.constants {
            self.setting(key, points.clone().map(|_| value.as_str()));
        }
    }

    fn add<'a>(&mut self, column: Description, cells: impl Iterator<Item = Cell<'a>>) {
        let mut array = Array::new(column.kind, column.optional);
        cells.for_each(|cell| array.push(cell));
        self.columns.push(column);
        self.arrays.push(array);
    }

    fn setting<'a>(&mut self, key: &str, texts: impl Iterator<Item = &'a str> + Clone) {
        let field = setting_field(key, texts.clone());
        self.add(
            described(&field),
            texts.map(|text| setting_cell(&field, key, text)),
        );
    }
}

fn real<'a>(value: Option<f64>) -> Cell<'a> {
    let value = value.filter(|value| value.is_finite());
    value.map_or(Cell::Null, Cell::Double)
}

fn text(name: &str, help: &str) -> Description {
    Description {
        name: name.to_owned(),
        kind: ColumnType::Text,
        optional: false,
        unit: String::new(),
        help: help.to_owned(),
    }
}

fn described(field: &Field) -> Description {
    Description {
        name: field.name.clone(),
        kind: field.kind,
        optional: field.optional,
        unit: field.unit.to_owned(),
        help: field.help.to_owned(),
    }
}

/// Name, unit, meaning and value of a column of collectives.
type OfCollective = (
    &'static str,
    &'static str,
    &'static str,
    fn(&CollectiveMetrics) -> f64,
);

/// Times of collectives.
const COLLECTIVES: &[OfCollective] = &[
    (
        "completed",
        "collectives",
        "Collectives that were complete.",
        |one| base::cast::real(one.completed),
    ),
    (
        "ideal_us",
        "us",
        "Time of a collective in an empty network without headers, from the closed form of workload.algorithm.",
        |one| one.ideal_us,
    ),
    (
        "mean_us",
        "us",
        "Mean time of those that were complete.",
        |one| one.mean_us,
    ),
    (
        "over_ideal",
        "",
        "mean_us over ideal_us.",
        CollectiveMetrics::over_ideal,
    ),
    ("slowest_us", "us", "Time of the slowest one.", |one| {
        one.slowest_us
    }),
    (
        "held_took_us",
        "us",
        "How long the message took that held the slowest one up most: of those on the critical path the one that took longest \
         beyond its ideal time.",
        |one| one.held_up.as_ref().map_or(f64::NAN, |held| held.took_us),
    ),
    (
        "held_ideal_us",
        "us",
        "Time of that message in an empty network.",
        |one| one.held_up.as_ref().map_or(f64::NAN, |held| held.ideal_us),
    ),
];

/// Name, meaning and value of a column about the message that held a collective up.
type OfHeldUp = (&'static str, &'static str, fn(&HeldUp) -> u32);

/// The message that held the slowest collective up.
const HELD_UP: &[OfHeldUp] = &[
    (
        "held_flow",
        "Number of the flow that held the slowest one up most.",
        |held| held.flow,
    ),
    (
        "held_step",
        "Its step within the collective, from 0.",
        |held| held.step,
    ),
    ("steps", "Steps of the collective.", |held| held.steps),
    ("held_sender", "The host that sent it.", |held| held.sender),
    ("held_receiver", "The host that received it.", |held| {
        held.receiver
    }),
];

/// Takes a number from an estimate.
type EstimateNumber = fn(&Estimate) -> Option<f64>;

const LOW: &str = "Lower end of the 95 % confidence interval over the seeds: ";
const HIGH: &str = "Upper end of the 95 % confidence interval over the seeds: ";
