//! The page: claims in a table, then every figure with its claims beside it.

use askama::Template;
use claims::Experiment;
use claims::judge::{self, Counts, Finding, Judged, OtherReading, Standing, TriedCause, Verdict};

use super::Reproduction;
use crate::figure::Figure;
use crate::page::{self, Breadth, Drawn};
use crate::units;

#[derive(Template)]
#[template(path = "paper.html")]
pub(super) struct Page<'a> {
    name: &'a str,
    title: &'a str,
    citation: &'a str,
    url: Option<&'a str>,
    notes: Vec<&'a str>,
    answer: String,
    counts: Vec<Count>,
    total: usize,
    figures: Vec<ShownFigure<'a>>,
    version: String,
    style: &'static str,
    own_style: &'static str,
    script: &'static str,
    own_script: &'static str,
}

/// How many claims have a verdict.
struct Count {
    mark: Mark,
    number: usize,
}

/// A verdict in words, with its colour class and its place in an order from the best.
struct Mark {
    word: &'static str,
    class: &'static str,
    place: usize,
}

/// A figure of the paper.
struct ShownFigure<'a> {
    id: &'a str,
    /// Its place in the order of the paper.
    place: usize,
    /// Its name in the paper.
    name: &'a str,
    title: &'a str,
    section: &'a str,
    scale: &'a str,
    notes: Vec<&'a str>,
    command: String,
    charts: Vec<Drawn>,
    /// The text in place of missing charts.
    lack: &'static str,
    /// Files with its panels, relative to the page.
    files: Vec<String>,
    claims: Vec<Card<'a>>,
    /// The deviation of its numbers as a whole; empty if it has none.
    bias: String,
}

/// A claim with its result.
struct Card<'a> {
    id: &'a str,
    /// The anchor for links.
    anchor: String,
    says: &'a str,
    place: &'a str,
    mark: Mark,
    paper: &'a str,
    ours: String,
    reason: String,
    /// The reason why it is not counted; empty if it is counted.
    standing: String,
    /// Its verdicts by other readings of the paper, and with random lateness of links if that changes it.
    readings: Vec<Cause<'a>>,
    /// The causes that explain the difference, or that were tried although there is none.
    causes: Vec<Cause<'a>>,
    /// The causes that were tried and do not explain it, and their number in words.
    others: Vec<Cause<'a>>,
    others_tried: String,
}

/// Changed settings or measures.
struct Cause<'a> {
    /// Its meaning for the claim.
    word: String,
    says: &'a str,
    set: &'a str,
    ours: String,
    /// Its effect on other claims; empty for a reading.
    effect: String,
    mark: Mark,
}

/// The page: a pure function of the results. `panels` are the panels of each figure.
pub(super) fn page<'a>(reproduction: &Reproduction<'a>, panels: &[Vec<Figure>]) -> Page<'a> {
    let claims = || {
        let figures = reproduction.figures.iter();
        figures.flat_map(|figure| &figure.claims)
    };
    let all = Counts::of(claims());
    let counts = Verdict::ALL.into_iter().zip(all.verdicts);
    let counts = counts.filter(|(_, number)| *number > 0);
    let counts: Vec<Count> = counts
        .map(|(verdict, number)| Count {
            mark: mark(verdict),
            number,
        })
        .collect();
    let figures = reproduction.figures.iter().zip(panels).enumerate();
    let figures = figures.map(|(place, (figure, panels))| {
        let shown = shown(figure, panels, reproduction.full);
        ShownFigure { place, ..shown }
    });
    let version = reproduction.figures.first();
    let version = version.map(|figure| &figure.bench.own.run().summary().version);
    let paper = reproduction.paper;
    Page {
        name: &paper.name,
        title: &paper.title,
        citation: &paper.citation,
        url: paper.url.as_deref(),
        notes: paragraphs(paper.notes.as_deref().unwrap_or_default()),
        answer: answer(all, reproduction),
        total: all.claims(),
        counts,
        figures: figures.collect(),
        version: version.map_or_else(String::new, |version| format!("tailwater {version}")),
        style: page::STYLE,
        own_style: include_str!("../../templates/paper.css"),
        script: page::SCRIPT,
        own_script: include_str!("../../templates/paper.js"),
    }
}

fn shown<'a>(
    figure: &'a judge::JudgedFigure<'_>,
    panels: &[Figure],
    full: bool,
) -> ShownFigure<'a> {
    let experiment = figure.experiment;
    let panels: Vec<Figure> = drawn(panels).cloned().collect();
    let breadth = if panels.len() == 1 {
        Breadth::Column
    } else {
        Breadth::Quarter
    };
    // A claim states the scale at which it was judged, whatever the command line changed.
    let scale = figure.claims.first().map(|claim| claim.scale.as_str());
    let scale = scale.or(experiment.full.scale.as_deref().filter(|_| full));
    let flag = if full { " --full" } else { "" };
    ShownFigure {
        id: &experiment.name,
        place: 0,
        name: &experiment.figure,
        title: &experiment.title,
        section: experiment.section.as_deref().unwrap_or_default(),
        scale: scale.unwrap_or(&experiment.scale),
        notes: paragraphs(experiment.notes.as_deref().unwrap_or_default()),
        command: format!("tailwater reproduce {}{flag}", word(experiment)),
        lack: match (panels.is_empty(), experiment.plots.is_empty()) {
            (false, _) => "",
            (true, true) => "The paper draws nothing here: its claims stand in the text.",
            (true, false) => "Nothing was measured that could be drawn.",
        },
        files: panels.iter().map(super::file).collect(),
        charts: page::charts(&panels, breadth),
        claims: figure.claims.iter().map(card).collect(),
        bias: figure
            .bias
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
    }
}

/// The name of an experiment on the command line: in the catalogue, or its file.
fn word(experiment: &Experiment) -> String {
    let file = experiment.source.name();
    if file.ends_with("(built in)") {
        experiment.id()
    } else {
        file.to_owned()
    }
}

fn card<'a>(judged: &'a Judged) -> Card<'a> {
    let finding = &judged.finding;
    let held = finding.verdict == Verdict::Reproduced;
    // A claim that holds needs no reason.
    let reason = &finding.reason;
    let reason = if held && reason.starts_with("it holds") {
        String::new()
    } else {
        units::capital(reason)
    };
    let cause = |tried: &'a TriedCause| Cause {
        word: match (held, tried.explains()) {
            (true, _) => "Tried",
            (false, true) => "Cause",
            (false, false) => "Not the cause",
        }
        .to_owned(),
        says: &tried.says,
        set: &tried.set,
        ours: ours(&tried.finding),
        effect: tried.weighs(),
        mark: mark(tried.finding.verdict),
    };
    let (causes, others): (Vec<&TriedCause>, Vec<&TriedCause>) = judged
        .causes
        .iter()
        .partition(|tried| held || tried.explains());
    let others: Vec<Cause<'_>> = others.into_iter().map(cause).collect();
    let readings = judged.readings.iter().filter(|read| !read.set.is_empty());
    let readings = readings.map(|read| as_read(read, format!("By {}", read.name)));
    let phases = judged.phases.iter().filter(|_| judged.hangs_on_order());
    let phases = phases.map(|late| as_read(late, "Hangs on the order of events".to_owned()));
    Card {
        id: &judged.id,
        anchor: judged.id.replace('/', "-"),
        says: &judged.claim.says,
        place: &judged.claim.place,
        mark: mark(finding.verdict),
        paper: &finding.paper,
        ours: ours(finding),
        reason,
        standing: match &judged.standing {
            Standing::Counted => String::new(),
            standing => units::capital(&standing.to_string()),
        },
        readings: readings.chain(phases).collect(),
        causes: causes.into_iter().map(cause).collect(),
        others_tried: match others.len() {
            1 => "1 explanation tried that is not the cause".to_owned(),
            count => format!("{count} explanations tried that are not the cause"),
        },
        others,
    }
}

/// The verdict on a claim by another reading, under this word.
fn as_read(read: &OtherReading, word: String) -> Cause<'_> {
    Cause {
        word,
        says: &read.says,
        set: &read.set,
        ours: ours(&read.finding),
        effect: String::new(),
        mark: mark(read.finding.verdict),
    }
}

/// Our result, with its interval.
fn ours(finding: &Finding) -> String {
    let ours = &finding.ours;
    let ends = finding.interval;
    match ends.map(|(low, high)| (judge::digits(low), judge::digits(high))) {
        Some((low, high)) if low != high => format!("{ours} ({low} to {high})"),
        _ => ours.clone(),
    }
}

fn mark(verdict: Verdict) -> Mark {
    let (class, place) = match verdict {
        Verdict::Reproduced => ("reproduced", 0),
        Verdict::Partly => ("partly", 1),
        Verdict::NotReproduced => ("not", 2),
        Verdict::NotTestable => ("untestable", 3),
    };
    Mark {
        word: verdict.name(),
        class,
        place,
    }
}

/// The panels of a figure that show anything.
fn drawn(panels: &[Figure]) -> impl Iterator<Item = &Figure> {
    panels.iter().filter(|panel| !panel.is_empty())
}

/// `5 figures and tables, 12 claims: 9 reproduced, ...`.
fn answer(counts: Counts, reproduction: &Reproduction<'_>) -> String {
    let figures = reproduction.figures.len();
    let plural = if figures == 1 { "" } else { "s" };
    format!("{figures} figure{plural} and table{plural}, {counts}.")
}

/// The parts of a text between empty lines.
fn paragraphs(text: &str) -> Vec<&str> {
    let parts = text.split("\n\n").map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}
