//! What an emulation is to do, and why it was not done.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::ValueEnum;
use machine::{Sysctl, interrupt};
use scenario::Problems;

use crate::linux::alone::Unknown;
use crate::linux::calibrate::RateChoice;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Order {
    /// How fast the links are.
    pub rate: RateChoice,
    /// What the user asks of every host besides.
    pub sysctls: Vec<Sysctl>,
    /// How often every scheme runs.
    pub runs: NonZeroU32,
    /// Whether the twins are simulated.
    pub simulate: bool,
    /// The run folder, if there is one: traces of starts go there, which twins replay.
    pub folder: Option<PathBuf>,
    /// Whether packets of the first run of every scheme go there, too.
    pub captures: bool,
    /// How much is told of every run.
    pub detail: Detail,
}

/// How much is told of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub enum Detail {
    /// Its metrics.
    Metrics,
    /// Every flow, too.
    Flows,
    /// The queue, what is read and the losses over time, too.
    Series,
}

/// Why it was not done.
#[derive(Debug)]
pub enum Failure {
    /// Linux cannot have the scenario.
    Problems(Problems),
    /// The machine lacks something, or refused.
    Machine(String),
    /// A simulation failed, or a file.
    Failed(String),
    /// The input was wrong, which has been said.
    Refused,
    /// A signal was heard.
    Interrupted,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted if interrupt::heard().is_some() => Self::Interrupted,
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                Self::Machine(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Problems(problems) => problems.into(),
            Unknown::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<tun::Failure> for Failure {
    fn from(failure: tun::Failure) -> Self {
        match failure {
            tun::Failure::Problems(problems) => problems.into(),
            tun::Failure::Io(error) => error.into(),
        }
    }
}
