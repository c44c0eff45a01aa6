//! Reads the contents of a paper and finds missing numbers.

use scenario::{Problems, Source};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::parse::parse;
use super::reader::{Reader, Table};
use super::tree::{Site, split};
use crate::contents::{Item, KINDS, ReproductionState};

/// The table `[[item]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenItem {
    name: String,
    title: String,
    judged: Option<Vec<String>>,
    defined: Option<String>,
    diagram: Option<String>,
    untestable: Option<String>,
    unread: Option<String>,
}

/// The top of the file: the last number of each kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LastNumbers {
    #[serde(rename = "last_figure")]
    _figure: u32,
    #[serde(rename = "last_table")]
    _table: u32,
    #[serde(rename = "last_equation")]
    _equation: u32,
    #[serde(rename = "last_algorithm")]
    _algorithm: u32,
    #[serde(default, rename = "item")]
    _items: IgnoredAny,
}

/// Reads the list of a paper with these `experiments`. Every number up to the last of each kind must be in it.
pub(crate) fn contents(source: &Source, experiments: &[String]) -> Result<Vec<Item>, Problems> {
    let document = parse(source)?;
    let mut reader = Reader::new(source);
    let table = Table {
        name: "the list",
        required: &[
            "last_figure",
            "last_table",
            "last_equation",
            "last_algorithm",
        ],
        others: &["item"],
    };
    let _: Option<LastNumbers> = reader.read(&table, &split(&document, &["item"]).1);
    let mut items = Vec::new();
    for (what, node) in reader.tables(&document, "item") {
        let table = Table {
            name: &what,
            required: &["name", "title"],
            others: &[],
        };
        let site = Site::new(node);
        let Some(written) = reader.read::<WrittenItem>(&table, node) else {
            continue;
        };
        for (name, place) in written
            .judged
            .iter()
            .flatten()
            .zip(site.key("judged").items())
        {
            if !experiments.contains(name) {
                let known = experiments.iter().map(String::as_str);
                reader.unknown("figure", (name, place.place()), known);
            }
        }
        let states = [
            written.judged.map(ReproductionState::Judged),
            written.defined.map(ReproductionState::Defined),
            written.diagram.map(ReproductionState::Diagram),
            written.untestable.map(ReproductionState::Untestable),
            written.unread.map(ReproductionState::Unread),
        ];
        let mut states = states.into_iter().flatten();
        let (Some(state), None) = (states.next(), states.next()) else {
            let message = format!("{} has no state, or several", written.name);
            let expected = "one of judged, defined, diagram, untestable and unread";
            reader.wrong(message, site.place(), expected);
            continue;
        };
        let item = Item {
            name: written.name,
            title: written.title,
            state,
        };
        if item.numbers().is_none() && !item.is_whole_kind() {
            let message = format!("{} names no number of the paper", item.name);
            let expected = "as in Fig. 10(a), Table 1, Eqs. 8 to 13 or Alg. 2";
            reader.wrong(message, site.key("name").place(), expected);
            continue;
        }
        items.push(item);
    }
    reader.gaps(&items, Site::new(&document));
    reader.finish(items)
}

impl Reader<'_> {
    /// Reports each number of a kind that no item has, and items beyond the last number.
    fn gaps(&mut self, items: &[Item], site: Site<'_>) {
        for kind in KINDS {
            let written = site.key(kind.key);
            let count: u32 = written.read().unwrap_or_default();
            let numbers = items.iter().filter_map(Item::numbers);
            let own = numbers.filter(|(of, _, _)| *of == kind);
            let ranges: Vec<(u32, u32)> = own.map(|(_, first, last)| (first, last)).collect();
            let name = kind.names[0];
            let missing = (1..=count).filter(|number| {
                let mut ranges = ranges.iter();
                !ranges.any(|(first, last)| (*first..=*last).contains(number))
            });
            for number in missing {
                let message = format!("{name} {number} is not in the list");
                self.wrong(message, written.place(), "an [[item]] that names it");
            }
            if let Some((_, last)) = ranges.iter().find(|(_, last)| *last > count) {
                let message = format!("{name} {last} is beyond the last, {count}");
                self.wrong(
                    message,
                    written.place(),
                    "the number of the last one in the paper",
                );
            }
        }
    }
}
