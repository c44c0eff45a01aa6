//! The texts of all settings of some flows: given values, and those that follow for the other settings.

use std::collections::BTreeMap;
use std::ops::Range;

use base::Quantity;

use crate::keys::{self, Keys, Profile, profile};

/// A text for every key.
#[derive(Clone)]
pub(super) struct Layer<'a> {
    pub(super) texts: BTreeMap<&'static str, &'a str>,
    pub(super) origins: BTreeMap<&'static str, (usize, Range<usize>)>,
}

impl<'a> Layer<'a> {
    /// Settings that nobody has given follow from the profile, from timestamps, which make headers larger, and above all from
    /// the settings that the schemes of `bundle` rest on.
    pub(super) fn follow_profile(&mut self, bundle: &str) {
        let profile = Profile::parse(self.texts["tcp.profile"]).unwrap_or(Profile::Paper);
        self.default_to(profile.settings());
        for part in bundle.split('+') {
            let mut all = schemes::all().iter();
            let scheme = all.find(|scheme| scheme.name == part);
            self.default_to(scheme.map_or(&[], |scheme| scheme.tcp));
        }
        self.yield_to_given();
        if self.texts["tcp.timestamps"] == "true" {
            self.default_to(profile::STAMPED);
        }
    }

    /// A value that nobody has given and that contradicts one that somebody has is the default again.
    fn yield_to_given(&mut self) {
        let gives = |key: &&str| keys::group(key) == "tcp" && *key != "tcp.profile";
        if !self.origins.keys().any(gives) {
            return;
        }
        // A default contradicts no other one, so that each turn but the last gives some value up.
        while let Ok(read) = Keys::read(&|key| self.texts[key].to_owned()) {
            let mut yields = false;
            for key in read.conflicts(None).iter().flat_map(|found| found.keys) {
                let default = keys::key(key).map_or("", |key| key.default);
                if !self.origins.contains_key(key) && self.texts[key] != default {
                    self.texts.insert(key, default);
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
                self.texts.insert(key, text);
            }
        }
    }

    pub(super) fn choose(
        &mut self,
        key: &'static str,
        text: &'a str,
        origin: (usize, Range<usize>),
    ) {
        self.texts.insert(key, text);
        self.origins.insert(key, origin);
    }
}
