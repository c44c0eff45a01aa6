//! The licences of everything that is linked, with their texts, as these require.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::linked::{Origin, Part};
use super::workshop::{list, read};
use crate::repository::Failure;

/// The text of the licence file for the programs, from the MIT licence of this repository and that of musl.
pub(super) fn text(parts: &[Part], own: &str, musl: &str) -> Result<String, Failure> {
    let mut table = Vec::new();
    // Many parts have the same text.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.origin != Origin::Workspace) {
        let Part {
            name,
            version,
            licence,
            ..
        } = part;
        table.push(format!("{name} {version}: {licence}\n"));
        let mut found = texts_in(&part.folder)?;
        if found.is_empty() {
            found.push(forgotten(part, own)?);
        }
        for text in found {
            let owner = format!("{name} {version}");
            texts.entry(text).or_default().push(owner);
        }
    }
    for (name, file) in toolchain(own, musl)? {
        table.push(format!("{name}\n"));
        texts.entry(file).or_default().push(name);
    }
    let texts = texts.into_iter().map(|(text, owners)| {
        let line = "-".repeat(100);
        format!(
            "\n{line}\n{}\n{line}\n\n{}\n",
            owners.join("\n"),
            text.trim_end()
        )
    });
    Ok([HEAD, &table.concat(), &texts.collect::<String>()].concat())
}

/// The texts of licences in the folder of a part.
fn texts_in(folder: &Path) -> Result<Vec<String>, Failure> {
    let is_text = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_ascii_lowercase();
        let names = [
            "license",
            "licence",
            "copying",
            "copyright",
            "notice",
            "unlicense",
        ];
        path.is_file() && names.iter().any(|start| name.starts_with(start))
    };
    let files = list(folder)?;
    files
        .iter()
        .filter(is_text)
        .map(|path| read(path))
        .collect()
}

/// For a crate without the text of its licence: the text of this repository, if it is the same licence, with the names
/// that the crate declares.
fn forgotten(part: &Part, own: &str) -> Result<String, Failure> {
    let mut choices = part.licence.split(" OR ");
    if !choices.any(|one| one == "MIT") {
        return Err(Failure(format!(
            "{} {} has no text of its licence, {}: use another crate",
            part.name, part.version, part.licence
        )));
    }
    let authors = match part.authors.as_str() {
        "" => format!("the authors of {}", part.name),
        authors => authors.to_owned(),
    };
    let permission = permission(own)?;
    Ok(format!(
        "MIT License\n\nCopyright (c) {authors}\n\n{permission}"
    ))
}

/// Libraries that compilers link: Rust's standard library and musl.
fn toolchain(own: &str, musl: &str) -> Result<[(String, String); 2], Failure> {
    let rust = "MIT License\n\nCopyright (c) The Rust Project Contributors";
    Ok([
        (
            "the standard library of Rust: MIT OR Apache-2.0".to_owned(),
            format!("{rust}\n\n{}", permission(own)?),
        ),
        ("musl: MIT".to_owned(), musl.to_owned()),
    ])
}

/// The MIT licence without its copyright line.
fn permission(own: &str) -> Result<&str, Failure> {
    let start = own.find("Permission is hereby granted");
    let start = start.ok_or_else(|| Failure("LICENSE-MIT is not the MIT licence".to_owned()))?;
    Ok(&own[start..])
}

const HEAD: &str = "\
The programs of this package are made of Tailwater, whose licence is Apache-2.0 OR MIT, and of the parts below.

libelf may be changed and linked anew, as its licence demands: the sources of Tailwater are free, and `cargo xtask
package programs` builds the programs from them and from the sources of libelf in the crate libbpf-sys.

";

#[cfg(test)]
mod tests {
    use super::*;

    fn part(licence: &str) -> Part {
        Part {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            authors: "B".to_owned(),
            folder: PathBuf::new(),
            origin: Origin::Outside,
        }
    }

    #[test]
    fn a_part_without_the_text_of_its_licence_is_refused_unless_it_is_mit() {
        let own = "MIT License\n\nCopyright (c) C\n\nPermission is hereby granted, free";
        let text = forgotten(&part("Zlib OR MIT"), own).unwrap();
        let expected = "MIT License\n\nCopyright (c) B\n\nPermission is hereby granted, free";
        assert_eq!(text, expected);
        let Failure(why) = forgotten(&part("Zlib"), own).unwrap_err();
        assert_eq!(
            why,
            "a 1.0.0 has no text of its licence, Zlib: use another crate"
        );
    }
}
