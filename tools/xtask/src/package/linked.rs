//! Everything that is linked into the programs: crates of the workspace, third-party crates, and C libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::programs::{FEATURES, sources};
use super::workshop::{COMMAND, LIVE, Processor, Workshop};
use crate::repository::{Failure, stdout};

/// A part of the programs.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) version: String,
    /// Its licence, as an SPDX expression.
    pub(super) licence: String,
    pub(super) authors: String,
    /// Where its sources are.
    pub(super) folder: PathBuf,
    pub(super) origin: Origin,
}

/// Where a part is from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// This repository.
    Workspace,
    /// A registry of crates, with the SHA-256 of the file there.
    Registry { sha256: String },
    /// Sources of C, or a toolchain.
    Outside,
}

/// Lists them for a processor: crates by name, then the libraries of C.
pub(super) fn parts(workshop: &Workshop<'_>, processor: Processor) -> Result<Vec<Part>, Failure> {
    let target = processor.target();
    let mut tree = workshop.repository.cargo(&["tree", "--locked"]);
    tree.args(["--package", COMMAND, "--package", LIVE])
        .args(["--features", FEATURES, "--target", &target])
        .args([
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]);
    let tree = stdout(&mut tree)?;
    let metadata = workshop
        .repository
        .metadata(&["--locked", "--all-features"])?;
    let lock = workshop.repository.read("Cargo.lock")?;
    let mut parts = crates(&linked(&tree), &metadata, &lock)?;
    parts.extend(libraries(&sources(workshop)?, &parts));
    Ok(parts)
}

/// Names and versions in the output of `cargo tree`, without macros, which only run in the compiler.
fn linked(tree: &str) -> BTreeSet<(&str, &str)> {
    let lines = tree.lines().filter(|line| !line.contains("(proc-macro)"));
    lines
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some((name, rest.split(' ').next()?))
        })
        .collect()
}

fn crates(
    names: &BTreeSet<(&str, &str)>,
    metadata: &Value,
    lock: &str,
) -> Result<Vec<Part>, Failure> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut parts = Vec::new();
    for package in packages {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        if !names.contains(&(name.as_str(), version.as_str())) {
            continue;
        }
        let origin = if package["source"].is_null() {
            Origin::Workspace
        } else {
            let sha256 = checksum(lock, &name, &version).ok_or_else(|| {
                Failure(format!("Cargo.lock has no checksum of {name} {version}"))
            })?;
            Origin::Registry { sha256 }
        };
        let authors = package["authors"].as_array().into_iter().flatten();
        let authors: Vec<String> = authors.map(text).collect();
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().unwrap_or(Path::new(""));
        parts.push(Part {
            folder: folder.to_owned(),
            licence: spdx_of(&text(&package["license"])),
            authors: authors.join(", "),
            name,
            version,
            origin,
        });
    }
    parts.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(parts)
}

/// An old way to write "OR".
fn spdx_of(licence: &str) -> String {
    licence.replace('/', " OR ")
}

/// The checksum of a crate in the lock file.
fn checksum(lock: &str, name: &str, version: &str) -> Option<String> {
    let lock: toml::Value = toml::from_str(lock).ok()?;
    let mut packages = lock.get("package")?.as_array()?.iter();
    let says = |package: &toml::Value, key: &str, value: &str| {
        package.get(key).and_then(toml::Value::as_str) == Some(value)
    };
    let package = packages
        .find(|package| says(package, "name", name) && says(package, "version", version))?;
    Some(package.get("checksum")?.as_str()?.to_owned())
}

/// Libraries that are not part of a crate.
fn libraries(sources: &Path, crates: &[Part]) -> Vec<Part> {
    let within = crates.iter().find(|part| part.name == "libbpf-sys");
    let version = within.map_or("", |part| &part.version);
    let library = |name: &str, folder: &str, licence: &str, authors: &str| Part {
        name: name.to_owned(),
        version: format!("in libbpf-sys {version}"),
        licence: licence.to_owned(),
        authors: authors.to_owned(),
        folder: sources.join(folder),
        origin: Origin::Outside,
    };
    vec![
        library(
            "libbpf",
            "libbpf",
            "LGPL-2.1-only OR BSD-2-Clause",
            "the authors of libbpf",
        ),
        library(
            "libelf",
            "elfutils",
            "GPL-2.0-or-later OR LGPL-3.0-or-later",
            "the authors of elfutils",
        ),
        library("zlib", "zlib", "Zlib", "Jean-loup Gailly and Mark Adler"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_not_linked_and_a_crate_counts_once() {
        let tree = "tailwater v0.1.0 (/x)\nserde v1.0.2\nserde_derive v1.0.2 (proc-macro)\nserde v1.0.2 (*)\n";
        let expected = BTreeSet::from([("serde", "1.0.2"), ("tailwater", "0.1.0")]);
        assert_eq!(linked(tree), expected);
    }

    #[test]
    fn a_crate_from_outside_has_the_checksum_of_the_lock_file() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "version": "1.0.0", "license": "MIT/Apache-2.0", "source": "registry",
              "authors": ["B", "C"], "manifest_path": "/x/a/Cargo.toml" },
            { "name": "own", "version": "0.1.0", "license": "MIT", "source": null, "authors": [],
              "manifest_path": "/y/own/Cargo.toml" },
        ] });
        let names = BTreeSet::from([("a", "1.0.0"), ("own", "0.1.0")]);
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"12ab\"\n";
        let parts = crates(&names, &metadata, lock).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].licence, "MIT OR Apache-2.0");
        assert_eq!(parts[0].authors, "B, C");
        let sha256 = "12ab".to_owned();
        assert_eq!(parts[0].origin, Origin::Registry { sha256 });
        assert_eq!(parts[1].origin, Origin::Workspace);
        let Failure(why) = crates(&names, &metadata, "package = []").unwrap_err();
        assert_eq!(why, "Cargo.lock has no checksum of a 1.0.0");
    }
}
