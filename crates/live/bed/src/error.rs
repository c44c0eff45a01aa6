//! Why an emulation was not done.

use std::io;

use scenario::Problems;

/// Why an emulation was not done.
#[derive(Debug)]
pub enum EmulateError {
    /// Linux cannot have the scenario.
    Problems(Problems),
    /// The machine cannot do it; the text says what would help.
    Machine(String),
    /// A simulation failed, or a file.
    Failed(String),
    /// The machine refused, or a signal was heard.
    Io(io::Error),
}

impl From<io::Error> for EmulateError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Problems> for EmulateError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<tun::Failure> for EmulateError {
    fn from(failure: tun::Failure) -> Self {
        match failure {
            tun::Failure::Problems(problems) => problems.into(),
            tun::Failure::Io(error) => error.into(),
        }
    }
}
