//! Tables of one link or host: `[link."leaf 0 to spine 1"]` and `[host.3]`.

use std::ops::Range;
use std::sync::Arc;

use toml_edit::{Item, TableLike};

use super::super::{ExceptionSetting, Setting};
use super::{Reader, place_of};
use crate::problem::Problem;
use plan::keys::{self, ExceptionPlace, Exceptions};
use plan::suggest;

impl Reader<'_> {
    /// Reads the tables of single links or hosts within the table `[link]` or `[host]`, and passes the other items to `rest`.
    pub(super) fn exceptions<'t>(
        &mut self,
        prefix: &str,
        table: &'t dyn TableLike,
        out: &mut Vec<Setting>,
    ) -> Vec<(&'t str, &'t Item)> {
        let mut rest = Vec::new();
        for (name, item) in table.iter() {
            let Some(fields) = item.as_table_like().filter(|_| is_exceptional(prefix)) else {
                rest.push((name, item));
                continue;
            };
            let place = place_of(table, name, item);
            for (field, value) in fields.iter() {
                let own = place_of(fields, field, value);
                if let Some(part) = self.part((prefix, name, field), [&place, &own]) {
                    self.part_setting(&part, value, own, out);
                }
            }
        }
        rest
    }

    /// The setting `field` of the link or host `[prefix.name]`, with the positions of the two names.
    pub(in super::super) fn part(
        &mut self,
        (prefix, name, field): (&str, &str, &str),
        [place, own]: [&Range<usize>; 2],
    ) -> Option<ExceptionSetting> {
        let Some(exception) = ExceptionPlace::of_table(prefix, name) else {
            let (what, like) = if prefix == "link" {
                ("link", "[link.\"leaf 0 to spine 1\"], as results name it")
            } else {
                ("host", "[host.3] or [host.\"0..3\"]")
            };
            let problem = Problem::new(format!("{name:?} is no name of a {what}"))
                .at(self.source, place.clone(), "no such name")
                .help(format!("write {like}"));
            self.problems.push(problem);
            return None;
        };
        let Some(key) = Exceptions::key(field) else {
            let nearest = suggest::did_you_mean(field, Exceptions::fields());
            let all: Vec<_> = Exceptions::fields().collect();
            let problem = Problem::new(format!("a single link has no setting {field}"))
                .at(self.source, own.clone(), "unknown name")
                .help(format!("{nearest}there are {}", all.join(", ")));
            self.problems.push(problem);
            return None;
        };
        let quoted = match &exception {
            ExceptionPlace::Hosts(one, last) if one == last => one.to_string(),
            ExceptionPlace::Hosts(first, last) => format!("\"{first}..{last}\""),
            ExceptionPlace::Link(name) => format!("\"{name}\""),
        };
        Some(ExceptionSetting {
            table: Arc::from(format!("{prefix}.{quoted}")),
            place: Arc::from(exception.words()),
            field: keys::field(key.name),
        })
    }

    fn part_setting(
        &mut self,
        part: &ExceptionSetting,
        item: &Item,
        place: Range<usize>,
        out: &mut Vec<Setting>,
    ) {
        let mut setting = Setting::of_part(part.clone(), place.clone());
        if let Some(first) = out.iter().find(|earlier| earlier.is_about(&setting)) {
            let problem = Problem::new(format!("{} is set twice", setting.name()))
                .at(self.source, first.place.clone(), "first here")
                .at(self.source, place, "and again here")
                .help("keep one of the two");
            self.problems.push(problem);
            return;
        }
        let key = part.key().expect("a part has a declared key");
        if self.values(key, item, place, &mut setting) {
            out.push(setting);
        }
    }
}

/// Whether this table has tables for single links or hosts.
pub(super) fn is_exceptional(table: &str) -> bool {
    matches!(table, "link" | "host")
}

/// Splits `link."leaf 0 to spine 1".rate`, with or without quotes, or `host.3.rate` into table, name and field.
pub(in super::super) fn split(name: &str) -> Option<(&str, &str, &str)> {
    let (table, rest) = name
        .split_once('.')
        .filter(|(table, _)| is_exceptional(table))?;
    let (place, field) = rest.rsplit_once('.')?;
    Some((table, place.trim_matches(['"', '\'']), field))
}
