//! Tables that several figures of a paper share, written once in the file of the paper.
//!
//! `common = "test-bed"` in the file of a figure adds the tables of `[common.test-bed]` that it does not have itself.
//! A table of the figure replaces the shared one whole; tables of `[[name]]` are added to its own. `figures = ["fig1"]`
//! in `[common.test-bed]` adds them to these figures without their asking, as a cause that many have in common.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, Item, Table, Value};

/// Why a figure cannot have what it asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unjoined {
    /// The paper shares nothing under this name.
    Unknown {
        /// The name.
        name: String,
        /// Where the figure asks for it.
        place: Range<usize>,
        /// The names of all that the paper shares.
        known: Vec<String>,
    },
    /// A table of the figure and a shared one are of different kinds.
    Unlike {
        /// The name under which the paper shares it.
        name: String,
        /// Where the figure asks for it.
        place: Range<usize>,
    },
}

/// The text of the figure called `name` with the tables that it shares, behind its own lines, so that these keep their places.
/// `paper` is the file of its paper. A text that is no TOML stays as it is: who reads it says what is wrong.
pub fn joined(name: &str, text: &str, paper: Option<&str>) -> Result<String, Unjoined> {
    let Ok(own) = Document::parse(text) else {
        return Ok(text.to_owned());
    };
    let paper = paper.and_then(|paper| Document::parse(paper).ok());
    let paper = paper.as_ref().and_then(|paper| paper.get(KEY)?.as_table());
    let mut wanted = own.get(KEY).map(names).unwrap_or_default();
    for (shared, table) in paper.into_iter().flatten() {
        let mut figures = table.get(FIGURES).map(names).into_iter().flatten();
        let asked = wanted.iter().any(|(known, _)| known == shared);
        if !asked && figures.any(|(figure, _)| figure == name) {
            wanted.push((shared.to_owned(), 0..0));
        }
    }
    let mut text = text.to_owned();
    let mut document = own.into_mut();
    for (name, place) in wanted {
        let Some(shared) = paper.and_then(|paper| paper.get(&name)?.as_table()) else {
            let known = paper.into_iter().flatten().map(|(name, _)| name.to_owned());
            let known = known.collect();
            return Err(Unjoined::Unknown { name, place, known });
        };
        let mut shared = shared.clone();
        shared.remove(FIGURES);
        let added = missing(&shared, document.as_table());
        let mut added = DocumentMut::from(added);
        added.set_trailing("");
        text = format!("{text}\n# [{KEY}.{name}] of the paper\n\n{added}");
        document = match text.parse() {
            Ok(document) => document,
            Err(_) => return Err(Unjoined::Unlike { name, place }),
        };
    }
    Ok(text)
}

/// The figures that shared tables in the file of the paper list, each with its place.
pub fn listed(paper: &str) -> Vec<(String, Range<usize>)> {
    let Ok(document) = Document::parse(paper) else {
        return Vec::new();
    };
    let shared = document.get(KEY).and_then(Item::as_table);
    let figures = shared.into_iter().flatten();
    let figures = figures.filter_map(|(_, shared)| shared.get(FIGURES));
    figures.flat_map(names).collect()
}

/// The names of shared tables or figures, each with its place.
fn names(item: &Item) -> Vec<(String, Range<usize>)> {
    let list = item.as_array().map(Array::iter);
    let single = list.is_none().then(|| item.as_value()).flatten();
    let values = list.into_iter().flatten().chain(single);
    let name = |value: &Value| {
        let name = value.as_str().unwrap_or_default().to_owned();
        (name, value.span().unwrap_or(0..0))
    };
    values.map(name).collect()
}

/// The tables of `shared` that `own` does not have.
fn missing(shared: &Table, own: &Table) -> Table {
    let mut rest = Table::new();
    rest.set_implicit(true);
    for (name, item) in shared {
        match (item, own.get(name)) {
            (Item::Table(shared), Some(Item::Table(own))) if shared.is_implicit() => {
                let inner = missing(shared, own);
                if !inner.is_empty() {
                    rest.insert(name, Item::Table(inner));
                }
            }
            (item, None) | (item @ Item::ArrayOfTables(_), _) => {
                rest.insert(name, item.clone());
            }
            _ => {}
        }
    }
    rest
}

/// The key in the file of a figure, and the table in that of the paper.
const KEY: &str = "common";

/// The key of shared tables that lists figures.
const FIGURES: &str = "figures";
