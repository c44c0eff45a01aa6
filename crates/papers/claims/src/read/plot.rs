//! Reading plots.

use toml_edit::{Item, Value};

use super::fields::{Fields, Reader, Word};
use super::{Runs, fields};
use crate::unit::Dimension;
use crate::{Axis, Level, Line, Measure, Of, Plot, PlotKind};

impl Reader<'_> {
    /// One panel; none if what is wrong leaves nothing to draw.
    pub(super) fn plot(&mut self, fields: &Fields<'_>, runs: Runs<'_>) -> Option<Plot> {
        let known = [
            "kind", "title", "caption", "x", "y", "schemes", "at", "lines", "run", "paper",
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
        self.of_sizes(fields, kind, (&x, &lines), context);
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
            paper: self.points(fields, kind, context),
        })
    }

    /// What the paper's figure shows, by scheme.
    fn points(
        &mut self,
        fields: &Fields<'_>,
        kind: PlotKind,
        context: &super::Context,
    ) -> Vec<(String, Vec<(f64, f64)>)> {
        let Some(table) = self.table(fields, "paper") else {
            return Vec::new();
        };
        let has_axis = match kind {
            PlotKind::Sweep => fields.has("x"),
            PlotKind::Cdf | PlotKind::Time => true,
            PlotKind::Bars => false,
        };
        if !has_axis {
            let message = "the paper's points need an axis of numbers".to_owned();
            let expected = "kind = \"sweep\" with a key, \"cdf\" or \"time\"";
            self.wrong(message, table.place.clone(), expected);
        }
        let mut all = Vec::new();
        for (name, item) in table.table.iter() {
            let place = table.place_of(name);
            let word = Word {
                text: name.to_owned(),
                place: place.clone(),
            };
            self.scheme(&word, context);
            let point = |value: &Value| match value.as_array()?.iter().collect::<Vec<_>>()[..] {
                [x, y] => Some((fields::number(x)?, fields::number(y)?)),
                _ => None,
            };
            let points = item.as_array();
            let points: Option<Vec<_>> =
                points.and_then(|points| points.iter().map(point).collect());
            match points {
                Some(points) => all.push((name.to_owned(), points)),
                None => self.wrong(
                    format!("wrong points for {name}"),
                    place,
                    "pairs of numbers, as in [[10, 1.5], [20, 3]]",
                ),
            }
        }
        all
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
        let mut known = vec!["key", "label", "unit", "range", "log"];
        if name == "x" {
            known.push("sizes");
        }
        self.only(&fields, &known);
        Axis {
            sizes: self.axis_sizes(&fields),
            key: self.text(&fields, "key").map(|word| word.text),
            label: self.text(&fields, "label").map(|word| word.text),
            unit: self.text(&fields, "unit").map(|word| word.text),
            range: self.pair(&fields, "range"),
            log: self.truth(&fields, "log"),
        }
    }

    /// Sizes of flows along an axis.
    fn axis_sizes(&mut self, fields: &Fields<'_>) -> Vec<Level> {
        let expected = "sizes with units in ascending order, as in [\"10KB\", \"1MB\"]";
        let words = self.words(fields, "sizes");
        let sizes: Option<Vec<Level>> =
            words.iter().map(|word| self.size(word, expected)).collect();
        let sizes = sizes.unwrap_or_default();
        // A full packet stands for its usual size: it is not mixed with bytes.
        let bytes = |size: &Level| size.in_column(Dimension::Bytes, 1500.0);
        if !sizes.is_sorted_by(|a, b| bytes(a) < bytes(b)) {
            let place = fields.value_place("sizes");
            self.wrong("wrong value for sizes".into(), place, expected);
        }
        sizes
    }

    /// Along sizes of flows only flows and equations about them can be drawn.
    fn of_sizes(
        &mut self,
        fields: &Fields<'_>,
        kind: PlotKind,
        (x, lines): (&Axis, &[Line]),
        context: &super::Context,
    ) {
        let place = fields.value_place("lines");
        let (sizes, along) = (x.size_classes(), !x.sizes.is_empty());
        for line in lines {
            let all = [Some(&line.measure), line.low.as_ref(), line.high.as_ref()];
            for measure in all.into_iter().flatten() {
                let measure = match sizes.last() {
                    Some(class) => measure.of_sizes(class),
                    None => measure.clone(),
                };
                self.check_measure(&measure, &place, context);
            }
            let fits = match &line.measure.of {
                Of::Flows { chosen, .. } => chosen.sizes.is_none(),
                Of::Model { size, .. } => size.is_none(),
                _ => false,
            };
            if along && !fits {
                let message = "this is not measured at the sizes of the axis";
                let expected = "measures of flows, or equations about them, without a size";
                self.wrong(message.into(), place.clone(), expected);
            }
        }
        let drawn = [PlotKind::Sweep, PlotKind::Bars].contains(&kind) && x.key.is_none();
        if along && !drawn {
            let message = "sizes do not go with this plot";
            let expected = "kind = \"sweep\" or \"bars\", and no key on the axis";
            self.wrong(message.into(), fields.value_place("x"), expected);
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
