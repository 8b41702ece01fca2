//! What goes wrong with tensors, as exceptions of `burnpy.errors`.

use burnpy_tensor::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::enter::{Raised, error_class};

/// The exception of an error. What Python raised in a custom operation comes out as it went in.
#[cold]
pub(crate) fn to_exception(py: Python<'_>, error: Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Shape => "ShapeError",
        ErrorKind::DType => "DTypeError",
        ErrorKind::Index => "TensorIndexError",
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::Graph => "AutodiffError",
        ErrorKind::Foreign(source) => match source.downcast_ref::<Raised>() {
            Some(Raised(raised)) => return raised.clone_ref(py),
            None => "TensorError",
        },
        _ => "TensorError",
    };
    build(py, class, &error).unwrap_or_else(|failed| failed)
}

fn build(py: Python<'_>, class: &str, error: &Error) -> PyResult<PyErr> {
    let kwargs = PyDict::new(py);
    kwargs.set_item("operation", error.operation())?;
    Ok(PyErr::from_value(error_class(py, class)?.call((error.to_string(),), Some(&kwargs))?))
}

/// An exception on its way through Rust, told of an operation.
pub(crate) fn foreign(operation: &'static str, error: PyErr) -> Error {
    Error::foreign(operation, Raised(error))
}
