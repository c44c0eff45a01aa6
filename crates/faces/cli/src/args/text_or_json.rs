//! The output formats of commands that run no simulation.

use clap::ValueEnum;

/// Output formats of an answer that is not a table of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text for people
    Table,
    /// One object
    Json,
}
