//! Modules of a crate must not import each other in a circle.
//!
//! Modules with the same parent are neighbours; each stands for its own file and every file below it. A path in a file,
//! such as `crate::keys::Keys` or `super::layout`, names another file: the file of the last module on the path or, if
//! this module only re-exports the name with `use`, the file where the name comes from. Such a path makes an arrow
//! between two neighbours: from the one with the file that contains the path to the one with the named file. Three
//! examples:
//!
//! - A path from `workload/load.rs` to `keys/traced.rs` is an arrow from `workload` to `keys`.
//! - A path from `workload/load.rs` to `workload/layout.rs` is an arrow between these two.
//! - A path between a file and a module above or below it makes no arrow.
//!
//! The check fails if arrows lead from a module back to itself. It also fails for a parent and a child that use each
//! other's definitions, unless `pairs.txt` lists them, because a reader of one would have to read the other. A parent
//! that only re-exports names of its children is allowed. The list may only become shorter: a pair that no longer
//! exists must be removed. Tests are not read, because they may import everything they test. Paths in expansions of
//! macros are not seen.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use self::paths::{Path, Paths};
use crate::repository::{Failure, Repository, source_of};

/// A module as the list of names from the crate's root, which has none.
type Name = Vec<String>;

/// The modules of a crate, each with the paths in its file.
type Modules = BTreeMap<Name, Paths>;

/// Fails for every circle, and for every pair of parent and child that is not listed, or that is listed but no longer
/// exists.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for path in repository.sources("rs")? {
        let Some((name, module)) = module_of(&path) else {
            continue;
        };
        let paths = paths::read(&repository.read(&path)?)
            .map_err(|error| Failure(format!("{path}: {error}")))?;
        crates.entry(name).or_default().insert(module, paths);
    }
    let mut wrong = Vec::new();
    let mut listed: BTreeSet<&str> = PAIRS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    for (name, modules) in &crates {
        for (child, [down, up]) in pairs(modules) {
            let pair = format!("{name}: {}", child.join("::"));
            if !listed.remove(pair.as_str()) {
                let (down, up) = (down.join("::"), up.join("::"));
                wrong.push(format!(
                    "{pair} and its parent name each other: {down} and {up}"
                ));
            }
        }
        let arrows = arrows(modules);
        for ring in circles(&arrows) {
            let ties = ties(&arrows, &ring).concat();
            wrong.push(format!(
                "{name}: {} import each other:{ties}",
                ring.join(", ")
            ));
        }
    }
    let gone = listed.iter();
    wrong.extend(
        gone.map(|pair| format!("{pair} is listed in pairs.txt and gone: remove the line")),
    );
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "circles of modules\n  {}",
        wrong.join("\n  ")
    )))
}

/// Children and parents that name what the other defines: for each child the path in its parent's file, and the path in
/// its own file or below.
fn pairs(modules: &Modules) -> BTreeMap<Name, [Path; 2]> {
    let mut found: BTreeMap<Name, [Option<Path>; 2]> = BTreeMap::new();
    for (from, paths) in modules {
        for path in &paths.used {
            let Some(to) = resolve(modules, from, path, MAX_STEPS) else {
                continue;
            };
            let (child, direction) = if from.len() < to.len() && to.starts_with(from) {
                (&to[..=from.len()], 0)
            } else if to.len() < from.len() && from.starts_with(&to) {
                (&from[..=to.len()], 1)
            } else {
                continue;
            };
            found.entry(child.to_vec()).or_default()[direction].get_or_insert_with(|| path.clone());
        }
    }
    let both = found
        .into_iter()
        .filter_map(|(child, [down, up])| Some((child, [down?, up?])));
    both.collect()
}

/// The crate and the module of a file; `None` for tests, benchmarks and build scripts.
fn module_of(path: &str) -> Option<(String, Name)> {
    let (folder, file) = source_of(path)?;
    let name = folder.rsplit('/').next()?;
    let mut module: Name = file
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    if module.iter().any(|part| part == "tests") {
        return None;
    }
    if matches!(file, "lib.rs" | "main.rs") {
        module.clear();
    }
    Some((name.to_owned(), module))
}

/// For each module the neighbours that it or a module below it imports, each with a path that does.
type Arrows = BTreeMap<Name, BTreeMap<Name, Tie>>;

/// The module that holds a path, and the path.
type Tie = (Name, Path);

fn arrows(modules: &Modules) -> Arrows {
    let mut arrows = Arrows::new();
    for (from, paths) in modules {
        for path in &paths.used {
            let Some(to) = resolve(modules, from, path, MAX_STEPS) else {
                continue;
            };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if common < from.len() && common < to.len() {
                let arrow = arrows.entry(from[..=common].to_vec()).or_default();
                let tie = || (from.clone(), path.clone());
                arrow.entry(to[..=common].to_vec()).or_insert_with(tie);
            }
        }
    }
    arrows
}

/// Modules that reach each other along arrows, by their paths from the root.
fn circles(arrows: &Arrows) -> BTreeSet<Vec<String>> {
    let mut circles = BTreeSet::new();
    for start in arrows.keys() {
        let to = reached(arrows, start);
        let back = to.iter().filter(|to| reached(arrows, to).contains(start));
        let ring: Vec<String> = back.map(|name| name.join("::")).collect();
        if !ring.is_empty() {
            circles.insert(ring);
        }
    }
    circles
}

/// Every module that arrows lead to from `start`, directly or through others.
fn reached<'a>(arrows: &'a Arrows, start: &'a Name) -> BTreeSet<&'a Name> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(next) = open.pop() {
        for to in arrows.get(next).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}

/// The arrows between the modules of a circle, a line for each with the path that makes it.
fn ties(arrows: &Arrows, ring: &[String]) -> Vec<String> {
    let within = |name: &Name| ring.contains(&name.join("::"));
    let from = arrows.iter().filter(|(from, _)| within(from));
    let all = from.flat_map(|(from, to)| to.iter().map(move |(to, tie)| (from, to, tie)));
    let ties = all.filter(|(_, to, _)| within(to));
    let line = |(from, to, (file, path)): (&Name, &Name, &Tie)| {
        let (from, to) = (from.join("::"), to.join("::"));
        let (file, path) = (file.join("/"), path.join("::"));
        format!("\n    {from} -> {to}: {file}.rs has {path}")
    };
    ties.map(line).collect()
}

/// The module that defines the item of `path` in the module `here`; `None` if it is in another crate.
fn resolve(modules: &Modules, here: &Name, path: &Path, steps: usize) -> Option<Name> {
    let mut parts = path.iter().map(String::as_str).peekable();
    let mut at = here.clone();
    match parts.peek() {
        Some(&"crate") => {
            at.clear();
            parts.next();
        }
        Some(&("self" | "super")) => {}
        Some(first) if is_known(modules, here, first) => {}
        _ => return None,
    }
    while let Some(part) = parts.next() {
        match part {
            "self" => {}
            "super" => {
                at.pop();
            }
            _ => {
                if let Some(below) = child(modules, &at, part) {
                    at = below;
                    continue;
                }
                // Not a module: an item of this module, or a re-exported name.
                let elsewhere = modules.get(&at)?.named.get(part);
                let Some(elsewhere) = elsewhere.filter(|_| steps > 0) else {
                    return Some(at);
                };
                let mut whole = elsewhere.clone();
                whole.extend(parts.map(str::to_owned));
                return resolve(modules, &at, &whole, steps - 1).or(Some(at));
            }
        }
    }
    Some(at)
}

/// Whether `name` is a child of the module `here`, or imported there.
fn is_known(modules: &Modules, here: &Name, name: &str) -> bool {
    let imports = |paths: &Paths| paths.named.contains_key(name);
    child(modules, here, name).is_some() || modules.get(here).is_some_and(imports)
}

fn child(modules: &Modules, parent: &Name, name: &str) -> Option<Name> {
    let mut child = parent.clone();
    child.push(name.to_owned());
    modules.contains_key(&child).then_some(child)
}

/// Pairs of parent and child that are still there, as `CRATE: MODULE` of the child.
const PAIRS: &str = include_str!("circles/pairs.txt");

/// The most re-exports of a name; two modules that re-export a name from each other do not compile.
const MAX_STEPS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::B; pub(crate) struct A;"),
            (
                "b",
                "pub(crate) struct B; fn of() { super::c::run(); A::new(); }",
            ),
            ("c", "use super::{a::A, d::{self, D}}; fn run() {}"),
        ])));
        assert_eq!(found, BTreeSet::from([ring(&["a", "b", "c"])]));
    }

    #[test]
    fn parent_and_child_that_name_each_other_are_a_pair() {
        let modules = modules(&[
            ("", "mod a; mod b; pub struct Root; fn of() -> a::A {}"),
            ("a", "mod inner; pub struct A; fn of() -> inner::Inner {}"),
            ("a::inner", "use crate::Root; pub struct Inner;"),
            ("b", "mod one; mod two; pub use one::One; pub use two::Two;"),
            ("b::one", "pub struct One;"),
            ("b::two", "use super::One; pub struct Two;"),
        ]);
        assert_eq!(circles(&arrows(&modules)), BTreeSet::new());
        let found = pairs(&modules);
        let children: Vec<String> = found.keys().map(|child| child.join("::")).collect();
        // The root names what `a` defines, and a module below `a` what the root defines. `b` only passes names on.
        assert_eq!(children, ["a"]);
        assert_eq!(
            found[&vec!["a".to_owned()]],
            [vec!["a", "A"], vec!["crate", "Root"]]
        );
    }

    #[test]
    fn files_below_a_module_stand_for_it() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a; mod b;"),
            ("a", "mod inner;"),
            ("a::inner", "use crate::b::B;"),
            ("b", "mod inner;"),
            ("b::inner", "use super::super::a::A;"),
        ])));
        assert_eq!(found, BTreeSet::from([ring(&["a", "b"])]));
    }

    #[test]
    fn children_of_one_parent_may_form_a_circle() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a;"),
            ("a", "mod one; mod two;"),
            ("a::one", "use super::two;"),
            ("a::two", "fn of() -> super::one::One {}"),
        ])));
        assert_eq!(found, BTreeSet::from([ring(&["a::one", "a::two"])]));
    }

    #[test]
    fn names_that_are_passed_on_lead_to_where_they_come_from() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a; mod b; mod c; pub use a::Old as A;"),
            ("a", "use crate::c; pub struct Old; fn of() -> c::B {}"),
            ("c", "pub use super::b::B;"),
            ("b", "use crate::A; pub struct B;"),
        ])));
        assert_eq!(found, BTreeSet::from([ring(&["a", "b", "c"])]));
    }

    #[test]
    fn tests_and_other_crates_tie_nothing() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a; mod b;"),
            ("a", "use crate::b::B; use c::a; use base::b::C;"),
            (
                "b",
                "/// As [`crate::a::A`].\npub(crate) struct B; #[cfg(test)] mod tests { use crate::a::A; }
                 #[cfg(test)] use crate::a::A;",
            ),
        ])));
        assert_eq!(found, BTreeSet::new());
    }

    #[test]
    fn a_module_within_a_file_belongs_to_the_file() {
        let found = circles(&arrows(&modules(&[
            ("", "mod a; mod b;"),
            ("a", "mod inner { use super::super::b::B; use super::C; }"),
            ("b", "mod inner { use super::C; }"),
        ])));
        assert_eq!(found, BTreeSet::new());
    }

    #[test]
    fn files_are_modules() {
        let of = |path| module_of(path).map(|(name, module)| (name, module.join("::")));
        let is = |name: &str, module: &str| Some((name.to_owned(), module.to_owned()));
        assert_eq!(of("crates/core/tcp/src/lib.rs"), is("tcp", ""));
        assert_eq!(
            of("crates/core/tcp/src/sender/timer.rs"),
            is("tcp", "sender::timer")
        );
        assert_eq!(of("crates/core/tcp/src/sender/tests.rs"), None);
        assert_eq!(of("crates/core/tcp/tests/timeline.rs"), None);
    }

    fn modules(files: &[(&str, &str)]) -> Modules {
        let name = |text: &str| -> Name {
            let parts = text.split("::").filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        let files = files.iter();
        files
            .map(|(module, text)| (name(module), paths::read(text).unwrap()))
            .collect()
    }

    fn ring(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
