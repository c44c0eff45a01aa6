//! The settings of a model, from its defaults and `--set KEY=VALUE`.

use std::collections::BTreeMap;

use base::setting::Key;
use plan::suggest;
use scenario::{Problem, Problems};
use theory::answer::{Model, NoAnswer};

use super::at_set;

/// The settings of a model.
pub(super) struct Settings<'a> {
    model: &'static Model,
    /// The given settings, by full name: the whole argument, and the position of its value.
    given: BTreeMap<&'static str, (&'a str, usize)>,
}

impl<'a> Settings<'a> {
    /// Reads arguments `KEY=VALUE`; the name of the model before a key is optional.
    pub(super) fn read(model: &'static Model, sets: &'a [String]) -> Result<Self, Problems> {
        let mut settings = Self {
            model,
            given: BTreeMap::new(),
        };
        let problems: Vec<Problem> = sets.iter().filter_map(|set| settings.add(set)).collect();
        if problems.is_empty() {
            Ok(settings)
        } else {
            Err(Problems(problems))
        }
    }

    /// Adds an argument, or returns an error.
    fn add(&mut self, set: &'a str) -> Option<Problem> {
        let name = self.model.name;
        let list = format!("`tailwater model {name} --list` prints all settings");
        let Some(equals) = set.find('=') else {
            let message = format!("{set:?} sets nothing");
            let problem = at_set(message, set, 0..set.len(), "expected KEY=VALUE");
            return Some(problem.help(list));
        };
        let word = set[..equals].trim();
        let is_it = |key: &&Key| key.name == word || short(key) == word;
        let Some(key) = self.model.keys.iter().find(is_it) else {
            let nearest = suggest::did_you_mean(word, self.model.keys.iter().map(|key| key.name));
            let message = format!("{name} has no setting called {word:?}");
            let problem = at_set(message, set, 0..equals, "unknown setting");
            return Some(problem.help(format!("{nearest}{list}")));
        };
        if self.given.insert(key.name, (set, equals + 1)).is_some() {
            let message = format!("{} is set twice", key.name);
            let problem = at_set(message, set, 0..equals, "set again");
            return Some(problem.help("keep one of them"));
        }
        let error = (key.check)(&set[equals + 1..]).err()?;
        let message = format!("wrong value for {}: {}", key.name, error.message);
        Some(at_set(message, set, equals + 1..set.len(), "wrong value").help(described(key)))
    }

    /// The text of a setting by its full name.
    pub(super) fn text(&self, key: &str) -> String {
        if let Some((set, value)) = self.given.get(key) {
            return set[*value..].trim().to_owned();
        }
        let key = self.model.keys.iter().find(|own| own.name == key);
        key.map_or_else(String::new, |key| key.default.to_owned())
    }

    /// Every setting with its text.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, String)> {
        let keys = self.model.keys.iter();
        keys.map(|key| (key.name, self.text(key.name)))
    }

    /// The model's objection to its settings, at the responsible argument if there is one.
    pub(super) fn refused(&self, refusal: NoAnswer) -> Problems {
        let NoAnswer {
            key,
            other,
            message,
            help,
        } = refusal;
        // If two settings contradict each other, the given one is shown.
        let given = other.filter(|other| self.given.contains_key(other));
        let key = given.unwrap_or(key);
        let message = format!("{key} = {}: {message}", self.text(key));
        let problem = match self.given.get(key) {
            Some((set, value)) => at_set(message, set, *value..set.len(), "does not fit"),
            None => Problem::new(message),
        };
        problem.help(help).into()
    }
}

/// The name without the model's prefix.
fn short(key: &Key) -> &'static str {
    key.name.split_once('.').map_or(key.name, |(_, name)| name)
}

fn described(key: &Key) -> String {
    format!("{} (default {}): {}", key.name, key.default, key.help)
}
