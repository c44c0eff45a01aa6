//! How simulations are run: their limits, their monitor, and their stop flag.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::executor::Executor;
use crate::monitor::{Monitor, Silent};
use crate::request::Allowance;

/// How simulations are run. By default nothing follows them, they are never stopped, and they use the whole machine.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::sync::atomic::AtomicBool;
///
/// use api::{Error, RunOptions, Scenario, sweep};
///
/// let stop = AtomicBool::new(true);
/// let options = RunOptions::default().jobs(NonZeroUsize::MIN).stop(&stop);
/// let ended = sweep(&Scenario::builder("incast").build()?, &options);
/// assert!(matches!(ended, Err(Error::Stopped)));
/// # Ok::<(), api::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    pub(crate) monitor: &'a dyn Monitor,
    pub(crate) stop: Option<&'a AtomicBool>,
    pub(crate) executor: Option<&'a dyn Executor>,
    pub(crate) allowance: Allowance,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            monitor: &Silent,
            stop: None,
            executor: None,
            allowance: Allowance::default(),
        }
    }
}

impl<'a> RunOptions<'a> {
    /// The same, followed by `monitor`.
    #[must_use]
    pub fn monitor(self, monitor: &'a dyn Monitor) -> Self {
        Self { monitor, ..self }
    }

    /// The same, with a stop flag: once `stop` is true, it ends within some milliseconds of simulation. A run whose
    /// results cannot be kept sets the flag itself.
    #[must_use]
    pub fn stop(self, stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// The same, simulated by `executor` instead of this process. Only for runs with a folder.
    #[must_use]
    pub fn executor(self, executor: &'a dyn Executor) -> Self {
        Self {
            executor: Some(executor),
            ..self
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn allowance(self, allowance: Allowance) -> Self {
        Self { allowance, ..self }
    }

    /// Sets the number of threads. Results do not depend on it.
    #[must_use]
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        self.allowance.jobs = Some(jobs);
        self
    }
}
