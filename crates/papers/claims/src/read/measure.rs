//! Reading measures.

use std::ops::Range;

use plan::series;
use record::trace::EventKind;
use sim::columns;
use toml_edit::{Item, TableLike};

use super::Context;
use super::fields::{Fields, Reader, Word};
use crate::measure::{DERIVED, flow_columns, port_columns};
use crate::unit::Dimension;
use crate::{
    Chosen, Cluster, FlowWeight, Level, Measure, Moment, Of, Place, Sizes, Statistic, Stretch,
    Weight, model,
};

impl Reader<'_> {
    /// The measure called `name`, if it is there and correct.
    pub(super) fn measure(&mut self, fields: &Fields<'_>, name: &str) -> Option<Measure> {
        let item = fields.get(name)?;
        self.measure_of(item, fields.value_place(name))
    }

    /// A measure: the name of a metric, or a table.
    pub(super) fn measure_of(&mut self, item: &Item, place: Range<usize>) -> Option<Measure> {
        if let Some(text) = item.as_str() {
            let text = text.to_owned();
            return self.metric(&Word { text, place });
        }
        let Some(table) = item.as_table_like() else {
            let expected = "the name of a metric, or a table such as { flows = \"fct_us\", statistic = \"p99\" }";
            self.wrong("wrong value for a measure".into(), place, expected);
            return None;
        };
        self.measure_in(table, place)
    }

    /// A measure that is written as a table.
    pub(super) fn measure_in(
        &mut self,
        table: &dyn TableLike,
        place: Range<usize>,
    ) -> Option<Measure> {
        let fields = Fields::new(table, "this measure", place);
        let sources = ["metric", "flows", "ports", "series", "events", "model"];
        let given: Vec<&str> = sources
            .into_iter()
            .filter(|name| fields.has(name))
            .collect();
        let [source] = given[..] else {
            let message = "a measure has one of metric, flows, ports, series, events and model";
            self.wrong(message.into(), fields.place.clone(), "exactly one of them");
            return None;
        };
        if source == "events" {
            let measure = self.events(&fields)?;
            return Some(self.reduced(&fields, measure));
        }
        let column = self.text(&fields, source)?;
        let measure = match source {
            "metric" => {
                self.only(&fields, &["metric", "reduction_from"]);
                self.metric(&column)
            }
            "model" => return self.model(&fields, &column),
            "flows" => self.flows(&fields, &column),
            "ports" => self.ports(&fields, &column),
            _ => self.series(&fields, &column),
        };
        Some(self.reduced(&fields, measure?))
    }

    /// The measure, or by what share it is lower than under another scheme, if that is wanted.
    fn reduced(&mut self, fields: &Fields<'_>, mut measure: Measure) -> Measure {
        let Some(word) = self.text(fields, "reduction_from") else {
            return measure;
        };
        if measure.is_number() {
            measure.reduction_from = Some(word.text);
        } else {
            let message = "only a number can be lower than another";
            self.wrong(message.into(), word.place, "a statistic in the measure");
        }
        measure
    }

    fn model(&mut self, fields: &Fields<'_>, name: &Word) -> Option<Measure> {
        self.only(fields, &["model", "size"]);
        let found = model::find(&name.text);
        if found.is_none() {
            let names = model::MODELS.iter().map(|model| model.name);
            self.unknown("equation", name, names);
        }
        let model = found?;
        let expected = "one size with its unit";
        let size = match &self.words(fields, "size")[..] {
            [] => None,
            [word] if !model.takes_size() => {
                let message = format!("{} is not about a flow", model.name);
                self.wrong(message, word.place.clone(), "no size");
                return None;
            }
            [word] => Some(self.size(word, expected)?),
            _ => {
                let place = fields.value_place("size");
                self.wrong("wrong value for size".into(), place, expected);
                return None;
            }
        };
        let of = Of::Model {
            name: model.name,
            size,
        };
        Some(Measure::new(of, None))
    }

    /// Complains of schemes that a measure looks at and that are not run, and of an equation about a
    /// flow without a size.
    pub(super) fn check_measure(
        &mut self,
        measure: &Measure,
        place: &Range<usize>,
        context: &Context,
    ) {
        for scheme in measure.other_schemes() {
            if !context.schemes.iter().any(|known| known == scheme) {
                let word = Word {
                    text: scheme.to_owned(),
                    place: place.clone(),
                };
                let schemes = context.schemes.iter().map(String::as_str);
                self.unknown("scheme in this scenario called", &word, schemes);
            }
        }
        if measure.needs_size() {
            let message = format!("{} is about a flow of some size", measure.column());
            let expected = "size = \"100KB\", or in a plot x = { sizes = [...] }";
            self.wrong(message, place.clone(), expected);
        }
    }

    fn metric(&mut self, word: &Word) -> Option<Measure> {
        let found = columns::METRICS
            .iter()
            .find(|column| column.name == word.text);
        if found.is_none() {
            let names = columns::METRICS.iter().map(|column| column.name);
            self.unknown("metric", word, names);
        }
        found.map(|column| Measure::metric(column.name))
    }

    fn flows(&mut self, fields: &Fields<'_>, column: &Word) -> Option<Measure> {
        self.only(
            fields,
            &[
                "flows",
                "statistic",
                "group",
                "size",
                "during",
                "common_to",
                "weight",
                "each_sender",
                "gap",
                "cluster",
                "below",
                "above",
                "reduction_from",
            ],
        );
        let names = || {
            flow_columns()
                .iter()
                .map(|field| field.name.as_str())
                .chain(DERIVED)
        };
        let found = names().find(|name| *name == column.text);
        if found.is_none() {
            self.unknown("column of flows", column, names().collect::<Vec<_>>());
        }
        let common = self.words(fields, "common_to").into_iter();
        let chosen = Chosen {
            group: self.text(fields, "group").map(|word| word.text),
            sizes: self.sizes(fields),
            cluster: self.cluster(fields),
            during: fields.has("during").then(|| self.during(fields)),
            common_to: common.map(|word| word.text).collect(),
        };
        let weights = [("flows", FlowWeight::Flow), ("bytes", FlowWeight::Bytes)];
        let weight = self.choice(fields, "weight", &weights);
        let of = Of::Flows {
            column: found?,
            chosen,
            weight: weight.unwrap_or_default(),
            each_sender: None,
        };
        let mut measure = Measure::new(of, None);
        let each = self.statistic(fields, "each_sender", &measure);
        if let Of::Flows { each_sender, .. } = &mut measure.of {
            *each_sender = each.map(Box::new);
        }
        measure.statistic = self.statistic(fields, "statistic", &measure);
        // One that is wrong has been reported, and is not as if there were none.
        (measure.statistic.is_some() || !fields.has("statistic")).then_some(measure)
    }

    /// Which cluster of completions is meant.
    fn cluster(&mut self, fields: &Fields<'_>) -> Option<Cluster> {
        let number = self.whole(fields, "cluster")?;
        let gap = self.level(fields, "gap", Dimension::Time);
        if !fields.has("gap") {
            self.missing(fields, "gap");
        }
        Some(Cluster {
            gap_us: gap?.in_column(Dimension::Time, 1.0)?,
            number: number as usize,
        })
    }

    /// The sizes of the flows that are meant.
    fn sizes(&mut self, fields: &Fields<'_>) -> Option<Sizes> {
        let words = self.words(fields, "size");
        let expected =
            "two sizes, as in size = [\"0B\", \"100KB\"], the second perhaps \"unlimited\"";
        let [above, up_to] = &words[..] else {
            if fields.has("size") {
                let place = fields.value_place("size");
                self.wrong("wrong value for size".into(), place, expected);
            }
            return None;
        };
        let above = self.size(above, expected)?;
        let up_to = match up_to.text.as_str() {
            "unlimited" => None,
            _ => Some(self.size(up_to, expected)?),
        };
        Some(Sizes { above, up_to })
    }

    /// A size of a flow, with its unit.
    pub(super) fn size(&mut self, word: &Word, expected: &str) -> Option<Level> {
        let level = Level::parse(&word.text).filter(|level| !level.unit.is_empty());
        let level = level.filter(|level| level.in_column(Dimension::Bytes, 1.0).is_some());
        if level.is_none() {
            let place = word.place.clone();
            self.wrong("wrong value for size".into(), place, expected);
        }
        level
    }

    fn events(&mut self, fields: &Fields<'_>) -> Option<Measure> {
        let known = [
            "events",
            "statistic",
            "group",
            "below",
            "above",
            "reduction_from",
        ];
        self.only(fields, &known);
        let mut kinds = Vec::new();
        for word in self.words(fields, "events") {
            let found = EventKind::NAMES.iter().find(|name| **name == word.text);
            if found.is_none() {
                self.unknown("event", &word, EventKind::NAMES);
            }
            kinds.push(*found?);
        }
        let of = Of::Events {
            kinds,
            group: self.text(fields, "group").map(|word| word.text),
        };
        let mut measure = Measure::new(of, None);
        measure.statistic = self.statistic(fields, "statistic", &measure);
        (measure.statistic.is_some() || !fields.has("statistic")).then_some(measure)
    }

    fn ports(&mut self, fields: &Fields<'_>, column: &Word) -> Option<Measure> {
        let known = [
            "ports",
            "statistic",
            "from",
            "to",
            "bottleneck",
            "below",
            "above",
            "gap",
            "reduction_from",
        ];
        self.only(fields, &known);
        let names = || port_columns().iter().map(|field| field.name.as_str());
        let found = names().find(|name| *name == column.text);
        if found.is_none() {
            self.unknown("column of ports", column, names().collect::<Vec<_>>());
        }
        let of = Of::Ports {
            column: found?,
            place: self.ports_place(fields),
        };
        let mut measure = Measure::new(of, None);
        measure.statistic = self.statistic(fields, "statistic", &measure);
        // One that is wrong has been reported, and is not as if there were none.
        (measure.statistic.is_some() || !fields.has("statistic")).then_some(measure)
    }

    fn ports_place(&mut self, fields: &Fields<'_>) -> Place {
        Place {
            from: self.node(fields, "from"),
            to: self.node(fields, "to"),
            bottleneck: self.truth(fields, "bottleneck"),
        }
    }

    /// `switch 2`, `host 0`, or all of a kind.
    fn node(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        let word = self.text(fields, name)?;
        let mut parts = word.text.split(' ');
        let kind = matches!(parts.next(), Some("switch" | "host"));
        let number = parts
            .next()
            .is_none_or(|number| number.parse::<u32>().is_ok());
        if kind && number && parts.next().is_none() {
            return Some(word.text);
        }
        let expected = "\"switch 0\", \"host 3\", or \"switch\" or \"host\" for all of them";
        self.wrong(format!("wrong value for {name}"), word.place, expected);
        None
    }

    fn series(&mut self, fields: &Fields<'_>, column: &Word) -> Option<Measure> {
        let known = [
            "series",
            "statistic",
            "from",
            "to",
            "group",
            "flow",
            "host",
            "during",
            "window",
            "across",
            "weight",
            "apart_from",
            "below",
            "above",
            "reduction_from",
        ];
        self.only(fields, &known);
        let names = || series::all().iter().map(|quantity| quantity.name);
        let found = names().find(|name| *name == column.text);
        if found.is_none() {
            self.unknown("quantity of series", column, names());
        }
        let apart_from = self.text(fields, "apart_from").and_then(|word| {
            let other = names().find(|name| *name == word.text);
            if other.is_none() {
                self.unknown("quantity of series", &word, names());
            }
            other
        });
        let across = self.choice(
            fields,
            "across",
            &[
                ("mean", Statistic::Mean),
                ("min", Statistic::Min),
                ("max", Statistic::Max),
                ("sum", Statistic::Sum),
                ("deviation", Statistic::Deviation),
                ("jain", Statistic::Jain),
            ],
        );
        let weights = [("time", Weight::Time), ("change", Weight::Change)];
        let weight = self.choice(fields, "weight", &weights);
        let of = Of::Series {
            column: found?,
            place: self.ports_place(fields),
            group: self.text(fields, "group").map(|word| word.text),
            flow: self.whole(fields, "flow"),
            host: self.whole(fields, "host"),
            during: self.during(fields),
            window_us: self.window(fields),
            across: across.unwrap_or(Statistic::Mean),
            weight: weight.unwrap_or_default(),
            apart_from,
        };
        let mut measure = Measure::new(of, None);
        measure.statistic = self.statistic(fields, "statistic", &measure);
        // One that is wrong has been reported, and is not as if there were none.
        (measure.statistic.is_some() || !fields.has("statistic")).then_some(measure)
    }

    /// Over how many microseconds values are averaged.
    fn window(&mut self, fields: &Fields<'_>) -> Option<f64> {
        let level = self.level(fields, "window", Dimension::Time)?;
        let us = level.in_column(Dimension::Time, 1.0);
        let us = us.filter(|us| *us > 0.0 && !level.unit.is_empty());
        if us.is_none() {
            let place = fields.value_place("window");
            self.wrong(
                "wrong value for window".into(),
                place,
                "a time with its unit, above 0",
            );
        }
        us
    }

    fn during(&mut self, fields: &Fields<'_>) -> Stretch {
        let words = self.words(fields, "during");
        let [from, to] = &words[..] else {
            if fields.has("during") {
                let place = fields.value_place("during");
                let expected = "two times, as in during = [\"10ms\", \"end\"]";
                self.wrong("wrong value for during".into(), place, expected);
            }
            return Stretch::default();
        };
        let mut time = |word: &Word, open: &str| {
            if word.text == open {
                return None;
            }
            let level = Level::parse(&word.text).filter(|level| !level.unit.is_empty());
            let moment = level.and_then(|level| match level.unit.as_str() {
                "%" => Some(Moment::Share(level.value / 100.0)),
                _ => level.in_column(Dimension::Time, 1.0).map(Moment::At),
            });
            if moment.is_none() {
                let expected = format!(
                    "a time with its unit, a share of the simulation as in \"40%\", or {open:?}"
                );
                self.wrong(
                    "wrong value for during".into(),
                    word.place.clone(),
                    &expected,
                );
            }
            moment
        };
        Stretch {
            from: time(from, "start"),
            to: time(to, "end"),
        }
    }
}
