//! Why a command about a device was not done.

use std::io;

use programs::LoadError;
use scenario::{Problem, Problems};

/// Why a command about a device was not done.
#[derive(Debug)]
pub enum DeployError {
    /// The input was wrong.
    Problems(Problems),
    /// The kernel lacks something.
    Lacks(String),
    /// Another user of the device is in the way, or an address is taken.
    Failed(String),
    /// The machine refused, or a signal was heard.
    Io(io::Error),
}

impl From<io::Error> for DeployError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Problems> for DeployError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for DeployError {
    fn from(problem: Problem) -> Self {
        Self::Problems(problem.into())
    }
}

impl From<LoadError> for DeployError {
    /// An operation that the kernel refuses counts as one that it lacks.
    fn from(error: LoadError) -> Self {
        Self::Lacks(format!(
            "a kernel with more features: {error}; `tailwater doctor` lists the features of this kernel"
        ))
    }
}
