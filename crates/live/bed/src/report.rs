//! The results of an emulation, as values in the order in which they are known.

use std::num::NonZeroU32;

use plan::PointSpec;
use protocol::{FlowRow, Instead, Results};
use scenario::Scenario;

use crate::capture::Captured;
use crate::series::Series;

/// A result of an emulation.
pub(crate) enum Report<'a> {
    /// Nothing yet: it begins.
    Begins {
        scenario: &'a Scenario,
        runs: NonZeroU32,
    },
    /// A scheme that does not run.
    LeftOut {
        point: &'a PointSpec,
        reason: String,
    },
    Network(NetworkReport<'a>),
    Capture(CaptureReport<'a>),
    Run(Box<RunReport<'a>>),
    Twin(TwinReport<'a>),
}

/// The network that points with the same settings share.
pub(crate) struct NetworkReport<'a> {
    /// One of these points.
    pub(crate) point: &'a PointSpec,
    pub(crate) hosts: u32,
    pub(crate) switches: u32,
    /// The real rate of the fastest link, and its rate in the scenario.
    pub(crate) rate_bps: u64,
    pub(crate) scenario_rate_bps: u64,
    pub(crate) burst_bytes: Option<u64>,
    pub(crate) rtt_us: f64,
    /// Differences between Linux and the scenario.
    pub(crate) different: Vec<Instead>,
}

/// The packets of a run, in a file of the run folder.
pub(crate) struct CaptureReport<'a> {
    pub(crate) point: &'a PointSpec,
    pub(crate) file: String,
    pub(crate) captured: Captured,
}

/// One run of one scheme, on Linux or in the simulator.
pub(crate) struct RunReport<'a> {
    /// The point of the scenario; a simulated twin has its own seed.
    pub(crate) point: &'a PointSpec,
    pub(crate) seed: u64,
    pub(crate) run: u32,
    pub(crate) results: Results,
    /// Completion times, the shortest first.
    pub(crate) fct_us: Vec<f64>,
    /// All flows with the end of the run, if wanted.
    pub(crate) flows: Option<Vec<FlowRow>>,
    pub(crate) ended_us: Option<f64>,
    /// Series over time, if wanted.
    pub(crate) series: Option<Series>,
}

/// The simulated counterpart of a scheme's runs.
pub(crate) struct TwinReport<'a> {
    pub(crate) point: &'a PointSpec,
    pub(crate) file: String,
    pub(crate) toml: String,
    /// Files of the traces that it replays.
    pub(crate) starts: Vec<String>,
}
