//! Why nothing could be drawn.

use std::io;

use lab::scenario::{Problem, Problems};

/// What keeps a report or a figure from being written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read, or the wish cannot be met.
    #[error(transparent)]
    Input(#[from] Problems),
    /// The file cannot be written.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Where.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl From<Error> for Problems {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(problems) => problems,
            Error::Write { .. } => Problem::new(error.to_string())
                .help("name another file with -o")
                .into(),
        }
    }
}
