//! Plain text in lines and columns.

use std::fmt::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

/// Appends `text`, wrapped at words, each line indented by `indent` columns.
pub fn paragraph(out: &mut String, indent: usize, text: &str) {
    wrap(out, indent, WIDTH, text);
}

/// Appends `text`, wrapped at words to `width` columns, each line indented by `indent` columns.
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

/// Lines of a name and its description, aligned.
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

/// Lines of cells in columns after an indent; words are left-aligned, numbers right-aligned.
pub(crate) fn aligned(
    lines: &[Vec<String>],
    indent: &str,
    is_number: impl Fn(usize) -> bool,
) -> String {
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| {
            if is_number(column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(out, "{indent}{}", line.trim_end()).expect("writing to a string succeeds");
    }
    out
}

/// A table with a line below its header.
pub(crate) fn ruled() -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('-');
    table.load_style(TableStyle::new().header_separator(rule));
    table
}

/// The tone of a cell that stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Middle,
    Bad,
    Plain,
}

impl Tone {
    const ALL: [Self; 4] = [Self::Good, Self::Middle, Self::Bad, Self::Plain];

    /// A character without width in front of each word of a cell.
    const fn mark(self) -> char {
        match self {
            Self::Good => '\u{2061}',
            Self::Middle => '\u{2062}',
            Self::Bad => '\u{2063}',
            Self::Plain => '\u{2060}',
        }
    }

    /// The escape sequence of bold text in a bright colour (ECMA-48 §8.3.117).
    const fn escape(self) -> &'static str {
        match self {
            Self::Good => "\u{1b}[1;92m",
            Self::Middle => "\u{1b}[1;93m",
            Self::Bad => "\u{1b}[1;91m",
            Self::Plain => "\u{1b}[1m",
        }
    }
}

/// Ends what a tone began.
const END: char = '\u{2064}';

/// The text of a cell that stands out.
///
/// Its words have marks until [`drawn`] colours them. The table's own colours would bring nine crates for terminals, which
/// pages cannot have.
pub(crate) fn bold(text: &str, tone: Tone) -> String {
    // A cell may be divided between any two words.
    let words = text.split(' ');
    let words = words.map(|word| format!("{}{word}{END}", tone.mark()));
    words.collect::<Vec<_>>().join(" ")
}

/// The lines of a table, in which cells that stand out have colours if it is `styled`.
pub(crate) fn drawn(table: &Table, styled: bool) -> String {
    let mut out = table.trim_fmt();
    for tone in Tone::ALL {
        out = out.replace(tone.mark(), if styled { tone.escape() } else { "" });
    }
    out.replace(END, if styled { "\u{1b}[0m" } else { "" })
}

/// Gives the columns of a table these widths.
pub(crate) fn fix<const N: usize>(table: &mut Table, widths: [usize; N]) {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(WIDTH).unwrap_or(u16::MAX));
    table.set_constraints(widths.map(|width| {
        // Each column is followed by a column of padding.
        let width = u16::try_from(width + 1).unwrap_or(u16::MAX);
        ColumnConstraint::Absolute(Width::Fixed(width))
    }));
    pad(table);
}

/// Leaves a column between the columns of a table.
pub(crate) fn pad(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
}

/// Columns of help and errors.
pub const WIDTH: usize = 100;
