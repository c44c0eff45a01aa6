//! The page: claims in a table, then every figure with its claims beside it.

use askama::Template;

use super::{Outcome, Reproduced, Reproduction, Verdict};
use crate::figure::Figure;
use crate::interactive;
use crate::page::{self, Chart};

#[derive(Template)]
#[template(path = "paper.html")]
struct Page<'a> {
    name: &'a str,
    title: &'a str,
    citation: &'a str,
    url: Option<&'a str>,
    notes: Vec<&'a str>,
    answer: String,
    counts: Vec<Count>,
    total: usize,
    figures: Vec<Shown<'a>>,
    version: &'a str,
    embedded: String,
    style: &'static str,
    own_style: &'static str,
    script: &'static str,
    own_script: &'static str,
    plotly: String,
}

/// How many claims have a verdict.
struct Count {
    verdict: Verdict,
    number: usize,
}

/// A figure of the paper.
struct Shown<'a> {
    id: &'a str,
    /// Its place in the order of the paper.
    place: usize,
    /// What the paper calls it.
    name: &'a str,
    title: &'a str,
    section: &'a str,
    scale: &'a str,
    notes: &'a str,
    command: &'a str,
    charts: Vec<Chart>,
    /// What there is in place of charts.
    lack: &'static str,
    /// Files with its panels, relative to the page.
    files: Vec<String>,
    claims: &'a [Outcome],
}

/// The page as text: a pure function of what came out.
pub(super) fn render(reproduction: &Reproduction<'_>) -> String {
    let figures = || reproduction.figures.iter();
    let claims = || figures().flat_map(|figure| &figure.claims);
    let counts = Verdict::ALL.map(|verdict| Count {
        verdict,
        number: claims().filter(|claim| claim.verdict == verdict).count(),
    });
    let counts: Vec<Count> = counts
        .into_iter()
        .filter(|count| count.number > 0)
        .collect();
    let panels = figures().flat_map(drawn).cloned();
    let paper = reproduction.paper;
    let page = Page {
        name: &paper.name,
        title: &paper.title,
        citation: &paper.citation,
        url: paper.url.as_deref(),
        notes: paragraphs(paper.notes.as_deref().unwrap_or_default()),
        answer: answer(&counts, reproduction),
        total: claims().count(),
        counts,
        figures: figures().enumerate().map(shown).collect(),
        version: &reproduction.version,
        embedded: page::embedded(&panels.collect::<Vec<_>>()),
        style: include_str!("../../templates/report.css"),
        own_style: include_str!("../../templates/paper.css"),
        script: include_str!("../../templates/report.js"),
        own_script: include_str!("../../templates/paper.js"),
        plotly: interactive::script(),
    };
    page.render().expect("writing to memory succeeds")
}

fn shown<'a>((place, figure): (usize, &'a Reproduced<'a>)) -> Shown<'a> {
    let experiment = figure.experiment;
    let panels: Vec<Figure> = drawn(figure).cloned().collect();
    let files = panels.iter().map(super::file);
    Shown {
        id: &experiment.name,
        place,
        name: &experiment.figure,
        title: &experiment.title,
        section: experiment.section.as_deref().unwrap_or_default(),
        scale: &figure.scale,
        notes: experiment.notes.as_deref().unwrap_or_default(),
        command: &figure.command,
        lack: match (panels.is_empty(), experiment.plots.is_empty()) {
            (false, _) => "",
            (true, true) => "The paper draws nothing here: its claims stand in the text.",
            (true, false) => "Nothing was measured that could be drawn.",
        },
        files: files.collect(),
        charts: page::charts(&panels),
        claims: &figure.claims,
    }
}

/// The panels of a figure that show anything.
fn drawn<'a>(figure: &'a Reproduced<'_>) -> impl Iterator<Item = &'a Figure> {
    figure.panels.iter().filter(|panel| !panel.is_empty())
}

/// `Of 12 claims in 5 figures and tables 9 are reproduced, ...`.
fn answer(counts: &[Count], reproduction: &Reproduction<'_>) -> String {
    let total: usize = counts.iter().map(|count| count.number).sum();
    let parts = counts.iter().map(|count| {
        let number = count.number;
        format!("{number} {}", count.verdict.word())
    });
    let parts: Vec<_> = parts.collect();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let figures = reproduction.figures.len();
    format!(
        "{total} claim{} about {figures} figure{} and table{}: {}.",
        plural(total),
        plural(figures),
        plural(figures),
        parts.join(", ")
    )
}

/// The parts of a text between empty lines.
fn paragraphs(text: &str) -> Vec<&str> {
    let parts = text.split("\n\n").map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}
