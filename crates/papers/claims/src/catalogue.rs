//! Finds papers: those that come with the program, and a user's own files.

use std::fs;
use std::path::Path;

use plan::suggest;
use scenario::{Problem, Problems, Source};

use super::{KEYS, Paper, common, read};

/// A paper and the chosen ones of its figures.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The paper, with the chosen figures and all figures that they refer to.
    pub paper: Paper,
    /// Names of the chosen figures, in the paper's order.
    pub figures: Vec<String>,
}

/// The names of the papers that come with the program.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES
        .iter()
        .filter_map(|(path, _)| path.split('/').next())
        .collect();
    names.dedup();
    names
}

/// The names of the figures of a paper that comes with the program.
pub fn figures(paper: &str) -> Vec<&'static str> {
    let inside = FILES.iter().filter_map(|(path, _)| path.split_once('/'));
    let figures =
        inside.filter(|(folder, file)| *folder == paper && ![PAPER, CONTENTS].contains(file));
    let mut figures: Vec<_> = figures.map(|(_, file)| stem(file)).collect();
    figures.sort_by_key(|name| natural(name));
    figures
}

/// The paper of this name, with all figures.
pub fn paper(name: &str) -> Result<Paper, Problems> {
    let files = FILES.iter().filter_map(|(path, text)| {
        let file = path.strip_prefix(name)?.strip_prefix('/')?;
        let source = Source::new(format!("experiments/{path} (built in)"), *text).shared(&KEYS);
        Some((file.to_owned(), source))
    });
    load(name, files.collect(), None)
}

/// The scenario that a user means by `word`: the scenario of a figure of the catalogue, as in `rcc/fig7a`, which may be
/// one that another figure runs; else a built-in scenario or a file.
pub fn scenario(word: &str) -> Result<Source, Problems> {
    let figure = word.split_once('/').filter(|(paper, name)| {
        names().contains(paper) && figures(paper).contains(name) && !Path::new(word).is_file()
    });
    let Some((name, figure)) = figure else {
        let source = Source::find(word)?.shared(&KEYS);
        let paper = Path::new(source.name()).with_file_name(PAPER);
        let is_file = Path::new(source.name()).is_file() && paper.is_file();
        let paper = is_file.then(|| open(&paper)).transpose()?;
        return common::joined(source, paper.as_ref());
    };
    let paper = paper(name)?;
    let find = |name: &str| paper.experiments.iter().find(|other| other.name == name);
    let shown = find(figure);
    let run = shown.and_then(|shown| find(shown.runs()));
    let source = run.map(|run| run.source.clone());
    source.ok_or_else(|| Problem::new(format!("there is no figure {word:?}")).into())
}

/// The text of a scenario. If the source is the file of a figure, its claims and plots are left out.
pub fn scenario_text(source: &Source) -> Result<String, Problems> {
    read::scenario_text(source)
}

/// The papers that a user means by `words`: papers, figures as in `rcc/fig5a`, folders or files; without words, all
/// papers that come with the program. Figures of one paper are put together.
pub fn find(words: &[String]) -> Result<Vec<Selection>, Problems> {
    let mut selections: Vec<Selection> = Vec::new();
    if words.is_empty() {
        for name in names() {
            selections.push(Selection::all(paper(name)?));
        }
        return Ok(selections);
    }
    let mut problems = Vec::new();
    for word in words {
        match find_one(word) {
            Ok(selection) => merge(&mut selections, selection),
            Err(found) => problems.extend(found.0),
        }
    }
    Problems::unless(problems, selections)
}

impl Selection {
    /// A paper with all of its figures.
    fn all(paper: Paper) -> Self {
        let figures = paper.experiments.iter().map(|figure| figure.name.clone());
        Self {
            figures: figures.collect(),
            paper,
        }
    }
}

fn merge(selections: &mut Vec<Selection>, new: Selection) {
    let same = |other: &&mut Selection| {
        let folder = |paper: &Paper| {
            let first = paper.experiments.first();
            let path = first.map(|figure| Path::new(figure.source.name()).parent());
            path.flatten().map(Path::to_owned)
        };
        other.paper.name == new.paper.name && folder(&other.paper) == folder(&new.paper)
    };
    let Some(known) = selections.iter_mut().find(same) else {
        return selections.push(new);
    };
    // A single file brings itself and the files that it refers to; the next file may bring others.
    for figure in new.paper.experiments {
        let mut all = known.paper.experiments.iter();
        if all.all(|other| other.name != figure.name) {
            known.paper.experiments.push(figure);
        }
    }
    let wanted = |name: &String| known.figures.contains(name) || new.figures.contains(name);
    let all = known.paper.experiments.iter();
    let all = all.map(|figure| figure.name.clone());
    known.figures = all.filter(wanted).collect();
}

fn find_one(word: &str) -> Result<Selection, Problems> {
    let trimmed = word.trim_end_matches('/');
    let (name, figure) = match trimmed.split_once('/') {
        Some((name, figure)) => (name, Some(figure)),
        None => (trimmed, None),
    };
    if names().contains(&name) {
        let all = figures(name);
        let Some(figure) = figure else {
            return Ok(Selection::all(paper(name)?));
        };
        if all.contains(&figure) {
            return Ok(Selection {
                paper: paper(name)?,
                figures: vec![figure.to_owned()],
            });
        }
        let nearest = suggest::did_you_mean(figure, all.iter().copied());
        let problem = Problem::new(format!("{name} has no figure {figure:?}"));
        return Err(problem
            .help(format!("{nearest}there are: {}", all.join(", ")))
            .into());
    }
    let path = Path::new(word);
    if path.is_dir() {
        return Ok(Selection::all(open_folder(path)?));
    }
    if path.is_file() {
        return open_file(path);
    }
    let papers = names();
    let figures: Vec<String> = papers
        .iter()
        .flat_map(|paper| {
            figures(paper)
                .into_iter()
                .map(move |name| format!("{paper}/{name}"))
        })
        .collect();
    let known = papers
        .iter()
        .copied()
        .chain(figures.iter().map(String::as_str));
    let nearest = suggest::did_you_mean(word, known);
    let problem = Problem::new(format!("there is no paper or figure {word:?}"));
    let help = "`tailwater list papers` prints all; give your own folder or file by its path";
    Err(problem.help(format!("{nearest}{help}")).into())
}

/// Every `.toml` file of a folder.
fn open_folder(path: &Path) -> Result<Paper, Problems> {
    let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry
            .map_err(|error| unreadable(path, &error.to_string()))?
            .path();
        if file.extension().is_some_and(|ending| ending == "toml") {
            files.push((file_name(&file), open(&file)?));
        }
    }
    load(&folder_name(path), files, None)
}

/// A file, and the files beside it that it refers to.
fn open_file(path: &Path) -> Result<Selection, Problems> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files = vec![(file_name(path), open(path)?)];
    let mut next = 0;
    while let Some((_, source)) = files.get(next) {
        for name in read::references(source)? {
            let file = format!("{name}.toml");
            let path = folder.join(&file);
            // A file that does not exist is reported at the place that names it.
            if path.is_file() && !files.iter().any(|(known, _)| *known == file) {
                let source = open(&path)?;
                files.push((file, source));
            }
        }
        next += 1;
    }
    let chosen = stem(&files[0].0).to_owned();
    if folder.join(PAPER).is_file() {
        files.push((PAPER.to_owned(), open(&folder.join(PAPER))?));
    }
    Ok(Selection {
        paper: load(&folder_name(folder), files, Some(&chosen))?,
        figures: vec![chosen],
    })
}

/// A paper from its files. A single figure may have no file for the paper; then the paper has the name of the folder.
fn load(
    name: &str,
    mut files: Vec<(String, Source)>,
    lone: Option<&str>,
) -> Result<Paper, Problems> {
    let own = files.iter().position(|(file, _)| file == PAPER);
    let own = own.map(|index| files.remove(index).1);
    let contents = files.iter().position(|(file, _)| file == CONTENTS);
    let contents = contents.map(|index| files.remove(index).1);
    let (mut paper, order) = match &own {
        Some(own) => read::paper(name, own)?,
        None if lone.is_some() => {
            let paper = Paper {
                name: name.to_owned(),
                title: name.to_owned(),
                citation: String::new(),
                url: None,
                notes: None,
                sections: Vec::new(),
                contents: Vec::new(),
                experiments: Vec::new(),
            };
            (paper, Vec::new())
        }
        None => {
            let problem = Problem::new(format!("{name} has no {PAPER}"));
            let help = "a folder of figures needs a file that names the paper: title and citation";
            return Err(problem.help(help).into());
        }
    };
    let mut figures = Vec::new();
    let mut problems = Vec::new();
    for (file, source) in files {
        match common::joined(source, own.as_ref()) {
            Ok(source) => figures.push((stem(&file).to_owned(), source)),
            Err(found) => problems.extend(found.0),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    if let Some(own) = own.as_ref().filter(|_| lone.is_none()) {
        let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
        common::check(own, &names)?;
    }
    let place = |name: &str| order.iter().position(|other| other == name);
    figures.sort_by_key(|(name, _)| (place(name).unwrap_or(usize::MAX), natural(name)));
    if figures.is_empty() {
        let problem = Problem::new(format!("{name} has no figures"));
        return Err(problem
            .help("each figure is a .toml file in the folder of the paper")
            .into());
    }
    paper.experiments = read::figures((name, &paper.sections), &figures)?;
    if let Some(contents) = &contents {
        let names: Vec<String> = figures.into_iter().map(|(name, _)| name).collect();
        paper.contents = read::contents(contents, &names)?;
    }
    Ok(paper)
}

fn open(path: &Path) -> Result<Source, Problems> {
    let name = path.display().to_string();
    // A path without a folder could be mistaken for the name of a scenario.
    let name = if name.contains('/') {
        name
    } else {
        format!("./{name}")
    };
    Source::find(&name).map(|source| source.shared(&KEYS))
}

fn unreadable(path: &Path, cause: &str) -> Problem {
    Problem::new(format!("cannot read {}: {cause}", path.display())).help("check the path")
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn folder_name(path: &Path) -> String {
    let whole = path
        .canonicalize()
        .or_else(|_| Path::new(".").canonicalize());
    let name = whole
        .ok()
        .and_then(|path| path.file_name().map(std::ffi::OsStr::to_owned));
    name.map_or_else(
        || "paper".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn stem(file: &str) -> &str {
    file.strip_suffix(".toml").unwrap_or(file)
}

/// A sort key that puts `fig5a` before `fig10`: letters and numbers in turn.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    let mut in_number = false;
    for c in name.chars() {
        if in_number && !c.is_ascii_digit() {
            parts.push((String::new(), 0));
        }
        in_number = c.is_ascii_digit();
        let last = parts.last_mut().expect("there is always a part");
        match c.to_digit(10) {
            Some(digit) => last.1 = last.1.saturating_mul(10).saturating_add(digit.into()),
            None => last.0.push(c),
        }
    }
    parts
}

/// The file of the paper itself.
const PAPER: &str = "paper.toml";

/// The file with the contents of the paper.
const CONTENTS: &str = "contents.toml";

/// The files below `experiments`, in the order of their names.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario};

    use super::*;
    use crate::{Experiment, Plot, ReproductionState};

    #[test]
    fn the_catalogue_is_correct() {
        assert!(names().contains(&"rcc"));
        for name in names() {
            let paper = paper(name).unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(paper.experiments.len(), figures(name).len());
            assert!(!paper.sections.is_empty(), "{name} lists no sections");
            assert!(!paper.contents.is_empty(), "{name} lists no contents");
        }
    }

    /// The first number in the name of an experiment must be in the list, and the list must name the experiment.
    #[test]
    fn each_figure_that_is_run_stands_in_the_contents_of_its_paper() {
        for name in names() {
            let paper = paper(name).unwrap_or_else(|problems| panic!("{problems}"));
            for figure in &paper.experiments {
                let numbered = ["Fig", "Table", "Equation"];
                let is_numbered = numbered.iter().any(|kind| figure.figure.starts_with(kind));
                let stands = paper.contents.iter().any(|item| match &item.state {
                    ReproductionState::Judged(by) => by.contains(&figure.name),
                    _ => false,
                });
                assert!(stands || !is_numbered, "{} is not listed", figure.id());
            }
        }
    }

    #[test]
    fn what_is_counted_elsewhere_has_the_settings_of_that_figure() {
        let settings = |figure: &Experiment, paper: &Paper| {
            let mut own = paper.experiments.iter();
            let run = own.find(|other| other.name == figure.runs());
            let source = run.expect("a figure of the paper").source.clone();
            let scenario = Scenario::load(source, &Overrides::default());
            let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
            let text = scenario.resolved();
            // Titles and the scheme that the paper proposes may differ.
            let apart = ["name =", "title =", "schemes ="];
            let lines = text.lines();
            let lines = lines.filter(|line| !apart.iter().any(|key| line.starts_with(key)));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut shared = 0;
        for name in names() {
            let own = paper(name).unwrap();
            for figure in &own.experiments {
                let Some(counted) = &figure.counted_in else {
                    continue;
                };
                let (other, other_figure) = counted.split_once('/').expect("PAPER/FIGURE");
                assert_ne!(other, name);
                let other = paper(other).unwrap_or_else(|problems| panic!("{problems}"));
                let mut all = other.experiments.iter();
                let same = all.find(|figure| figure.name == other_figure);
                let same = same.unwrap_or_else(|| panic!("{} names {counted}", figure.id()));
                assert_eq!(settings(figure, &own), settings(same, &other), "{counted}");
                shared += 1;
            }
        }
        assert!(shared > 0);
    }

    #[test]
    fn the_scenario_of_a_figure_is_the_one_that_it_runs() {
        let text = |word: &str| scenario(word).unwrap().text().to_owned();
        assert_eq!(text("rcc/fig7a"), text("rcc/fig5a"));
        assert!(text("rcc/fig5a").contains("name = \"fig5a\""));
        assert!(scenario("incast").is_ok(), "a built-in scenario");
        assert!(scenario("rcc/fig99").is_err());
    }

    #[test]
    fn a_panel_in_bytes_is_that_panel() {
        let mut panels = 0;
        for name in names() {
            for figure in &paper(name).unwrap().experiments {
                for plot in &figure.plots {
                    let again = Plot::of_bytes(&plot.to_bytes()).unwrap();
                    assert_eq!(format!("{again:?}"), format!("{plot:?}"), "{}", figure.id());
                    panels += 1;
                }
            }
        }
        assert!(panels > 100, "{panels}");
    }

    #[test]
    fn figures_are_found_by_paper_and_name() {
        let found = find(&["rcc/fig7c".into(), "rcc/fig5a".into()]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].figures, ["fig5a", "fig7c"]);
        let message = find(&["rcc/fig7".into()]).unwrap_err().to_string();
        assert!(message.contains("rcc has no figure \"fig7\""), "{message}");
        let message = find(&["rrc".into()]).unwrap_err().to_string();
        assert!(message.contains("no paper or figure \"rrc\""), "{message}");
    }

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let mut names = ["fig10", "fig5b", "fig5a", "fig11", "table1"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["fig5a", "fig5b", "fig10", "fig11", "table1"]);
    }
}
