//! `tailwater new-scheme`: a crate of the user's own with a scheme.

use std::fs;
use std::path::{Path, PathBuf};

use scenario::{Problem, Problems, keys};

use crate::args::NewSchemeArgs;
use crate::output::{self, Stop};

/// Writes the crate and says how to go on.
pub(crate) fn new_scheme(args: &NewSchemeArgs) -> Result<(), Stop> {
    let name = &args.name;
    if let Some(why) = objection(name) {
        let problem = Problem::new(format!("{name:?} cannot name a scheme: {why}"));
        return Err(wrong(problem, "choose another name"));
    }
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() {
        let problem = Problem::new(format!("{} exists", folder.display()));
        return Err(wrong(
            problem,
            "nothing is overwritten: choose another --out",
        ));
    }
    let library = library(args.tailwater.as_deref())?;
    for (file, text) in FILES {
        let text = text.replace(TEMPLATE, name).replace(LIBRARY, &library);
        write(&folder.join(file), &text)?;
    }
    output::answer(&format!(
        "{folder} is a program with the scheme {name}; it is built with {library}\n\n  \
         cd {folder}\n  cargo test\n  cargo run --release -- run incast --scheme newreno,{name}\n",
        folder = folder.display(),
    ))
}

/// Whether a scheme of this name could not be told from something else in a scenario or after `explain`.
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_scheme = || schemes::all().iter().any(|scheme| scheme.name == name);
    let mut tables = keys::all_keys().iter().map(|key| keys::group(key.name));
    WORDS.contains(&name) || tables.any(|table| table == name) && !is_scheme()
}

/// The files of the crate, which is an example of this repository, too.
const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        include_str!("../../../examples/outside/Cargo.toml"),
    ),
    (
        "src/lib.rs",
        include_str!("../../../examples/outside/src/lib.rs"),
    ),
    (
        "src/main.rs",
        include_str!("../../../examples/outside/src/main.rs"),
    ),
];
/// The name of the scheme in these, and the library they are built with.
const TEMPLATE: &str = "fixed";
const LIBRARY: &str = "../../crates/cli";

/// Words that `explain` and a scenario's tables give another meaning.
const WORDS: &[&str] = &["results", "variant", "flows", "papers"];

/// Keywords, which cannot name a crate.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Why `name` is none: it is a crate, a table of settings and a word of the command line.
fn objection(name: &str) -> Option<&'static str> {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    if !begins || !name.bytes().all(rest) {
        return Some("a name has lowercase letters, digits and underscores, a letter first");
    }
    if schemes::all().iter().any(|scheme| scheme.name == name) {
        return Some("a scheme of this name exists");
    }
    let is_taken = KEYWORDS.contains(&name) || is_reserved(name) || name == "tailwater";
    is_taken.then_some("it means something else to Rust, to scenarios or to `tailwater explain`")
}

/// The folder of this library: in the clone that was named, or in the one this program was built from.
fn library(clone: Option<&Path>) -> Result<String, Stop> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = clone.map_or_else(|| built.to_owned(), |clone| clone.join("crates/cli"));
    let found = fs::canonicalize(&folder).ok();
    let found = found.filter(|folder| folder.join("src/prelude.rs").is_file());
    let found = found.ok_or_else(|| {
        let problem = Problem::new(format!("{} is not there", folder.display()));
        wrong(problem, "name a clone of Tailwater with --tailwater DIR")
    })?;
    Ok(found.to_string_lossy().replace('\\', "/"))
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| {
        let problem = Problem::new(format!("cannot write {}: {error}", path.display()));
        wrong(problem, "choose another folder with --out DIR")
    })
}

fn wrong(problem: Problem, help: &str) -> Stop {
    Problems::from(problem.help(help)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_else_is_refused() {
        for name in [
            "",
            "Upper",
            "2d",
            "a-b",
            "a.b",
            "match",
            "rcc",
            "tcp",
            "results",
            "tailwater",
        ] {
            assert!(objection(name).is_some(), "{name}");
        }
        assert_eq!(objection("mine_2"), None);
    }

    #[test]
    fn the_template_has_under_sixty_lines_and_names_its_scheme_only_by_name() {
        let lines: usize = FILES[1..]
            .iter()
            .map(|(_, text)| text.lines().count())
            .sum();
        assert!(lines < 60, "{lines}");
        assert!(FILES[0].1.contains(LIBRARY));
        assert_eq!(
            FILES
                .iter()
                .map(|(_, text)| text.matches(TEMPLATE).count())
                .sum::<usize>(),
            4
        );
    }
}
