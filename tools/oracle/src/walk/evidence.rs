//! Evidence for rules: tests, scripts, scenarios and clauses, by name.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::list;

/// Everything that a row may name.
#[derive(Debug)]
pub struct Evidence {
    /// The text for a page, by name.
    known: BTreeMap<String, String>,
}

impl Evidence {
    /// Everything below `crates` and `tools` of the repository.
    pub fn of_repository(root: &Path) -> Result<Self> {
        let mut known = BTreeMap::new();
        for scenario in list::all() {
            let told = format!("scenario `{}`", scenario.name);
            known.insert(scenario.name, told);
        }
        let crates = root.join("crates");
        let all = [files(&crates)?, files(&root.join("tools"))?];
        for path in all.concat() {
            let relative = path
                .strip_prefix(&crates)
                .or_else(|_| path.strip_prefix(root));
            let relative = relative.unwrap_or(&path);
            let place = relative.to_string_lossy().replace('\\', "/");
            let read = || {
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
            };
            match path.extension().and_then(OsStr::to_str) {
                Some("rs") => {
                    for name in tests(&read()?) {
                        known.insert(name.to_owned(), format!("`{name}` in `{place}`"));
                    }
                }
                Some("pkt") => {
                    if let Some(script) = place.strip_prefix("live/packetdrill/scripts/") {
                        known.insert(script.to_owned(), format!("script `{script}`"));
                    }
                }
                Some("toml") if place.contains("/conformance/") => {
                    for id in clauses(&read()?) {
                        known.insert(id.to_owned(), format!("clause `{id}`"));
                    }
                }
                _ => {}
            }
        }
        Ok(Self { known })
    }

    /// The text for a page about `name`, if it exists.
    pub fn of(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(String::as_str)
    }
}

/// Every file below `folder`.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The names of the tests in a source.
fn tests(source: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    source.lines().filter_map(move |line| {
        let line = line.trim();
        if line == "#[test]" {
            is_test = true;
            return None;
        }
        // Attributes and comments may come in between.
        if line.starts_with('#') || line.starts_with("//") {
            return None;
        }
        let name = line.strip_prefix("fn ")?.split('(').next();
        name.filter(|_| std::mem::take(&mut is_test))
    })
}

/// The clauses of a list that are tested.
fn clauses(list: &str) -> impl Iterator<Item = &str> {
    list.split("[[clause]]").filter_map(|clause| {
        let value = |key: &str| {
            let line = clause.lines().find_map(|line| line.strip_prefix(key))?;
            line.strip_prefix(" = \"")?.strip_suffix('"')
        };
        value("id").filter(|_| value("status") == Some("tested"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_a_function_below_its_attribute() {
        let source = "fn helper() {\n}\n#[test]\n// Why.\n#[should_panic]\nfn it_holds() {\n}\nfn other() {\n";
        let names: Vec<&str> = tests(source).collect();
        assert_eq!(names, ["it_holds"]);
    }

    #[test]
    fn a_clause_that_is_an_exception_shows_nothing() {
        let list = "[[clause]]\nid = \"A-1\"\nstatus = \"tested\"\n[[clause]]\nid = \"A-2\"\nstatus = \"exception\"\n";
        assert_eq!(clauses(list).collect::<Vec<_>>(), ["A-1"]);
    }
}
