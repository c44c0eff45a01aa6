//! Reads the TOML text of a scenario into settings with their positions, and nothing more.

mod reader;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base::setting::Key;
use toml_edit::Document;

use super::problem::{Problem, Problems};
use super::source::Source;
use super::values::{self, Value};
use plan::keys::{Exceptions, TracedSeries};
pub(super) use reader::about;
use reader::{Reader, is_trace, place_of};

/// The contents of a file, before defaults and the command line are added.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) schemes: Option<Vec<Value>>,
    /// Settings that results show, in order.
    pub(super) columns: Vec<String>,
    /// Settings offered by a page for exploring the scenario, in order.
    pub(super) explore: Vec<String>,
    /// The goals for results.
    pub(super) goals: Vec<Value>,
    pub(super) seed: Option<Value>,
    pub(super) seeds: Option<Value>,
    /// Settings of all flows and of groups.
    pub(super) settings: Vec<Setting>,
    pub(super) variants: Vec<Variant>,
    pub(super) groups: Vec<GroupDraft>,
}

/// Flows with settings of their own, which are among [`Draft::settings`].
#[derive(Clone, Debug)]
pub(super) struct GroupDraft {
    pub(super) name: Arc<str>,
    /// The scheme of its hosts; `None`: the row's scheme.
    pub(super) scheme: Option<Value>,
}

/// One key and the values it was given.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    /// The group of flows to which it applies; `None`: all.
    pub(super) group: Option<Arc<str>>,
    /// The link or host to which it applies, if it is a part of `topology.exceptions`.
    pub(super) part: Option<ExceptionSetting>,
    pub(super) values: Vec<Value>,
    /// Whether it was written as a list or a range, so that it is an axis of the sweep.
    pub(super) listed: bool,
    /// Whether the command line set it.
    pub(super) argument: bool,
    /// Where the key is written.
    pub(super) place: Range<usize>,
}

/// One setting of one link or host.
#[derive(Clone, Debug)]
pub(super) struct ExceptionSetting {
    /// The name of its table: `link."leaf 0 to spine 1"` or `host.3`.
    pub(super) table: Arc<str>,
    /// The name of the link or host in `topology.exceptions`.
    pub(super) place: Arc<str>,
    /// The name of the setting, one of [`LinkException`](plan::keys::LinkException).
    pub(super) field: &'static str,
}

/// A scheme with another name and its own settings.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) place: Range<usize>,
    pub(super) base: Value,
    pub(super) settings: Vec<Setting>,
}

impl Draft {
    /// The text of a setting for all flows, unless it is a list.
    pub(super) fn of_all(&self, key: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let setting = settings.find(|setting| setting.group.is_none() && setting.key == key)?;
        setting.values.first().map(|value| value.text.as_str())
    }
}

/// Reads a whole file.
pub(super) fn read(source: &Source) -> Result<Draft, Problems> {
    let document = Document::parse(source.text()).map_err(|error| syntax(source, &error))?;
    if document.as_table().is_empty() {
        return Err(Problem::new(format!("{} has no settings", source.name()))
            .help("`tailwater show incast > my.toml` writes a scenario to start from")
            .into());
    }
    if let Some(uses) = document.get("uses") {
        let place = uses.span().unwrap_or(0..0);
        return Err(
            Problem::new(format!("{} has no scenario of its own", source.name()))
                .at(source, place, "it shows the runs of this figure")
                .help("run that one, or `tailwater reproduce` this one")
                .into(),
        );
    }
    let mut reader = Reader::new(source);
    let mut draft = Draft::default();
    for (name, item) in document.as_table() {
        let place = place_of(document.as_table(), name, item);
        reader.top_level(name, item, place, &mut draft);
    }
    reader.finish(draft)
}

/// Reads one argument of the form `KEY=VALUE`. Commas and ranges make several values.
pub(super) fn read_argument(source: &Source) -> Result<Setting, Problems> {
    let text = source.text();
    let mut reader = Reader::new(source);
    let Some((name, value)) = text.split_once('=') else {
        let problem = Problem::new("a setting is given as KEY=VALUE")
            .at(source, 0..text.len(), "no \"=\" here")
            .help("as in workload.senders=10..100:10");
        return Err(problem.into());
    };
    let start = name.len() + 1;
    let place = 0..name.trim_end().len();
    let mut setting = Setting {
        argument: true,
        ..Setting::empty(place.clone())
    };
    let key = if let Some((table, own, field)) = reader::split_exception(name.trim()) {
        setting.part = reader.part((table, own, field), [&place, &place]);
        setting.part.as_ref().and_then(ExceptionSetting::key)
    } else {
        let (group, name) = match split_group(name.trim()) {
            Some((group, name)) => (Some(Arc::from(group)), name),
            None => (None, name.trim()),
        };
        let key = reader.key(name, &place);
        if let (Some(key), true) = (key, group.is_some()) {
            reader.check_group_key(key, &place);
        }
        setting.group = group;
        key
    };
    let Some(key) = key else {
        return reader.finish(setting);
    };
    setting.key = if setting.part.is_some() {
        EXCEPTIONS
    } else {
        key.name
    };
    let mut parts = values::parts(value, start);
    if is_trace(key.name) {
        // Here commas separate names within one value.
        let whole = parts[0].place.start..parts[parts.len() - 1].place.end;
        parts = vec![Value {
            text: text[whole.clone()].to_owned(),
            place: whole,
        }];
    }
    setting.listed = parts.len() > 1;
    for part in parts {
        if part.text.is_empty() {
            let problem = Problem::new(format!("{} is given an empty value", key.name))
                .at(source, part.place, "a value is missing here")
                .help(format!("{}: expected {}", key.name, (key.expected)()));
            reader.problems.push(problem);
            continue;
        }
        let unquoted = Value {
            text: part.text.trim_matches('"').to_owned(),
            place: part.place,
        };
        reader.value(key, unquoted, &mut setting);
    }
    reader.finish(setting)
}

/// Reads a list of series and appends it to the file's list. Commas separate names of one value.
pub(super) fn read_series(source: &Source, own: &str) -> Result<Setting, Problems> {
    let mut reader = Reader::new(source);
    let text = TracedSeries::joined(own, source.text());
    let place = 0..source.text().len();
    let mut setting = Setting {
        argument: true,
        ..Setting::empty(place.clone())
    };
    if let Some(key) = reader.key("trace.series", &place) {
        setting.key = key.name;
        reader.value(key, Value { text, place }, &mut setting);
    }
    reader.finish(setting)
}

impl Setting {
    /// The key as results name it: with its group, link or host.
    pub(super) fn name(&self) -> String {
        if let Some(part) = &self.part {
            return part.to_string();
        }
        match &self.group {
            Some(group) => format!("group.{group}.{}", self.key),
            None => self.key.to_owned(),
        }
    }

    /// Whether both apply to the same key of the same flows.
    pub(super) fn is_about(&self, other: &Self) -> bool {
        let same = match (&self.part, &other.part) {
            (None, None) => true,
            (Some(own), Some(part)) => own.is_about(part),
            _ => false,
        };
        same && self.key == other.key && self.group == other.group
    }

    /// Whether it applies to all flows and links.
    pub(super) fn is_of_all(&self) -> bool {
        self.group.is_none() && self.part.is_none()
    }

    fn of_part(part: ExceptionSetting, place: Range<usize>) -> Self {
        Self {
            key: EXCEPTIONS,
            part: Some(part),
            ..Self::empty(place)
        }
    }

    fn empty(place: Range<usize>) -> Self {
        Self {
            key: "",
            group: None,
            part: None,
            values: Vec::new(),
            listed: false,
            argument: false,
            place,
        }
    }
}

impl ExceptionSetting {
    /// The declaration of the setting.
    pub(super) fn key(&self) -> Option<&'static Key> {
        Exceptions::key(self.field)
    }

    fn is_about(&self, other: &Self) -> bool {
        self.place == other.place && self.field == other.field
    }
}

/// As results name it.
impl fmt::Display for ExceptionSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.field)
    }
}

/// The group and the key of `group.NAME.KEY`.
pub(super) fn split_group(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("group.")?.split_once('.')
}

fn syntax(source: &Source, error: &toml_edit::TomlError) -> Problem {
    let message = error.message().trim().replace('\n', ", ");
    let end = source.text().len();
    let place = error
        .span()
        .map_or(end..end, |span| span.start.min(end)..span.end.min(end));
    Problem::new(format!("{} is not correct TOML", source.name()))
        .at(source, place, message)
        .help("a line is [table], key = value or # comment; values with a unit are in quotes")
}

/// The key to which settings of single links and hosts belong.
pub(super) const EXCEPTIONS: &str = "topology.exceptions";
