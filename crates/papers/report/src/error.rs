//! Why nothing could be drawn.

use results::{Undelivered, lacks_room};
use scenario::{Problem, Problems};

/// The reason why a report or a figure could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read, or the request cannot be met.
    #[error(transparent)]
    Input(#[from] Problems),
    /// The file cannot be written.
    #[error("{0}")]
    Write(#[from] Undelivered),
}

impl From<Error> for Problems {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(problems) => problems,
            Error::Write(error) => {
                let problem = Problem::new(error.to_string());
                let problem = if lacks_room(&error.error) {
                    problem.for_lack_of_room().help("free some space")
                } else {
                    problem.help("name a file that you may write")
                };
                problem.into()
            }
        }
    }
}
