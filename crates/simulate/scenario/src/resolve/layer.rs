//! The texts of all settings of some flows: given values, and values that follow from them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use base::Quantity;

use crate::document::{EXCEPTIONS, ExceptionSetting};
use crate::expression::Expression;
use plan::keys::{self, Keys, Profile, profile};

/// A source by its index, and the range in it.
pub(super) type Origin = (usize, Range<usize>);

/// A text for every key.
#[derive(Clone)]
pub(super) struct Layer<'a> {
    pub(super) texts: BTreeMap<&'static str, Cow<'a, str>>,
    pub(super) origins: BTreeMap<&'static str, Origin>,
    /// The original expression of each text that follows from other settings.
    expressions: BTreeMap<&'static str, &'a str>,
    /// Keys whose expressions have no value, and the reason.
    pub(super) faults: Vec<(&'static str, String)>,
}

impl<'a> Layer<'a> {
    /// The default of every key.
    pub(super) fn of_defaults() -> Self {
        let keys = keys::all_keys().iter();
        Self {
            texts: keys.map(|key| (key.name, key.default.into())).collect(),
            origins: BTreeMap::new(),
            expressions: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    /// Sets the values of settings that nobody has given. They follow from the profile, from timestamps (which make
    /// headers larger), and with precedence from the settings that the schemes of `bundle` depend on.
    pub(super) fn follow_profile(&mut self, bundle: &str) {
        let profile = Profile::parse(&self.texts["tcp.profile"]).unwrap_or(Profile::Paper);
        self.default_to(&profile.settings());
        for part in bundle.split('+') {
            let mut all = schemes::all().iter();
            let scheme = all.find(|scheme| scheme.name == part);
            self.default_to(scheme.map_or(&[], |scheme| scheme.tcp));
        }
        // A queue has no limit of its own in a shared buffer or in a switch that pauses, unless the user gives one.
        if ["switch.pool", "switch.pfc"]
            .iter()
            .any(|key| self.texts[key] != "off")
        {
            self.default_to(&[("switch.buffer", "unlimited")]);
        }
        self.work_out();
        self.yield_to_given();
        if self.texts["tcp.timestamps"] == "true" {
            self.default_to(profile::STAMPED);
        }
        // Expressions may use settings that have just changed.
        self.work_out();
    }

    /// Gives every key with an expression its value.
    fn work_out(&mut self) {
        self.faults.clear();
        for name in self.expressions.keys().copied().collect::<Vec<_>>() {
            match self.worked_out(name, 0) {
                Ok(text) => {
                    self.texts.insert(name, text.into());
                }
                Err(fault) => self.faults.push((name, fault)),
            }
        }
    }

    /// The text of a setting, which may be an expression itself, `depth` expressions below the first.
    fn worked_out(&self, name: &str, depth: usize) -> Result<String, String> {
        let Some((key, text)) = keys::key(name).zip(self.expressions.get(name)) else {
            return Ok(self.texts[name].to_string());
        };
        if depth > self.expressions.len() {
            return Err(format!("{name} follows from itself"));
        }
        let Some(expression) = Expression::read(key, text) else {
            return Ok((*text).to_owned());
        };
        expression.value(key, &|other| self.worked_out(other, depth + 1))
    }

    /// Resets derived values to their defaults if they contradict given values.
    fn yield_to_given(&mut self) {
        let gives = |key: &&str| keys::group(key) == "tcp" && *key != "tcp.profile";
        if !self.origins.keys().any(gives) {
            return;
        }
        // Defaults do not contradict each other, so each turn but the last resets a value.
        while let Ok(read) = Keys::read(&|key| self.texts[key].to_string()) {
            let mut yields = false;
            for key in read.conflicts(None).iter().flat_map(|found| found.keys) {
                let default = keys::key(key).map_or("", |key| key.default);
                if !self.origins.contains_key(key) && self.texts[key] != default {
                    self.texts.insert(key, default.into());
                    yields = true;
                }
            }
            if !yields {
                return;
            }
        }
    }

    fn default_to(&mut self, settings: &[(&'static str, &'static str)]) {
        for (key, text) in settings {
            if !self.origins.contains_key(key) {
                self.texts.insert(key, (*text).into());
            }
        }
    }

    /// Adds settings of single links and hosts, in order, to the text of all exceptions. Consecutive settings of one
    /// link are joined.
    pub(super) fn add_exceptions(&mut self, parts: &[(&ExceptionSetting, &'a str, Origin)]) {
        let Some((.., origin)) = parts.first() else {
            return;
        };
        let mut all: Vec<String> = match &*self.texts[EXCEPTIONS] {
            "none" => Vec::new(),
            given => vec![given.to_owned()],
        };
        for one in parts.chunk_by(|(one, ..), (other, ..)| one.place == other.place) {
            // A comma separates settings here.
            let own = |(part, text, _): &(&ExceptionSetting, &str, Origin)| {
                format!("{} {}", part.field, text.replace(',', " "))
            };
            let fields: Vec<String> = one.iter().map(own).collect();
            all.push(format!("{}: {}", one[0].0.place, fields.join(", ")));
        }
        self.texts.insert(EXCEPTIONS, all.join("; ").into());
        self.origins.insert(EXCEPTIONS, origin.clone());
    }

    pub(super) fn choose(&mut self, key: &'static str, text: &'a str, origin: Origin) {
        let declared = keys::key(key).expect("a declared key");
        if Expression::read(declared, text).is_some() {
            self.expressions.insert(key, text);
        } else {
            self.expressions.remove(key);
        }
        self.texts.insert(key, text.into());
        self.origins.insert(key, origin);
    }
}
