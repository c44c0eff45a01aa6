//! `cargo xtask topologies`: which of many public networks simulate, and why the others do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::{Failure, Repository};

/// Runs two flows over every graph file below `folder` and prints the results: of the whole graph and, if it is
/// refused, of its largest connected part.
pub(crate) fn run(repository: &Repository, folder: &Path) -> Result<(), Failure> {
    let files = files(folder)?;
    if files.is_empty() {
        return Err(Failure(format!(
            "there is no file of GraphML or JSON below {}",
            folder.display()
        )));
    }
    let program = &repository.program("tailwater")?;
    let mut counts = Counts::default();
    for file in &files {
        let whole = refusal(program, file, "whole")?;
        let outcome = match whole {
            None => GraphResult::Simulates,
            Some(reason) => match refusal(program, file, "largest")? {
                None => GraphResult::LargestPart(reason),
                Some(reason) => GraphResult::Refused(reason),
            },
        };
        if let GraphResult::LargestPart(reason) | GraphResult::Refused(reason) = &outcome {
            println!("{}: {reason}", file.display());
        }
        counts.add(&outcome);
    }
    print!("{}", counts.page());
    let refused: usize = counts.refused.values().sum();
    if refused * 100 > files.len() * 5 {
        return Err(Failure(format!(
            "{refused} of {} networks are refused, more than 5 %",
            files.len()
        )));
    }
    Ok(())
}

/// The outcome of a file.
enum GraphResult {
    Simulates,
    /// Only its largest part simulates; with the reason for the whole.
    LargestPart(String),
    Refused(String),
}

#[derive(Default)]
struct Counts {
    simulated: usize,
    largest: BTreeMap<String, usize>,
    refused: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, outcome: &GraphResult) {
        match outcome {
            GraphResult::Simulates => self.simulated += 1,
            GraphResult::LargestPart(reason) => *self.largest.entry(kind(reason)).or_default() += 1,
            GraphResult::Refused(reason) => *self.refused.entry(kind(reason)).or_default() += 1,
        }
    }

    fn page(&self) -> String {
        let row = |count: usize, text: &str| format!("{count:6}  {text}\n");
        let mut rows = vec![row(self.simulated, "simulate")];
        for (reason, count) in &self.largest {
            let text = format!("simulate with topology.part = \"largest\"; the whole: {reason}");
            rows.push(row(*count, &text));
        }
        for (reason, count) in &self.refused {
            rows.push(row(*count, &format!("are refused: {reason}")));
        }
        rows.concat()
    }
}

/// A reason without the numbers and names of its file, so that equal reasons are counted together.
fn kind(reason: &str) -> String {
    // Names are in quotes; a path ends at the first comma or colon.
    let quoted = reason.split('"').enumerate();
    let unnamed = quoted.map(|(place, part)| if place % 2 == 1 { "..." } else { part });
    let text = unnamed.collect::<Vec<_>>().join("\"");
    let words = text
        .split_whitespace()
        .filter(|word| !word.starts_with('/'));
    let bare = words.map(|word| {
        let number = word.trim_matches(|c: char| c.is_ascii_punctuation());
        if number.parse::<f64>().is_ok() {
            "N"
        } else {
            word
        }
    });
    bare.collect::<Vec<_>>().join(" ")
}

/// Why the network is refused, if it is.
fn refusal(program: &Path, file: &Path, part: &str) -> Result<Option<String>, Failure> {
    let mut command = Command::new(program);
    command.args(["run", "incast", "--no-save", "--format", "json"]);
    for set in [
        "topology.kind=graph",
        "topology.hosts=2",
        "workload.senders=2",
        "workload.size=30KB",
        "run.duration=60s",
    ] {
        command.args(["--set", set]);
    }
    command.args(["--scheme", "newreno", "--set"]);
    command.arg(format!("topology.graph={}", file.display()));
    command.args(["--set", &format!("topology.part={part}")]);
    let output = command
        .output()
        .map_err(|error| Failure::file("start", program, &error))?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // The first paragraph of a diagnostic; its continuation lines begin with a bar.
    let lines = text.lines().map(str::trim);
    let first = lines.skip_while(|line| !line.starts_with("x "));
    let message = first.take_while(|line| line.starts_with("x ") || line.starts_with('|'));
    let words = message.map(|line| line.trim_start_matches(['x', '|']).trim());
    let reason = words.collect::<Vec<_>>().join(" ");
    Ok(Some(if reason.is_empty() {
        text.into_owned()
    } else {
        reason
    }))
}

/// Every file of GraphML and JSON below `folder`, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).map_err(|error| Failure::file("read", &folder, &error))?;
        for entry in entries {
            let path = entry
                .map_err(|error| Failure::file("read", &folder, &error))?
                .path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(ending, Some("graphml" | "xml" | "json")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reasons_are_counted_together() {
        let mut counts = Counts::default();
        counts.add(&GraphResult::Simulates);
        for (line, node) in [(12, "a"), (700, "New York")] {
            counts.add(&GraphResult::LargestPart(format!(
                "topology.graph, line {line}, node \"{node}\": no links lead to it from node \"b\""
            )));
        }
        counts.add(&GraphResult::Refused("/zoo/a.json: it is empty".to_owned()));
        let expected = "     1  simulate\n     2  simulate with topology.part = \"largest\"; the whole: topology.graph, \
            line N node \"...\": no links lead to it from node \"...\"\n     1  are refused: it is empty\n";
        assert_eq!(counts.page(), expected);
    }
}
