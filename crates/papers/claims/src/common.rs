//! Tables that several figures of a paper share, written once in the file of the paper.
//!
//! `common = "test-bed"` in the file of a figure adds the tables of `[common.test-bed]` that it does not have itself.
//! A table of the figure replaces the shared one whole; tables of `[[name]]` are added to its own. `figures = ["fig1"]`
//! in `[common.test-bed]` adds them to these figures without their asking, as a cause that many have in common.

use std::ops::Range;
use std::path::Path;

use plan::suggest;
use scenario::{Problem, Problems, Source};
use toml_edit::{Array, Document, DocumentMut, Item, Table, Value};

use super::KEYS;

/// The figure with the tables that it shares, behind its own lines, so that these keep their places. `paper` is the file
/// of its paper.
pub(super) fn joined(source: Source, paper: Option<&Source>) -> Result<Source, Problems> {
    // What is wrong with the text itself is said by whoever reads it.
    let Ok(own) = Document::parse(source.text()) else {
        return Ok(source);
    };
    let paper = paper.and_then(|paper| Document::parse(paper.text()).ok());
    let paper = paper.as_ref().and_then(|paper| paper.get(KEY)?.as_table());
    let mut wanted = own.get(KEY).map(names).unwrap_or_default();
    for (name, shared) in paper.into_iter().flatten() {
        let mut figures = shared.get(FIGURES).map(names).into_iter().flatten();
        let asked = wanted.iter().any(|(known, _)| known == name);
        if !asked && figures.any(|(figure, _)| figure == stem(&source)) {
            wanted.push((name.to_owned(), 0..0));
        }
    }
    if wanted.is_empty() {
        return Ok(source);
    }
    let mut text = source.text().to_owned();
    let mut document = own.clone().into_mut();
    for (name, place) in wanted {
        let Some(shared) = paper.and_then(|paper| paper.get(&name)?.as_table()) else {
            let known = paper.into_iter().flatten().map(|(name, _)| name);
            return Err(unknown(&source, (&name, place), &known.collect::<Vec<_>>()).into());
        };
        let mut shared = shared.clone();
        shared.remove(FIGURES);
        let added = missing(&shared, document.as_table());
        let mut added = DocumentMut::from(added);
        added.set_trailing("");
        text = format!("{text}\n# [{KEY}.{name}] of the paper\n\n{added}");
        document = text.parse().map_err(|_| {
            let message = format!("[{KEY}.{name}] of the paper does not fit this figure");
            let help = "a table is in one of both, or has the same tables below it in both";
            Problem::new(message)
                .at(&source, place, "used here")
                .help(help)
        })?;
    }
    Ok(Source::new(source.name(), text).shared(&KEYS))
}

/// Complains of a figure that is not among `files` and has shared tables in the file of the paper all the same.
pub(super) fn check(paper: &Source, files: &[&str]) -> Result<(), Problems> {
    let Ok(document) = Document::parse(paper.text()) else {
        return Ok(());
    };
    let shared = document.get(KEY).and_then(Item::as_table);
    let figures = shared.into_iter().flatten();
    let figures = figures.filter_map(|(_, shared)| shared.get(FIGURES));
    let unknown = figures.flat_map(names);
    let unknown = unknown.filter(|(figure, _)| !files.contains(&&**figure));
    let problems = unknown.map(|(figure, place)| {
        let nearest = suggest::did_you_mean(&figure, files.iter().copied());
        let problem = Problem::new(format!("the paper has no figure {figure:?}"));
        let problem = problem.at(paper, place, "unknown name");
        problem.help(format!("{nearest}there are: {}", files.join(", ")))
    });
    Problems::unless(problems.collect(), ())
}

/// The name of a figure, by its file.
fn stem(figure: &Source) -> &str {
    let path = figure.name().trim_end_matches(" (built in)");
    let stem = Path::new(path).file_stem();
    stem.and_then(|stem| stem.to_str()).unwrap_or_default()
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

fn unknown(source: &Source, (name, place): (&str, Range<usize>), known: &[&str]) -> Problem {
    let nearest = suggest::did_you_mean(name, known.iter().copied());
    let list = match known.join(", ") {
        list if list.is_empty() => format!("a table [{KEY}.{name}] in paper.toml beside this file"),
        list => format!("there are: {list}"),
    };
    let problem = Problem::new(format!("the paper shares no tables as {name:?}"));
    let problem = problem.at(source, place, "unknown name");
    problem.help(format!("{nearest}{list}"))
}

/// The key in the file of a figure, and the table in that of the paper.
const KEY: &str = "common";

/// The key of shared tables that lists figures.
const FIGURES: &str = "figures";
