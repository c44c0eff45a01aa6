//! What a source file must not contain, and how long it should be.

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
/// A longer file wants to be several.
const MAX_LINES: usize = 1000;

/// Fails for forbidden words and warns of long files.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    for path in repository.sources("rs")? {
        let text = repository.read(&path)?;
        let lines = text.lines().count();
        if lines > MAX_LINES {
            eprintln!(
                "warning: {path} has {lines} lines; more than {MAX_LINES} are hard to follow"
            );
        }
        for (number, line) in text.lines().enumerate() {
            let found = FORBIDDEN.iter().find(|(word, _)| line.contains(word));
            wrong.extend(found.map(|(word, why)| format!("{path}:{}: {word}: {why}", number + 1)));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "forbidden words\n  {}",
        wrong.join("\n  ")
    )))
}
