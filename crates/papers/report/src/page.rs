//! The report: one HTML file with everything in it.

mod against;
mod collectives;
pub(crate) mod drawn;
pub(crate) mod fragments;
mod goals;
mod map;
pub(crate) mod snippet;
mod tables;
pub(crate) mod theatre;
mod tiers;
mod ties;

use std::fmt::Write;
use std::path::Path;

use askama::Template;
use results::{self, Against, Folder};

use crate::data::Data;
use crate::error::Error;
use crate::figure::Figure;
use crate::figures;
use crate::sentences::Sentences;
use collectives::Collectives;
pub(crate) use drawn::{Breadth, Drawn, charts};
use tables::{Compared, Failed, Table};
use tiers::Tiers;
use ties::TiesRow;

#[derive(Template)]
#[template(path = "report.html")]
pub(crate) struct Page {
    heading: String,
    title: String,
    runs: Vec<Described>,
    sentences: Vec<String>,
    /// The goals of every run that has some.
    goals: Vec<goals::RunGoals>,
    /// Whether the answer is so long that the main chart is beside it.
    long: bool,
    /// Completion times over a plane of settings, of every run that has one.
    maps: Vec<map::Map>,
    /// Every later run against the first.
    against: Vec<against::RunComparison>,
    table: Table,
    comparisons: Vec<Compared>,
    /// Whether comparisons are about several combinations.
    places: bool,
    seeds_note: String,
    pairs_note: &'static str,
    failures: Vec<Failed>,
    main: Option<Drawn>,
    causes: Option<Drawn>,
    /// Whether the causes have so few bars that they fit beside the main chart, which needs more room.
    aside: bool,
    collectives: Collectives,
    /// Scenes of losses.
    theatre: theatre::Theatre,
    tiers: Tiers,
    /// Results under several orders of simultaneous events, and the number of orders.
    ties: Vec<TiesRow>,
    orders: u32,
    more: Vec<Drawn>,
    missing: Vec<String>,
    /// The page that simulates this run, as a string of JSON; empty: none.
    explore: String,
    style: &'static str,
    script: &'static str,
}

/// The simulated runs.
struct Described {
    name: String,
    /// Pairs of a term and its value.
    facts: Vec<(&'static str, String)>,
    /// Names of files with their contents.
    files: Vec<(String, &'static str)>,
    scenario: String,
}

/// The report of `folders`. It is a pure function of their contents; `out` is only used to make links relative.
pub(crate) fn page(folders: &[&Folder], words: &Sentences, out: &Path) -> Result<Page, Error> {
    let data = Data::read(folders)?;
    let figures = figures::all(&data);
    let summaries = folders.iter().map(|folder| folder.summary());
    let several = folders.len() > 1;
    let sentences = summaries
        .clone()
        .zip(&data.runs)
        .flat_map(|(summary, run)| {
            let prefix = if several {
                format!("{}: ", run.name)
            } else {
                String::new()
            };
            let sentences = (words.of_run)(summary).into_iter();
            let sentences = sentences.chain((words.drops)(summary));
            sentences.map(move |sentence| prefix.clone() + &unbroken(&sentence))
        });
    let first = folders[0].summary();
    let heading = if several {
        let names: Vec<_> = data.runs.iter().map(|run| run.name.as_str()).collect();
        names.join(" and ")
    } else {
        first.scenario.clone()
    };
    let names = || data.runs.iter().map(|run| run.name.as_str());
    let goals = folders.iter().zip(names()).filter_map(|(folder, name)| {
        let run = if several { name } else { "" };
        goals::block(folder.summary(), run)
    });
    let later = folders.iter().zip(names()).skip(1);
    let against = later.map(|(folder, name)| {
        let against = Against::of(folders[0], folder);
        let names = [data.runs[0].name.as_str(), name];
        against::block(&against, names, (words.of_change)(&against, names))
    });
    let comparisons = tables::comparisons(&data);
    let (main, causes) = (drawn::main(&data), drawn::causes(&data));
    let sentences: Vec<String> = sentences.collect();
    let letters: usize = sentences.iter().map(String::len).sum();
    Ok(Page {
        long: letters > LONG && !several,
        maps: summaries.filter_map(map::of_tail).collect(),
        heading,
        title: first.title.clone().unwrap_or_default(),
        sentences,
        goals: goals.collect(),
        against: against.collect(),
        table: Table::new(&data),
        places: data.rows().any(|(_, row)| !row.set.is_empty()),
        comparisons,
        seeds_note: tables::seeds_note(&data),
        pairs_note: tables::pairs_note(&data),
        failures: tables::failures(&data),
        runs: folders
            .iter()
            .zip(&data.runs)
            .map(|(folder, run)| describe(folder, &run.name, out))
            .collect(),
        aside: main.as_ref().is_some_and(|main| main.full)
            && causes.as_ref().is_some_and(|causes| !causes.full),
        main,
        causes,
        collectives: collectives::table(&data),
        theatre: theatre::theatre(folders, &data)?,
        tiers: tiers::table(&data),
        ties: ties::table(&data),
        orders: ties::orders(folders.iter().map(|folder| folder.summary())),
        more: drawn::more(&data),
        missing: missing(&data, &figures),
        explore: String::new(),
        style: STYLE,
        script: PLAYING_SCRIPT,
    })
}

impl Page {
    /// Adds `page` to the report, and a button that opens it.
    pub(crate) fn opening(self, page: &str) -> Self {
        // Text that looks like the end of a script would end it.
        let explore = serde_json::Value::from(page).to_string();
        Self {
            explore: explore.replace('<', "\\u003c"),
            ..self
        }
    }
}

fn describe(folder: &Folder, name: &str, out: &Path) -> Described {
    let summary = folder.summary();
    let seeds = match summary.seeds {
        1 => format!("{}", summary.seed),
        seeds => format!(
            "{} to {} ({seeds} of each combination)",
            summary.seed,
            summary.seed + u64::from(seeds) - 1
        ),
    };
    let mut settings = String::new();
    for (key, value) in &summary.constants {
        let comma = if settings.is_empty() { "" } else { ", " };
        write!(settings, "{comma}{key} = {value}").expect("writing to a string succeeds");
    }
    let mut facts = vec![
        ("Scenario", summary.scenario.clone()),
        ("Schemes", summary.schemes.join(", ")),
        ("Swept", summary.axes.join(", ")),
        ("Settings", settings),
        ("Traces", summary.notes.join("; ")),
        ("Seeds", seeds),
        ("Simulations", summary.points.len().to_string()),
        ("Version", format!("tailwater {}", summary.version)),
        // The typed command is in run.json. It differs between equal runs, but this report must not.
        ("Again", "tailwater run scenario.toml".to_owned()),
    ];
    facts.retain(|(_, text)| !text.is_empty());
    // Links work as long as the report stays beside the files.
    let beside = out.parent().map(Path::canonicalize).and_then(Result::ok);
    let linked = beside.is_some() && beside == folder.path().canonicalize().ok();
    let files = FILES
        .iter()
        .filter(|(name, _)| linked && folder.path().join(name).exists());
    Described {
        name: name.to_owned(),
        facts,
        files: files
            .map(|(name, what)| ((*name).to_owned(), *what))
            .collect(),
        scenario: folder.scenario_text().to_owned(),
    }
}

/// The data that the run did not record, and how to record it.
fn missing(data: &Data<'_>, figures: &[Figure]) -> Vec<String> {
    let lacks = |chart: &str| figures.iter().all(|figure| figure.chart != chart);
    let mut missing = Vec::new();
    let mut drawn = data.runs.iter().flat_map(|run| {
        let close_ups = run.close_ups().into_iter();
        close_ups.map(|detail| run.has_events(detail))
    });
    if drawn.any(|recorded| !recorded) {
        missing.push("losses and timeouts of flows (trace.series = \"events\")".to_owned());
    }
    for (chart, what, series) in [
        ("queue-time", "the queue over time", "queue"),
        ("cwnd", "congestion windows over time", "cwnd"),
        ("rwnd", "advertised windows over time", "rwnd"),
    ] {
        if lacks(chart) {
            missing.push(format!("{what} (trace.series = \"{series}\")"));
        }
    }
    missing
}

/// The head of a page up to its heading.
#[derive(Debug, Template)]
#[template(path = "head.html")]
pub struct Head<'a> {
    /// The subject of the page.
    pub heading: &'a str,
    /// The command that makes it.
    pub command: &'a str,
    /// Its look.
    pub style: &'a str,
}

/// The look of a page, and of the drawings in it.
pub const STYLE: &str = concat!(
    include_str!("../templates/report.css"),
    include_str!("../templates/drawn.css"),
    include_str!("../templates/theatre.css")
);

/// The script of a page: its theme, its charts and its tables. It listens for the event `drawn`, which a part sends after it was drawn anew.
pub(crate) const SCRIPT: &str = concat!(
    include_str!("../templates/page.js"),
    include_str!("../templates/charts.js"),
    include_str!("../templates/sort.js")
);

/// The script of a page that also plays scenes. It handles redrawn parts in the same way.
pub const PLAYING_SCRIPT: &str = concat!(
    include_str!("../templates/page.js"),
    include_str!("../templates/charts.js"),
    include_str!("../templates/sort.js"),
    include_str!("../templates/theatre.js")
);

/// The stage of a theatre, which the script fills, with its note.
pub const STAGE: &str = include_str!("../templates/stage.html");

/// A sentence in which numbers stay on one line with their units.
fn unbroken(sentence: &str) -> String {
    let mut text = String::with_capacity(sentence.len());
    for word in sentence.split(' ') {
        if !text.is_empty() {
            let unit = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
            let is_quantity = UNITS.contains(&unit) && text.ends_with(|c: char| c.is_ascii_digit());
            text.push(if is_quantity { '\u{a0}' } else { ' ' });
        }
        text.push_str(word);
    }
    text
}

/// Units in sentences of an answer.
const UNITS: [&str; 9] = [
    "%", "us", "ms", "s", "KB", "MB", "Mbit/s", "Gbit/s", "packets",
];

/// The length of an answer, in letters, that leaves no room for a chart below it on the first screen.
const LONG: usize = 420;

const FILES: [(&str, &str); 6] = [
    ("scenario.toml", "every setting"),
    ("summary.json", "every number"),
    ("flows.parquet", "every flow"),
    ("ports.parquet", "every port"),
    ("series.parquet", "what was recorded over time"),
    ("run.json", "the command and its cost"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        let sentence = "rcc is fastest at 60 to 100 senders (19 % to 30 % less, 3.0 ms); 5 servers";
        let whole = "rcc is fastest at 60 to 100 senders (19\u{a0}% to 30\u{a0}% less, 3.0\u{a0}ms); 5 servers";
        assert_eq!(unbroken(sentence), whole);
    }
}
