//! The parameters of an emulation.

use std::num::NonZeroU32;
use std::path::PathBuf;

use machine::Sysctl;

use crate::calibrate::RateChoice;

/// An order to the test bed.
#[derive(Clone, Debug)]
pub struct Order {
    /// How fast the links are.
    pub rate: RateChoice,
    /// Options for every host.
    pub sysctls: Vec<Sysctl>,
    /// The number of runs of every scheme.
    pub runs: NonZeroU32,
    /// Whether the twins are simulated.
    pub simulate: bool,
    /// The run folder, if there is one. Traces of starts are written there for the twins.
    pub folder: Option<PathBuf>,
    /// Whether packets of the first run of every scheme go there, too.
    pub captures: bool,
    /// The amount of detail about every run.
    pub detail: Detail,
}

/// How much is told of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// Its metrics.
    Metrics,
    /// Every flow, too.
    Flows,
    /// Also the queue, the bytes read and the losses over time.
    Series,
}
