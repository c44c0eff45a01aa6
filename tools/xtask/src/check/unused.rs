//! Checks that the sources use every dependency.
//!
//! A crate is used by a path that begins with it, `csv::Writer` or `use csv;`, in code; examples in documentation
//! count, other comments do not. Dependencies of the library or the program are searched below `src`, those of tests in
//! every file of the crate, and those of build scripts in `build.rs` and below `build`. The tests below `src` count as
//! its code, and a local module with the name of a crate counts as that crate.

use std::collections::BTreeSet;
use std::str::FromStr;

use proc_macro2::{LexError, TokenStream, TokenTree};
use serde_json::Value;

use super::step::failed;
use crate::repository::{Failure, Repository};

/// Fails for every dependency that no source uses, and for every dependency of the workspace that no crate takes.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let metadata = repository.metadata(&["--locked"])?;
    let read = |path: &str| {
        let text = repository.read(path)?;
        let named = roots(&text).map_err(|error| Failure(format!("{path}: {error}")))?;
        Ok((text, named))
    };
    let mut files = Vec::new();
    for path in repository.sources("rs")? {
        let (text, mut named) = read(&path)?;
        // A module file that is in another crate belongs to this file, too.
        for elsewhere in modules_elsewhere(&path, &text) {
            named.extend(read(&elsewhere)?.1);
        }
        files.push((path, named));
    }
    let manifest = repository.read("Cargo.toml")?;
    let manifest: toml::Table =
        toml::from_str(&manifest).map_err(|error| Failure(format!("Cargo.toml: {error}")))?;
    failed(&[
        unnamed(&dependencies(&metadata), &files),
        untaken(&manifest, &metadata),
    ])
}

/// A dependency of a crate of the workspace.
#[derive(Debug, PartialEq)]
struct Dependency<'a> {
    /// The folder of the crate with the dependency, as in `crates/core/tcp/`.
    folder: String,
    /// Its name in code.
    name: &'a str,
    /// The tables of the manifest that list it: `null`, `"dev"` or `"build"`.
    kind: Option<&'a str>,
}

/// The dependencies of the members; one entry for each manifest.
fn dependencies(metadata: &Value) -> Vec<Dependency<'_>> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for package in members(metadata) {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = manifest.strip_prefix(root).unwrap_or(manifest);
        let folder = folder.replace('\\', "/");
        let folder = folder
            .trim_start_matches('/')
            .trim_end_matches("Cargo.toml");
        let nodes = metadata["resolve"]["nodes"].as_array();
        let node = nodes
            .into_iter()
            .flatten()
            .find(|node| node["id"] == package["id"]);
        let Some(node) = node else { continue };
        for dependency in node["deps"].as_array().into_iter().flatten() {
            for kind in dependency["dep_kinds"].as_array().into_iter().flatten() {
                found.push(Dependency {
                    folder: folder.to_owned(),
                    name: dependency["name"].as_str().unwrap_or_default(),
                    kind: kind["kind"].as_str(),
                });
            }
        }
    }
    found
}

fn members(metadata: &Value) -> impl Iterator<Item = &Value> {
    let ids = metadata["workspace_members"].as_array();
    let all = metadata["packages"].as_array().into_iter().flatten();
    all.filter(move |package| ids.is_some_and(|ids| ids.contains(&package["id"])))
}

/// Dependencies without a use in the files where it would count. `files` are paths with the names used in them.
fn unnamed(dependencies: &[Dependency<'_>], files: &[(String, BTreeSet<String>)]) -> Vec<String> {
    let is_unnamed = |dependency: &&Dependency<'_>| {
        let may_use = |path: &str| {
            let Some(file) = path.strip_prefix(&dependency.folder) else {
                return false;
            };
            let is_build = file == "build.rs" || file.starts_with("build/");
            match dependency.kind {
                Some("build") => is_build,
                Some(_) => !is_build,
                None => file.starts_with("src/"),
            }
        };
        let mut users = files.iter().filter(|(path, _)| may_use(path));
        !users.any(|(_, named)| named.contains(dependency.name))
    };
    let line = |dependency: &Dependency<'_>| {
        let Dependency { folder, name, kind } = dependency;
        let (table, instead) = match kind {
            Some("build") => ("build-dependencies", ""),
            Some(_) => ("dev-dependencies", ""),
            None => (
                "dependencies",
                ", or move it to dev-dependencies if only tests use it",
            ),
        };
        format!("{folder}Cargo.toml: no source uses {name}: remove it from {table}{instead}")
    };
    let unnamed = dependencies.iter().filter(is_unnamed);
    unnamed.map(line).collect()
}

/// Dependencies of the workspace that no member takes.
fn untaken(manifest: &toml::Table, metadata: &Value) -> Vec<String> {
    let dependencies = members(metadata).flat_map(|package| {
        let dependencies = package["dependencies"].as_array();
        dependencies.into_iter().flatten()
    });
    // A manifest lists a renamed dependency by its new name.
    let taken: BTreeSet<&str> = dependencies
        .filter_map(|dependency| {
            dependency["rename"]
                .as_str()
                .or(dependency["name"].as_str())
        })
        .collect();
    let offered = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let offered = offered
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten();
    let untaken = offered.filter(|(name, _)| !taken.contains(name.as_str()));
    let line = |(name, _): (&String, &toml::Value)| {
        format!("Cargo.toml: no crate uses {name}: remove it from workspace.dependencies")
    };
    untaken.map(line).collect()
}

/// The files that attributes such as `#[path = "../support.rs"]` name in the file at `path`.
fn modules_elsewhere(path: &str, text: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let attributes = text.lines().filter_map(|line| {
        let named = line.trim_start().strip_prefix("#[path = \"")?;
        Some(named.split_once('"')?.0)
    });
    attributes
        .map(|named| format!("{folder}/{named}"))
        .collect()
}

/// The names that paths in `text` begin with, those of the examples in its documentation included.
fn roots(text: &str) -> Result<BTreeSet<String>, LexError> {
    let mut found = BTreeSet::new();
    walk(TokenStream::from_str(text)?, &mut found);
    for example in examples(text) {
        walk(TokenStream::from_str(&example)?, &mut found);
    }
    Ok(found)
}

/// The code blocks of documentation that Cargo compiles.
fn examples(text: &str) -> Vec<String> {
    let documentation = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"))
    });
    let mut found = Vec::new();
    // The text of the block around a line, and whether it is Rust.
    let mut block: Option<(String, bool)> = None;
    for line in documentation {
        let line = line.trim();
        match (line.strip_prefix("```"), &mut block) {
            (Some(language), None) => {
                let is_rust = matches!(language, "" | "no_run" | "should_panic");
                block = Some((String::new(), is_rust));
            }
            (Some(_), Some(_)) => {
                let example = block.take().filter(|(_, is_rust)| *is_rust);
                found.extend(example.map(|(example, _)| example));
            }
            (None, Some((example, _))) => {
                // A line that is compiled but not shown begins with `# `.
                example.push_str(line.strip_prefix("# ").unwrap_or(line));
                example.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn walk(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                walk(group.stream(), found);
                // `use {csv, base::Time};`
                if matches!(&tokens[..place], [.., TokenTree::Ident(word)] if word == "use") {
                    found.extend(items(group.stream()));
                }
            }
            TokenTree::Ident(name) => {
                let (before, after) = (&tokens[..place], &tokens[place + 1..]);
                let is_import = matches!(before, [.., TokenTree::Ident(word)] if word == "use" || word == "crate");
                let is_begin = name != "use" && is_separator(after) && begins_path(before);
                if is_import || is_begin {
                    found.insert(name.to_string());
                }
            }
            _ => {}
        }
    }
}

/// The names that the items of a list begin with.
fn items(list: TokenStream) -> Vec<String> {
    let mut begins = true;
    let mut found = Vec::new();
    for token in list {
        if let TokenTree::Ident(name) = &token
            && begins
        {
            found.push(name.to_string());
        }
        begins = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
    }
    found
}

/// Whether a path begins after `before`: at a name, or at a leading `::`, as in `use ::battery::check`.
fn begins_path(before: &[TokenTree]) -> bool {
    if !is_separator(end(before)) {
        return true;
    }
    match &before[..before.len() - 2] {
        [.., TokenTree::Ident(word)] => word == "use",
        [.., TokenTree::Punct(punct)] => punct.as_char() != '>',
        [.., _] => false,
        [] => true,
    }
}

/// The last two tokens.
fn end(tokens: &[TokenTree]) -> &[TokenTree] {
    &tokens[tokens.len().saturating_sub(2)..]
}

/// Whether `::` is the first thing in `tokens`.
fn is_separator(tokens: &[TokenTree]) -> bool {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    tokens.len() > 1 && tokens[..2].iter().all(is_colon)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata() -> Value {
        json!({
            "workspace_root": "/x",
            "workspace_members": ["own"],
            "packages": [
                { "id": "own", "manifest_path": "/x/crates/own/Cargo.toml", "dependencies": [
                    { "name": "csv", "rename": null }, { "name": "base", "rename": null },
                    { "name": "cc", "rename": null }, { "name": "insta", "rename": null },
                ] },
                { "id": "csv", "manifest_path": "/y/csv/Cargo.toml", "dependencies": [
                    { "name": "memchr", "rename": null },
                ] },
            ],
            "resolve": { "nodes": [
                { "id": "own", "deps": [
                    { "name": "csv", "dep_kinds": [{ "kind": null }] },
                    { "name": "base", "dep_kinds": [{ "kind": null }] },
                    { "name": "cc", "dep_kinds": [{ "kind": "build" }] },
                    { "name": "insta", "dep_kinds": [{ "kind": "dev" }] },
                ] },
                { "id": "csv", "deps": [{ "name": "memchr", "dep_kinds": [{ "kind": null }] }] },
            ] },
        })
    }

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), roots(text).unwrap()))
            .collect();
        unnamed(&dependencies(&metadata()), &files)
    }

    #[test]
    fn dependencies_that_sources_name_pass() {
        let files = [
            ("crates/own/src/lib.rs", "pub use {other, base};"),
            (
                "crates/own/src/table.rs",
                "fn f() { parse::<csv::Writer>() }",
            ),
            ("crates/own/build.rs", "fn main() { cc::Build::new(); }"),
            ("crates/own/tests/all.rs", "insta::assert_snapshot!(1);"),
        ];
        assert_eq!(check(&files), [""; 0]);
    }

    #[test]
    fn a_dependency_that_no_source_names_is_refused() {
        // Names in comments, of local values and at the end of paths are not names of crates; nor are names in files of
        // another crate or for another purpose.
        let files = [
            (
                "crates/own/src/lib.rs",
                "// csv::Writer\nfn f(base: u8) { cc::x(); own::csv::y(base) }",
            ),
            (
                "crates/own/tests/all.rs",
                "use csv::Writer; use base::Time;",
            ),
            ("crates/other/src/lib.rs", "use csv::Writer; use insta::x;"),
        ];
        let remedy =
            "remove it from dependencies, or move it to dev-dependencies if only tests use it";
        let expected = [
            &format!("crates/own/Cargo.toml: no source uses csv: {remedy}"),
            &format!("crates/own/Cargo.toml: no source uses base: {remedy}"),
            "crates/own/Cargo.toml: no source uses cc: remove it from build-dependencies",
            "crates/own/Cargo.toml: no source uses insta: remove it from dev-dependencies",
        ];
        assert_eq!(check(&files), expected);
    }

    #[test]
    fn a_dependency_of_the_workspace_that_no_crate_takes_is_refused() {
        let manifest = "[workspace.dependencies]\n\
                        base = { path = \"crates/core/base\" }\n\
                        csv = \"1.4\"\ncc = \"1.2\"\ninsta = \"1\"\nmemchr = \"2\"\n";
        let expected = ["Cargo.toml: no crate uses memchr: remove it from workspace.dependencies"];
        assert_eq!(
            untaken(&toml::from_str(manifest).unwrap(), &metadata()),
            expected
        );
    }

    #[test]
    fn a_module_in_another_folder_is_found() {
        let text = "#[path = \"../../other/benches/hold.rs\"]\nmod hold;\n";
        let found = modules_elsewhere("crates/own/benches/hops.rs", text);
        assert_eq!(found, ["crates/own/benches/../../other/benches/hold.rs"]);
    }

    #[test]
    fn a_path_may_begin_with_its_separator() {
        let text = "pub use ::battery::check; fn f() { ::csv::g(own::cc::h(Vec::<u8>::base())) }";
        let names: Vec<String> = roots(text).unwrap().into_iter().collect();
        assert_eq!(names, ["Vec", "battery", "csv", "own"]);
    }

    #[test]
    fn examples_in_documentation_count_and_other_blocks_do_not() {
        let text = "//! ```text\n//! a::b\n//! ```\n//! c::d\n//! ```\n//! # use e as f;\n//! g::h(i);\n//! ```\n";
        let names: Vec<String> = roots(text).unwrap().into_iter().collect();
        assert_eq!(names, ["e", "g"]);
    }
}
