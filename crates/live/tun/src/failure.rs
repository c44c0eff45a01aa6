//! Why an operation failed.

use std::io;

use scenario::Problems;

/// Why it was not done.
#[derive(Debug)]
pub enum Failure {
    /// The input was wrong.
    Problems(Problems),
    /// The machine refused, or data from the network was wrong.
    Io(io::Error),
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
