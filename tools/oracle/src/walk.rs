//! The walk through the kernel's TCP. Every function and every setting of it is in a row, with its rule, whether the
//! simulator has the rule, and the evidence for it.
//!
//! Rows are data, `tools/oracle/walk/*.toml`, one file for each group in the order of the page. The names of the
//! functions and settings are data, too, so that the check for completeness does not need the kernel's sources;
//! [`sources`] reads these names from the sources.

mod evidence;
mod page;
pub mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

pub use evidence::Evidence;
pub use page::page;

/// A group of rules, a section of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleGroup {
    /// The subject of its rules.
    pub title: String,
    /// Its rules.
    pub row: Vec<KernelRule>,
}

/// A rule of the kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRule {
    /// The rule, in a sentence or two.
    pub rule: String,
    /// Whether the simulator has it.
    pub ours: Ours,
    /// The functions of the kernel that hold it.
    #[serde(default)]
    pub functions: Vec<String>,
    /// The settings of the kernel that change it: the names in `net.ipv4`.
    #[serde(default)]
    pub sysctls: Vec<String>,
    /// The settings of the simulator that change it.
    #[serde(default)]
    pub settings: Vec<String>,
    /// The evidence: names of tests, paths of scripts, names of scenarios of the oracle, clauses.
    #[serde(default)]
    pub shown: Vec<String>,
    /// The effect of lacking it, for users.
    pub notice: Option<String>,
}

base::names! {
    /// Whether the simulator follows a rule.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
    pub enum Ours {
        /// The same as the kernel, under `tcp.profile = "linux"`.
        #[serde(rename = "same")]
        Same = "same",
        /// Something else.
        #[serde(rename = "differs")]
        Differs = "differs",
        /// Nothing.
        #[serde(rename = "not simulated")]
        NotSimulated = "not simulated",
        /// There is no rule: these functions move data or have other purposes.
        #[serde(rename = "no rule")]
        NoRule = "no rule",
    }
}

impl Ours {
    /// Whether the simulator does something about it.
    pub const fn is_simulated(self) -> bool {
        matches!(self, Self::Same | Self::Differs)
    }
}

/// The names that must be in a row.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// The kernel that has them.
    pub kernel: String,
    /// Names in `net.ipv4` that begin with `tcp_`.
    pub sysctls: BTreeSet<String>,
    /// Functions by the file that they are in.
    pub functions: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    /// The committed names.
    pub fn read(path: &Path) -> Result<Self> {
        toml_of(path)
    }

    /// The text that [`Names::read`] parses.
    pub fn written(&self) -> String {
        let lines = |names: &BTreeSet<String>| {
            let lines: Vec<String> = names
                .iter()
                .map(|name| format!("    {name:?},\n"))
                .collect();
            format!("[\n{}]\n", lines.concat())
        };
        let mut text = format!(
            "kernel = {:?}\nsysctls = {}",
            self.kernel,
            lines(&self.sysctls)
        );
        text += "\n[functions]\n";
        for (file, names) in &self.functions {
            text += &[&format!("{file:?} = "), lines(names).as_str()].concat();
        }
        text
    }
}

/// The groups in a folder, in the order of the names of their files.
pub fn read(folder: &Path) -> Result<Vec<RuleGroup>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| toml_of(path)).collect()
}

fn toml_of<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// The functions and settings of `names` that are in no row.
pub fn missing<'n>(groups: &[RuleGroup], names: &'n Names) -> Vec<&'n str> {
    let rows = || groups.iter().flat_map(|group| &group.row);
    let functions: BTreeSet<&str> = rows().flat_map(|row| strings(&row.functions)).collect();
    let sysctls: BTreeSet<&str> = rows().flat_map(|row| strings(&row.sysctls)).collect();
    let lacks = |known: &BTreeSet<&str>, name: &&'n String| !known.contains(name.as_str());
    let absent = names.sysctls.iter().filter(|name| lacks(&sysctls, name));
    let all = names.functions.values().flatten();
    absent
        .chain(all.filter(|name| lacks(&functions, name)))
        .map(String::as_str)
        .collect()
}

/// Errors in rows: unknown names, and rows that are incomplete or contradictory.
pub fn mistakes(groups: &[RuleGroup], names: &Names, evidence: &Evidence) -> Vec<String> {
    let functions: BTreeSet<&str> = names.functions.values().flat_map(strings).collect();
    let mut wrong = Vec::new();
    for row in groups.iter().flat_map(|group| &group.row) {
        let mut complain = |what: &str| wrong.push(format!("{what}: {}", row.rule));
        for name in &row.functions {
            if !functions.contains(name.as_str()) {
                complain(&format!("the kernel has no function {name}"));
            }
        }
        for name in &row.sysctls {
            if !names.sysctls.contains(name) {
                complain(&format!("the kernel has no setting {name}"));
            }
        }
        for name in &row.settings {
            if plan::keys::key(name).is_none() {
                complain(&format!("the simulator has no setting {name}"));
            }
        }
        for name in &row.shown {
            if evidence.of(name).is_none() {
                complain(&format!(
                    "no test, script, scenario or clause is called {name}"
                ));
            }
        }
        if row.functions.is_empty() && row.sysctls.is_empty() {
            complain("neither a function nor a setting of the kernel");
        }
        let lacks_part = matches!(row.ours, Ours::Differs | Ours::NotSimulated);
        if lacks_part != row.notice.is_some() {
            complain(
                "who would notice belongs to a row that differs or is not simulated, and to no other",
            );
        }
        if !row.ours.is_simulated() && !row.shown.is_empty() {
            complain("nothing can show what is not simulated");
        }
    }
    wrong
}

/// How many rows are simulated, and how many of these have evidence.
pub fn shown(groups: &[RuleGroup]) -> (usize, usize) {
    let rows = groups.iter().flat_map(|group| &group.row);
    let simulated = rows.filter(|row| row.ours.is_simulated());
    simulated.fold((0, 0), |(all, shown), row| {
        (all + 1, shown + usize::from(!row.shown.is_empty()))
    })
}

fn strings<'s>(names: impl IntoIterator<Item = &'s String>) -> impl Iterator<Item = &'s str> {
    names.into_iter().map(String::as_str)
}
