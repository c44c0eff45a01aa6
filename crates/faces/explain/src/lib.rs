//! Meanings of words: schemes, settings, numbers of the results, notions, figures of papers, and subjects of the
//! guide's pages.
//!
//! Everything with a name has its own description: in registries, declarations of settings, columns, and the catalogue
//! of papers. Other words are looked up in an index.

mod index;
mod notion;

use std::fmt::Write;

use base::setting::Key;
use claims::catalogue;
use plan::keys::{self, all_keys, group, profile};
use plan::metric;
use plan::series;
use plan::suggest;
use results::{self, Field};
use scenario::{BUILTINS, Problem, Problems, Scenario};
use schemes::Scheme;
use sim::columns;

pub use notion::names as notions;

/// A command of a program that explains words, for explaining the command itself.
pub struct Command {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
    /// Its arguments by name, without dashes, each with its description.
    pub flags: Vec<(String, String)>,
}

/// The meaning of `word` in a program with these commands.
pub fn explain(word: &str, commands: &[Command]) -> Result<String, Problems> {
    if let Some(text) = named(word) {
        return Ok(text);
    }
    let paper = word.split('/').next().unwrap_or(word);
    if catalogue::names().contains(&paper) {
        return figures(word);
    }
    let lower = word.to_lowercase();
    if let Some(text) = named(&lower).or_else(|| index::explain(word, commands)) {
        return Ok(text);
    }
    let schemes = schemes::all().iter().map(|scheme| scheme.name);
    let names = schemes.chain(all_keys().iter().map(|key| key.name));
    let names = names.chain(all_keys().iter().map(|key| group(key.name)));
    let names = names.chain(BUILTINS.iter().map(|builtin| builtin.name));
    let names = names.chain(catalogue::names()).chain(notions());
    let metrics = columns::METRICS.iter().chain(columns::COST);
    let names = names.chain(metrics.map(|column| column.name));
    let names = names.chain(index::names());
    let remedy = "`tailwater list` prints the lists of names";
    let what = "scheme, setting, symbol, number, notion or scenario";
    Err(unknown(word, what, names.chain(["results"]), remedy))
}

/// The description of the item with exactly this name.
fn named(word: &str) -> Option<String> {
    known(word)
        .or_else(|| notion::explain(word))
        .or_else(|| number(word))
        .or_else(|| symbol(word))
}

/// A file of results, a scheme, a setting, a group of settings or a scenario.
fn known(word: &str) -> Option<String> {
    if word == "results" {
        return Some(results());
    }
    if let Some(text) = file(word) {
        return Some(text);
    }
    if let Some(scheme) = schemes::all().iter().find(|scheme| scheme.name == word) {
        return Some(self::scheme(scheme));
    }
    if let Some(key) = keys::key(word) {
        return Some(self::key(key));
    }
    let members = all_keys().iter().filter(|key| group(key.name) == word);
    let members: Vec<_> = members.map(|key| self::key(key)).collect();
    if !members.is_empty() {
        return Some(members.join("\n"));
    }
    BUILTINS.iter().find(|builtin| builtin.name == word)?;
    let scenario = Scenario::builtin(word);
    let title = scenario.title().unwrap_or_default();
    let text = format!("{word}: {title}\n`tailwater show {word}` prints the scenario.\n");
    // Some scenarios have the name of their workload.
    let kind = notion::explain(word).map_or_else(String::new, |kind| format!("\n{kind}"));
    Some(text + &kind)
}

/// A table of the results, with all of its columns.
fn file(word: &str) -> Option<String> {
    let mut out = String::new();
    match word {
        "flows.parquet" => table(&mut out, FLOWS, results::flow_fields()),
        "ports.parquet" => table(&mut out, PORTS, results::port_fields()),
        "series.parquet" => series(&mut out),
        _ => return None,
    }
    Some(out.trim_start().to_owned())
}

/// Settings by their symbol in a paper.
fn symbol(word: &str) -> Option<String> {
    let keys: Vec<_> = of_symbol(word).into_iter().map(key).collect();
    (!keys.is_empty()).then(|| keys.join("\n"))
}

/// A number of the results by its name in JSON, CSV or a table, or by a short form, as in p99.
fn number(word: &str) -> Option<String> {
    let mut out = String::new();
    let metrics = columns::METRICS.iter().chain(columns::COST);
    let short = metric::by_word(word).map(|column| column.name);
    for metric in metrics.filter(|column| column.name == word || Some(column.name) == short) {
        column(&mut out, metric.name, metric.unit, metric.help);
    }
    let tables = [
        ("flows.parquet", results::flow_fields()),
        ("ports.parquet", results::port_fields()),
    ];
    for (table, fields) in tables {
        for field in fields.iter().filter(|field| field.name == word) {
            let help = format!("{} In {table}.", field.help);
            column(&mut out, &field.name, field.unit, &help);
        }
    }
    for traced in series::all().iter().filter(|column| column.name == word) {
        let help = format!("{} In series.parquet.", traced.help);
        column(&mut out, traced.name, traced.unit, &help);
    }
    let text = out.trim_start_matches('\n');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The settings whose descriptions name this symbol of a paper in brackets, as "(K of DCTCP)" or "(W)".
fn of_symbol(symbol: &str) -> Vec<&'static Key> {
    let (alone, of) = (format!("({symbol})"), format!("({symbol} of "));
    let names = |key: &&&'static Key| key.help.contains(&alone) || key.help.contains(&of);
    all_keys().iter().filter(names).copied().collect()
}

/// A paper, or some of its figures: the runs and the claims.
fn figures(word: &str) -> Result<String, Problems> {
    let mut out = String::new();
    for selection in catalogue::find(&[word.to_owned()])? {
        let paper = &selection.paper;
        answer::paragraph(
            &mut out,
            0,
            &format!("{}. {}.", paper.title, paper.citation),
        );
        if let Some(notes) = &paper.notes {
            out.push('\n');
            answer::paragraph(&mut out, 0, notes);
        }
        let chosen = paper.experiments.iter();
        for figure in chosen.filter(|figure| selection.figures.contains(&figure.name)) {
            let section = figure.section.as_ref();
            let section = section.map_or_else(String::new, |section| format!(", {section}"));
            let (id, name) = (figure.id(), &figure.figure);
            out.push('\n');
            answer::paragraph(
                &mut out,
                0,
                &format!("{id}: {} ({name}{section})", figure.title),
            );
            answer::paragraph(&mut out, 4, &format!("Scale: {}.", figure.scale));
            if let Some(uses) = &figure.uses {
                answer::paragraph(&mut out, 4, &format!("Shows the runs of {uses}."));
            }
            if let Some(notes) = &figure.notes {
                answer::paragraph(&mut out, 4, notes);
            }
            for claim in &figure.claims {
                let place = &claim.place;
                answer::paragraph(
                    &mut out,
                    4,
                    &format!("{}: {} ({place})", claim.id, claim.says),
                );
            }
            for reading in figure.readings.iter().filter(|reading| !reading.is_base()) {
                let (name, change, says) = (&reading.id, reading.change(), &reading.says);
                let line = format!("judged by {name} too, with {change}: {says}");
                answer::paragraph(&mut out, 4, &line);
            }
            for cause in &figure.causes {
                let line = format!("{}, if {}: {}", cause.id, cause.change(), cause.says);
                answer::paragraph(&mut out, 4, &line);
            }
        }
    }
    Ok(out)
}

/// Wrong input: there is no `what` called `word`.
pub fn unknown<'a>(
    word: &str,
    what: &str,
    names: impl IntoIterator<Item = &'a str>,
    remedy: &str,
) -> Problems {
    let nearest = suggest::did_you_mean(word, names);
    let problem = Problem::new(format!("there is no {what} called {word:?}"));
    let help = format!("{nearest}{remedy}");
    Problems::from(problem.help(help))
}

fn scheme(scheme: &Scheme) -> String {
    let mut out = String::new();
    answer::paragraph(&mut out, 0, &format!("{}: {}", scheme.name, scheme.summary));
    if !scheme.reference.is_empty() {
        answer::paragraph(&mut out, 0, &format!("Source: {}", scheme.reference));
    }
    if !scheme.how.is_empty() {
        out.push('\n');
        answer::paragraph(&mut out, 0, scheme.how);
    }
    if scheme.needs_marking {
        answer::paragraph(&mut out, 0, "Needs queues that mark: switch.ecn_threshold.");
    }
    if scheme.keys.is_empty() {
        out.push_str("It has no settings of its own.\n");
    }
    for (key, text) in scheme.tcp {
        let line =
            format!("Its hosts have {key} = {text}, whatever tcp.profile, unless it is given.");
        answer::paragraph(&mut out, 0, &line);
    }
    for key in scheme.keys {
        out.push('\n');
        out.push_str(&self::key(key));
    }
    out
}

fn key(key: &Key) -> String {
    let mut out = String::new();
    writeln!(out, "{} = {}", key.name, key.default).expect("writing to a string succeeds");
    answer::paragraph(&mut out, 4, key.help);
    answer::paragraph(&mut out, 4, &format!("Value: {}.", (key.expected)()));
    if let Some(linux) = profile::of_linux(key.name) {
        answer::paragraph(
            &mut out,
            4,
            &format!("With tcp.profile = \"linux\": {linux}."),
        );
    }
    if key.name == "tcp.profile" {
        out.push('\n');
        out += &profiles();
    }
    out
}

/// The settings of profiles, side by side.
fn profiles() -> String {
    let differs = |key: &&'static Key| Some((key.name, key.default, profile::of_linux(key.name)?));
    let rows = all_keys().iter().filter_map(differs);
    let rows: Vec<_> = [("setting", "paper", "linux")]
        .into_iter()
        .chain(rows)
        .collect();
    let widest = |of: fn(&(&str, &str, &str)) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (first, second) = (widest(|row| row.0.len()), widest(|row| row.1.len()));
    let mut out = String::new();
    for (name, paper, linux) in &rows {
        writeln!(out, "    {name:first$}  {paper:second$}  {linux}")
            .expect("writing to a string succeeds");
    }
    out
}

fn results() -> String {
    let mut out = String::new();
    let intro = "Every point of a sweep and every seed has these numbers, in the JSON under \
        \"metrics\" and in the CSV as columns. A number that does not exist, such as a completion \
        time where no flow completed, is null in JSON, empty in CSV and \"-\" in tables.";
    answer::paragraph(&mut out, 0, intro);
    for column in columns::METRICS.iter().chain(columns::COST) {
        writeln!(out, "\n{} [{}]", column.name, column.unit).expect("writing to a string succeeds");
        answer::paragraph(&mut out, 4, column.help);
    }
    table(&mut out, FLOWS, results::flow_fields());
    table(&mut out, PORTS, results::port_fields());
    series(&mut out);
    out
}

/// The columns of a table; those that identify the point come first.
fn table(out: &mut String, intro: &str, fields: Vec<Field>) {
    out.push('\n');
    answer::paragraph(out, 0, intro);
    for field in results::leading_fields().into_iter().chain(fields) {
        column(out, &field.name, field.unit, field.help);
    }
}

fn column(out: &mut String, name: &str, unit: &str, help: &str) {
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!(" [{unit}]")
    };
    writeln!(out, "\n{name}{unit}").expect("writing to a string succeeds");
    answer::paragraph(out, 4, help);
}

/// The columns of series.parquet.
fn series(out: &mut String) {
    let intro = "Series, in series.parquet: each row is one sample of one quantity of a port, a flow or a \
        host, or one event. A quantity that was not recorded has no column, and one that a row is not \
        about is null. A column for each setting that results show follows the seed, named like the setting. \
        What is recorded: `tailwater explain trace`.";
    out.push('\n');
    answer::paragraph(out, 0, intro);
    for field in results::leading_fields() {
        column(out, &field.name, field.unit, field.help);
    }
    // The number of the simulation is one of these.
    let fixed = series::FIXED.iter().skip(1);
    let fixed = fixed.map(|column| (column.name, column.unit, column.help));
    let traced = series::all().iter();
    let traced = traced.map(|column| (column.name, column.unit, column.help.as_str()));
    for (name, unit, help) in fixed.chain(traced) {
        column(out, name, unit, help);
    }
}

const FLOWS: &str = "Flows, in flows.parquet: one row for each flow of each point.";
const PORTS: &str = "Ports, in ports.parquet: one row for each port of each point.";
