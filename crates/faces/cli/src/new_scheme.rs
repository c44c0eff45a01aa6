//! `tailwater new-scheme`: a crate of the user's own with a scheme.

use std::path::{Path, PathBuf};
use std::{env, fs};

use plan::keys;
use scenario::{Problem, Problems};

use crate::args::NewSchemeArgs;
use crate::output::{self, Stop};

/// Writes the crate and says how to go on.
pub(crate) fn new_scheme(args: &NewSchemeArgs) -> Result<(), Stop> {
    let name = &args.name;
    if let Some(why) = objection(name) {
        let problem = Problem::new(format!("{name:?} cannot name a scheme: {why}"));
        let help = corrected(name).map_or_else(
            || "choose another name".to_owned(),
            |name| format!("`tailwater new-scheme {name}` is possible"),
        );
        return Err(wrong(problem, &help));
    }
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() {
        let problem = Problem::new(format!("{} exists", folder.display()));
        return Err(wrong(
            problem,
            "nothing is overwritten: choose another --out",
        ));
    }
    let clone = clone(args.tailwater.as_deref())?;
    let library = clone.join("crates/faces/cli");
    let library = library.to_string_lossy().replace('\\', "/");
    for (file, text) in FILES {
        let text = text.replace(TEMPLATE, name).replace(LIBRARY, &library);
        write(&folder.join(file), &text)?;
    }
    for file in PINS {
        let from = clone.join(file);
        let text = fs::read_to_string(&from).map_err(|error| {
            let problem = Problem::new(format!("cannot read {}: {error}", from.display()));
            wrong(problem, CLONE)
        })?;
        write(&folder.join(file), &text)?;
    }
    output::answer(&format!(
        "{folder} is a program with the scheme {name}; it is built with {library}\n\n  \
         cd {folder}\n  cargo test\n  cargo run --release -- run incast --scheme {plain},{name}\n",
        plain = schemes::PLAIN_SENDER.name,
        folder = folder.display(),
    ))
}

/// Whether a scheme with this name could be mistaken for something else in a scenario or after `explain`.
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_scheme = || schemes::all().iter().any(|scheme| scheme.name == name);
    let mut tables = keys::all_keys().iter().map(|key| keys::group(key.name));
    WORDS.contains(&name) || tables.any(|table| table == name) && !is_scheme()
}

/// The files of the crate, which is also an example of this repository.
const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        include_str!("../../../../examples/outside/Cargo.toml"),
    ),
    (
        "src/lib.rs",
        include_str!("../../../../examples/outside/src/lib.rs"),
    ),
    (
        "src/main.rs",
        include_str!("../../../../examples/outside/src/main.rs"),
    ),
];
/// The versions with which the clone is built, which the crate takes over: all third-party crates, and the compiler.
/// New versions appear every day, and the clone might not compile with them.
const PINS: [&str; 2] = ["Cargo.lock", "rust-toolchain.toml"];
/// The name of the scheme in these files.
const TEMPLATE: &str = "fixed";
const LIBRARY: &str = "../../crates/faces/cli";

/// Words with another meaning for `explain` or in a scenario's tables.
const WORDS: &[&str] = &["results", "variant", "flows", "papers"];

/// Keywords, which cannot name a crate.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Why `name` is not possible. It becomes a crate, a table of settings and a word of the command line.
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

/// A similar name that is possible.
fn corrected(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let name = name.replace(|c| !fits(c), "_");
    let name = name.trim_matches('_');
    objection(name).is_none().then(|| name.to_owned())
}

/// The clone of Tailwater to build with: the given one, or the one in which this program was built, even if the program
/// has been moved.
fn clone(named: Option<&Path>) -> Result<PathBuf, Stop> {
    let is_clone = |folder: &&Path| folder.join("crates/faces/cli/src/prelude.rs").is_file();
    let absolute = |folder: &Path| fs::canonicalize(folder).ok();
    if let Some(named) = named {
        let found = is_clone(&named).then(|| absolute(named)).flatten();
        return found.ok_or_else(|| {
            let problem = Problem::new(format!("{} is no clone of Tailwater", named.display()));
            wrong(
                problem,
                "--tailwater names the folder that has crates/faces/cli",
            )
        });
    }
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    let program = env::current_exe().ok();
    let around = program.iter().flat_map(|program| program.ancestors());
    let found = built.into_iter().chain(around).find(is_clone);
    found.and_then(absolute).ok_or_else(|| {
        let what = "no clone of Tailwater was found, which the new crate depends on";
        wrong(Problem::new(what), CLONE)
    })
}

const CLONE: &str = "--tailwater DIR names a clone: the folder with the sources of this version";

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
    fn a_name_that_is_refused_for_its_spelling_is_corrected() {
        let corrections = [
            ("half-dctcp", "half_dctcp"),
            ("HalfDctcp", "halfdctcp"),
            ("_mine.2", "mine_2"),
        ];
        for (name, expected) in corrections {
            assert_eq!(corrected(name).as_deref(), Some(expected), "{name}");
        }
        for name in ["", "2d", "RCC", "match", "---"] {
            assert_eq!(corrected(name), None, "{name}");
        }
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
