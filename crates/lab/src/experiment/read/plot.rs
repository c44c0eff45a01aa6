//! Reading plots.

use toml_edit::Item;

use super::Runs;
use super::fields::{Fields, Reader};
use crate::experiment::{Axis, Line, Measure, Of, Plot, PlotKind};

impl Reader<'_> {
    /// One panel; none if what is wrong leaves nothing to draw.
    pub(super) fn plot(&mut self, fields: &Fields<'_>, runs: Runs<'_>) -> Option<Plot> {
        let known = [
            "kind", "title", "caption", "x", "y", "schemes", "at", "lines", "run",
        ];
        self.only(fields, &known);
        let kinds = [
            ("sweep", PlotKind::Sweep),
            ("cdf", PlotKind::Cdf),
            ("time", PlotKind::Time),
            ("bars", PlotKind::Bars),
        ];
        if !fields.has("kind") {
            self.missing(fields, "kind");
        }
        let kind = self.choice(fields, "kind", &kinds)?;
        let (run, context) = self.run(fields, runs)?;
        let x = self.axis(fields, "x");
        if let Some(key) = &x.key {
            let place = fields.value_place("x");
            self.axis_key(key, &place, context);
        }
        let mut lines = Vec::new();
        let items = fields.get("lines").and_then(Item::as_array);
        if items.is_none_or(toml_edit::Array::is_empty) {
            self.missing(fields, "lines");
        }
        for value in items.into_iter().flatten() {
            let place = value.span().unwrap_or_else(|| fields.value_place("lines"));
            let item = Item::Value(value.clone());
            // A clone has no places, so a table's own keys are looked up in the original.
            let line = match value.as_inline_table() {
                Some(table) if table.contains_key("measure") => {
                    let table = Fields::new(table, "this line", place);
                    self.line(&table, context)
                }
                Some(table) => self.measure_in(table, place).map(Line::of),
                None => self.measure_of(&item, place).map(Line::of),
            };
            lines.extend(line);
        }
        for line in &lines {
            self.drawable(fields, kind, &line.measure);
        }
        Some(Plot {
            kind,
            title: self
                .text(fields, "title")
                .map_or_else(String::new, |word| word.text),
            caption: self
                .text(fields, "caption")
                .map_or_else(String::new, |word| word.text),
            x,
            y: self.axis(fields, "y"),
            at: self.at(fields, "at", context),
            schemes: self.schemes(fields, "schemes", context),
            lines,
            run,
        })
    }

    fn line(&mut self, fields: &Fields<'_>, context: &super::Context) -> Option<Line> {
        self.only(
            fields,
            &["measure", "low", "high", "label", "schemes", "at"],
        );
        Some(Line {
            measure: self.measure(fields, "measure")?,
            low: self.measure(fields, "low"),
            high: self.measure(fields, "high"),
            label: self
                .text(fields, "label")
                .map_or_else(String::new, |word| word.text),
            schemes: self.schemes(fields, "schemes", context),
            at: self.at(fields, "at", context),
        })
    }

    fn axis(&mut self, fields: &Fields<'_>, name: &str) -> Axis {
        let Some(fields) = self.table(fields, name) else {
            return Axis::default();
        };
        self.only(&fields, &["key", "label", "unit", "range", "log"]);
        Axis {
            key: self.text(&fields, "key").map(|word| word.text),
            label: self.text(&fields, "label").map(|word| word.text),
            unit: self.text(&fields, "unit").map(|word| word.text),
            range: self.pair(&fields, "range"),
            log: self.truth(&fields, "log"),
        }
    }

    /// A distribution or a series is drawn whole, anything else as a number.
    fn drawable(&mut self, fields: &Fields<'_>, kind: PlotKind, measure: &Measure) {
        let place = || fields.value_place("lines");
        let is_series = matches!(measure.of, Of::Series { .. });
        match kind {
            PlotKind::Sweep | PlotKind::Bars if !measure.is_number() => {
                let message = "a sweep and bars draw numbers, and this is a distribution or series";
                self.wrong(message.into(), place(), "a statistic in each measure");
            }
            PlotKind::Cdf if measure.is_number() => {
                let message = "a CDF draws a distribution, and this is a number";
                self.wrong(
                    message.into(),
                    place(),
                    "measures of flows, ports or series without statistic",
                );
            }
            PlotKind::Time if !is_series || measure.is_number() => {
                let message = "a plot over time draws series";
                self.wrong(
                    message.into(),
                    place(),
                    "measures of series without statistic",
                );
            }
            _ => {}
        }
    }
}

impl Line {
    /// A line of one measure and nothing else.
    fn of(measure: Measure) -> Self {
        Self {
            measure,
            low: None,
            high: None,
            label: String::new(),
            schemes: Vec::new(),
            at: Vec::new(),
        }
    }
}
