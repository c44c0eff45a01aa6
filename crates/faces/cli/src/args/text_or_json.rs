//! How commands that run no simulations print what they found.

use clap::ValueEnum;

/// How something that is no table of results is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text for people
    Table,
    /// One object
    Json,
}
