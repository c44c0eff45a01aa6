//! The extension module of the Python package: converts and delegates.
//!
//! The user's view (names, defaults, descriptions) is in the package `tailwater` around this module; only that package
//! calls it. Arguments arrive as plain values and texts, as for the command, so that the libraries find and report
//! every mistake.

#![expect(
    clippy::needless_pass_by_value,
    reason = "what comes from Python is made for the call"
)]

mod arrow;
mod convert;
mod driver;
#[cfg(feature = "learning")]
mod env;
mod errors;
mod folder;
mod role;
mod waiting;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use tailwater::texts;

use convert::{Figures, Request, RunArguments};
use errors::guarded;
use folder::Folder;

/// The meaning of a word; see `tailwater.explain`.
#[pyfunction]
fn explain(py: Python<'_>, word: &str) -> PyResult<String> {
    guarded(py, || texts::explain(word))
}

/// The items of a list; see `tailwater.list`.
#[pyfunction]
fn list(py: Python<'_>, what: Option<&str>) -> PyResult<String> {
    guarded(py, || texts::list(what))
}

/// Makes a trace of a file of another program; see `tailwater.import_flows`.
#[pyfunction]
fn import_flows(
    py: Python<'_>,
    file: PathBuf,
    output: Option<PathBuf>,
    kind: Option<String>,
    size: Option<u64>,
    lenient: bool,
) -> PyResult<String> {
    guarded(py, || {
        texts::import_flows(&texts::Import {
            file: &file,
            output: output.as_deref(),
            kind: kind.as_deref(),
            size,
            lenient,
        })
    })
}

/// Runs figures of papers: the table, the JSON, the pages, and whether a simulation failed.
#[pyfunction]
fn reproduce(
    py: Python<'_>,
    figures: Figures,
    progress: Option<Bound<'_, PyAny>>,
    driver: Option<Py<PyAny>>,
) -> PyResult<(String, String, Vec<PathBuf>, bool)> {
    let (figures, allowance) = figures.read(py)?;
    let (done, _) = waiting::waited(py, progress.as_ref(), driver, |options| {
        let options = options.allowance(allowance);
        api::reproduce(&figures, &options, |judged| {
            (texts::claims_table(judged), texts::claims_json(judged))
        })
    })?;
    let (table, json) = done.made;
    Ok((table, json, done.pages, done.failed))
}

/// Runs the command with its arguments, the program's name first. Returns its exit status.
#[pyfunction]
fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| texts::command(args))
}

/// A request of plain values; see `tailwater.Scenario`.
#[pyfunction]
fn prepare(py: Python<'_>, given: RunArguments) -> PyResult<Request> {
    Request::new(py, given)
}

#[pymodule]
fn _tailwater(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A panic becomes an exception, and nothing else is printed. The hook applies to this library alone.
    std::panic::set_hook(Box::new(|_| {}));
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(prepare, module)?)?;
    module.add_function(wrap_pyfunction!(list, module)?)?;
    module.add_function(wrap_pyfunction!(import_flows, module)?)?;
    module.add_function(wrap_pyfunction!(role::register, module)?)?;
    module.add_function(wrap_pyfunction!(role::value, module)?)?;
    module.add_class::<role::Sender>()?;
    module.add_class::<role::Receiver>()?;
    module.add_class::<role::Queue>()?;
    module.add_class::<role::Hook>()?;
    module.add_class::<role::Ack>()?;
    module.add_class::<role::AckSent>()?;
    module.add_class::<role::Arrival>()?;
    module.add_class::<role::Backlog>()?;
    module.add_class::<role::Config>()?;
    module.add_class::<role::Loss>()?;
    module.add_class::<role::Packet>()?;
    module.add("VERSION", sim::VERSION)?;
    module.add_function(wrap_pyfunction!(worker::merge, module)?)?;
    module.add_class::<worker::Worker>()?;
    module.add_class::<Request>()?;
    module.add_class::<Folder>()?;
    #[cfg(feature = "learning")]
    module.add_class::<env::Environments>()?;
    module.add_class::<arrow::Table>()
}
