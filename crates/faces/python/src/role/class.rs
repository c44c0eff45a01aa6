//! A class, as its objects see it.

use std::collections::BTreeSet;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyType;
use schemes::Scheme;

/// A class that plays a role of a scheme.
pub(crate) struct Class {
    pub(super) object: Py<PyType>,
    pub(super) methods: BTreeSet<String>,
    pub(super) scheme: Scheme,
    pub(super) gauges: Arc<[&'static str]>,
}

impl Class {
    pub(super) fn name(&self) -> &'static str {
        self.scheme.name
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.object.bind(py)
    }

    /// Whether it overrides this method of the base class.
    pub(super) fn has(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    /// Its attributes for traces.
    pub(super) fn gauges(&self) -> &[&'static str] {
        &self.gauges
    }
}
