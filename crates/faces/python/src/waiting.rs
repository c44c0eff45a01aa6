//! Work on its own thread, while Python's thread waits for it, checks for signals and reports progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use api::{Error, Monitor, Point, PointFailure, RunError, RunOptions, Stage, StageWork};
use pyo3::prelude::*;
use schemes::Cause;

use crate::driver::{Driver, RaisedBy};
use crate::errors::{exception, internal, message};
use crate::role::{Raised, interrupt};

/// Does `work`. A `driver` in Python may distribute its simulations. The work gets a flag that tells it to end.
///
/// The interpreter is free for other threads meanwhile. Every [`LOOK`], signals are checked and `progress`, if given,
/// is called with the finished and the total work. If either raises, the work ends within some milliseconds, and the
/// exception is raised here after the work has ended. Exceptions of roles in Python are returned with the result.
pub(crate) fn waited<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    driver: Option<Py<PyAny>>,
    work: impl FnOnce(RunOptions<'_>) -> Result<T, Error> + Send,
) -> PyResult<(T, Vec<RaisedBy>)> {
    let _here = Here::new();
    let (counts, stop, over) = (
        Counts {
            driver: driver.map(Driver::new),
            ..Counts::default()
        },
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let waits = thread::current();
    thread::scope(|scope| {
        let (heard, stopped, ended) = (&counts, &stop, &over);
        let worker = scope.spawn(move || {
            let mut options = RunOptions::default().monitor(heard).stop(stopped);
            if let Some(driver) = &heard.driver {
                options = options.executor(driver);
            }
            let done = catch_unwind(AssertUnwindSafe(|| work(options)));
            ended.store(true, Ordering::Release);
            waits.unpark();
            done
        });
        let mut told = None;
        let mut raised = Ok(());
        let mut looks = 0_u32;
        while !over.load(Ordering::Acquire) {
            let look = if raised.is_ok() { LOOK } else { SOON };
            py.detach(|| thread::park_timeout(look));
            if raised.is_err() {
                // With two runs it is unknown which one a thread belongs to.
                if Here::is_alone() {
                    interrupt(py)?;
                }
                continue;
            }
            looks += 1;
            raised = py.check_signals();
            if let (Ok(()), Some(progress)) = (&raised, progress)
                && looks.is_multiple_of(LOOKS)
            {
                raised = tell(progress, &counts, &mut told);
            }
            if raised.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let done = py.detach(|| worker.join());
        raised?;
        if let Some(progress) = progress {
            tell(progress, &counts, &mut told)?;
        }
        if let Some(error) = counts.driver.as_ref().and_then(Driver::error) {
            return Err(error);
        }
        match done {
            Ok(Ok(done)) => {
                let done = done.map_err(|ended| exception(py, ended))?;
                Ok((done, counts.raised(py)))
            }
            Ok(Err(panic)) | Err(panic) => Err(internal(py, &message(panic.as_ref()))),
        }
    })
}

/// Calls `progress` unless the numbers are unchanged.
fn tell(
    progress: &Bound<'_, PyAny>,
    counts: &Counts,
    told: &mut Option<(usize, usize)>,
) -> PyResult<()> {
    let now = (
        counts.done.load(Ordering::Relaxed),
        counts.all.load(Ordering::Relaxed),
    );
    if *told != Some(now) && now.1 > 0 {
        *told = Some(now);
        progress.call1(now)?;
    }
    Ok(())
}

/// Finished simulations, and all known simulations.
#[derive(Default)]
pub(crate) struct Counts {
    done: AtomicUsize,
    all: AtomicUsize,
    failed: Mutex<Vec<(Failed, Cause)>>,
    driver: Option<Driver>,
}

/// A simulation by its number, scheme and seed, and its simulated time in picoseconds.
type Failed = (usize, String, u64, u64);

impl Counts {
    /// The exceptions of roles, in the order of points.
    pub(crate) fn raised(&self, py: Python<'_>) -> Vec<RaisedBy> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let raised = failed.iter().filter_map(|(failed, cause)| {
            let (index, scheme, seed, simulated) = failed.clone();
            let raised: &Raised = cause.downcast_ref()?;
            Some((index, scheme, seed, simulated, raised.exception(py)))
        });
        let mut raised: Vec<RaisedBy> = raised.collect();
        raised.extend(self.driver.iter().flat_map(Driver::raised));
        raised.sort_by_key(|raised| raised.0);
        raised
    }
}

/// Runs that are waited for.
static RUNS: AtomicUsize = AtomicUsize::new(0);

struct Here;

impl Here {
    fn new() -> Self {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self
    }

    fn is_alone() -> bool {
        RUNS.load(Ordering::Relaxed) == 1
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Monitor for Counts {
    fn during(&self, stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
        self.all.fetch_add(stage.simulations(), Ordering::Relaxed);
        work()
    }

    fn on_failure(&self, point: &Point, failure: &PointFailure) {
        if let PointFailure::Run(RunError::Role { cause, simulated }) = failure {
            let failed = (
                point.index(),
                point.scheme().to_owned(),
                point.seed(),
                simulated.as_ps(),
            );
            let mut all = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((failed, cause.clone()));
        }
    }

    fn on_simulation(&self, _expected_s: f64) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The time between two checks for signals: too short to notice, and cheap.
const LOOK: Duration = Duration::from_millis(50);
/// The same once a run must end: each check gives a thread in an endless loop of a role another interrupt.
const SOON: Duration = Duration::from_millis(5);
/// The number of checks between two calls of progress: at most ten calls a second.
const LOOKS: u32 = 2;
