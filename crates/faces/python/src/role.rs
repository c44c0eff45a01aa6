//! Roles written in Python.
//!
//! A class plays a role of a scheme: the registry gets a scheme whose roles make objects of the class. The simulating
//! thread holds the interpreter's lock meanwhile ([`Interpreter`]), so that a call into Python has no extra cost. An
//! exception ends only the simulation of its point.

mod attributes;
mod class;
mod hook;
mod interpreter;
mod packet;
mod param;
mod port;
mod queue;
mod receiver;
mod registry;
mod sender;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyTypeInfo, intern};
use schemes::{self, Cause};

pub(crate) use class::Class;
pub(crate) use hook::Hook;
pub(crate) use interpreter::interrupt;
pub(crate) use packet::{Backlog, Packet};
pub(crate) use param::value;
pub(crate) use queue::Queue;
pub(crate) use receiver::{AckSent, Arrival, Receiver};
pub(crate) use registry::{Use, register};
pub(crate) use sender::{Ack, Config, Loss, Sender};

/// The exception of a method.
pub(crate) struct Raised {
    text: String,
    exception: PyErr,
}

impl Raised {
    /// The text of `error`, and the place where it was raised.
    fn new(py: Python<'_>, class: &Class, error: PyErr) -> Self {
        let kind = error.get_type(py).qualname();
        let kind = kind.map_or_else(|_| "an exception".to_owned(), |kind| kind.to_string());
        let place = place(py, &error).unwrap_or_default();
        let message = error.value(py).str();
        let message = message.map_or_else(|_| String::new(), |text| text.to_string());
        let text = format!("{} raised {kind}{place}: {message}", class.name());
        Self {
            text: text.trim_end_matches([':', ' ']).to_owned(),
            exception: error,
        }
    }

    /// The exception, with its traceback.
    pub(crate) fn exception(&self, py: Python<'_>) -> PyErr {
        self.exception.clone_ref(py)
    }
}

/// The function and the line where an exception was raised. The file is left out, because its path differs between
/// machines and the text is part of results.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut last = error.traceback(py)?.into_any();
    loop {
        let next = last.getattr(intern!(py, "tb_next")).ok()?;
        if next.is_none() {
            break;
        }
        last = next;
    }
    let line: u32 = last
        .getattr(intern!(py, "tb_lineno"))
        .ok()?
        .extract()
        .ok()?;
    let code = last.getattr(intern!(py, "tb_frame")).ok()?;
    let code = code.getattr(intern!(py, "f_code")).ok()?;
    let function: String = code.getattr(intern!(py, "co_name")).ok()?.extract().ok()?;
    Some(format!(" in {function}, line {line}"))
}

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Raised {}

/// Calls Python for a role. An exception ends the simulation.
fn played<T>(class: &Class, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    let done = Python::attach(|py| {
        call(py).map_err(|error| -> Cause { Arc::new(Raised::new(py, class, error)) })
    });
    done.unwrap_or_else(|cause| schemes::give_up(cause))
}

/// An object that plays a role, with the methods that its class defines itself.
struct Player {
    class: Arc<Class>,
    object: Py<PyAny>,
}

impl Player {
    /// An object of `class`; its base `B` was passed to `prepare` before its `__init__` is called.
    fn new<B: PyTypeInfo>(
        py: Python<'_>,
        class: &Arc<Class>,
        params: &param::Values,
        prepare: impl FnOnce(&Bound<'_, B>),
    ) -> PyResult<(Self, Py<B>)> {
        let class_object = class.object(py);
        let object = class_object.call_method1(intern!(py, "__new__"), (class_object,))?;
        let base = object.cast::<B>()?;
        prepare(base);
        for (name, value) in params {
            object.setattr(*name, value.to_python(py)?)?;
        }
        if class.has("__init__") {
            object.call_method0(intern!(py, "__init__"))?;
        }
        let base = base.clone().unbind();
        let player = Self {
            class: Arc::clone(class),
            object: object.unbind(),
        };
        Ok((player, base))
    }

    /// A method, unless it is the base class's, which does nothing.
    fn method(&self, py: Python<'_>, name: &str) -> PyResult<Option<Py<PyAny>>> {
        if !self.class.has(name) {
            return Ok(None);
        }
        let method = self.object.bind(py).getattr(name)?;
        Ok(Some(method.unbind()))
    }

    /// The numbers for traces, by the names that the class declares.
    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        for name in self.class.gauges() {
            let value = played(&self.class, |py| {
                let attribute = PyString::intern(py, name);
                self.object
                    .bind(py)
                    .getattr(attribute)?
                    .extract::<Option<f64>>()
            });
            if let Some(value) = value {
                sink(name, value);
            }
        }
    }
}
