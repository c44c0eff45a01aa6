//! Why a script did not pass.

use std::fmt;

/// Why a script did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptFailure {
    /// Line of the script, counted from 1.
    pub line: usize,
    /// The error at that line.
    pub cause: FailureCause,
}

/// An error of a script or of the endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureCause {
    /// The script needs a missing feature: its kind, and what it is.
    Lacks(Lacks, String),
    /// The endpoint did something else.
    Differs(String),
}

base::names! {
    /// Features that scripts may need, and that the endpoint, its host or this interpreter lacks.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Lacks {
        /// Syntax that is not read.
        Syntax = "syntax that is not read",
        /// A call of the application.
        Call = "a call that is not driven",
        /// A command of the shell, or a setting of the kernel.
        Command = "a command or setting of the kernel without a counterpart",
        /// A value of `tcp_info`.
        Info = "a value of tcp_info that is not kept",
        /// Packets that a queue of the kernel paces.
        Pacing = "pacing by the fq queue",
        /// The time of day in place of virtual time.
        Clock = "a clock other than virtual time",
    }
}

impl ScriptFailure {
    /// The endpoint differs at `line`.
    pub(crate) fn differs(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            cause: FailureCause::Differs(what.into()),
        }
    }

    /// Line `line` needs `what`.
    pub(crate) fn lacks(line: usize, lack: Lacks, what: impl Into<String>) -> Self {
        Self {
            line,
            cause: FailureCause::Lacks(lack, what.into()),
        }
    }
}

impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.cause {
            FailureCause::Lacks(lack, what) => write!(f, "{}: {what}", lack.name()),
            FailureCause::Differs(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ScriptFailure {}
