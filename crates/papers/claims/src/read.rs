//! Reads the files of a paper and reports every mistake at its place.
//!
//! The scenario's own reader reads the scenario of a figure and ignores the tables that are read here. All scenarios
//! are loaded first, so that claims and plots can only name schemes, axes and values that are run.

mod change;
mod claim;
mod contents;
mod kind;
mod live;
mod measure;
mod parse;
mod plot;
mod reader;
mod section;
mod short;
mod tolerance;
mod tree;
mod vacuous;

use std::collections::BTreeMap;
use std::ops::Range;

use plan::keys;
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml_edit::DocumentMut;

use super::{At, Experiment, Paper, Section};
pub(super) use contents::contents;
use parse::{as_written, parse};
use reader::{Reader, Table};
use tree::{Node, Site, split};

/// The runs of a figure, as far as claims and plots refer to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) schemes: Vec<String>,
    /// Settings with several values or shown in results, with their values.
    pub(super) axes: Vec<(String, Vec<String>)>,
}

/// The runs of each figure, by its name.
type Contexts = BTreeMap<String, Context>;

/// The file of a paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperFile {
    title: String,
    citation: String,
    url: Option<String>,
    notes: Option<String>,
    #[serde(default)]
    figures: Vec<String>,
    /// Read by `common`.
    #[serde(default, rename = "common")]
    _common: IgnoredAny,
    #[serde(default, rename = "section")]
    sections: Vec<Section>,
}

/// Reads the file of a paper: the paper, and the names of its figures in their order.
pub(super) fn paper(name: &str, source: &Source) -> Result<(Paper, Vec<String>), Problems> {
    let document = parse(source)?;
    let mut reader = Reader::new(source);
    let table = Table {
        name: "the paper",
        required: &["title", "citation"],
        others: &[],
    };
    let file: Option<PaperFile> = reader.read(&table, &document);
    let paper = file.map(|file| {
        let paper = Paper {
            name: name.to_owned(),
            title: file.title,
            citation: file.citation,
            url: file.url,
            notes: file.notes,
            sections: file.sections,
            contents: Vec::new(),
            experiments: Vec::new(),
        };
        (paper, file.figures)
    });
    reader
        .finish(paper)
        .map(|paper| paper.expect("without a problem it has been read"))
}

/// Reads the figures of a paper, given by name and file. The paper has these sections.
pub(super) fn figures(
    (paper, sections): (&str, &[Section]),
    files: &[(String, Source)],
) -> Result<Vec<Experiment>, Problems> {
    let mut problems = Vec::new();
    let mut contexts = Contexts::new();
    let mut borrowed = Vec::new();
    for (name, source) in files {
        match context(source) {
            Ok(Some(context)) => drop(contexts.insert(name.clone(), context)),
            Ok(None) => borrowed.push((name, source)),
            Err(found) => problems.extend(found.0),
        }
    }
    for (name, source) in borrowed {
        let document = as_written(source)?;
        let used: Option<String> = Site::new(&document).key("uses").read();
        if let Some(context) = used.and_then(|used| contexts.get(&used)).cloned() {
            contexts.insert(name.clone(), context);
        }
    }
    let mut experiments = Vec::new();
    for (name, source) in files {
        // An error in a figure's scenario has been reported.
        let known = Known {
            files,
            contexts: &contexts,
            sections,
        };
        match figure((paper, name), source, known) {
            Ok(experiment) => experiments.push(experiment),
            Err(found) => problems.extend(found.0),
        }
    }
    if problems.is_empty() {
        problems = live::inherit(&mut experiments);
    }
    Problems::unless(problems, experiments)
}

/// The figures of the same paper that a file refers to.
pub(super) fn references(source: &Source) -> Result<Vec<String>, Problems> {
    fn walk(site: Site<'_>, found: &mut Vec<String>) {
        for (name, _, value) in site.items().flat_map(Site::entries) {
            if let ("uses" | "run", Some(text)) = (name, value.read()) {
                found.push(text);
            }
            walk(value, found);
        }
    }
    let document = as_written(source)?;
    let mut found = Vec::new();
    walk(Site::new(&document), &mut found);
    Ok(found)
}

/// The scenario in the file of a figure, without the tables of claims, plots and causes.
pub(super) fn scenario_text(source: &Source) -> Result<String, Problems> {
    as_written(source)?;
    let mut document: DocumentMut = source.text().parse().expect("it has been parsed");
    for key in super::KEYS {
        document.remove(key);
    }
    Ok(document.to_string())
}

/// The runs of a figure's scenario; `None` if the figure uses the runs of another.
fn context(source: &Source) -> Result<Option<Context>, Problems> {
    if Site::new(&as_written(source)?).has("uses") {
        return Ok(None);
    }
    let scenario = Scenario::load(source.clone(), &Overrides::default())?;
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for key in scenario.set_keys() {
        axes.push((key.to_owned(), Vec::new()));
    }
    for point in scenario.points() {
        for ((_, values), (_, value)) in axes.iter_mut().zip(&point.set) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    let schemes = scenario.schemes().into_iter().map(str::to_owned).collect();
    Ok(Some(Context { schemes, axes }))
}

fn figure(
    (paper, name): (&str, &str),
    source: &Source,
    known: Known<'_>,
) -> Result<Experiment, Problems> {
    let document = parse(source)?;
    let site = Site::new(&document);
    let mut reader = Reader::new(source);
    reader.uses(site, known);
    let Some(context) = known.contexts.get(name) else {
        // The error in this scenario, or in the scenario of the figure whose runs it uses, has been reported.
        return reader.finish(()).and(Err(Problems(Vec::new())));
    };
    let runs = Runs {
        own: context,
        all: known.contexts,
        sections: known.sections,
    };
    let table = Table {
        name: "the figure",
        required: &["title", "figure", "scale"],
        others: &[],
    };
    let experiment: Option<Experiment> = reader.read(&table, &split(&document, &KEYS).0);
    let (mut plots, mut claims, mut causes) = (Vec::new(), Vec::new(), Vec::new());
    for (what, panel) in reader.tables(&document, "plot") {
        plots.extend(reader.plot(&what, panel, runs));
    }
    let tables = reader.tables(&document, "claim");
    reader.unique(&tables);
    for (what, claim) in tables {
        let before = reader.problems.len();
        let read = reader.claim(&what, claim, runs);
        if read.is_none() && reader.problems.len() == before {
            let message = format!("{what} has nothing to judge");
            reader.wrong(message, claim.span(), "schemes, each with what is measured");
        }
        claims.extend(read);
    }
    let readings = reader.readings(&document, context);
    let tables = reader.tables(&document, "cause");
    reader.unique(&tables);
    for (what, cause) in tables {
        causes.extend(reader.cause(&what, cause, context));
    }
    let Some(experiment) = experiment else {
        return reader.finish(()).and(Err(Problems(Vec::new())));
    };
    let section = experiment.section.as_deref().unwrap_or_default();
    reader.check_place(section, site.key("section"), known.sections);
    reader.settings(site.key("full").key("set"));
    if let Some(live) = &experiment.live {
        reader.live(live, site.key("live"), &claims, experiment.uses.as_deref());
    }
    let live = experiment.live.iter().flat_map(|live| &live.set);
    for set in [
        experiment.full.set.iter().collect(),
        live.collect::<Vec<_>>(),
    ] {
        check_with(&mut reader, experiment.uses.is_none(), &set);
    }
    reader.finish(Experiment {
        paper: paper.to_owned(),
        name: name.to_owned(),
        plots,
        claims,
        readings,
        causes,
        source: source.clone(),
        ..experiment
    })
}

/// The known parts of a paper when a figure is read.
#[derive(Clone, Copy)]
struct Known<'a> {
    files: &'a [(String, Source)],
    contexts: &'a Contexts,
    sections: &'a [Section],
}

/// The runs to which a figure may refer.
#[derive(Clone, Copy)]
struct Runs<'a> {
    own: &'a Context,
    all: &'a Contexts,
    sections: &'a [Section],
}

/// Checks that the scenario of a figure that has `own` is also valid with these changes.
fn check_with(reader: &mut Reader<'_>, own: bool, set: &[&(String, String)]) {
    let sets = set.iter().map(|(key, value)| format!("{key}={value}"));
    let overrides = Overrides {
        sets: sets.collect(),
        ..Overrides::default()
    };
    if own && !overrides.sets.is_empty() && reader.problems.is_empty() {
        let loaded = Scenario::load(reader.source.clone(), &overrides);
        reader
            .problems
            .extend(loaded.err().into_iter().flat_map(|found| found.0));
    }
}

impl Reader<'_> {
    /// Checks the name of the figure whose runs are used, and that the file then has no scenario keys.
    fn uses(&mut self, site: Site<'_>, known: Known<'_>) {
        let Some(used) = site.key("uses").read::<String>() else {
            return;
        };
        let place = site.key("uses").place();
        if !known.files.iter().any(|(name, _)| *name == used) {
            let others = known.files.iter().map(|(name, _)| name.as_str());
            self.unknown("figure", (&used, place), others);
        } else if !known.contexts.contains_key(&used) {
            let problem = Problem::new(format!("{used} has no runs of its own"));
            let problem = problem.at(self.source, place, "used here");
            self.problems
                .push(problem.help("name the figure whose scenario is run"));
        }
        for (name, place, value) in site.entries() {
            let own = KEYS.contains(&name) || ["plot", "claim"].contains(&name);
            if (SETTINGS.contains(&name) || value.is_table()) && !own {
                let problem = Problem::new(format!("{name} cannot be combined with `uses`"));
                let problem = problem.at(self.source, place, "about a scenario");
                let help = format!("the scenario is that of {used}: write it there");
                self.problems.push(problem.help(help));
            }
        }
    }

    /// Checks settings by full key, each for itself.
    fn settings(&mut self, site: Site<'_>) {
        for (key, place, values) in site.entries() {
            let Some(declared) = setting(key) else {
                let all = keys::all_keys().iter().map(|key| key.name);
                self.unknown("setting", (key, place), all);
                continue;
            };
            for value in values.items() {
                let Some(text) = value.read::<String>() else {
                    continue;
                };
                if let (false, Err(error)) = (text.contains(".."), (declared.check)(&text)) {
                    let message = format!("wrong value for {key}: {}", error.message);
                    let problem =
                        Problem::new(message).at(self.source, value.place(), "wrong value");
                    self.problems.push(problem.help(declared.help));
                }
            }
        }
    }

    /// Reports tables with an id that is already in use.
    fn unique(&mut self, tables: &[(String, &Node<'_>)]) {
        let mut known: Vec<String> = Vec::new();
        for id in tables.iter().map(|(_, table)| Site::new(table).key("id")) {
            let Some(text) = id.read::<String>() else {
                continue;
            };
            if known.contains(&text) {
                let problem = Problem::new(format!("there are two called {text}"));
                let problem = problem.at(self.source, id.place(), "used before");
                self.problems
                    .push(problem.help("give each an id of its own"));
            }
            known.push(text);
        }
    }

    /// The runs of the figure that is referred to.
    fn run<'b>(
        &mut self,
        name: Option<&str>,
        site: Site<'_>,
        runs: Runs<'b>,
    ) -> Option<&'b Context> {
        let Some(name) = name else {
            return Some(runs.own);
        };
        let found = runs.all.get(name);
        if found.is_none() {
            let names = runs.all.keys().map(String::as_str);
            self.unknown("figure", (name, site.place()), names);
        }
        found
    }

    /// Reports a scheme that is not run.
    fn scheme(&mut self, name: &str, place: Range<usize>, context: &Context) -> bool {
        let known = context.schemes.iter().any(|scheme| scheme == name);
        if !known {
            let schemes = context.schemes.iter().map(String::as_str);
            self.unknown("scheme in this scenario called", (name, place), schemes);
        }
        known
    }

    fn schemes(&mut self, names: &[String], site: Site<'_>, context: &Context) {
        for (name, written) in names.iter().zip(site.items()) {
            self.scheme(name, written.place(), context);
        }
    }

    /// Reports settings that are not swept, and values that they do not have.
    fn at(&mut self, at: &At, site: Site<'_>, context: &Context) {
        for ((key, values), (_, place, written)) in at.iter().zip(site.entries()) {
            let Some(known) = self.axis_key(key, place, context) else {
                continue;
            };
            for (value, written) in values.iter().zip(written.items()) {
                if !known.contains(value) {
                    let known = known.iter().map(String::as_str);
                    self.unknown(&format!("value of {key}"), (value, written.place()), known);
                }
            }
        }
    }

    /// The values of a swept setting; reports a setting that is not swept.
    fn axis_key<'b>(
        &mut self,
        key: &str,
        place: Range<usize>,
        context: &'b Context,
    ) -> Option<&'b Vec<String>> {
        let found = context.axes.iter().find(|(axis, _)| axis == key);
        if found.is_none() {
            let axes = context.axes.iter().map(|(axis, _)| axis.as_str());
            self.unknown("swept setting", (key, place), axes);
        }
        found.map(|(_, values)| values)
    }
}

/// The declaration of a setting, which may belong to a group of hosts.
fn setting(name: &str) -> Option<&'static base::setting::Key> {
    let of_group = name
        .strip_prefix("group.")
        .and_then(|rest| rest.split_once('.'));
    keys::key(of_group.map_or(name, |(_, key)| key))
}

/// Keys of a figure's own table, without its plots, claims and causes.
const KEYS: [&str; 9] = [
    "title",
    "figure",
    "section",
    "scale",
    "notes",
    "uses",
    "counted_in",
    "full",
    "live",
];

/// Top-level keys of a scenario, without its tables.
const SETTINGS: [&str; 9] = [
    "seed", "seeds", "schemes", "columns", "goals", "variant", "name", "group", "cause",
];
