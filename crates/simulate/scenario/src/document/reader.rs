//! Walks the items of a TOML document and collects settings and all mistakes.

mod exceptions;
mod rows;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base::setting::Key;
use base::shown;
use toml_edit::{Item, TableLike};

use super::{Draft, Setting, split_group};
use crate::argument::{Argument, Help};
use crate::expression::Expression;
use crate::problem::{Problem, Problems};
use crate::source::Source;
use crate::values::{self, Value};
pub(super) use exceptions::split as split_exception;
use plan::keys;
use plan::suggest;

/// Reads items of one source; problems are collected so that all are reported together.
pub(super) struct Reader<'a> {
    source: &'a Source,
    pub(super) problems: Vec<Problem>,
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

    pub(super) fn top_level(
        &mut self,
        name: &str,
        item: &Item,
        place: Range<usize>,
        draft: &mut Draft,
    ) {
        match name {
            "name" => draft.name = self.text(name, item, place),
            "title" | "description" => draft.title = self.text(name, item, place),
            "seed" => draft.seed = self.scalar(name, item, place),
            "seeds" => draft.seeds = self.scalar(name, item, place),
            "schemes" => draft.schemes = self.schemes(item, place),
            "goals" => draft.goals = self.goals(item, place),
            "columns" => draft.columns = self.keys(name, item, place),
            "explore" => draft.explore = self.keys(name, item, place),
            "variant" => self.variants(item, place, draft),
            "group" => self.groups(item, place, draft),
            _ if self.source.is_of_others(name) => {}
            _ if keys::key(name).is_some() => {
                self.setting(name, item, place, (None, &mut draft.settings));
            }
            _ if is_group(name) => match item.as_table_like() {
                Some(table) => {
                    for (own, item) in self.exceptions(name, table, &mut draft.settings) {
                        let place = place_of(table, own, item);
                        let path = format!("{name}.{own}");
                        self.setting(&path, item, place, (None, &mut draft.settings));
                    }
                }
                None => self.not_a_table(name, place),
            },
            _ => self.unknown(name, item.is_table_like(), &place),
        }
    }

    /// Reads a table of settings whose names start with `prefix`.
    fn table(
        &mut self,
        prefix: &str,
        table: &dyn TableLike,
        (group, out): (Option<&Arc<str>>, &mut Vec<Setting>),
    ) {
        for (name, item) in table.iter() {
            let place = place_of(table, name, item);
            let path = format!("{prefix}.{name}");
            self.setting(&path, item, place, (group, out));
        }
    }

    fn setting(
        &mut self,
        name: &str,
        item: &Item,
        place: Range<usize>,
        (group, out): (Option<&Arc<str>>, &mut Vec<Setting>),
    ) {
        let Some(key) = self.key(name, &place) else {
            return;
        };
        let same = |setting: &&Setting| {
            setting.part.is_none() && setting.key == key.name && setting.group.as_ref() == group
        };
        if let Some(first) = out.iter().find(same) {
            let problem = Problem::new(format!("{name} is set twice"))
                .at(self.source, first.place.clone(), "first here")
                .at(self.source, place, "and again here")
                .help("keep one of the two");
            self.problems.push(problem);
            return;
        }
        let mut setting = Setting {
            key: key.name,
            group: group.cloned(),
            ..Setting::empty(place.clone())
        };
        if self.values(key, item, place, &mut setting) {
            out.push(setting);
        }
    }

    /// Reads the values of a setting. Returns false if an item is no value.
    fn values(
        &mut self,
        key: &'static Key,
        item: &Item,
        place: Range<usize>,
        setting: &mut Setting,
    ) -> bool {
        let part = setting.part.as_ref();
        let name = part.map_or_else(|| key.name.to_owned(), ToString::to_string);
        if let Some(array) = item.as_array() {
            setting.listed = true;
            if array.is_empty() {
                let problem = Problem::new(format!("{name} has an empty list of values"))
                    .at(self.source, item.span().unwrap_or(place), "no value here")
                    .help(format!("give at least one value: {}", (key.expected)()));
                self.problems.push(problem);
                return false;
            }
            for element in array {
                let place = element.span().unwrap_or_else(|| place.clone());
                match scalar_text(element) {
                    Some(text) => self.value(key, Value { text, place }, setting),
                    None => self.not_a_value(key, place),
                }
            }
        } else {
            let table = (key.name == COLUMNS)
                .then(|| item.as_table_like())
                .flatten();
            let text = match table {
                Some(table) => joined(table),
                None => item.as_value().and_then(scalar_text),
            };
            let place = item.span().unwrap_or(place);
            let Some(text) = text else {
                self.not_a_value(key, place);
                return false;
            };
            self.value(key, Value { text, place }, setting);
        }
        true
    }

    /// Checks one value, which may be a range, and adds it to its setting.
    pub(super) fn value(&mut self, key: &'static Key, value: Value, setting: &mut Setting) {
        let part = setting.part.as_ref();
        let name = part.map_or_else(|| key.name.to_owned(), ToString::to_string);
        // The two points of "../net.graphml" are no range.
        let may_be_path = (key.is_path)().is_some();
        let range = match key.name {
            WINDOW => None,
            _ if may_be_path => None,
            _ => values::range(&value.text),
        };
        let texts = match range {
            None if key.names_file(&value.text) => {
                vec![beside(self.source.name(), &value.text)]
            }
            None => vec![value.text.clone()],
            Some(Ok(texts)) => {
                setting.listed = true;
                texts
            }
            Some(Err(error)) => {
                let problem = Problem::new(format!("wrong range for {name}"))
                    .at(self.source, value.place, error.cause)
                    .help(error.remedy);
                self.problems.push(problem);
                return;
            }
        };
        for text in texts {
            if is_trace(key.name) && !setting.values.is_empty() {
                // The series of all points must have the same columns, and a trace changes no result.
                let problem = Problem::new(format!("{name} cannot be swept"))
                    .at(self.source, value.place, "a second value")
                    .help("write several names in one text, as in trace.series = \"queue, cwnd\"");
                self.problems.push(problem);
                return;
            }
            let is_plain = may_be_path || keys::key(key.name).is_none();
            let expression = (!is_plain).then(|| Expression::read(key, &text)).flatten();
            let checked = match &expression {
                Some(expression) => expression.fault().map_or(Ok(()), Err),
                None => (key.check)(&text).map_err(|error| error.message),
            };
            if let Err(error) = checked {
                let list = if value.text.contains(',') && !is_trace(key.name) {
                    "several values are written as an array: [10, 20]; "
                } else {
                    ""
                };
                let message = format!("wrong value for {name}: {error}");
                let problem = Problem::new(message)
                    .at(self.source, value.place, "wrong value")
                    .help(format!("{list}{}", about(key, &name)));
                self.problems.push(problem);
                return;
            }
            if setting.values.iter().any(|earlier| earlier.text == text) {
                let problem = Problem::new(format!("{name} has the value {text} twice"))
                    .at(self.source, value.place, "given before")
                    .help("leave one of them out: every value is one simulation");
                self.problems.push(problem);
                return;
            }
            let place = value.place.clone();
            setting.values.push(Value { text, place });
        }
    }

    fn schemes(&mut self, item: &Item, place: Range<usize>) -> Option<Vec<Value>> {
        let Some(array) = item.as_array() else {
            let value = self.scalar("schemes", item, place)?;
            return Some(vec![value]);
        };
        if array.is_empty() {
            let problem = Problem::new("the list of schemes is empty")
                .at(self.source, item.span().unwrap_or(place), "no scheme here")
                .help(format!(
                    "as in schemes = {:?}; `tailwater list schemes` prints all",
                    schemes::EXAMPLES
                ));
            self.problems.push(problem);
            return None;
        }
        let mut names = Vec::new();
        for element in array {
            let place = element.span().unwrap_or_else(|| place.clone());
            if let Some(text) = element.as_str() {
                let text = text.to_owned();
                names.push(Value { text, place });
            } else {
                let problem = Problem::new("wrong value for schemes")
                    .at(
                        self.source,
                        place,
                        "expected the name of a scheme in quotes",
                    )
                    .help(format!("as in schemes = {:?}", schemes::EXAMPLES));
                self.problems.push(problem);
            }
        }
        Some(names)
    }

    /// One goal, or a list.
    fn goals(&mut self, item: &Item, place: Range<usize>) -> Vec<Value> {
        let Some(array) = item.as_array() else {
            return self.scalar("goals", item, place).into_iter().collect();
        };
        let mut goals = Vec::new();
        for element in array {
            let place = element.span().unwrap_or_else(|| place.clone());
            if let Some(text) = element.as_str() {
                let text = text.to_owned();
                goals.push(Value { text, place });
            } else {
                let problem = Problem::new("wrong value for goals")
                    .at(self.source, place, "expected a goal in quotes")
                    .help("as in goals = [\"fct_p99 < 10ms\", \"timeouts <= 0\"]");
                self.problems.push(problem);
            }
        }
        goals
    }

    /// Names of settings, in the list `list`.
    fn keys(&mut self, list: &str, item: &Item, place: Range<usize>) -> Vec<String> {
        let Some(array) = item.as_array() else {
            let problem = Problem::new(format!("wrong value for {list}"))
                .at(self.source, item.span().unwrap_or(place), "expected a list")
                .help(format!(
                    "as in {list} = [\"workload.senders\", \"switch.buffer\"]"
                ));
            self.problems.push(problem);
            return Vec::new();
        };
        let mut names = Vec::new();
        for element in array {
            let place = element.span().unwrap_or_else(|| place.clone());
            let name = element.as_str().unwrap_or_default();
            if let Some(own) = exceptions::split(name) {
                let part = self.part(own, [&place, &place]);
                names.extend(part.map(|part| part.to_string()));
                continue;
            }
            let (_, key) = split_group(name).unwrap_or(("", name));
            let key = self.key(key, &place);
            names.extend(key.map(|_| name.to_owned()));
        }
        names
    }

    fn text(&mut self, name: &str, item: &Item, place: Range<usize>) -> Option<String> {
        let expected = match item.as_str() {
            Some(text) if !text.contains(shown::is_unseen) => return Some(text.to_owned()),
            Some(_) => "has an invisible character that changes the display of others",
            None => "expected text in quotes",
        };
        let problem = Problem::new(format!("wrong value for {name}"))
            .at(self.source, item.span().unwrap_or(place), expected)
            .help(format!("as in {name} = \"my experiment\""));
        self.problems.push(problem);
        None
    }

    fn scalar(&mut self, name: &str, item: &Item, place: Range<usize>) -> Option<Value> {
        let place = item.span().unwrap_or(place);
        if let Some(text) = item.as_value().and_then(scalar_text) {
            return Some(Value { text, place });
        }
        let problem = Problem::new(format!("wrong value for {name}"))
            .at(self.source, place, "expected a single value")
            .help(format!("{name} cannot be a list or a table"));
        self.problems.push(problem);
        None
    }

    pub(super) fn key(&mut self, name: &str, place: &Range<usize>) -> Option<&'static Key> {
        let found = keys::key(name);
        if found.is_none() {
            self.unknown(name, false, place);
        }
        found
    }

    fn unknown(&mut self, name: &str, is_table: bool, place: &Range<usize>) {
        let all = "`tailwater list keys` prints all settings";
        let (message, help) =
            if let Some((_, argument)) = TOP_LEVEL.iter().find(|(k, _)| *k == name) {
                (
                    format!("{name} is not a setting"),
                    Help::from("use ").argument(*argument).text(" instead"),
                )
            } else if is_table {
                let nearest = suggest::did_you_mean(name, groups());
                let message = format!("there is no group of settings [{name}]");
                (message, Help::from(format!("{nearest}{all}")))
            } else {
                let message = format!("there is no setting {name}");
                let names = keys::all_keys().iter().map(|key| key.name);
                let nearest = match name
                    .strip_prefix(COLUMNS)
                    .and_then(|rest| rest.strip_prefix('.'))
                {
                    Some(meaning) => {
                        format!("all columns are one text, as in {COLUMNS}=\"{meaning}=NAME\"; ")
                    }
                    None => suggest::did_you_mean(name, names),
                };
                let group = keys::group(name);
                if nearest.is_empty() && is_group(group) {
                    (
                        message,
                        Help::from(format!(
                            "`tailwater explain {group}` describes the settings of this group"
                        )),
                    )
                } else {
                    (message, Help::from(format!("{nearest}{all}")))
                }
            };
        let problem = Problem::new(message)
            .at(self.source, place.clone(), "unknown name")
            .help(help);
        self.problems.push(problem);
    }

    fn not_a_table(&mut self, name: &str, place: Range<usize>) {
        let problem = Problem::new(format!("{name} is a group of settings, not a value"))
            .at(self.source, place, "expected a table")
            .help(format!(
                "write [{name}] and its settings below, or {name}.KEY = VALUE"
            ));
        self.problems.push(problem);
    }

    fn not_a_value(&mut self, key: &Key, place: Range<usize>) {
        let expected = (key.expected)();
        let problem = Problem::new(format!("wrong value for {}: expected {expected}", key.name))
            .at(self.source, place, "wrong kind of value")
            .help(about(key, key.name));
        self.problems.push(problem);
    }
}

/// The description and the default of a key.
pub(crate) fn about(key: &Key, name: &str) -> String {
    let default = key.default;
    if cfg!(page) {
        return format!(
            "{name} (default {default}): `tailwater explain {}` describes it",
            key.name
        );
    }
    format!("{name} (default {default}): {}", key.help)
}

/// The position of a key: its name, or its item if the name has no position.
pub(super) fn place_of(table: &dyn TableLike, name: &str, item: &Item) -> Range<usize> {
    let key = table.key(name).and_then(toml_edit::Key::span);
    key.or_else(|| item.span()).unwrap_or(0..0)
}

/// A table of texts as one text: `meaning=name`, joined by +. `None` if a value is no text.
fn joined(table: &dyn TableLike) -> Option<String> {
    let parts = table
        .iter()
        .map(|(meaning, item)| Some(format!("{meaning}={}", item.as_str()?)));
    Some(parts.collect::<Option<Vec<_>>>()?.join("+"))
}

/// The text of a string, number or boolean; `None` for lists, tables and dates.
fn scalar_text(value: &toml_edit::Value) -> Option<String> {
    match value {
        toml_edit::Value::String(text) => Some(text.value().clone()),
        toml_edit::Value::Integer(number) => Some(number.value().to_string()),
        toml_edit::Value::Float(number) => Some(number.value().to_string()),
        toml_edit::Value::Boolean(truth) => Some(truth.value().to_string()),
        toml_edit::Value::Datetime(_)
        | toml_edit::Value::Array(_)
        | toml_edit::Value::InlineTable(_) => None,
    }
}

/// The path of a file named in the scenario file `scenario`: beside that file if it exists there, otherwise unchanged,
/// so relative to the working directory.
fn beside(scenario: &str, text: &str) -> String {
    let folder = Path::new(scenario).parent();
    let found = folder.map(|folder| folder.join(text.trim()));
    match found {
        Some(found) if found.is_file() => found.to_string_lossy().into_owned(),
        _ => text.to_owned(),
    }
}

fn is_group(name: &str) -> bool {
    groups().any(|group| group == name)
}

/// Whether a key controls recording, which is the same for all points.
pub(super) fn is_trace(key: &str) -> bool {
    keys::group(key) == "trace"
}

fn groups() -> impl Iterator<Item = &'static str> {
    keys::all_keys().iter().map(|key| keys::group(key.name))
}

/// Settings whose values may contain two points without being ranges.
const WINDOW: &str = "workload.window";
/// A setting that may be written as a table.
const COLUMNS: &str = "workload.columns";
/// Top-level names of a file that callers give as separate arguments.
const TOP_LEVEL: [(&str, Argument); 4] = [
    ("goals", Argument::Goals),
    ("schemes", Argument::Schemes),
    ("seeds", Argument::Seeds),
    ("seed", Argument::Seed),
];
