//! The page of a model: its tables, their meaning, and its charts.

use std::path::Path;

use askama::Template;

use crate::error::Error;
use crate::figure::Figure;
use crate::page::{self, Breadth, Drawn};

/// The contents of a model's page.
#[derive(Clone, Debug, Default)]
pub struct ModelPage {
    /// The name of the model.
    pub name: String,
    /// What it computes.
    pub title: String,
    /// The meaning of the numbers, in sentences.
    pub sentences: Vec<String>,
    /// Tables of texts.
    pub tables: Vec<Rows>,
    /// The settings as `key = value`.
    pub settings: Vec<String>,
    /// The charts.
    pub figures: Vec<Figure>,
    /// Which program wrote it.
    pub version: String,
}

/// A table of texts.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The heads of the columns.
    pub heads: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

#[derive(Template)]
#[template(path = "model.html")]
struct Page<'a> {
    model: &'a ModelPage,
    charts: Vec<Drawn>,
    style: &'static str,
    script: &'static str,
}

/// Writes the page to `out`: one file that needs no network. Equal pages give equal bytes.
pub fn write_model(model: &ModelPage, out: &Path) -> Result<(), Error> {
    let page = Page {
        model,
        charts: page::charts(&model.figures, Breadth::Half),
        style: page::STYLE,
        script: page::SCRIPT,
    };
    crate::put_page(out, &page)
}
