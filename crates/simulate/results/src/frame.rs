//! The numbers of a summary as tables: a row for each scheme and combination, or for each simulation.

use sim::columns::{METRICS, metric_values};
use tables::decoded::{Array, Description};
use tables::{Cell, Field, Kind};

use super::Summary;
use super::columns::{setting_cell, setting_field};
use super::statistics::Estimate;

/// A table in memory.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// What its columns are.
    pub columns: Vec<Description>,
    /// Their values, in the same order.
    pub arrays: Vec<Array>,
}

/// A row for each scheme under each combination of swept values: every metric as its mean over the seeds, and
/// with several seeds both ends of its 95 % confidence interval.
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
            // Results name neither parts that were not found nor rounds where there are none.
            continue;
        }
        let parts: [(&str, &str, Part); 3] = [
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
                kind: Kind::Double,
                optional: true,
                unit: metric.unit.to_owned(),
                help: format!("{what}{}", metric.help),
            };
            frame.add(described, values.map(real));
        }
    }
    frame
}

/// A row for each simulation that has results, as `--format csv` prints them, without what it took.
pub fn points(summary: &Summary) -> Frame {
    let mut frame = Frame::default();
    let all = || summary.points.iter();
    let row = |row: u32| &summary.rows[row as usize];
    for field in super::leading_fields() {
        let cells = all().map(|point| match field.name.as_str() {
            "point" => Cell::Int(point.point.into()),
            "scheme" => Cell::Text(&row(point.row).scheme),
            // A seed beyond 63 bits wraps, as in the tables of files.
            _ => Cell::Int(point.seed.cast_signed()),
        });
        frame.add(described(&field), cells);
    }
    for (place, key) in summary.axes.iter().enumerate() {
        frame.setting(key, all().map(|point| row(point.row).set[place].1.as_str()));
    }
    for (key, value) in &summary.constants {
        frame.setting(key, all().map(|_| value.as_str()));
    }
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
            kind: Kind::Double,
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

impl Frame {
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
        kind: Kind::Text,
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

/// Takes a number from an estimate.
type Part = fn(&Estimate) -> Option<f64>;

const LOW: &str = "Lower end of the 95 % confidence interval over the seeds: ";
const HIGH: &str = "Upper end of the 95 % confidence interval over the seeds: ";
