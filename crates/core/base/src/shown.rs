//! Untrusted text that people read: names, paths and lines of files.
//!
//! A terminal obeys escape sequences, and marks of writing direction make a line read otherwise than it is. Both can
//! stand in any file that somebody sends. Names with such characters are refused; in all other texts they are shown as
//! JSON and TOML write them, `\u001b`, so that what is quoted stays as it is.

use std::borrow::Cow;

/// Whether a character is invisible and changes how its neighbours are shown.
///
/// Control characters but the end of a line and the tabulator, marks of direction (Unicode Standard Annex #9), other
/// separators of lines and characters without width. Joiners are not among them: scripts need them.
pub const fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}'
            | '\u{b}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

/// `text` with every such character as `\u` and its number.
pub fn seen(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return text.into();
    }
    let write = |character: char| {
        if is_unseen(character) {
            format!("\\u{:04x}", u32::from(character))
        } else {
            character.into()
        }
    };
    text.chars().map(write).collect()
}

/// [`seen`] for text with styles: the escape sequences of styles stay.
pub fn seen_but_for_styles(text: &str) -> String {
    let mut parts = text.split(STYLE);
    let mut out = seen(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let end = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        if end.starts_with('m') {
            out.push_str(STYLE);
        } else {
            out.push_str(&seen(STYLE));
        }
        out.push_str(&seen(part));
    }
    out
}

/// [`seen`] without a change of length: every byte of such a character becomes a question mark, so that byte positions and
/// ends of lines stay.
pub fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return text.into();
    }
    let mut masked = String::with_capacity(text.len());
    for character in text.chars() {
        // An end of line as Windows has it ends a line here, too.
        if is_unseen(character) && character != '\r' {
            masked.extend(std::iter::repeat_n('?', character.len_utf8()));
        } else {
            masked.push(character);
        }
    }
    masked.into()
}

/// A cell of a table for spreadsheets, in which nothing is unseen and which is no formula: one that begins like a
/// formula and is no number gets an apostrophe (OWASP, "CSV Injection").
pub fn cell(text: &str) -> Cow<'_, str> {
    let seen = seen(text);
    let is_formula = seen.starts_with(['=', '+', '-', '@', '\t']) && text.parse::<f64>().is_err();
    if is_formula {
        format!("'{seen}").into()
    } else {
        seen
    }
}

/// Whether a variant or a group may have this name: it begins with a letter, a digit or an underscore, so that it is
/// neither a flag nor a formula, and all of it is seen.
pub fn is_name(text: &str) -> bool {
    let begins = |character: char| character.is_alphanumeric() || character == '_';
    text.starts_with(begins) && !text.contains(|c: char| is_unseen(c) || c.is_whitespace())
}

/// Begins the change of a style, which ends with `m` (ECMA-48, SGR).
const STYLE: &str = "\u{1b}[";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(
            seen("a\u{1b}[31m\u{202e}b\r\u{85}"),
            r"a\u001b[31m\u202eb\u000d\u0085"
        );
        assert_eq!(seen("two\nlines\tand é, 日本"), "two\nlines\tand é, 日本");
    }

    #[test]
    fn styles_stay_and_other_sequences_are_shown() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7}";
        let expected = "\u{1b}[1;31mred\u{1b}[0m \\u001b[2J\\u001b]0;title\\u0007";
        assert_eq!(seen_but_for_styles(text), expected);
    }

    #[test]
    fn a_masked_text_has_its_places_where_they_were() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\r\n";
        assert_eq!(masked(text), "a?b??c???d\r\n");
        assert_eq!(masked(text).len(), text.len());
    }

    #[test]
    fn cells_are_no_formulas_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+cmd", "-x", "@SUM(1)", "\t=1"] {
            assert_eq!(cell(formula), format!("'{formula}"));
        }
        for plain in ["-1.5", "+3", "1e-3", "newreno", "a=b", ""] {
            assert_eq!(cell(plain), plain);
        }
    }
}
