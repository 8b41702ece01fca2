//! The one gate out of Python: releases the GIL, runs, maps the error.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use burnpy_pack::{Error, ErrorKind};
use pyo3::exceptions::{PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Runs a closure without the GIL and turns its error into the Python exception of its kind.
pub(crate) fn enter<T: Send>(py: Python<'_>, run: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    py.detach(run).map_err(|error| to_exception(py, error))
}

/// The exception class of a name in `burnpy.errors`.
pub(crate) fn error_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("burnpy.errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(name)?.cast_into()?)
}

/// A Python exception that crossed Rust inside an error, on its way out again.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) PyErr);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

/// The exception of an error: Python's own for a path that is missing, forbidden or a folder; else the class of the
/// kind, with its fields.
pub(crate) fn to_exception(py: Python<'_>, error: Error) -> PyErr {
    build(py, error).unwrap_or_else(|failed| failed)
}

fn build(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    if let ErrorKind::Provider(source) = &error.kind
        && let Some(Raised(raised)) = source.downcast_ref::<Raised>()
        && !raised.is_instance_of::<pyo3::exceptions::PyException>(py)
    {
        // KeyboardInterrupt and its like pass unchanged.
        return Ok(raised.clone_ref(py));
    }
    if let ErrorKind::Io(io) = &error.kind
        && let Some(Raised(raised)) = io.get_ref().and_then(|inner| inner.downcast_ref())
    {
        return Ok(raised_by_source(py, raised, error.tensor.as_deref()));
    }
    if let ErrorKind::Io(io) = &error.kind
        && error.tensor.is_none()
        && let Some(plain) = plain_os_error(io, &error)
    {
        return Ok(plain);
    }
    let cause = cause_of(py, &error);
    let kwargs = fields(py, &error)?;
    let name = match (&error.kind, &cause) {
        (ErrorKind::Provider(_), Some(cause)) => kind_after_provider(py, cause),
        _ => error.kind_name().to_owned(),
    };
    if name == "IoError" {
        os_fields(py, &error, cause.as_ref(), &kwargs)?;
    }
    let exception = PyErr::from_value(error_class(py, &name)?.call((error.to_string(),), Some(&kwargs))?);
    if cause.is_some() {
        exception.set_cause(py, cause);
    }
    Ok(exception)
}

/// What a source or a sink in Python raised, unchanged but for a note of the tensor.
fn raised_by_source(py: Python<'_>, raised: &PyErr, tensor: Option<&str>) -> PyErr {
    let raised = raised.clone_ref(py);
    if let Some(tensor) = tensor {
        // Without the note the error is as true; one that cannot be added is no reason for another error.
        let _ = raised.value(py).call_method1("add_note", (format!("while tensor {tensor:?} was read"),));
    }
    raised
}

/// The kind of an error whose cause a provider raised: burnpy's own errors keep theirs, as Burn's do; what the system
/// raised is an `IoError`.
fn kind_after_provider(py: Python<'_>, cause: &PyErr) -> String {
    let own = error_class(py, "Error").is_ok_and(|class| cause.is_instance(py, &class));
    let kind = own.then(|| cause.value(py).getattr("kind").and_then(|kind| kind.extract::<String>()));
    match kind {
        Some(Ok(kind)) if error_class(py, &kind).is_ok() => kind,
        _ if cause.is_instance_of::<PyOSError>(py) => "IoError".to_owned(),
        _ => "ValidationError".to_owned(),
    }
}

/// Python's own exception for what concerns the path and not its content.
fn plain_os_error(io: &io::Error, error: &Error) -> Option<PyErr> {
    let make = match io.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err::<(i32, String, OsString)>,
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err::<(i32, String, OsString)>,
        io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err::<(i32, String, OsString)>,
        _ => return None,
    };
    let path = error.path.clone().map(PathBuf::into_os_string).unwrap_or_default();
    Some(make((errno_of(io), strerror_of(io), path)))
}

fn errno_of(io: &io::Error) -> i32 {
    let by_kind = match io.kind() {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::IsADirectory => 21,
        io::ErrorKind::InvalidInput => 22,
        _ => 5,
    };
    io.raw_os_error().unwrap_or(by_kind)
}

/// The system's text without the number that Rust appends.
pub(crate) fn strerror_of(io: &io::Error) -> String {
    let text = io.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn cause_of(py: Python<'_>, error: &Error) -> Option<PyErr> {
    match &error.kind {
        ErrorKind::Provider(source) => source.downcast_ref::<Raised>().map(|raised| raised.0.clone_ref(py)),
        _ => None,
    }
}

fn fields<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let kwargs = PyDict::new(py);
    let tensor = match &error.kind {
        ErrorKind::TensorNotFound { name, .. } => Some(name),
        _ => error.tensor.as_ref(),
    };
    // As Python has it: a name that is not UTF-8 must lead to the file again.
    kwargs.set_item("path", error.path.as_ref().map(|path| path.as_os_str()))?;
    kwargs.set_item("tensor", tensor)?;
    kwargs.set_item("found", error.found())?;
    kwargs.set_item("limit", error.limit())?;
    Ok(kwargs)
}

fn os_fields(
    py: Python<'_>,
    error: &Error,
    cause: Option<&PyErr>,
    kwargs: &Bound<'_, PyDict>,
) -> PyResult<()> {
    if let Some(cause) = cause {
        kwargs.set_item("errno", cause.value(py).getattr("errno").ok())?;
        kwargs.set_item("strerror", cause.value(py).getattr("strerror").ok())?;
    } else if let ErrorKind::Io(io) = &error.kind {
        kwargs.set_item("errno", errno_of(io))?;
        kwargs.set_item("strerror", strerror_of(io))?;
    }
    Ok(())
}
