//! A file as tables.

use scenario::{Problem, Problems, Source};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::short::write_out;
use super::tree::Node;

/// The tables of a file, with short forms written out.
pub(super) fn parse(source: &Source) -> Result<Node<'_>, Problems> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let end = source.text().len();
        let place = error
            .span()
            .map_or(end..end, |span| span.start.min(end)..span.end.min(end));
        Problem::new(format!("{} is not correct TOML", source.name()))
            .at(source, place, error.message().trim().replace('\n', ", "))
            .help("a line is [table], key = value or # comment; values with a unit are in quotes")
    })?;
    let mut document = Spanned::new(0..0, DeValue::Table(table.into_inner()));
    write_out(&mut document);
    Ok(document)
}
