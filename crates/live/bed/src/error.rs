//! Why an emulation failed.

use std::io;

use scenario::Problems;

/// Why an emulation failed.
#[derive(Debug)]
pub enum EmulateError {
    /// Linux cannot run the scenario.
    Problems(Problems),
    /// The machine cannot do it; the text has a remedy.
    Machine(String),
    /// A simulation or a file failed.
    Failed(String),
    /// The machine refused, or a signal arrived.
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
