//! Simulations for another process, and the merging of shards into one run.

use std::path::PathBuf;

use api::{Allowance, RunOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::driver::RaisedBy;
use crate::errors::guarded;
use crate::waiting::Counts;

/// Simulates points for another process.
#[pyclass(frozen, module = "tailwater._tailwater")]
pub(crate) struct Worker(api::Worker);

#[pymethods]
impl Worker {
    #[new]
    fn new(
        py: Python<'_>,
        version: &str,
        toml: String,
        captures: Option<&str>,
        folder: PathBuf,
    ) -> PyResult<Self> {
        let worker = guarded(py, || api::Worker::new(version, toml, captures, &folder))?;
        Ok(Self(worker))
    }

    /// The bytes of points that are one simulation, and the exception of one of its roles.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        points: Vec<usize>,
        steps: u64,
        memory: Option<u64>,
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, Option<RaisedBy>)> {
        let counts = Counts::default();
        let answers = guarded(py, || {
            let allowance = Allowance {
                work: Some(steps),
                memory,
                ..Allowance::default()
            };
            let options = RunOptions::default().monitor(&counts).allowance(allowance);
            self.0.simulate(&points, &options)
        })?;
        let answers = answers
            .iter()
            .map(|bytes| PyBytes::new(py, bytes))
            .collect();
        Ok((answers, counts.raised(py).pop()))
    }
}

/// Merges shards; see `tailwater.merge`.
#[pyfunction]
pub(crate) fn merge(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    out: PathBuf,
    command: Vec<String>,
) -> PyResult<()> {
    guarded(py, || api::merge(&folders, &out, command).map(drop))
}
