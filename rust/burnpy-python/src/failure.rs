//! What goes wrong with a checkpoint of another format, on its way to `burnpy.errors.CheckpointError`.

use std::io;
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::enter::{error_class, strerror_of};

/// An error of one of the foreign formats.
#[derive(Debug)]
pub(crate) enum Failure {
    Pickle(burnpy_pickle::Error),
    Safetensors(burnpy_safetensors::Error),
    /// The system's.
    Io(io::Error),
    /// A number over a limit.
    OverLimit {
        what: &'static str,
        tensor: Option<String>,
        found: u64,
        limit: u64,
    },
    /// The file was changed after it was opened.
    Changed,
    /// What Python raised while it provided bytes; it comes out unchanged.
    Raised(PyErr),
}

impl From<burnpy_pickle::Error> for Failure {
    fn from(error: burnpy_pickle::Error) -> Self {
        Self::Pickle(error)
    }
}

impl From<burnpy_safetensors::Error> for Failure {
    fn from(error: burnpy_safetensors::Error) -> Self {
        Self::Safetensors(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// The fields of a `CheckpointError`.
struct Fields<'a> {
    kind: &'static str,
    what: String,
    tensor: Option<&'a str>,
    member: Option<&'a str>,
    found: Option<u64>,
    limit: Option<u64>,
}

impl Failure {
    /// The exception, told of a file.
    pub(crate) fn into_exception(self, py: Python<'_>, path: &Path) -> PyErr {
        let fields = match &self {
            Self::Pickle(error) => Fields {
                kind: error.kind.name(),
                what: error.to_string(),
                tensor: error.tensor.as_deref(),
                member: error.member.as_deref(),
                found: error.found(),
                limit: error.limit(),
            },
            Self::Safetensors(error) => Fields {
                kind: error.kind.name(),
                what: error.to_string(),
                tensor: error.tensor.as_deref(),
                member: None,
                found: error.found,
                limit: error.limit,
            },
            Self::OverLimit { what, tensor, found, limit } => Fields {
                kind: "over limit",
                what: over_limit(what, tensor.as_deref(), *found, *limit),
                tensor: tensor.as_deref(),
                member: None,
                found: Some(*found),
                limit: Some(*limit),
            },
            Self::Changed => Fields {
                kind: "changed",
                what: "the file was changed while it was read".to_owned(),
                tensor: None,
                member: None,
                found: None,
                limit: None,
            },
            Self::Io(error) => return os_error(error, path),
            Self::Raised(error) => return error.clone_ref(py),
        };
        checkpoint_error(py, path, &fields).unwrap_or_else(|failed| failed)
    }
}

fn over_limit(what: &str, tensor: Option<&str>, found: u64, limit: u64) -> String {
    let of = tensor.map(|name| format!("tensor {name:?}: ")).unwrap_or_default();
    format!("{of}{what} is {found}, over the limit of {limit}")
}

fn checkpoint_error(py: Python<'_>, path: &Path, fields: &Fields<'_>) -> PyResult<PyErr> {
    let kwargs = PyDict::new(py);
    kwargs.set_item("kind", fields.kind)?;
    kwargs.set_item("path", path.display().to_string())?;
    kwargs.set_item("tensor", fields.tensor)?;
    kwargs.set_item("member", fields.member)?;
    kwargs.set_item("found", fields.found)?;
    kwargs.set_item("limit", fields.limit)?;
    let message = format!("{}: {}", path.display(), fields.what);
    Ok(PyErr::from_value(error_class(py, "CheckpointError")?.call((message,), Some(&kwargs))?))
}

/// Python's own exception; `OSError` picks the subclass by the number.
fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let text = strerror_of(error);
    match error.raw_os_error() {
        Some(errno) => PyOSError::new_err((errno, text, path.display().to_string())),
        None => PyOSError::new_err(format!("{}: {text}", path.display())),
    }
}
