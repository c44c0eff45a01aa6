//! A run as a part of another page.

use askama::Template;
use results::Folder;

use super::drawn::{self, Drawn};
use super::tables::{self, Failed, Table};
use crate::data::Data;
use crate::error::Error;
use crate::sentences::Sentences;

#[derive(Template)]
#[template(path = "snippet.html")]
struct Snippet {
    heading: String,
    title: String,
    sentences: Vec<String>,
    failures: Vec<Failed>,
    table: Table,
    /// Rows that are left out.
    more: usize,
    seeds_note: String,
    charts: Vec<Drawn>,
    style: &'static str,
}

/// The answer, the table, and as many of the main charts as there is room for.
pub(crate) fn snippet(folder: &Folder, sentences: &Sentences) -> Result<String, Error> {
    let data = Data::read(&[folder])?;
    let summary = folder.summary();
    let mut table = Table::new(&data);
    let more = table.rows.len().saturating_sub(ROWS);
    table.rows.truncate(ROWS);
    let mut failures = tables::failures(&data);
    failures.truncate(ROWS);
    let mut snippet = Snippet {
        heading: summary.scenario.clone(),
        title: summary.title.clone().unwrap_or_default(),
        sentences: (sentences.of_run)(summary),
        failures,
        table,
        more,
        seeds_note: tables::seeds_note(&data),
        charts: drawn::main(&data)
            .into_iter()
            .chain(drawn::causes(&data))
            .collect(),
        style: include_str!("../../templates/drawn.css"),
    };
    // Without scripts a reader cannot choose between views.
    for chart in &mut snippet.charts {
        chart.views.truncate(1);
    }
    loop {
        let text = snippet.to_string();
        if text.len() < MOST || snippet.charts.pop().is_none() {
            return Ok(text);
        }
    }
}

/// Rows of a table in a notebook.
const ROWS: usize = 30;
/// The most bytes, because notebooks store their output.
const MOST: usize = 200_000;
