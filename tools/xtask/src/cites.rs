//! `cargo xtask cites`: lists where each part of a document is cited.

use std::collections::{BTreeMap, BTreeSet};

use crate::clauses;
use crate::repository::{Failure, Repository};

/// Prints every citation, grouped by document and clause, and the documents nobody cites.
pub(crate) fn print(repository: &Repository) -> Result<(), Failure> {
    let known = known(repository)?;
    let cited = cited(repository)?;
    for (document, clauses) in &cited {
        println!("{document}");
        for (ClauseNumber(clause), places) in clauses {
            let clause = if clause.is_empty() { "(whole)" } else { clause };
            println!("  {clause:<24} {}", places.join(" "));
        }
        println!();
    }
    let gaps: Vec<_> = known
        .iter()
        .filter(|key| !cited.contains_key(*key))
        .collect();
    for document in gaps {
        println!("{document}: in {REFERENCES}, cited nowhere");
    }
    println!("{}", clauses::summary(repository)?);
    check(repository)
}

/// Fails for a citation of a document that is missing in `docs/references.md`, and if clauses and tests do not match.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let known = known(repository)?;
    let unknown: Vec<String> = cited(repository)?
        .into_iter()
        .filter(|(document, _)| !known.contains(document))
        .map(|(document, clauses)| {
            let place = clauses
                .into_values()
                .next()
                .and_then(|places| places.into_iter().next());
            format!("{document} (cited in {})", place.unwrap_or_default())
        })
        .collect();
    if unknown.is_empty() {
        return clauses::check(repository);
    }
    Err(Failure(format!(
        "{REFERENCES} does not have {}",
        unknown.join(", ")
    )))
}

const REFERENCES: &str = "docs/references.md";

/// The keys of `docs/references.md`: lines of the form `- **KEY**: ...`.
fn known(repository: &Repository) -> Result<BTreeSet<String>, Failure> {
    let text = repository.read(REFERENCES)?;
    let key = |line: &str| Some(line.strip_prefix("- **")?.split_once("**")?.0.to_owned());
    Ok(text.lines().filter_map(key).collect())
}

/// Documents, their clauses, and the places that cite them.
type Cited = BTreeMap<String, BTreeMap<ClauseNumber, Vec<String>>>;

fn cited(repository: &Repository) -> Result<Cited, Failure> {
    let mut cited = Cited::new();
    let mut sources = repository.sources("rs")?;
    // Laws are C.
    sources.extend(repository.sources("h")?);
    // The examples in this crate do not count as citations.
    let sources = sources
        .into_iter()
        .filter(|path| !path.starts_with("tools/xtask/"));
    for path in sources {
        for (number, line) in repository.read(&path)?.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            for citation in citations(comment) {
                let clauses = cited.entry(citation.document).or_default();
                let places = clauses.entry(ClauseNumber(citation.clause)).or_default();
                places.push(format!("{path}:{}", number + 1));
            }
        }
    }
    Ok(cited)
}

/// A clause, ordered by its numbers as numbers: §3.2 before §3.10.
#[derive(PartialEq, Eq)]
struct ClauseNumber(String);

impl ClauseNumber {
    fn numbers(&self) -> Vec<u32> {
        let parts = self.0.split(|letter: char| !letter.is_ascii_digit());
        parts.filter_map(|part| part.parse().ok()).collect()
    }
}

impl Ord for ClauseNumber {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let kind = |clause: &Self| clause.0.chars().next();
        let key = |clause: &Self| (kind(clause), clause.numbers());
        key(self)
            .cmp(&key(other))
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ClauseNumber {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A document and the cited part; empty for the whole document.
#[derive(PartialEq, Eq, Debug)]
struct Citation {
    document: String,
    clause: String,
}

/// The citations in a comment: `RFC 6582 §3.2 step 2`, `RFC 5681, 6582`, `RCC Alg. 2 l. 3`.
fn citations(comment: &str) -> Vec<Citation> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let mut found = Vec::new();
    let mut place = 0;
    while place < words.len() {
        let word = bare(words[place]);
        let next = words.get(place + 1).map_or("", |next| bare(next));
        place += 1;
        if word == "RFC" && is_rfc(next) {
            // Further numbers after commas: "RFC 5681, 6582 and 6675".
            let mut rfc = next;
            loop {
                let clause = clause(&words[place..]);
                place += 1;
                found.push(Citation {
                    document: format!("RFC {rfc}"),
                    clause,
                });
                let listed = words[place - 1].ends_with(',');
                match words.get(place).map(|next| bare(next)) {
                    Some(number) if listed && is_rfc(number) => rfc = number,
                    _ => break,
                }
            }
        } else if is_paper(word) && ends_open(words[place - 1]) {
            let clause = clause(&words[place - 1..]);
            if !clause.is_empty() {
                found.push(Citation {
                    document: word.to_owned(),
                    clause,
                });
            }
        }
    }
    found
}

/// The words that name the part, after the first word, which is the document.
fn clause(words: &[&str]) -> String {
    let mut clause: Vec<&str> = Vec::new();
    let mut end = words.first().is_none_or(|document| !ends_open(document));
    for raw in &words[words.len().min(1)..] {
        let word = bare(raw);
        let digit = word.starts_with(|letter: char| letter.is_ascii_digit());
        let counts = clause.last().is_some_and(|last| LABELS.contains(last));
        if end || !(word.starts_with('§') || LABELS.contains(raw) || (digit && counts)) {
            break;
        }
        let label = LABELS.contains(raw);
        clause.push(if label { raw } else { word });
        end = !label && !ends_open(raw);
    }
    // A label without a number is a word of the sentence.
    while clause.last().is_some_and(|last| LABELS.contains(last)) {
        clause.pop();
    }
    clause.join(" ")
}

/// Words that are followed by the number of a part.
const LABELS: [&str; 9] = [
    "Alg.", "l.", "step", "option", "rule", "eq.", "Eq.", "Fig.", "Table",
];

/// A word without surrounding punctuation, and without the opening of a remark: `DEVIATION(RCC`.
fn bare(word: &str) -> &str {
    let word = word.rsplit('(').next().unwrap_or(word);
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '§');
    word.strip_suffix("'s").unwrap_or(word)
}

/// Whether the following characters still belong to a word.
fn ends_open(word: &str) -> bool {
    !word.ends_with([',', ';', ':', ')', '.', '|'])
}

fn is_rfc(word: &str) -> bool {
    (3..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word looks like the key of a paper: DCTCP, RC3.
fn is_paper(word: &str) -> bool {
    word.len() >= 3
        && word != "RFC"
        && word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(comment: &str) -> Vec<String> {
        let text = |found: Citation| format!("{} {}", found.document, found.clause);
        citations(comment)
            .into_iter()
            .map(|found| text(found).trim_end().to_owned())
            .collect()
    }

    #[test]
    fn citations_are_found_with_their_clause() {
        assert_eq!(
            of("RFC 6582 §3.2 step 2; the inflation"),
            ["RFC 6582 §3.2 step 2"]
        );
        assert_eq!(of("(RFC 5681 §3.1)."), ["RFC 5681 §3.1"]);
        assert_eq!(
            of("recovery (RFC 5681, 6582, 6675)."),
            ["RFC 5681", "RFC 6582", "RFC 6675"]
        );
        assert_eq!(of("RCC Alg. 2 l. 12-16. Then"), ["RCC Alg. 2 l. 12-16"]);
        assert_eq!(of("DEVIATION(RCC §4.4): data"), ["RCC §4.4"]);
        assert_eq!(
            of("(DCTCP §3.1, RFC 8257 §3.1)."),
            ["DCTCP §3.1", "RFC 8257 §3.1"]
        );
        assert_eq!(
            of("RFC 6298's gains; MSS of 5, TCP step by step"),
            ["RFC 6298"]
        );
        assert_eq!(of("option 1 of RFC 6582 only"), ["RFC 6582"]);
    }

    #[test]
    fn clauses_are_ordered_by_number() {
        let clause = |text: &str| ClauseNumber(text.to_owned());
        assert!(clause("§3.2") < clause("§3.10"));
        assert!(clause("§3.2") < clause("§3.2 step 2"));
    }
}
