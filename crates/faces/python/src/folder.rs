//! A run folder, for reading.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::Problems;
use tailwater::texts;

use crate::arrow::Table;
use crate::errors::{guarded, name};

/// A complete run folder, locked against writers.
#[pyclass(frozen, module = "tailwater._tailwater")]
pub(crate) struct Folder(Mutex<results::Folder>);

impl Folder {
    fn get(&self) -> MutexGuard<'_, results::Folder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Folder {
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let folder = guarded(py, || results::Folder::open(&path))?;
        Ok(Self(Mutex::new(folder)))
    }

    /// The version that wrote it.
    #[getter]
    fn version(&self) -> String {
        self.get().summary().version.clone()
    }

    /// The JSON of `--format json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok::<_, Problems>(texts::json(&self.get())))
    }

    /// The text that `tailwater run` prints, in this many columns.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        guarded(py, || Ok::<_, Problems>(texts::table(&self.get(), width)))
    }

    /// As a part of a page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || {
            report::snippet(&self.get(), &answer::SENTENCES).map_err(Problems::from)
        })
    }

    /// Writes the report; with `explore` it opens the page that simulates the scenario.
    fn report(&self, py: Python<'_>, path: PathBuf, explore: bool) -> PyResult<()> {
        let write = |path: &Path| -> Result<(), Problems> {
            let (folder, words) = (self.get(), &answer::SENTENCES);
            let written = if explore {
                let page = texts::explore_run(&folder)?;
                report::write_opening(&folder, words, &page, path)
            } else {
                report::write(&[&folder], words, path)
            };
            written.map_err(Problems::from)
        };
        guarded(py, || write(&path))
    }

    /// `scenario.toml`.
    #[getter]
    fn scenario(&self) -> String {
        self.get().scenario_text().to_owned()
    }

    /// Every simulation that failed.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let folder = self.get();
        let summary = folder.summary();
        let failure = |failed: &results::FailedPoint| {
            let row = &summary.rows[failed.row as usize];
            let set = PyDict::new(py);
            for (key, value) in row.set.iter().chain(&summary.constants) {
                set.set_item(key, value)?;
            }
            let failure = PyDict::new(py);
            failure.set_item("scheme", &row.scheme)?;
            failure.set_item("set", set)?;
            failure.set_item("seed", failed.seed)?;
            failure.set_item(
                "error",
                api::problems::failure(&failed.error, &|argument| name(argument, None)),
            )?;
            failure.set_item("command", &failed.reproduce)?;
            Ok(failure)
        };
        summary.failures.iter().map(failure).collect()
    }

    /// A table by its name; none if the run has no such table.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Option<Table>> {
        guarded(py, || {
            let folder = self.get();
            Ok::<_, Problems>(match name {
                "rows" => Some(Table::of_frame(results::rows(folder.summary()))),
                "points" => Some(Table::of_frame(results::points(folder.summary()))),
                "collectives" => Some(Table::of_frame(results::collectives(folder.summary()))),
                _ => match folder.table_file(name)? {
                    Some(path) => Some(Table::of_file(path)?),
                    None => None,
                },
            })
        })
    }
}
