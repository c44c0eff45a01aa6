//! Tables that several figures of a paper share, written once in the file of the paper.
//!
//! `common = "test-bed"` in the file of a figure adds those tables of `[common.test-bed]` that it does not have itself.
//! A table of the figure replaces the shared one completely; tables of `[[name]]` are added to its own. `figures =
//! ["fig1"]` in `[common.test-bed]` adds the tables to these figures without a key in their files, for example a cause
//! that many figures share.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, Item, Table, Value};

/// Why a figure cannot get its shared tables.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unjoined {
    /// The paper has no shared tables with this name.
    Unknown {
        /// The name.
        name: String,
        /// The place at which the figure names them.
        place: Range<usize>,
        /// The names of all shared tables of the paper.
        known: Vec<String>,
    },
    /// A table of the figure and a shared one are of different kinds.
    Unlike {
        /// The name of the shared tables.
        name: String,
        /// The place at which the figure names them.
        place: Range<usize>,
    },
}

/// The text of the figure called `name`, followed by the tables that it shares. Its own lines come first, so that they
/// keep their line numbers. `paper` is the file of its paper. Text that is no TOML stays unchanged; its reader reports
/// the error.
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
