//! Reads tables into structures and reports errors with their places.

use std::ops::Range;

use plan::suggest;
use scenario::{Problem, Problems, Source};
use serde::de::DeserializeOwned;
use toml::de::{DeValue, Error, ValueDeserializer};

use super::short::keys_of;
use super::tree::{Node, Site};
use crate::leaf;

/// Reads the tables of one file. Problems are collected and reported together.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) problems: Vec<Problem>,
}

/// A kind of table: its name in messages, and its keys.
pub(super) struct Table<'a> {
    pub(super) name: &'a str,
    /// Keys that it must have.
    pub(super) required: &'a [&'a str],
    /// Allowed keys in addition to those of the structure that is read.
    pub(super) others: &'a [&'a str],
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

    /// Reads a table. Wrong keys are reported and left out, so that the others are checked, too. `None` if a required
    /// key is missing or wrong.
    pub(super) fn read<T: DeserializeOwned>(
        &mut self,
        table: &Table<'_>,
        node: &Node<'_>,
    ) -> Option<T> {
        let site = Site::new(node);
        for name in table.required.iter().filter(|name| !site.has(name)) {
            self.missing(table.name, name, site.place());
        }
        let mut rest = node.clone();
        loop {
            let error = match T::deserialize(ValueDeserializer::from(rest.clone())) {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let place = error.span().unwrap_or_else(|| site.place());
            let missing = quoted(error.message(), "missing field").next();
            let said = |name| site.has(name) || table.required.contains(&name);
            if place == site.place() && missing.is_some_and(said) {
                return None;
            }
            self.say(table, &error, place.clone(), site);
            let holds = |around: Range<usize>| around.contains(&place.start);
            let mut entries = site.entries().into_iter();
            let wrong = entries.find(|(_, key, value)| holds(key.clone()) || holds(value.place()));
            let DeValue::Table(keys) = rest.get_mut() else {
                return None;
            };
            keys.remove(wrong?.0)?;
        }
    }

    /// Reports an error in the words of the file.
    fn say(&mut self, table: &Table<'_>, error: &Error, place: Range<usize>, site: Site<'_>) {
        let message = error.message();
        let inner = place != site.place();
        let key = self
            .key_at(site, &place)
            .unwrap_or_else(|| table.name.to_owned());
        if let Some((name, known)) = unknown_key(message) {
            let known = known.into_iter().flat_map(keys_of);
            let known: Vec<&str> = table.others.iter().copied().chain(known).collect();
            let nearest = suggest::did_you_mean(name, known.iter().copied());
            let owner = self
                .owner_at(site, &place)
                .unwrap_or_else(|| table.name.to_owned());
            let problem = Problem::new(format!("{owner} has no key {name}"));
            let problem = problem.at(self.source, place, "unknown name");
            let help = format!("{nearest}it may have: {}", known.join(", "));
            return self.problems.push(problem.help(help));
        }
        if let Some(name) = quoted(message, "missing field").next() {
            let owner = if inner { &key } else { table.name };
            return self.missing(owner, name, place);
        }
        let mut names = quoted(message, "unknown variant");
        if let Some(name) = names.next() {
            let (problem, help) = leaf::unlisted(&key, name, names.flat_map(keys_of));
            let problem = Problem::new(problem).at(self.source, place, "unknown name");
            return self.problems.push(problem.help(help));
        }
        if message.starts_with("wanted exactly 1 element") {
            let message = "a measure has one of metric, flows, ports, series, events and model";
            return self.wrong(message, place, "exactly one of them");
        }
        let (message, help) = match message.split_once('\n') {
            Some(("", help)) => (format!("wrong value for {key}"), help.to_owned()),
            Some((message, help)) => (message.to_owned(), help.to_owned()),
            None => {
                let expected = message
                    .rsplit_once("expected ")
                    .map_or(message, |(_, kind)| kind);
                let expected = match expected {
                    "a string" => &format!("text in quotes, as in {key} = \"...\""),
                    "a boolean" => "true or false",
                    "f64" => "a number without quotes",
                    "u32" | "a nonzero u32" => "a whole number",
                    "a sequence" => "a list in brackets",
                    kind if kind.starts_with("struct") || kind == "a map" => {
                        "a table, as in { key = value }"
                    }
                    kind => kind,
                };
                (
                    format!("wrong value for {key}"),
                    format!("expected {expected}"),
                )
            }
        };
        let label = if message.starts_with("there is no") {
            "unknown name"
        } else {
            "wrong value"
        };
        let problem = Problem::new(message).at(self.source, place, label);
        self.problems.push(problem.help(help));
    }

    /// The key, as written, whose value has this place.
    fn key_at(&self, site: Site<'_>, place: &Range<usize>) -> Option<String> {
        site.entries().into_iter().find_map(|(_, key, value)| {
            // The outermost one, because a short form has its place within its key.
            let here = value.place() == *place || value.items().any(|item| item.place() == *place);
            let deeper = || value.items().find_map(|item| self.key_at(item, place));
            if here {
                Some(self.written(key))
            } else {
                deeper()
            }
        })
    }

    /// The key, as written, of the table that has a key at this place; `None` for the outermost table.
    fn owner_at(&self, site: Site<'_>, place: &Range<usize>) -> Option<String> {
        site.entries().into_iter().find_map(|(_, key, value)| {
            value.items().find_map(|item| {
                let deeper = self.owner_at(item, place);
                let here = || item.entries().iter().any(|(_, inner, _)| inner == place);
                deeper.or_else(|| here().then(|| self.written(key.clone())))
            })
        })
    }

    fn written(&self, key: Range<usize>) -> String {
        self.source.text()[key].trim_matches(['"', '\'']).to_owned()
    }

    /// Reports an error at a place.
    pub(super) fn wrong(
        &mut self,
        message: impl Into<String>,
        place: Range<usize>,
        expected: &str,
    ) {
        let problem = Problem::new(message).at(self.source, place, "wrong value");
        self.problems
            .push(problem.help(format!("expected {expected}")));
    }

    /// Reports a missing key.
    pub(super) fn missing(&mut self, what: &str, name: &str, place: Range<usize>) {
        let problem = Problem::new(format!("{what} has no {name}"));
        let problem = problem.at(self.source, place, "missing here");
        let help = format!("add {name} = ...; the guide has a page on figures and claims");
        self.problems.push(problem.help(help));
    }

    /// Reports an unknown name.
    pub(super) fn unknown<'b>(
        &mut self,
        what: &str,
        (text, place): (&str, Range<usize>),
        known: impl IntoIterator<Item = &'b str>,
    ) {
        let (message, help) = leaf::unlisted(what, text, known);
        let problem = Problem::new(message).at(self.source, place, "unknown name");
        self.problems.push(problem.help(help));
    }

    /// The tables of `[[name]]`, each with its name in messages.
    pub(super) fn tables<'b>(
        &mut self,
        document: &'b Node<'b>,
        name: &str,
    ) -> Vec<(String, &'b Node<'b>)> {
        let Some(value) = document.get_ref().get(name) else {
            return Vec::new();
        };
        let all = value.get_ref().as_array();
        let Some(tables) = all.filter(|all| all.iter().all(|one| one.get_ref().is_table())) else {
            let expected = format!("[[{name}]] and its keys below");
            self.wrong(format!("wrong value for {name}"), value.span(), &expected);
            return Vec::new();
        };
        let tables = tables.iter().map(|table| {
            let id = table
                .get_ref()
                .get("id")
                .and_then(|id| id.get_ref().as_str());
            let what = id.map_or_else(|| format!("this {name}"), |id| format!("{name} {id}"));
            (what, table)
        });
        tables.collect()
    }
}

/// The key that a structure does not have, and those that it has. Tables of variants tell of it in other words.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    if let Some(lists) = message.strip_prefix("unexpected keys in table: ") {
        let (unknown, known) = lists.split_once(", available keys: ")?;
        return Some((unknown.split(", ").next()?, known.split(", ").collect()));
    }
    let mut names = quoted(message, "unknown field");
    Some((names.next()?, names.collect()))
}

/// The names in a message of serde that begins with `start`: the wrong or missing one, and the allowed ones.
fn quoted<'a>(message: &'a str, start: &str) -> impl Iterator<Item = &'a str> {
    let names = if message.starts_with(start) {
        message
    } else {
        ""
    };
    names.split('`').skip(1).step_by(2)
}
