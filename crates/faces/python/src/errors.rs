//! Converts problems to the exceptions of the package.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use api::Error;
use miette::GraphicalTheme;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::{Argument, Problem, Problems};

/// Calls code without Python in it while the interpreter is free for other threads, and turns all failures into
/// exceptions.
pub(crate) fn guarded<T: Send, E: Into<Error>>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        let done = catch_unwind(AssertUnwindSafe(call));
        done.map(|done| done.map_err(Into::into))
            .map_err(|panic| message(panic.as_ref()))
    });
    match done {
        Ok(done) => done.map_err(|ended| exception(py, ended)),
        Err(panic) => Err(internal(py, &panic)),
    }
}

/// The exception for the end of a call.
pub(crate) fn exception(py: Python<'_>, ended: Error) -> PyErr {
    match ended {
        Error::Problems(problems) => wrong(py, &problems).unwrap_or_else(|error| error),
        // Signals are checked while work is waited for, and that raises by itself.
        _ => PyKeyboardInterrupt::new_err(()),
    }
}

/// The exception for a violated invariant.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    let made = class(py, "InternalError").and_then(|class| class.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Problems in the command's words, and each in its parts.
pub(crate) fn parts<'py>(
    py: Python<'py>,
    problems: &[Problem],
) -> PyResult<(String, Vec<Bound<'py, PyDict>>)> {
    let part = |problem: &Problem| {
        let problem = problem.worded(&name);
        let part = PyDict::new(py);
        part.set_item("message", problem.to_string())?;
        let spot = problem.spot();
        part.set_item(
            "place",
            spot.map(|spot| (spot.name, spot.line, spot.column, spot.text)),
        )?;
        part.set_item("cause", spot.map(|spot| spot.says))?;
        part.set_item("help", problem.remedy())?;
        Ok(part)
    };
    let parts = problems.iter().map(part).collect::<PyResult<_>>()?;
    let text = api::problems::rendered(problems, GraphicalTheme::none(), &name);
    Ok((text.join("\n"), parts))
}

/// The Python name of an argument. A setting is an entry of a dictionary.
pub(crate) fn name(argument: Argument, text: Option<&str>) -> String {
    match (argument, text) {
        (Argument::Set, Some(text)) => {
            let key = text.split('=').next().unwrap_or(text);
            return format!("set[{key:?}]");
        }
        (Argument::Set, None) => "set",
        (Argument::Goals, _) => "goals",
        (Argument::Schemes, _) => "schemes",
        (Argument::Search, _) => "search",
        (Argument::Seed, _) => "seed",
        (Argument::Seeds, _) => "seeds",
        (Argument::Trace, _) => "trace",
        (Argument::Ties, _) => "ties",
        (Argument::Captures, _) => "pcap",
        (Argument::Folder, _) => "out",
        (Argument::NoFolder, _) => "out=None",
        (Argument::Resume, _) => "resume=True",
        (Argument::Steps, _) => "work",
        (Argument::Memory, _) => "memory",
        (Argument::Disk, _) => "disk",
    }
    .to_owned()
}

fn wrong(py: Python<'_>, problems: &Problems) -> PyResult<PyErr> {
    let (text, parts) = parts(py, &problems.0)?;
    let no_room = problems.0.iter().any(Problem::is_no_room);
    let class = class(
        py,
        if no_room {
            "NoRoomError"
        } else {
            "ScenarioError"
        },
    )?;
    Ok(PyErr::from_value(class.call1((text, parts))?))
}

/// The package defines its exceptions in Python, so that they can be pickled.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("tailwater._errors")?.getattr(name)
}
