//! Plain text in lines and columns.

use std::fmt::Write;

/// Appends `text`, wrapped at words, each line indented by `indent` columns.
pub fn paragraph(out: &mut String, indent: usize, text: &str) {
    wrap(out, indent, WIDTH, text);
}

/// The same in `width` columns.
pub fn wrap(out: &mut String, indent: usize, width: usize, text: &str) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        }
        if column == 0 {
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

/// Lines of a name and what it is, aligned.
pub fn pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<_> = pairs.into_iter().collect();
    let width = pairs
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for (name, meaning) in pairs {
        writeln!(out, "{name:width$}  {meaning}").expect("writing to a string succeeds");
    }
    out
}

/// Columns of help and errors.
pub const WIDTH: usize = 100;
