//! The order for an emulation.

use std::num::NonZeroU32;
use std::path::PathBuf;

use machine::Sysctl;

use crate::calibrate::RateChoice;

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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// Its metrics.
    Metrics,
    /// Every flow, too.
    Flows,
    /// The queue, what is read and the losses over time, too.
    Series,
}
