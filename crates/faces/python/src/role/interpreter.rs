//! The interpreter's lock, held by a thread that simulates with roles in Python.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;
use schemes::Hold;

/// The lock of the interpreter.
///
/// Several threads take turns: the interpreter passes the lock on every few milliseconds while Python runs, and
/// simulations do so between their batches of events.
pub(super) struct Interpreter;

impl Hold for Interpreter {
    fn hold(&self, simulate: &mut dyn FnMut()) {
        Python::attach(|py| {
            let _entered = Entered::new(py);
            simulate();
        });
    }

    /// Passes the lock on, at most every [`TURN`].
    ///
    /// A waiting thread requests the lock when it has not been free for 5 ms (`sys.getswitchinterval`), and then gets
    /// it at the next occasion. If the lock became free more often, the waiting thread would each time wake up too
    /// late, and would never request it: for seconds no signal would be handled.
    fn pause(&self) {
        let now = now();
        let due = PAUSED.with(|paused| {
            let due = paused.get().is_none_or(|last| now - last >= TURN);
            if due {
                paused.set(Some(now));
            }
            due
        });
        if due {
            Python::attach(|py| py.detach(|| ()));
        }
    }
}

/// How long a thread keeps the lock if nobody requests it: several times as long as another thread waits before its
/// request.
const TURN: Duration = Duration::from_millis(20);

thread_local! {
    /// When this thread last passed the lock on.
    static PAUSED: Cell<Option<Instant>> = const { Cell::new(None) };
}

#[expect(clippy::disallowed_methods, reason = "threads take turns by the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Threads that hold the lock or wait for it again, by their Python numbers.
static THREADS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct Entered(Option<u64>);

impl Entered {
    fn new(py: Python<'_>) -> Self {
        let thread = || -> PyResult<u64> {
            let threading = py.import(intern!(py, "threading"))?;
            threading.call_method0(intern!(py, "get_ident"))?.extract()
        };
        let thread = thread().ok();
        threads(|threads| threads.extend(thread));
        Self(thread)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        threads(|threads| {
            let place = threads.iter().position(|thread| Some(*thread) == self.0);
            place.map(|place| threads.swap_remove(place))
        });
    }
}

fn threads<T>(call: impl FnOnce(&mut Vec<u64>) -> T) -> T {
    call(&mut THREADS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The module that raises exceptions in other threads. It is imported before any role runs, because an import takes
/// tenths of a second while these threads have the lock.
pub(super) fn helper(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "tailwater._interrupt"))
}

/// Raises `KeyboardInterrupt` in every thread that runs a role, so that an endless loop in user code ends, too.
pub(crate) fn interrupt(py: Python<'_>) -> PyResult<()> {
    let threads = threads(|threads| threads.clone());
    if threads.is_empty() {
        return Ok(());
    }
    helper(py)?.call_method1(intern!(py, "interrupt"), (threads,))?;
    Ok(())
}
