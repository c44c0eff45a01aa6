//! Parameters of classes: keys of scenarios whose texts become Python values.

use base::setting::{Key, SettingError};
use base::{DataSize, Quantity, QuantityError, Rate, Span};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use schemes::ParamTexts;

/// The kind of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Whole,
    Real,
    Flag,
    Word,
    Time,
    Bytes,
    Rate,
}

/// A value for Python.
pub(super) enum Value {
    Whole(i64),
    Real(f64),
    Flag(bool),
    Word(String),
    /// Picoseconds, bytes or bits per second.
    Amount(u64),
}

/// Values by the names of their attributes.
pub(super) type Values = Vec<(&'static str, Value)>;

/// A parameter declared by a class.
pub(super) struct Param {
    /// Its attribute.
    pub(super) name: &'static str,
    pub(super) key: &'static str,
    pub(super) kind: Kind,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "whole" => Self::Whole,
            "real" => Self::Real,
            "flag" => Self::Flag,
            "word" => Self::Word,
            "time" => Self::Time,
            "bytes" => Self::Bytes,
            "rate" => Self::Rate,
            _ => return None,
        })
    }

    /// The key of a scenario.
    pub(super) fn key(self, name: &'static str, help: &'static str, default: &'static str) -> Key {
        fn of<Q: Quantity>(name: &'static str, help: &'static str, default: &'static str) -> Key {
            Key {
                name,
                help,
                default,
                expected: Q::expected,
                choices: Q::choices,
                check: |text| Q::parse(text).map(drop),
                is_path: Q::is_path,
            }
        }
        match self {
            Self::Whole => of::<Whole>(name, help, default),
            Self::Real => of::<Real>(name, help, default),
            Self::Flag => of::<bool>(name, help, default),
            Self::Word => of::<Word>(name, help, default),
            Self::Time => of::<Span>(name, help, default),
            Self::Bytes => of::<Bytes>(name, help, default),
            Self::Rate => of::<Rate>(name, help, default),
        }
    }

    fn read(self, text: &str) -> Result<Value, QuantityError> {
        Ok(match self {
            Self::Whole => Value::Whole(Whole::parse(text)?.0),
            Self::Real => Value::Real(Real::parse(text)?.0),
            Self::Flag => Value::Flag(bool::parse(text)?),
            Self::Word => Value::Word(Word::parse(text)?.0),
            Self::Time => Value::Amount(Span::parse(text)?.as_ps()),
            Self::Bytes => Value::Amount(Bytes::parse(text)?.0),
            Self::Rate => Value::Amount(Rate::parse(text)?.as_bps()),
        })
    }
}

/// Reads the texts of parameters.
pub(super) fn read(params: &[Param], text: &ParamTexts<'_>) -> Result<Values, SettingError> {
    let read = |param: &Param| {
        let value = param.kind.read(&text(param.key));
        let value = value.map_err(|error| SettingError {
            key: param.key,
            error,
        })?;
        Ok((param.name, value))
    };
    params.iter().map(read).collect()
}

/// The value of a text, as objects of the class get it.
#[pyfunction]
pub(crate) fn value<'py>(py: Python<'py>, kind: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let kind = Kind::named(kind).ok_or_else(|| unknown(kind))?;
    let value = kind.read(text);
    let value = value.map_err(|error| pyo3::exceptions::PyValueError::new_err(error.message))?;
    value.to_python(py)
}

pub(super) fn unknown(kind: &str) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(format!(
        "no parameter is a {kind:?}: choose among \"whole\", \"real\", \"flag\", \"word\", \"time\", \"bytes\" \
         and \"rate\""
    ))
}

impl Value {
    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Whole(value) => value.into_bound_py_any(py),
            Self::Real(value) => value.into_bound_py_any(py),
            Self::Flag(value) => value.into_bound_py_any(py),
            Self::Word(value) => value.into_bound_py_any(py),
            Self::Amount(value) => value.into_bound_py_any(py),
        }
    }
}

struct Whole(i64);

impl Quantity for Whole {
    fn expected() -> String {
        "a whole number, as in \"3\" or \"-3\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value = text.trim().parse().map(Self);
        value.map_err(|_| QuantityError::expected(&Self::expected(), text))
    }
}

struct Real(f64);

impl Quantity for Real {
    fn expected() -> String {
        "a number, as in \"0.5\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let value = text
            .trim()
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite());
        value
            .map(Self)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

struct Word(String);

impl Quantity for Word {
    fn expected() -> String {
        "a word".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        // In lists of values a comma is a separator.
        if text.is_empty() || text.contains([',', '\n']) {
            return Err(QuantityError::expected(&Self::expected(), text));
        }
        Ok(Self(text.to_owned()))
    }
}

/// A size in bytes, not in packets: a class does not know their size.
struct Bytes(u64);

impl Quantity for Bytes {
    fn expected() -> String {
        "a size with its unit: B, KB, MB, GB (powers of 1000), KiB, MiB or GiB (powers of 1024), as in \"32KiB\""
            .into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = |_| QuantityError::expected(&Self::expected(), text);
        let size = DataSize::parse(text).map_err(wrong)?;
        let (one, two) = (size.in_bytes(1), size.in_bytes(2));
        if one != two {
            return Err(QuantityError::expected(&Self::expected(), text));
        }
        Ok(Self(one))
    }
}
