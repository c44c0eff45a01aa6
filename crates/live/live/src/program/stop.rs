//! Why the program ends without having done its work.

use std::io;
use std::process::ExitCode;

use bed::emulate::EmulateError;
use machine::interrupt;
use miette::Diagnostic;
use protocol::{FailedLine, LacksLine, Line, ProblemLine};
use scenario::{Problem, Problems};

use super::output::line;

/// Why the program ends without having done its work.
#[derive(Debug)]
pub(super) enum Stop {
    /// The input was wrong.
    Problems(Problems),
    /// The machine lacks this, or refused.
    Lacks(String),
    /// Something else failed.
    Failed(String),
    /// It was reported before.
    Refused,
    /// A signal was heard.
    Interrupted,
}

impl Stop {
    /// Writes the last lines and returns the exit status.
    pub(super) fn report(self) -> ExitCode {
        match self {
            Self::Problems(Problems(problems)) => {
                problems.iter().for_each(problem);
                ExitCode::from(2)
            }
            Self::Lacks(what) => {
                let privileges = false;
                line(&Line::Lacks(LacksLine { privileges, what }));
                ExitCode::from(3)
            }
            Self::Failed(what) => {
                line(&Line::Failed(FailedLine { what }));
                ExitCode::from(1)
            }
            Self::Refused => ExitCode::from(2),
            Self::Interrupted => ExitCode::from(128 + interrupt::heard().unwrap_or(0)),
        }
    }
}

fn problem(problem: &Problem) {
    line(&Line::Problem(ProblemLine {
        message: problem.to_string(),
        help: problem.help().map(|help| help.to_string()),
    }));
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted if interrupt::heard().is_some() => Self::Interrupted,
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                Self::Lacks(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Problems> for Stop {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

#[cfg(feature = "kernel")]
impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problems(problem.into())
    }
}

impl From<EmulateError> for Stop {
    fn from(error: EmulateError) -> Self {
        match error {
            EmulateError::Problems(problems) => problems.into(),
            EmulateError::Machine(what) => Self::Lacks(what),
            EmulateError::Failed(what) => Self::Failed(what),
            EmulateError::Io(error) => error.into(),
        }
    }
}

#[cfg(feature = "kernel")]
impl From<deploy::DeployError> for Stop {
    fn from(error: deploy::DeployError) -> Self {
        use deploy::DeployError;
        match error {
            DeployError::Problems(problems) => problems.into(),
            DeployError::Lacks(what) => Self::Lacks(what),
            DeployError::Failed(what) => Self::Failed(what),
            DeployError::Io(error) => error.into(),
        }
    }
}

impl From<tun::Failure> for Stop {
    fn from(failure: tun::Failure) -> Self {
        match failure {
            tun::Failure::Problems(problems) => problems.into(),
            tun::Failure::Io(error) => error.into(),
        }
    }
}
