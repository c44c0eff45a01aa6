//! Sentences that need a second reading announce themselves by a few words.
//!
//! The list of words with how often each may stand only gets shorter: a new sentence with one of them fails, and so does a
//! number that is too high. CONTRIBUTING.md says what to write instead.

use std::cmp::Ordering;

use super::step::failed;
use crate::repository::{Failure, Repository};

/// Fails for a word that stands more often than it may, or less often than the list says.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut words = listed(LIST)?;
    let mut paths = repository.sources("rs")?;
    paths.retain(|path| !OWN.contains(&path.as_str()));
    paths.extend(repository.pages()?);
    for path in paths {
        let text = repository.read(&path)?;
        for word in &mut words {
            word.found += text.matches(word.text).count();
        }
    }
    failed(&[words.iter().filter_map(Word::wrong).collect()])
}

/// Words that announce a sentence to be written anew.
#[derive(Debug, PartialEq, Eq)]
struct Word<'a> {
    text: &'a str,
    allowed: usize,
    found: usize,
}

impl Word<'_> {
    fn wrong(&self) -> Option<String> {
        let Self {
            text,
            allowed,
            found,
        } = self;
        match found.cmp(allowed) {
            Ordering::Greater => Some(format!(
                "{text:?} stands {found} times, and {allowed} are left from before: write the sentence anew, as \
                 CONTRIBUTING.md says under English"
            )),
            Ordering::Less => Some(format!(
                "{text:?} stands {found} times: lower its number in tools/xtask/src/check/english.txt"
            )),
            Ordering::Equal => None,
        }
    }
}

/// The words of a list, a line each: how often it may stand, and the word behind a bar.
fn listed(list: &str) -> Result<Vec<Word<'_>>, Failure> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let word = |line| {
        let wrong = || Failure(format!("english.txt: no number and word: {line}"));
        let (allowed, text): (&str, &str) = str::split_once(line, '|').ok_or_else(wrong)?;
        let allowed = allowed.trim().parse().map_err(|_| wrong())?;
        Ok(Word {
            text,
            allowed,
            found: 0,
        })
    };
    lines.map(word).collect()
}

const LIST: &str = include_str!("english.txt");
/// Where the words stand because this is about them.
const OWN: [&str; 1] = ["tools/xtask/src/check/english.rs"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_fails_that_stands_more_or_less_often_than_the_list_says() {
        let list = "# how often | what\n2|so many\n0| of which \n";
        let mut words = listed(list).unwrap();
        assert_eq!((words[0].allowed, words[1].text), (2, " of which "));
        for (found, says) in [
            (1, Some("lower its number")),
            (2, None),
            (3, Some("write the sentence anew")),
        ] {
            words[0].found = found;
            let wrong = words[0].wrong();
            assert_eq!(wrong.is_some(), says.is_some(), "{wrong:?}");
            assert!(wrong.is_none_or(|wrong| wrong.contains(says.unwrap_or_default())));
        }
        assert!(listed("of which").is_err());
    }
}
