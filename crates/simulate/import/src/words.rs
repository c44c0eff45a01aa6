//! The words of a line with their columns, so that errors can name line, column and remedy.

use tables::flows::exact::Decimal;

/// The words of one line, from the left.
pub(crate) struct Words<'a> {
    line: usize,
    rest: &'a str,
    column: usize,
}

/// A word and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
}

impl<'a> Words<'a> {
    /// The words of `text`, which is line number `line`.
    pub(crate) const fn of(line: usize, text: &'a str) -> Self {
        Self {
            line,
            rest: text,
            column: 1,
        }
    }

    /// The next word, or an error that names the missing one.
    pub(crate) fn need(&mut self, what: &str) -> Result<Word<'a>, String> {
        let end = (
            self.line,
            self.column + self.rest.trim_end().chars().count(),
        );
        self.next()
            .ok_or_else(|| format!("line {}, column {}: {what} is missing", end.0, end.1))
    }
}

/// The end of the last line with words, as the beginning of an error message.
pub(crate) fn end_of(text: &str) -> String {
    let lines = (1_usize..).zip(text.lines());
    let last = lines.filter(|(_, line)| !line.trim().is_empty()).last();
    let (line, column) = last.map_or((1, 1), |(number, line)| {
        (number, line.trim_end().chars().count() + 1)
    });
    format!("line {line}, column {column}")
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let begin = self.rest.find(|c: char| !c.is_whitespace())?;
        self.column += self.rest[..begin].chars().count();
        let rest = &self.rest[begin..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let text = &rest[..end];
        let word = Word {
            text,
            line: self.line,
            column: self.column,
        };
        self.column += text.chars().count();
        self.rest = &rest[end..];
        Some(word)
    }
}

impl Word<'_> {
    /// An error at this word.
    pub(crate) fn wrong(&self, cause: impl std::fmt::Display) -> String {
        format!("line {}, column {}: {cause}", self.line, self.column)
    }

    /// The word as a whole number that fits into 64 bits.
    pub(crate) fn whole(&self, what: &str) -> Result<u64, String> {
        let number = Decimal::parse(self.text).and_then(Decimal::whole);
        number.ok_or_else(|| self.wrong(format!("{what} is a whole number, not {:?}", self.text)))
    }

    /// The word as a non-negative number, multiplied by `factor` and rounded.
    pub(crate) fn times(&self, what: &str, factor: u64) -> Result<u128, String> {
        let number = Decimal::parse(self.text).filter(|number| !number.negative);
        let parts = number.and_then(|number| number.times(factor));
        parts
            .map(|(value, _)| value)
            .ok_or_else(|| self.wrong(format!("{what} is a number from 0, not {:?}", self.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_columns() {
        let mut words = Words::of(3, "  a->b  start x");
        let places: Vec<(usize, &str)> = words
            .by_ref()
            .map(|word| (word.column, word.text))
            .collect();
        assert_eq!(places, [(3, "a->b"), (9, "start"), (15, "x")]);
        let missing = words.need("the size").unwrap_err();
        assert_eq!(missing, "line 3, column 16: the size is missing");
    }
}
