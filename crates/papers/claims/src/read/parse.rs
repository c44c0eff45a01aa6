//! A file as tables.

use scenario::{Problem, Problems, Source};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::short::write_out;
use super::tree::Node;

/// The tables of a file, with rows and short forms expanded.
pub(super) fn parse(source: &Source) -> Result<Node<'_>, Problems> {
    let mut document = as_written(source)?;
    let mut mistakes = Vec::new();
    if let DeValue::Table(table) = document.get_mut() {
        mistakes = figures::write_out(table);
    }
    write_out(&mut document);
    let problems = mistakes.into_iter().map(|mistake| {
        let problem = Problem::new(mistake.message);
        let problem = problem.at(source, mistake.place, "wrong value");
        problem.help(mistake.help)
    });
    Problems::unless(problems.collect(), document)
}

/// The tables of a file as written; shared tables may be missing.
pub(super) fn as_written(source: &Source) -> Result<Node<'_>, Problems> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let end = source.text().len();
        let place = error
            .span()
            .map_or(end..end, |span| span.start.min(end)..span.end.min(end));
        Problem::new(format!("{} is not correct TOML", source.name()))
            .at(source, place, error.message().trim().replace('\n', ", "))
            .help("a line is [table], key = value or # comment; values with a unit are in quotes")
    })?;
    Ok(Spanned::new(0..0, DeValue::Table(table.into_inner())))
}
