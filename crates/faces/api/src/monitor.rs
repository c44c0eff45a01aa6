//! Follows a run: one trait for programs, for the terminal and for Python.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use claims::Experiment;
use claims::judge::Judged;
use results::Finished;
use scenario::Problems;
use sim::metrics::FlowRecord;
use sim::sweep::PointFailure;

use crate::error::Error;
use crate::point::Point;

/// Follows a run. Every method does nothing by default, and may be called from any thread.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use api::{Monitor, RunOptions, Scenario, sweep};
///
/// /// Counts simulations.
/// #[derive(Default)]
/// struct Count(AtomicUsize);
///
/// impl Monitor for Count {
///     fn on_simulation(&self, _expected_s: f64) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let scenario = Scenario::builder("incast").set("workload.senders", 4).build()?;
/// let count = Count::default();
/// let results = sweep(&scenario, &RunOptions::default().monitor(&count))?;
/// assert_eq!(count.0.into_inner(), results.len());
/// # Ok::<(), api::Error>(())
/// ```
pub trait Monitor: Sync {
    /// Calls `work` once; it performs the `stage`. A monitor that shows progress or handles signals does so around this
    /// call.
    fn during(&self, _stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
        work()
    }

    /// The number of simulations at a time, and the number that was wanted.
    fn on_start(&self, _jobs: NonZeroUsize, _wanted: Option<NonZeroUsize>) {}

    /// A simulation is done or has failed; it was expected to take `expected_s` seconds.
    fn on_simulation(&self, _expected_s: f64) {}

    /// Another piece of work is done, such as a table; it was expected to take `expected_s` seconds.
    fn on_work(&self, _expected_s: f64) {}

    /// A simulation has failed. [`on_simulation`](Self::on_simulation) follows.
    fn on_failure(&self, _point: &Point, _failure: &PointFailure) {}

    /// The claims of a figure have been judged.
    fn on_verdicts(&self, _verdicts: &Verdicts<'_>) {}

    /// A reason why more is simulated, or is run again.
    fn on_hint(&self, _line: &str) {}
}

/// Does the work of a stage.
pub type StageWork<'a> = &'a mut dyn FnMut() -> Result<(), Error>;

/// Follows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// The verdicts on a figure, as soon as its simulations are done.
pub struct Verdicts<'a> {
    /// The figure.
    pub figure: &'a Experiment,
    /// Its claims.
    pub claims: &'a [Judged],
    /// Whether causes are still to be tried.
    pub causes_follow: bool,
}

/// A part of the work: simulations, tables made of them, and claims judged.
pub struct Stage<'a> {
    pub(crate) simulations: usize,
    pub(crate) expected_s: f64,
    pub(crate) causes_s: f64,
    pub(crate) jobs: NonZeroUsize,
    pub(crate) content: &'a dyn Content,
}

/// Runs of a stage, which can be inspected while they go on.
pub(crate) trait Content: Sync {
    /// How far each has come.
    fn progress(&self) -> Vec<RunProgress> {
        Vec::new()
    }

    /// Called when the process ends now, for a reason other than the points that it simulates.
    fn abandon(&self) {}

    /// Flows of every point of a sweep.
    fn flows(&self) -> Result<Flows, Problems> {
        Ok(Flows::new())
    }
}

/// Points whose outcomes are returned to the caller, or no points at all.
impl Content for () {}

/// Flows of points, by the index of the point.
pub type Flows = BTreeMap<u32, Vec<FlowRecord>>;

/// How far one run has come.
pub struct RunProgress {
    /// Its folder, if it has one.
    pub folder: Option<PathBuf>,
    /// Points that are done.
    pub done: usize,
    /// All points.
    pub points: usize,
    /// Results of the finished points; `None` for a figure.
    pub results: Option<Finished>,
}

impl Stage<'_> {
    /// Simulations that are missing when the stage begins.
    pub const fn simulations(&self) -> usize {
        self.simulations
    }

    /// Seconds that all of it is expected to take.
    pub const fn expected_s(&self) -> f64 {
        self.expected_s
    }

    /// Seconds that causes of missed claims may take afterwards, at most.
    pub const fn causes_s(&self) -> f64 {
        self.causes_s
    }

    /// Simulations that run at a time.
    pub const fn jobs(&self) -> NonZeroUsize {
        self.jobs
    }

    /// The progress of every run of the stage. It reads the kept points, so it takes time in proportion to the points.
    pub fn progress(&self) -> Vec<RunProgress> {
        self.content.progress()
    }

    /// Must be called before the process ends for another reason, such as a signal. Otherwise the points that a shard
    /// simulates at the moment count as the cause.
    pub fn abandon(&self) {
        self.content.abandon();
    }

    /// Flows of every point of a sweep that is done.
    ///
    /// # Errors
    /// If a point cannot be read.
    pub fn flows(&self) -> Result<Flows, Problems> {
        self.content.flows()
    }
}
