//! Reading the files of a paper, with every mistake at its place.
//!
//! The scenario of a figure is read by the scenario's own reader, which leaves out what is read here.
//! First every scenario is loaded, so that claims and plots may only name schemes, axes and values
//! that are run.

mod cause;
mod claim;
mod fields;
mod hollow;
mod live;
mod measure;
mod operand;
mod plot;
mod section;
mod statistic;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;

use plan::keys;
use plan::suggest;
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use toml_edit::{Document, TableLike};

use super::{Experiment, Full, Paper, Section};
use fields::{Fields, Reader, Word};

/// What is run for a figure, as far as claims and plots refer to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) schemes: Vec<String>,
    /// Settings that have several values, or are shown in results, with their values.
    pub(super) axes: Vec<(String, Vec<String>)>,
}

/// By the name of a figure: what is run for it.
type Contexts = BTreeMap<String, Context>;

/// Reads the file of a paper.
pub(super) fn paper(name: &str, source: &Source) -> Result<(Paper, Vec<String>), Problems> {
    let document = parse(source)?;
    let mut reader = Reader::new(source);
    let fields = Fields::new(document.as_table(), "the paper", 0..0);
    reader.only(
        &fields,
        &["title", "citation", "url", "notes", "figures", "section"],
    );
    let paper = Paper {
        name: name.to_owned(),
        title: reader.required_text(&fields, "title"),
        citation: reader.required_text(&fields, "citation"),
        url: reader.text(&fields, "url").map(|word| word.text),
        notes: reader.text(&fields, "notes").map(|word| word.text),
        sections: reader.sections(&fields),
        experiments: Vec::new(),
    };
    let figures = reader.words(&fields, "figures");
    let figures = figures.into_iter().map(|word| word.text).collect();
    reader.finish((paper, figures))
}

/// Reads the figures of a paper, given by name and file, which lists these sections.
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
        let document = parse(source)?;
        let used = document.get("uses").and_then(|uses| uses.as_str());
        if let Some(context) = used.and_then(|used| contexts.get(used)).cloned() {
            contexts.insert(name.clone(), context);
        }
    }
    let mut experiments = Vec::new();
    for (name, source) in files {
        // A figure whose scenario is wrong has said so.
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
    fn walk(table: &dyn TableLike, found: &mut Vec<String>) {
        for (name, item) in table.iter() {
            if let ("uses" | "run", Some(text)) = (name, item.as_str()) {
                found.push(text.to_owned());
            }
            if let Some(table) = item.as_table_like() {
                walk(table, found);
            }
            for table in item.as_array_of_tables().into_iter().flatten() {
                walk(table, found);
            }
            let inline = item.as_array().into_iter().flatten();
            for table in inline.filter_map(|value| value.as_inline_table()) {
                walk(table, found);
            }
        }
    }
    let document = parse(source)?;
    let mut found = Vec::new();
    walk(document.as_table(), &mut found);
    Ok(found)
}

/// The scenario in the file of a figure: without what claims, plots and causes add.
pub(super) fn scenario_text(source: &Source) -> Result<String, Problems> {
    let mut document = parse(source)?.into_mut();
    for key in super::KEYS {
        document.remove(key);
    }
    Ok(document.to_string())
}

fn parse(source: &Source) -> Result<Document<&str>, Problems> {
    Document::parse(source.text()).map_err(|error| {
        let end = source.text().len();
        let place = error
            .span()
            .map_or(end..end, |span| span.start.min(end)..span.end.min(end));
        Problem::new(format!("{} is not correct TOML", source.name()))
            .at(source, place, error.message().trim().replace('\n', ", "))
            .help("a line is [table], key = value or # comment; values with a unit are in quotes")
            .into()
    })
}

/// What the scenario of a figure runs; none if it shows the runs of another.
fn context(source: &Source) -> Result<Option<Context>, Problems> {
    if parse(source)?.contains_key("uses") {
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
    let table = document.as_table();
    let mut reader = Reader::new(source);
    let fields = Fields::new(table, "the figure", 0..0);
    let uses = uses(&mut reader, &fields, known.files, known.contexts);
    let Some(context) = known.contexts.get(name) else {
        // The scenario, or that of the figure whose runs it shows, is wrong, which has been said.
        return reader.finish(()).and(Err(Problems(Vec::new())));
    };
    let runs = Runs {
        own: context,
        all: known.contexts,
        sections: known.sections,
    };
    let mut experiment = Experiment {
        paper: paper.to_owned(),
        name: name.to_owned(),
        title: reader.required_text(&fields, "title"),
        figure: reader.required_text(&fields, "figure"),
        section: reader.text(&fields, "section").map(|word| word.text),
        scale: reader.required_text(&fields, "scale"),
        notes: reader.text(&fields, "notes").map(|word| word.text),
        counted_in: reader.text(&fields, "counted_in").map(|word| word.text),
        uses,
        full: full(&mut reader, &fields),
        live: None,
        plots: Vec::new(),
        claims: Vec::new(),
        causes: Vec::new(),
        source: source.clone(),
    };
    let section = experiment.section.clone().unwrap_or_default();
    reader.check_place(&fields, "section", &section, known.sections);
    for panel in reader.tables(&fields, "plot") {
        experiment.plots.extend(reader.plot(&panel, runs));
    }
    // Every name that is written, whether or not the rest of the claim is correct.
    let mut ids = Vec::new();
    for table in reader.tables(&fields, "claim") {
        experiment.claims.extend(reader.claim(&table, runs));
        let id = table.get("id").and_then(toml_edit::Item::as_str);
        let id = id.unwrap_or_default().to_owned();
        reader.unique(ids.contains(&id), &id, table.value_place("id"));
        ids.push(id);
    }
    for table in reader.tables(&fields, "cause") {
        let cause = reader.cause(&table, context);
        if let Some((cause, place)) = cause {
            let known = experiment.causes.iter().any(|other| other.id == cause.id);
            reader.unique(known, &cause.id, place);
            experiment.causes.push(cause);
        }
    }
    experiment.live = reader.live(&fields, &experiment.claims, experiment.uses.as_deref());
    let live = experiment.live.iter().flat_map(|live| &live.set);
    for set in [
        experiment.full.set.iter().collect::<Vec<_>>(),
        live.collect(),
    ] {
        check_with(&mut reader, experiment.uses.is_none(), &set);
    }
    reader.finish(experiment)
}

/// What is known of a paper when a figure is read.
#[derive(Clone, Copy)]
struct Known<'a> {
    files: &'a [(String, Source)],
    contexts: &'a Contexts,
    sections: &'a [Section],
}

/// What a figure may refer to.
#[derive(Clone, Copy)]
struct Runs<'a> {
    own: &'a Context,
    all: &'a Contexts,
    sections: &'a [Section],
}

fn uses(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    files: &[(String, Source)],
    contexts: &Contexts,
) -> Option<String> {
    let used = reader.text(fields, "uses")?;
    let others: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    if !others.contains(&used.text.as_str()) {
        reader.unknown("figure", &used, others.iter().copied());
    } else if !contexts.contains_key(&used.text) {
        let problem = Problem::new(format!("{} has no runs of its own", used.text));
        let problem = problem.at(reader.source, used.place.clone(), "used here");
        reader
            .problems
            .push(problem.help("name the figure whose scenario is run"));
    }
    for (name, item) in fields.table.iter() {
        let settings = [
            "seed", "seeds", "schemes", "columns", "goals", "variant", "name", "group", "cause",
        ];
        if settings.contains(&name) || item.is_table_like() && !["full", "live"].contains(&name) {
            let place = fields.place_of(name);
            let problem = Problem::new(format!("{name} has no place beside `uses`"));
            let problem = problem.at(reader.source, place, "about a scenario");
            let help = format!("the scenario is that of {}: write it there", used.text);
            reader.problems.push(problem.help(help));
        }
    }
    Some(used.text)
}

/// What `--full` changes.
fn full(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Full {
    let Some(fields) = reader.table(fields, "full") else {
        return Full::default();
    };
    reader.only(&fields, &["seeds", "set", "scale"]);
    let seeds = reader.whole(&fields, "seeds");
    Full {
        seeds: seeds.and_then(NonZeroU32::new),
        set: reader.settings(&fields, "set"),
        scale: reader.text(&fields, "scale").map(|word| word.text),
    }
}

/// The scenario of a figure that has `own` must be correct with these changes too.
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
    /// Settings by full key with the texts of their values, checked each for itself.
    fn settings(&mut self, fields: &Fields<'_>, name: &str) -> Vec<(String, String)> {
        let Some(table) = self.table(fields, name) else {
            return Vec::new();
        };
        let mut settings = Vec::new();
        for (key, _) in table.table.iter() {
            let word = Word {
                text: key.to_owned(),
                place: table.place_of(key),
            };
            let Some(declared) = setting(key) else {
                let all = keys::all_keys().iter().map(|key| key.name);
                self.unknown("setting", &word, all);
                continue;
            };
            let values = self.words(&table, key);
            for value in &values {
                let range = value.text.contains("..");
                if let (false, Err(error)) = (range, (declared.check)(&value.text)) {
                    let message = format!("wrong value for {key}: {}", error.message);
                    let problem = Problem::new(message);
                    let problem = problem.at(self.source, value.place.clone(), "wrong value");
                    self.problems.push(problem.help(declared.help));
                }
            }
            let texts: Vec<_> = values.into_iter().map(|value| value.text).collect();
            settings.push((key.to_owned(), texts.join(",")));
        }
        settings
    }

    /// Complains of a name that is already in use.
    fn unique(&mut self, known: bool, id: &str, place: Range<usize>) {
        if known && !id.is_empty() {
            let problem = Problem::new(format!("there are two called {id}"));
            let problem = problem.at(self.source, place, "used before");
            self.problems
                .push(problem.help("give each an id of its own"));
        }
    }

    /// Complains of a name that nothing has.
    fn unknown<'b>(
        &mut self,
        what: &str,
        word: &Word,
        known: impl IntoIterator<Item = &'b str> + Clone,
    ) {
        let nearest = suggest::did_you_mean(&word.text, known.clone());
        let all: Vec<&str> = known.into_iter().collect();
        let list = match all.len() {
            0 => "there is none".to_owned(),
            1..=MOST_LISTED => format!("there are: {}", all.join(", ")),
            _ => "`tailwater list keys` and `explain results` print all names".to_owned(),
        };
        let problem = Problem::new(format!("there is no {what} {:?}", word.text));
        let problem = problem.at(self.source, word.place.clone(), "unknown name");
        self.problems.push(problem.help(format!("{nearest}{list}")));
    }
}

/// The declaration of a setting, which may be one of a group of hosts.
fn setting(name: &str) -> Option<&'static base::setting::Key> {
    let of_group = name
        .strip_prefix("group.")
        .and_then(|rest| rest.split_once('.'));
    keys::key(of_group.map_or(name, |(_, key)| key))
}

/// Names that a message lists.
const MOST_LISTED: usize = 30;
