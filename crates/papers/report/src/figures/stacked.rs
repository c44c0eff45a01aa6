//! Stacked bars, one for each row.

use results::Row;

use super::swept::Sweep;
use crate::data::Data;
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, Style, slug};
use crate::units;

/// A chart of stacked bars.
pub(super) struct Stacked<'t> {
    pub(super) place: &'static str,
    pub(super) title: &'static str,
    pub(super) choice: &'t str,
    /// The quantity on the vertical axis, and its unit in columns.
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    pub(super) caption: &'static str,
    /// Names of the parts with their colour and opacity, the lowest first.
    pub(super) parts: &'t [(&'static str, (usize, u8))],
}

impl Stacked<'_> {
    /// The bars of the rows in one combination of settings. `values` are the parts of a row, if it has them.
    pub(super) fn figure(
        &self,
        data: &Data<'_>,
        (sweep, rest): (&Sweep, &str),
        values: &dyn Fn(&Row) -> Option<Vec<f64>>,
    ) -> Option<Figure> {
        let whole = |row: &Row| values(row).map(|parts| parts.iter().sum::<f64>());
        let greatest = data.rows().filter_map(|(_, row)| whole(row));
        let unit = units::unit(self.unit, greatest.fold(0.0, f64::max));
        let rows = sweep.rows(data, rest).into_iter();
        let rows = rows.filter_map(|(run, row)| Some((run, row, values(row)?)));
        let rows: Vec<Bar<'_>> = rows.collect();
        if rows.is_empty() {
            return None;
        }
        let all = [self.choice, rest].into_iter();
        let all = all.filter(|text| !text.is_empty()).collect::<Vec<_>>();
        let all = all.join(", ");
        Some(Figure {
            name: slug(&format!("{} {all}", self.place)),
            chart: self.place.into(),
            choice: all,
            title: self.title.into(),
            caption: self.caption.into(),
            x: axis(data, sweep, &rows),
            y: Axis::new(self.label, unit.name),
            lines: self.lines(&rows, unit.size),
        })
    }

    /// One line for each part that any bar has, so that the legend lists only these parts.
    fn lines(&self, rows: &[Bar<'_>], size: f64) -> Vec<PlotLine> {
        let lines = self.parts.iter().enumerate();
        let lines = lines.map(|(index, (name, (slot, percent)))| {
            let points = rows.iter().zip(0_u32..).map(|((_, _, parts), at)| {
                let low: f64 = parts[..index].iter().sum();
                let high = low + parts[index];
                PlotPoint {
                    inner: Some((low / size, high / size)),
                    ..PlotPoint::new(f64::from(at), high / size)
                }
            });
            PlotLine {
                label: (*name).to_owned(),
                style: Style {
                    slot: *slot,
                    dash: 0,
                    open: false,
                },
                shape: Shape::Stack(0.7, *percent),
                points: points.collect(),
            }
        });
        let is_there = |line: &PlotLine| {
            let mut points = line.points.iter();
            points.any(|point| point.inner.is_some_and(|(low, high)| high > low))
        };
        lines.filter(is_there).collect()
    }
}

/// A row with its run and its parts.
type Bar<'a> = (usize, &'a Row, Vec<f64>);

/// The rows as places, those with the same value of the swept setting together.
fn axis(data: &Data<'_>, sweep: &Sweep, rows: &[Bar<'_>]) -> Axis {
    let mut x = Axis::new("", "");
    let places = rows.iter();
    x.categories = places
        .map(|(run, row, _)| place(data, sweep, (*run, row)))
        .collect();
    let values = rows.iter();
    let values = values.map(|(_, row, _)| sweep.key.as_deref().and_then(|key| row.setting(key)));
    x.groups = grouped(values);
    if !x.groups.is_empty() {
        x.label = sweep.key.as_deref().map_or_else(String::new, units::words);
        let short = rows.iter();
        let short = short.map(|(run, row, _)| data.label(&row.scheme, *run));
        x.short = short.collect();
    }
    x
}

/// Consecutive values, each with its number of repetitions; empty if a row has no value, or no value has several rows.
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

/// The label below a bar: its value on the axis and its scheme.
fn place(data: &Data<'_>, sweep: &Sweep, (run, row): (usize, &Row)) -> String {
    let scheme = data.label(&row.scheme, run);
    let value = sweep.key.as_deref().and_then(|key| row.setting(key));
    value.map_or_else(|| scheme.clone(), |value| format!("{value} {scheme}"))
}
