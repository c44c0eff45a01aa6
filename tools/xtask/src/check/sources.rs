//! Forbidden words in source files, the length of files, and the size of crates.
//!
//! Only the command names flags of the command line. A library has other callers, too, and mentions an argument as
//! `scenario::Argument`.

use std::collections::{BTreeMap, BTreeSet};

use super::step::failed;
use crate::repository::{Failure, Repository, source_of};

/// Words that no source may have, each with the reason.
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
/// The most lines of a file without its tests. A longer file should be several files with telling names.
const MAX_LINES: usize = 500;
/// The most lines of code of a crate, without tests, comments and blank lines; a larger crate is too much to learn.
/// `sim` is the largest.
const MAX_CODE: usize = 8000;
/// The crate that may be larger: it has one file for each scheme, and each can be read alone.
const UNBOUNDED: &str = "crates/core/schemes";
/// Describes every flag of the command.
const REFERENCE: &str = "docs/reference/cli.md";
/// Files that may name flags: programs and texts for people, which suggest the next run; the commands in results, which
/// repeat a failed point or a figure; the command on a page; and the command that applies a cure.
const MAY_NAME_FLAGS: [&str; 17] = [
    "crates/faces/api/src/reproduction",
    "crates/faces/cli/",
    "crates/faces/explain/",
    "crates/faces/answer/",
    "crates/faces/play/src/request.rs",
    "tools/xtask/",
    "tools/book/",
    "tools/testing/",
    "crates/live/bed/src",
    "crates/live/deploy/src",
    "crates/live/live/src",
    "crates/live/observed/src/command.rs",
    "crates/live/observed/src/trial/shape.rs",
    "tools/oracle/src/question.rs",
    "crates/simulate/results/src/summary.rs",
    "crates/papers/report/src/paper/page.rs",
    "crates/live/programs/build",
];

/// Files that may cast. The first has the conversions for all crates; the other crate does not depend on it.
const MAY_CAST: [&str; 2] = [
    "crates/core/base/src/cast.rs",
    "crates/live/programs/src/maps.rs",
];

/// Fails for forbidden words, ignored tests without a command, casts, long files and large crates.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    let flags = repository.read(REFERENCE)?;
    let flags = flags_of(&flags);
    for path in repository.sources("rs")? {
        let text = repository.read(&path)?;
        wrong.extend(forbidden(&path, &text));
        wrong.extend(forgotten(&path, &text));
        if crate_of(&path).is_some() && !MAY_NAME_FLAGS.iter().any(|own| path.starts_with(own)) {
            wrong.extend(named_flags(&path, &text, &flags));
        }
        if let Some(name) = crate_of(&path) {
            wrong.extend(length(&path, &text));
            wrong.extend(excused_casts(&path, &text));
            *crates.entry(name.to_owned()).or_default() += code(&text);
        }
    }
    wrong.extend(crates.iter().filter_map(|(name, lines)| {
        let large = *lines > MAX_CODE && name != UNBOUNDED;
        large
            .then(|| format!("{name}: {lines} lines of code: more than {MAX_CODE} want two crates"))
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

/// Every ignored test without a command that runs it.
fn forgotten(path: &str, text: &str) -> Vec<String> {
    let lines = (1..).zip(text.lines());
    let ignored = lines.filter(|(_, line)| line.trim_start().starts_with("#[ignore"));
    let unnamed = ignored.filter(|(_, line)| !line.contains("cargo "));
    unnamed
        .map(|(number, _)| {
            format!("{path}:{number}: the reason does not name the command that runs the test")
        })
        .collect()
}

/// The flags that the reference of the command describes.
fn flags_of(reference: &str) -> BTreeSet<&str> {
    let lines = reference.lines().map(str::trim_start);
    let options = lines.filter(|line| line.starts_with('-'));
    options.flat_map(flags_in).collect()
}

/// The words that look like flags, two hyphens among them.
fn flags_in(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    line.split(move |c| !is_part(c))
        .filter(|word| word.len() > 2 && word.starts_with("--"))
}

/// Every flag in the code of a library. A whole command line in a text may contain flags.
fn named_flags(path: &str, text: &str, flags: &BTreeSet<&str>) -> Vec<String> {
    let lines = (1..).zip(without_tests(text));
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = code.flat_map(|(number, line)| {
        let flags = flags_in(line).filter(|word| flags.contains(word));
        let is_command = ["tailwater run ", "cargo build "]
            .iter()
            .any(|command| line.contains(command));
        flags
            .filter(move |_| !is_command)
            .map(move |flag| (number, flag))
    });
    let wrong = |(number, flag)| {
        format!("{path}:{number}: {flag}: the command names its flags, a library does not")
    };
    named.map(wrong).collect()
}

/// Every place that allows a cast instead of using a function of `base::cast`.
fn excused_casts(path: &str, text: &str) -> Vec<String> {
    if MAY_CAST.contains(&path) {
        return Vec::new();
    }
    let lines = (1..).zip(without_tests(text));
    let excused = lines.filter(|(_, line)| line.contains(concat!("clippy::", "cast_")));
    let wrong = |(number, _)| format!("{path}:{number}: an excused cast: use `base::cast`");
    excused.map(wrong).collect()
}

/// The error in the length of a file.
fn length(path: &str, text: &str) -> Option<String> {
    let lines = without_tests(text).count();
    (lines > MAX_LINES).then(|| {
        format!("{path}: {lines} lines without tests: more than {MAX_LINES} want several files")
    })
}

/// The folder of the crate to which a source file belongs; `None` for tests, benchmarks and build scripts.
pub(super) fn crate_of(path: &str) -> Option<&str> {
    let (folder, file) = source_of(path)?;
    let is_test = file
        .split('/')
        .any(|part| matches!(part, "tests" | "tests.rs"));
    (!is_test).then_some(folder)
}

/// Lines that are neither blank nor a comment.
fn code(text: &str) -> usize {
    let lines = without_tests(text).map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.count()
}

/// The lines before the tests module, which is at the end of a file.
pub(super) fn without_tests(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    // The tests of several modules may share one module.
    let is_tests = |line: &str| {
        line.trim_start_matches("pub(crate) ")
            .starts_with("mod tests")
    };
    let tests = lines.iter().position(|line| is_tests(line));
    // The attributes of the module are above it.
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
        let shared = text.replace("mod tests", "pub(crate) mod tests");
        assert_eq!(without_tests(&shared).count(), 4);
        assert_eq!(code(text), 1);
        assert_eq!(code("#[cfg(test)]\nuse a::A;\nfn run() {}\n"), 3);
    }

    #[test]
    fn a_library_names_no_flag_of_the_command() {
        let reference = "      --work <STEPS>\n          Steps; see --disk\n  -o, --out <DIR>\n";
        let flags = flags_of(reference);
        assert_eq!(flags.iter().collect::<Vec<_>>(), [&"--out", &"--work"]);
        let named = |line: &str| named_flags("a.rs", line, &flags).len();
        assert_eq!(named("let help = \"allow more with --work STEPS\";"), 1);
        assert_eq!(named("// --work is a flag"), 0);
        assert_eq!(named("let other = \"--workers\";"), 0);
        assert_eq!(named("let all = \"tailwater run a.toml --out b\";"), 0);
        assert_eq!(named("#[cfg(test)]\nmod tests {\n\"--out\""), 0);
    }

    #[test]
    fn an_ignored_test_names_the_command_that_runs_it() {
        let test = |reason: &str| format!("    #[ignore{reason}]\n    fn long() {{}}\n");
        assert_eq!(forgotten("a.rs", &test("")).len(), 1);
        assert_eq!(forgotten("a.rs", &test(" = \"takes a minute\"")).len(), 1);
        let named = test(" = \"a minute: `cargo xtask trust tun` runs it\"");
        assert!(forgotten("a.rs", &named).is_empty());
    }

    #[test]
    fn only_base_converts_numbers_by_casts() {
        let text =
            "#[expect(\n    clippy::cast_sign_loss,\n    reason = \"small\"\n)]\nfn f() {}\n";
        let found = excused_casts("crates/x/a/src/b.rs", text);
        assert_eq!(
            found,
            ["crates/x/a/src/b.rs:2: an excused cast: use `base::cast`"]
        );
        assert!(excused_casts(MAY_CAST[0], text).is_empty());
        let tests = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(excused_casts("crates/x/a/src/b.rs", &tests).is_empty());
    }

    #[test]
    fn a_long_file_is_wrong() {
        let file = |lines: usize| "x\n".repeat(lines) + "#[cfg(test)]\nmod tests;\n";
        assert_eq!(length("crates/x/a/src/b.rs", &file(MAX_LINES)), None);
        assert!(length("crates/x/a/src/b.rs", &file(MAX_LINES + 1)).is_some());
    }

    #[test]
    fn tests_are_no_source_of_a_crate() {
        assert_eq!(
            crate_of("crates/core/tcp/src/sender.rs"),
            Some("crates/core/tcp")
        );
        assert_eq!(crate_of("crates/core/tcp/src/sender/tests.rs"), None);
        assert_eq!(crate_of("crates/core/tcp/src/sender/tests/loss.rs"), None);
        assert_eq!(crate_of("crates/core/tcp/tests/timeline.rs"), None);
        assert_eq!(crate_of("crates/simulate/sim/build/version.rs"), None);
    }
}
