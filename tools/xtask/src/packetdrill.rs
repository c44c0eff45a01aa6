//! `cargo xtask packetdrill`: the results of public scripts, as a page.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::repository::{Failure, Repository, stdout};

const PAGE: &str = "docs/reference/packetdrill.md";
/// Known reasons of scripts that differ: group and name, and the missing mechanism.
const REASONS: &str = "crates/live/packetdrill/reasons.toml";

/// Runs the scripts below `folder`, prints the results and writes the page.
pub(crate) fn write(repository: &Repository, folder: &Path) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Err(Failure(format!(
            "{} is no folder: name one with packetdrill scripts, such as gtests/net/tcp of its repository",
            folder.display()
        )));
    }
    let folder = folder
        .canonicalize()
        .map_err(|error| Failure::file("read", folder, &error))?;
    let arguments = ["build", "--package", "packetdrill"];
    let arguments = [&arguments[..], &["--example", "corpus"]].concat();
    let built = repository.built(&arguments)?;
    let program = built
        .first()
        .ok_or_else(|| Failure("cargo built no example called corpus".to_owned()))?;
    let lines = stdout(Command::new(program).arg(&folder))?;
    let reasons: BTreeMap<String, String> = toml::from_str(&repository.read(REASONS)?)
        .map_err(|error| Failure(format!("{REASONS}: {error}")))?;
    let outcomes: Vec<ScriptResult<'_>> = lines
        .lines()
        .filter_map(|line| outcome(line, &reasons))
        .collect();
    for outcome in outcomes.iter().filter(|outcome| outcome.why.is_some()) {
        println!("{}/{}: {}", outcome.group, outcome.name, outcome.stop);
    }
    let page = page(&outcomes);
    print!("\n{page}");
    repository.write(PAGE, &page)?;
    eprintln!("wrote {PAGE}");
    Ok(())
}

/// The outcome of a script.
#[derive(Debug, PartialEq)]
struct ScriptResult<'l> {
    group: &'l str,
    name: &'l str,
    /// Why it did not pass, if it did not.
    why: Option<&'l str>,
    /// Where it stopped.
    stop: &'l str,
}

/// A line of the program: group, name, the missing feature of the script and the place where it stopped, separated by
/// tabs.
fn outcome<'l>(line: &'l str, reasons: &'l BTreeMap<String, String>) -> Option<ScriptResult<'l>> {
    let mut cells = line.splitn(4, '\t');
    let (group, name) = (cells.next()?, cells.next()?);
    let (lack, stop) = (cells.next()?, cells.next()?);
    let known = reasons.get(&format!("{group}/{name}")).map(String::as_str);
    let why = known.or((!lack.is_empty()).then_some(lack));
    Some(ScriptResult {
        group,
        name,
        why: (!stop.is_empty()).then(|| why.unwrap_or("not known")),
        stop,
    })
}

/// Groups about mechanisms of the simulator; the others are about calls and options of sockets.
const GROUPS: [&str; 11] = [
    "slow_start",
    "cubic",
    "fast_retransmit",
    "fast_recovery",
    "limited_transmit",
    "cwnd_moderation",
    "sack",
    "dsack",
    "ecn",
    "ts_recent",
    "close",
];

fn page(outcomes: &[ScriptResult<'_>]) -> String {
    let (own, others): (Vec<&ScriptResult<'_>>, Vec<&ScriptResult<'_>>) = outcomes
        .iter()
        .partition(|outcome| GROUPS.contains(&outcome.group));
    let mut rows = vec![HEAD.to_owned()];
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for outcome in &own {
        let count = groups.entry(outcome.group).or_default();
        count.0 += 1;
        count.1 += usize::from(outcome.why.is_none());
    }
    for (group, (scripts, passed)) in &groups {
        rows.push(format!("| {group} | {scripts} | {passed} |\n"));
    }
    let passed = |list: &Vec<&ScriptResult<'_>>| {
        let passes = list.iter().filter(|outcome| outcome.why.is_none());
        passes.count()
    };
    for (name, list) in [("together", &own), ("other groups", &others)] {
        rows.push(format!("| {name} | {} | {} |\n", list.len(), passed(list)));
    }
    rows.push(DIFFERENT.to_owned());
    for outcome in own {
        if let Some(why) = outcome.why {
            let (group, name) = (outcome.group, outcome.name);
            rows.push(format!(
                "| {group}/{name} | {} |\n",
                why.replace('|', "\\|")
            ));
        }
    }
    rows.push(OTHERS.to_owned());
    let mut lacks: BTreeMap<&str, usize> = BTreeMap::new();
    for why in others.iter().filter_map(|outcome| outcome.why) {
        *lacks.entry(why).or_default() += 1;
    }
    for (lack, scripts) in lacks {
        rows.push(format!("| {lack} | {scripts} |\n"));
    }
    rows.concat()
}

const HEAD: &str = "\
# Public packetdrill scripts

Written by `cargo xtask packetdrill FOLDER`, which runs packetdrill's scripts under `tcp.profile = \"linux\"` with 1000
ticks a second. The scripts are of packetdrill's repository (`gtests/net/tcp`, GPL) and not part of this one. A script
may expect as one segment what leaves in the same instant, as segmentation offload makes it; the push flag is not
compared, nor is what leaves and is not expected, as in packetdrill.

| group | scripts | passed |
|---|---|---|
";

const DIFFERENT: &str = "
The scripts of these groups that do not pass:

| script | why |
|---|---|
";

const OTHERS: &str = "
What scripts of the other groups lack, which are about calls and options of sockets, Fast Open and zero copy:

| what | scripts |
|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_groups_and_gives_reasons() {
        let reasons = BTreeMap::from([("sack/b".to_owned(), "Nobody | knows.".to_owned())]);
        let lines = [
            "sack\ta\t\t",
            "sack\tb\t\tline 3: x",
            "ecn\tc\tpacing\tline 4: pacing: y",
            "mss\td\tcalls\tline 5: calls: z",
        ];
        let outcomes: Vec<ScriptResult<'_>> = lines
            .iter()
            .filter_map(|line| outcome(line, &reasons))
            .collect();
        assert_eq!(outcomes[1].why, Some("Nobody | knows."));
        assert_eq!(outcomes[1].stop, "line 3: x");
        let page = page(&outcomes);
        let counts =
            "| ecn | 1 | 0 |\n| sack | 2 | 1 |\n| together | 3 | 1 |\n| other groups | 1 | 0 |\n";
        assert!(page.contains(counts), "{page}");
        assert!(page.contains("| sack/b | Nobody \\| knows. |\n| ecn/c | pacing |\n"));
        assert!(page.ends_with("| calls | 1 |\n"));
    }
}
