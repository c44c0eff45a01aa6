//! A run as parts of a page that shows one run after the other.

use askama::Template;
use results::Recorded;

use super::drawn::{self, Breadth, Drawn};
use super::tables::{self, Table};
use super::unbroken;
use crate::data::Data;
use crate::error::Error;
use crate::figure::Figure;
use crate::sentences::Sentences;

/// The answer, the table and the charts of a run as HTML, in the look of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragments {
    /// The sentences of the answer, as text.
    pub sentences: Vec<String>,
    /// The table of every row.
    pub table: String,
    /// One figure for each chart.
    pub charts: String,
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct Comparison {
    table: Table,
    seeds_note: String,
}

#[derive(Template)]
#[template(path = "drawing.html")]
struct Drawing {
    charts: Vec<Drawn>,
}

/// The parts of a page about `run`.
pub(crate) fn fragments(run: &dyn Recorded, words: &Sentences) -> Result<Fragments, Error> {
    let summary = run.summary();
    let data = Data::of(std::iter::once((run, summary.scenario.clone())))?;
    let comparison = Comparison {
        table: Table::new(&data),
        seeds_note: tables::seeds_note(&data),
    };
    let drawing = Drawing {
        charts: drawn::few(&data),
    };
    let sentences = (words.of_run)(summary).into_iter();
    Ok(Fragments {
        sentences: sentences.map(|sentence| unbroken(&sentence)).collect(),
        table: comparison.to_string(),
        charts: drawing.to_string(),
    })
}

/// A figure that a page draws anew, on its own axes.
pub(crate) fn drawing(figure: &Figure) -> String {
    let figures = std::slice::from_ref(figure);
    let charts = drawn::charts(figures, Breadth::Column);
    Drawing { charts }.to_string()
}
