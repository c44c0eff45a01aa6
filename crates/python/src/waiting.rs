//! Work on a thread of its own, while Python's thread waits for it, asks for signals and tells progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tailwater::api::{Ended, Monitor};

use crate::errors::{exception, internal, message};

/// Does `work`, which hears that it is to end from what it is given.
///
/// The interpreter is free for other threads meanwhile. Every [`LOOK`] signals are asked for and `progress`,
/// if there is any, is called with what is done and what there is to do. Where either raises, the work ends
/// within some milliseconds and the exception is raised here, once nothing of the work is left.
pub(crate) fn waited<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce((&dyn Monitor, &AtomicBool)) -> Result<T, Ended> + Send,
) -> PyResult<T> {
    let (counts, stop, over) = (
        Counts::default(),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let waits = thread::current();
    thread::scope(|scope| {
        let (heard, stopped, ended) = (&counts, &stop, &over);
        let worker = scope.spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| work((heard, stopped))));
            ended.store(true, Ordering::Release);
            waits.unpark();
            done
        });
        let mut told = None;
        let mut raised = Ok(());
        let mut looks = 0_u32;
        while !over.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(LOOK));
            if raised.is_err() {
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
        match done {
            Ok(Ok(done)) => done.map_err(|ended| exception(py, ended)),
            Ok(Err(panic)) | Err(panic) => Err(internal(py, &message(panic.as_ref()))),
        }
    })
}

/// Calls `progress` unless it has been told the same before.
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

/// Simulations that are done, and all of which it is known that they are to be done.
#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Monitor for Counts {
    fn begins(&self, simulations: usize) {
        self.all.fetch_add(simulations, Ordering::Relaxed);
    }

    fn advances(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Time between two looks for signals: nobody notices it, and it costs nothing.
const LOOK: Duration = Duration::from_millis(50);
/// Looks between two calls of progress: ten calls a second at most.
const LOOKS: u32 = 2;
