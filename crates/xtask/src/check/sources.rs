//! What a source file must not contain, how long it may be, and how large a crate.

use std::collections::BTreeMap;

use super::failed;
use crate::repository::{Failure, Repository};

/// Words with the reason why no source has them.
const FORBIDDEN: [(&str, &str); 7] = [
    (concat!("TO", "DO"), UNFINISHED),
    (concat!("FIX", "ME"), UNFINISHED),
    (concat!("XX", "X"), UNFINISHED),
    (concat!("unimple", "mented!"), UNFINISHED),
    (concat!("to", "do!"), UNFINISHED),
    (concat!("dbg", "!("), "debugging output"),
    (concat!("/ho", "me/"), "a path of one machine"),
];
const UNFINISHED: &str = "unfinished work belongs into the issue tracker";
/// Lines of a file without its tests; a longer one wants to be several, each with a name that says what
/// is inside.
const MAX_LINES: usize = 500;
/// Lines of code of a crate, without tests, comments and blank lines; nobody learns a larger one.
const MAX_CODE: usize = 8000;
/// The crate that may be larger: one file for each scheme, which are read one at a time.
const UNBOUNDED: &str = "schemes";

/// Fails for forbidden words, long files and large crates.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    for path in repository.sources("rs")? {
        let text = repository.read(&path)?;
        wrong.extend(forbidden(&path, &text));
        if let Some(name) = crate_of(&path) {
            wrong.extend(length(&path, &text));
            *crates.entry(name.to_owned()).or_default() += code(&text);
        }
    }
    wrong.extend(crates.iter().filter_map(|(name, lines)| {
        let large = *lines > MAX_CODE && name != UNBOUNDED;
        large.then(|| {
            format!("crates/{name}: {lines} lines of code: more than {MAX_CODE} want two crates")
        })
    }));
    failed(&[wrong])
}

/// Every place of a forbidden word.
fn forbidden(path: &str, text: &str) -> Vec<String> {
    let lines = (1..).zip(text.lines());
    let found = lines.filter_map(|(number, line)| {
        let (word, why) = FORBIDDEN.iter().find(|(word, _)| line.contains(word))?;
        Some(format!("{path}:{number}: {word}: {why}"))
    });
    found.collect()
}

/// What is wrong with the length of a file.
fn length(path: &str, text: &str) -> Option<String> {
    let lines = without_tests(text).count();
    (lines > MAX_LINES).then(|| {
        format!("{path}: {lines} lines without tests: more than {MAX_LINES} want several files")
    })
}

/// The crate that a file is source of; `None` for tests, benchmarks and build scripts.
fn crate_of(path: &str) -> Option<&str> {
    let (name, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let is_test = file
        .split('/')
        .any(|part| matches!(part, "tests" | "tests.rs"));
    (!is_test).then_some(name)
}

/// Lines that are neither blank nor a comment.
fn code(text: &str) -> usize {
    let lines = without_tests(text).map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.count()
}

/// The lines before the module of tests, which stands at the end of a file.
fn without_tests(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.iter().position(|line| line.starts_with("mod tests"));
    // The attributes of the module stand above it.
    let before = &lines[..tests.unwrap_or(lines.len())];
    let attribute = before.iter().rposition(|line| *line == "#[cfg(test)]");
    let end = tests.and(attribute).unwrap_or(before.len());
    lines.into_iter().take(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_comments_do_not_count() {
        let text =
            "//! Idea.\n\nfn run() {}\n\n#[cfg(test)]\n#[expect(dead_code)]\nmod tests {\n}\n";
        assert_eq!(without_tests(text).count(), 4);
        assert_eq!(code(text), 1);
        assert_eq!(code("#[cfg(test)]\nuse a::A;\nfn run() {}\n"), 3);
    }

    #[test]
    fn a_long_file_is_wrong() {
        let file = |lines: usize| "x\n".repeat(lines) + "#[cfg(test)]\nmod tests;\n";
        assert_eq!(length("crates/a/src/b.rs", &file(MAX_LINES)), None);
        assert!(length("crates/a/src/b.rs", &file(MAX_LINES + 1)).is_some());
    }

    #[test]
    fn tests_are_no_source_of_a_crate() {
        assert_eq!(crate_of("crates/tcp/src/sender.rs"), Some("tcp"));
        assert_eq!(crate_of("crates/tcp/src/sender/tests.rs"), None);
        assert_eq!(crate_of("crates/tcp/src/sender/tests/loss.rs"), None);
        assert_eq!(crate_of("crates/tcp/tests/timeline.rs"), None);
        assert_eq!(crate_of("crates/sim/build/version.rs"), None);
    }
}
