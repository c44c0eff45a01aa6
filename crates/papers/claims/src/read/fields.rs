//! Fields of a TOML table with their places.

use std::ops::Range;

use plan::suggest;
use scenario::{Problem, Problems, Source};
use toml_edit::{Item, TableLike, Value};

/// Reads the tables of one file; problems are collected so that all are reported together.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) problems: Vec<Problem>,
}

/// A table and what it is called in messages.
pub(super) struct Fields<'a> {
    pub(super) table: &'a dyn TableLike,
    what: String,
    pub(super) place: Range<usize>,
}

/// A text and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Range<usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        table: &'a dyn TableLike,
        what: impl Into<String>,
        place: Range<usize>,
    ) -> Self {
        Self {
            table,
            what: what.into(),
            place,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Item> {
        self.table.get(name)
    }

    /// Where a key is written.
    pub(super) fn place_of(&self, name: &str) -> Range<usize> {
        let key = self.table.key(name).and_then(toml_edit::Key::span);
        let item = || self.table.get(name).and_then(Item::span);
        key.or_else(item).unwrap_or_else(|| self.place.clone())
    }

    /// Where the value of a key is written.
    pub(super) fn value_place(&self, name: &str) -> Range<usize> {
        let item = self.table.get(name).and_then(Item::span);
        item.unwrap_or_else(|| self.place_of(name))
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self {
            source,
            problems: Vec::new(),
        }
    }

    pub(super) fn finish<T>(self, value: T) -> Result<T, Problems> {
        Problems::unless(self.problems, value)
    }

    /// Complains about what is wrong at a place.
    pub(super) fn wrong(&mut self, message: String, place: Range<usize>, expected: &str) {
        let problem = Problem::new(message).at(self.source, place, "wrong value");
        self.problems
            .push(problem.help(format!("expected {expected}")));
    }

    /// Complains about keys that are not among `known`.
    pub(super) fn only(&mut self, fields: &Fields<'_>, known: &[&str]) {
        for (name, _) in fields.table.iter() {
            if !known.contains(&name) {
                let nearest = suggest::did_you_mean(name, known.iter().copied());
                let problem = Problem::new(format!("{} has no key {name}", fields.what));
                let problem = problem.at(self.source, fields.place_of(name), "unknown name");
                let help = format!("{nearest}it may have: {}", known.join(", "));
                self.problems.push(problem.help(help));
            }
        }
    }

    /// Complains about a key that is missing.
    pub(super) fn missing(&mut self, fields: &Fields<'_>, name: &str) {
        let problem = Problem::new(format!("{} has no {name}", fields.what));
        let problem = problem.at(self.source, fields.place.clone(), "missing here");
        let help = format!("add {name} = ...; the guide has a page on figures and claims");
        self.problems.push(problem.help(help));
    }

    pub(super) fn text(&mut self, fields: &Fields<'_>, name: &str) -> Option<Word> {
        let item = fields.get(name)?;
        let place = fields.value_place(name);
        if let Some(text) = item.as_str() {
            let text = text.trim().to_owned();
            return Some(Word { text, place });
        }
        let message = format!("wrong value for {name}");
        self.wrong(
            message,
            place,
            &format!("text in quotes, as in {name} = \"...\""),
        );
        None
    }

    /// A text that must be there; empty if it is not, which has then been said.
    pub(super) fn required_text(&mut self, fields: &Fields<'_>, name: &str) -> String {
        if !fields.has(name) {
            self.missing(fields, name);
        }
        self.text(fields, name)
            .map(|word| word.text)
            .unwrap_or_default()
    }

    /// A text, number or truth value, or a list of them.
    pub(super) fn words(&mut self, fields: &Fields<'_>, name: &str) -> Vec<Word> {
        let Some(item) = fields.get(name) else {
            return Vec::new();
        };
        let place = fields.value_place(name);
        let Some(value) = item.as_value() else {
            self.wrong(
                format!("wrong value for {name}"),
                place,
                "a value or a list of values",
            );
            return Vec::new();
        };
        let single = [value];
        let array = value.as_array();
        let values: Vec<&Value> = array.map_or_else(|| single.to_vec(), |all| all.iter().collect());
        let mut words = Vec::new();
        for value in values {
            let place = value.span().unwrap_or_else(|| place.clone());
            match scalar(value) {
                Some(text) => words.push(Word { text, place }),
                None => self.wrong(format!("wrong value for {name}"), place, "text or a number"),
            }
        }
        words
    }

    pub(super) fn number(&mut self, fields: &Fields<'_>, name: &str) -> Option<f64> {
        let item = fields.get(name)?;
        let number = item.as_value().and_then(number);
        if number.is_none() {
            let place = fields.value_place(name);
            self.wrong(
                format!("wrong value for {name}"),
                place,
                "a number without quotes",
            );
        }
        number
    }

    pub(super) fn whole(&mut self, fields: &Fields<'_>, name: &str) -> Option<u32> {
        let item = fields.get(name)?;
        let number = item
            .as_integer()
            .and_then(|number| u32::try_from(number).ok());
        if number.is_none() {
            let place = fields.value_place(name);
            self.wrong(format!("wrong value for {name}"), place, "a whole number");
        }
        number
    }

    pub(super) fn truth(&mut self, fields: &Fields<'_>, name: &str) -> bool {
        let Some(item) = fields.get(name) else {
            return false;
        };
        let truth = item.as_bool();
        if truth.is_none() {
            let place = fields.value_place(name);
            self.wrong(format!("wrong value for {name}"), place, "true or false");
        }
        truth.unwrap_or_default()
    }

    /// Two numbers.
    pub(super) fn pair(&mut self, fields: &Fields<'_>, name: &str) -> Option<(f64, f64)> {
        let item = fields.get(name)?;
        let values: Option<Vec<f64>> = item
            .as_array()
            .and_then(|array| array.iter().map(number).collect());
        if let Some([low, high]) = values.as_deref()
            && low <= high
        {
            return Some((*low, *high));
        }
        let place = fields.value_place(name);
        self.wrong(
            format!("wrong value for {name}"),
            place,
            "two numbers in ascending order",
        );
        None
    }

    /// One of a few words.
    pub(super) fn choice<T: Clone>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let word = self.text(fields, name)?;
        let found = choices.iter().find(|(choice, _)| *choice == word.text);
        if found.is_none() {
            let names = choices.iter().map(|(name, _)| *name);
            let nearest = suggest::did_you_mean(&word.text, names.clone());
            let all = names.collect::<Vec<_>>().join(", ");
            let problem = Problem::new(format!("there is no {name} {:?}", word.text));
            let problem = problem.at(self.source, word.place, "unknown name");
            self.problems
                .push(problem.help(format!("{nearest}expected one of {all}")));
        }
        found.map(|(_, value)| value.clone())
    }

    /// A table by name.
    pub(super) fn table<'b>(&mut self, fields: &Fields<'b>, name: &str) -> Option<Fields<'b>> {
        let item = fields.get(name)?;
        let place = fields.place_of(name);
        if let Some(table) = item.as_table_like() {
            return Some(Fields::new(table, name, place));
        }
        self.wrong(
            format!("wrong value for {name}"),
            place,
            "a table, as in { key = value }",
        );
        None
    }

    /// The tables of `[[name]]`.
    pub(super) fn tables<'b>(&mut self, fields: &Fields<'b>, name: &str) -> Vec<Fields<'b>> {
        let Some(item) = fields.get(name) else {
            return Vec::new();
        };
        let Some(tables) = item.as_array_of_tables() else {
            let place = fields.place_of(name);
            self.wrong(
                format!("wrong value for {name}"),
                place,
                &format!("[[{name}]] and its keys below"),
            );
            return Vec::new();
        };
        let tables = tables.iter().map(|table| {
            let place = table.span().unwrap_or(0..0);
            let id = table.get("id").and_then(Item::as_str);
            let what = id.map_or_else(|| format!("this {name}"), |id| format!("{name} {id}"));
            Fields::new(table, what, place)
        });
        tables.collect()
    }
}

/// The text of a string, number or truth value.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().trim().to_owned()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        Value::Boolean(truth) => Some(truth.value().to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_) => None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of papers have few digits"
)]
pub(super) fn number(value: &Value) -> Option<f64> {
    value
        .as_float()
        .or_else(|| value.as_integer().map(|number| number as f64))
}
