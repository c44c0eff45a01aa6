//! Tables that several figures of a paper share ([`figures::joined`]), and errors in them at their places.

use std::path::Path;

use figures::Unjoined;
use plan::suggest;
use scenario::{Problem, Problems, Source};

use super::KEYS;

/// The figure, followed by the tables that it shares. Its own lines come first, so that they keep their line numbers.
/// `paper` is the file of its paper.
pub(super) fn joined(source: Source, paper: Option<&Source>) -> Result<Source, Problems> {
    let joined = figures::joined(stem(&source), source.text(), paper.map(Source::text));
    let problem = match joined {
        Ok(text) if text == source.text() => return Ok(source),
        Ok(text) => return Ok(Source::new(source.name(), text).shared(&KEYS)),
        Err(Unjoined::Unknown { name, place, known }) => {
            let nearest = suggest::did_you_mean(&name, known.iter().map(String::as_str));
            let list = match known.join(", ") {
                list if list.is_empty() => {
                    format!("a table [common.{name}] in paper.toml beside this file")
                }
                list => format!("there are: {list}"),
            };
            let problem = Problem::new(format!("the paper shares no tables as {name:?}"));
            let problem = problem.at(&source, place, "unknown name");
            problem.help(format!("{nearest}{list}"))
        }
        Err(Unjoined::Unlike { name, place }) => {
            let message = format!("[common.{name}] of the paper does not fit this figure");
            let help =
                "put the table into only one of the two files, or make its subtables equal in both";
            let problem = Problem::new(message).at(&source, place, "used here");
            problem.help(help)
        }
    };
    Err(problem.into())
}

/// Reports a name that is not in `files` but is listed for shared tables in the paper's file.
pub(super) fn check(paper: &Source, files: &[&str]) -> Result<(), Problems> {
    let listed = figures::listed(paper.text()).into_iter();
    let unknown = listed.filter(|(figure, _)| !files.contains(&&**figure));
    let problems = unknown.map(|(figure, place)| {
        let nearest = suggest::did_you_mean(&figure, files.iter().copied());
        let problem = Problem::new(format!("the paper has no figure {figure:?}"));
        let problem = problem.at(paper, place, "unknown name");
        problem.help(format!("{nearest}there are: {}", files.join(", ")))
    });
    Problems::unless(problems.collect(), ())
}

/// The name of a figure, by its file.
fn stem(figure: &Source) -> &str {
    let path = figure.name().trim_end_matches(" (built in)");
    let stem = Path::new(path).file_stem();
    stem.and_then(|stem| stem.to_str()).unwrap_or_default()
}
