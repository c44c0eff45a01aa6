//! The identity of a run folder: its `scenario.toml`.

use std::fs;
use std::path::Path;

use scenario::{Argument, Help, Problem, Problems, Scenario};
use twox_hash::XxHash64;

use super::checksum::Seal;
use super::damaged;

/// The resolved scenario, after lines for the version, the code of schemes from outside, and the captures.
pub(super) fn text(scenario: &Scenario, captures: Option<&str>) -> String {
    let captures = captures.map(|line| format!("{line}\n"));
    let origin = |(scheme, origin)| format!("# scheme {scheme} is of {origin}\n");
    let origins: String = scenario.origins().into_iter().map(origin).collect();
    let search = scenario.search().map(|range| format!("{SEARCH}{range}\n"));
    let search = search.unwrap_or_default();
    format!(
        "{VERSION}{}: every setting of this run; `tailwater run scenario.toml` repeats it.\n{origins}{search}{}{}",
        sim::VERSION,
        captures.unwrap_or_default(),
        scenario.resolved()
    )
}

/// The version of this program, and of the schemes from outside that `scenario` has.
pub(super) fn version(scenario: &Scenario) -> String {
    let origins = scenario.origins();
    let origins = origins
        .iter()
        .map(|(scheme, origin)| format!(", {scheme} of {origin}"));
    format!("{}{}", sim::VERSION, origins.collect::<String>())
}

/// Identifies a scenario but for the number of seeds, its captures and the version.
pub(super) fn fingerprint(text: &str) -> u64 {
    let lines: Vec<&str> = identifying(text).collect();
    XxHash64::oneshot(0, lines.join("\n").as_bytes())
}

/// The scenario of a run folder, without its checksum.
pub(super) fn read(folder: &Path) -> Result<String, Problems> {
    let path = folder.join(NAME);
    let bytes = fs::read(&path).map_err(|error| {
        let problem = Problem::new(format!(
            "{} is no run folder: cannot read its {NAME}: {error}",
            folder.display()
        ));
        problem.help("choose another folder")
    })?;
    if let Some(text) = Seal::TOML.check(&bytes) {
        return Ok(text.to_owned());
    }
    // Other versions may end their files in another way.
    let first = String::from_utf8_lossy(&bytes);
    let first = first.lines().next().unwrap_or_default();
    let ours = format!("{VERSION}{}:", sim::VERSION);
    if first.starts_with(VERSION) && !first.starts_with(&ours) {
        return Err(another(folder, &format!("there: {first}\nhere:  {ours}")));
    }
    let help =
        Help::from("the file that describes the folder is missing or damaged: choose another ")
            .argument(Argument::Folder);
    Err(damaged(&path, "its checksum is wrong", help))
}

/// Refuses a folder of another scenario or version than `text`, and shows the first line that differs.
pub(super) fn check(folder: &Path, text: &str) -> Result<(), Problems> {
    let there = read(folder)?;
    if fingerprint(&there) == fingerprint(text) {
        return Ok(());
    }
    let mut lines = identifying(&there).zip(identifying(text));
    let difference = lines.find(|(old, new)| old != new).map_or_else(
        || "one has more lines than the other".to_owned(),
        |(old, new)| format!("there: {old}\nhere:  {new}"),
    );
    Err(another(folder, &difference))
}

fn another(folder: &Path, difference: &str) -> Problems {
    let problem = Problem::new(format!(
        "{} holds results of another scenario or version",
        folder.display()
    ));
    let help = Help::from(format!(
        "{difference}\nresults are never mixed: choose another "
    ));
    problem.help(help.argument(Argument::Folder)).into()
}

/// The lines that identify a scenario. More seeds are left out because they only add points, except for the step from
/// one to several, at which less is traced. Goals change no result. For a searched setting the range counts, not the
/// values chosen so far.
fn identifying(text: &str) -> impl Iterator<Item = &str> {
    let searched = text.lines().find_map(|line| line.strip_prefix(SEARCH));
    let searched = searched.and_then(|range| range.split('=').next());
    let mut table = "";
    text.lines().filter(move |line| {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']');
        }
        let field = line.split(" = ").next().unwrap_or_default();
        let is_searched = searched.is_some_and(|key| {
            let rest = key
                .strip_prefix(table)
                .and_then(|key| key.strip_prefix('.'));
            rest == Some(field)
        });
        let repeats = line.starts_with("seeds = ") && *line != "seeds = 1";
        !(repeats || is_searched || line.starts_with("goals = "))
    })
}

/// The settings of a run folder's scenario, each with its full name, and its version.
pub(super) fn settings(text: &str) -> Vec<(String, String)> {
    let version = text.lines().next().unwrap_or_default();
    let version = version.strip_prefix("# ").unwrap_or_default();
    let version = version.split(':').next().unwrap_or_default();
    let mut settings = vec![("version".to_owned(), version.to_owned())];
    let mut table = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = format!("{}.", name.trim_end_matches(']').replace('"', ""));
        } else if let Some((field, value)) = line.split_once(" = ")
            && !line.starts_with('#')
        {
            settings.push((format!("{table}{field}"), value.to_owned()));
        }
    }
    settings
}

/// The file.
pub(super) const NAME: &str = "scenario.toml";
/// The prefix of the line with a searched range.
const SEARCH: &str = "# search: ";
/// The prefix of the line with the version.
const VERSION: &str = "# tailwater ";
