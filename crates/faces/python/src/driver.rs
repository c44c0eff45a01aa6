//! Simulations in other processes: a driver in Python distributes the jobs, and this module stores the answers.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use api::{Executor, JobOrder, KeepAnswers};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An exception of a role: the simulation's number, scheme and seed, and its simulated time in picoseconds.
pub(crate) type RaisedBy = (usize, String, u64, u64, PyErr);

/// A driver: an object whose `answers(toml, jobs, steps)` yields, job by job, its number and the bytes of its points,
/// or `None` if there is nothing yet. It may drop an answer when the next one is requested.
pub(crate) struct Driver {
    object: Py<PyAny>,
    raised: Mutex<Vec<RaisedBy>>,
    error: Mutex<Option<PyErr>>,
}

/// The number of a job, the bytes of its points, and the exception of a role: scheme, seed, time, exception.
type Answer<'py> = (
    usize,
    Vec<Bound<'py, PyBytes>>,
    Option<(String, u64, u64, Bound<'py, PyAny>)>,
);

impl Driver {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self {
            object,
            raised: Mutex::default(),
            error: Mutex::default(),
        }
    }

    /// The reason for its end.
    pub(crate) fn error(&self) -> Option<PyErr> {
        self.error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// The exceptions of roles.
    pub(crate) fn raised(&self) -> Vec<RaisedBy> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *raised)
    }

    fn drive(
        &self,
        py: Python<'_>,
        order: &JobOrder<'_>,
        keep: KeepAnswers<'_>,
    ) -> PyResult<Result<(), String>> {
        let jobs = order.jobs.iter().map(|job| (job.points.clone(), job.steps));
        let jobs: Vec<(Vec<usize>, f64)> = jobs.collect();
        let answers = self.object.bind(py);
        let answers =
            answers.call_method1(intern!(py, "answers"), (&order.toml, jobs, order.steps))?;
        let mut kept = Ok(());
        for answer in answers.try_iter()? {
            if order.stop.load(Ordering::Relaxed) {
                break;
            }
            let Some((number, bytes, raised)) = answer?.extract::<Option<Answer<'_>>>()? else {
                continue;
            };
            let bytes: Vec<Vec<u8>> = bytes
                .iter()
                .map(|bytes| bytes.as_bytes().to_vec())
                .collect();
            kept = py.detach(|| keep(number, &bytes));
            if kept.is_err() {
                break;
            }
            if let Some((scheme, seed, time, exception)) = raised {
                let index = order.jobs[number].points[0];
                let raised = (index, scheme, seed, time, PyErr::from_value(exception));
                let mut all = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(raised);
            }
        }
        // Cancels jobs that are no longer wanted.
        answers.call_method0(intern!(py, "close"))?;
        Ok(kept)
    }
}

impl Executor for Driver {
    fn execute(&self, order: &JobOrder<'_>, keep: KeepAnswers<'_>) -> Result<(), String> {
        let driven = Python::attach(|py| self.drive(py, order, keep));
        driven.unwrap_or_else(|error| {
            let text = error.to_string();
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Err(text)
        })
    }
}
