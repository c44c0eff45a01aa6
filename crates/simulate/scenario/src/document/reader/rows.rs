//! Variants and groups: settings for one row of results, or for some flows.

use std::ops::Range;
use std::sync::Arc;

use base::setting::Key;
use base::shown;
use toml_edit::{Item, TableLike};

use super::super::{Draft, GroupDraft, Variant};
use super::{Reader, is_group, is_trace, place_of};
use crate::problem::Problem;
use plan::keys;

impl Reader<'_> {
    pub(super) fn variants(&mut self, item: &Item, place: Range<usize>, draft: &mut Draft) {
        let Some(table) = item.as_table_like() else {
            return self.not_a_table("variant.NAME", place);
        };
        for (name, item) in table.iter() {
            let place = place_of(table, name, item);
            match item.as_table_like() {
                Some(body) => self.variant(name, body, place, draft),
                None => self.not_a_table(&format!("variant.{name}"), place),
            }
        }
    }

    fn variant(
        &mut self,
        name: &str,
        body: &dyn TableLike,
        place: Range<usize>,
        draft: &mut Draft,
    ) {
        if !shown::is_name(name) || name.contains([',', '+', '=']) {
            let problem = Problem::new(format!("{name:?} cannot be the name of a variant"))
                .at(
                    self.source,
                    place.clone(),
                    "begins with no letter or digit, or has a comma, a plus, \"=\" or a space",
                )
                .help(format!(
                    "use letters, digits and dashes, as in [variant.{}-iw10]",
                    schemes::PLAIN_SENDER.name
                ));
            self.problems.push(problem);
        }
        let mut base = None;
        let mut settings = Vec::new();
        for (key, item) in body.iter() {
            let place = place_of(body, key, item);
            match item.as_table_like() {
                _ if key == "base" => base = self.scalar("base", item, place),
                Some(table) if is_group(key) => self.table(key, table, (None, &mut settings)),
                _ if keys::key(key).is_some() => {
                    self.setting(key, item, place, (None, &mut settings));
                }
                table => self.unknown(key, table.is_some(), &place),
            }
        }
        for setting in &settings {
            if is_trace(setting.key) {
                let problem = Problem::new(format!("variant {name} sets {}", setting.key))
                    .at(self.source, setting.place.clone(), "set here")
                    .help("all schemes share the trace settings: set them outside the variant");
                self.problems.push(problem);
            }
            if setting.listed {
                let problem = Problem::new(format!("variant {name} sweeps {}", setting.key))
                    .at(self.source, setting.place.clone(), "several values here")
                    .help("a variant is one row: give one value, or sweep the key outside the variant");
                self.problems.push(problem);
            }
        }
        let Some(base) = base else {
            // An unreadable base has been reported as its own problem.
            if !body.contains_key("base") {
                let problem = Problem::new(format!("variant {name} has no base"))
                    .at(
                        self.source,
                        place,
                        "a variant needs the scheme that it varies",
                    )
                    .help(format!(
                        "add a line such as base = {:?}; `tailwater list schemes` prints all",
                        schemes::PLAIN_SENDER.name
                    ));
                self.problems.push(problem);
            }
            return;
        };
        draft.variants.push(Variant {
            name: name.to_owned(),
            place,
            base,
            settings,
        });
    }

    pub(super) fn groups(&mut self, item: &Item, place: Range<usize>, draft: &mut Draft) {
        let Some(table) = item.as_table_like() else {
            return self.not_a_table("group.NAME", place);
        };
        for (name, item) in table.iter() {
            let place = place_of(table, name, item);
            match item.as_table_like() {
                Some(body) => self.group(name, body, place, draft),
                None => self.not_a_table(&format!("group.{name}"), place),
            }
        }
    }

    fn group(&mut self, name: &str, body: &dyn TableLike, place: Range<usize>, draft: &mut Draft) {
        if !shown::is_name(name) || name.contains([',', '.', '=']) {
            let problem = Problem::new(format!("{name:?} cannot be the name of a group"))
                .at(
                    self.source,
                    place,
                    "begins with no letter or digit, or has a comma, a point, \"=\" or a space",
                )
                .help("use letters, digits and dashes, as in [group.long-flows]");
            self.problems.push(problem);
        }
        let group: Arc<str> = Arc::from(name);
        let mut scheme = None;
        let first = draft.settings.len();
        for (key, item) in body.iter() {
            let place = place_of(body, key, item);
            let out = (Some(&group), &mut draft.settings);
            match item.as_table_like() {
                _ if key == "scheme" => scheme = self.scalar("scheme", item, place),
                Some(table) if is_group(key) => self.table(key, table, out),
                _ if keys::key(key).is_some() => self.setting(key, item, place, out),
                table => self.unknown(key, table.is_some(), &place),
            }
        }
        for setting in &draft.settings[first..] {
            let key = keys::key(setting.key).expect("a setting has a declared key");
            self.check_group_key(key, &setting.place);
        }
        draft.groups.push(GroupDraft {
            name: group,
            scheme,
        });
    }

    /// An error for a key that groups cannot have. A group has its own flows, endpoints and schemes, and shares the
    /// network.
    pub(in super::super) fn check_group_key(&mut self, key: &Key, place: &Range<usize>) {
        let prefix = keys::group(key.name);
        let shared = [
            "topology",
            "link",
            "bottleneck",
            "switch",
            "host",
            "net",
            "run",
            "trace",
        ];
        if shared.contains(&prefix) {
            let problem = Problem::new(format!("a group sets {}", key.name))
                .at(self.source, place.clone(), "set here")
                .help(format!(
                    "all groups share one network: set it outside the group in [{prefix}]; a group has settings \
                     of workload, tcp and schemes"
                ));
            self.problems.push(problem);
        }
    }
}
