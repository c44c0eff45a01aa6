//! Why nothing could be drawn.

use std::io;

use results::lacks_room;
use scenario::{Problem, Problems};

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
            Error::Write {
                error: ref cause, ..
            } => {
                let problem = Problem::new(error.to_string());
                let problem = if lacks_room(cause) {
                    problem.for_lack_of_room().help("free some space")
                } else {
                    problem.help("name a file that you may write")
                };
                problem.into()
            }
        }
    }
}
