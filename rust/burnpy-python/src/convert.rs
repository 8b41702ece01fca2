//! Conversions between Python's values and the pure crates', written once.

use burnpy_buffer::DType;
use burnpy_pack::{Backend, Limits, Scalar};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

/// A backend by its name.
pub(crate) struct PyBackend(pub(crate) Backend);

impl FromPyObject<'_, '_> for PyBackend {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.extract::<String>()?.as_str() {
            "auto" => Ok(Self(Backend::Auto)),
            "mmap" => Ok(Self(Backend::Mmap)),
            "pread" => Ok(Self(Backend::Pread)),
            other => Err(PyValueError::new_err(format!(
                "backend must be \"auto\", \"mmap\" or \"pread\", got {other:?}"
            ))),
        }
    }
}

/// `burnpy.pack.Limits`, read by attribute so that anything with its fields will do.
pub(crate) struct PyLimits(pub(crate) Limits);

impl FromPyObject<'_, '_> for PyLimits {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Self(Limits {
            max_metadata_bytes: value.getattr("max_metadata_bytes")?.extract()?,
            max_tensors: value.getattr("max_tensors")?.extract()?,
            max_tensor_bytes: value.getattr("max_tensor_bytes")?.extract()?,
            max_depth: value.getattr("max_depth")?.extract()?,
            max_file_bytes: value.getattr("max_file_bytes")?.extract()?,
        }))
    }
}

/// The limits of an optional argument.
pub(crate) fn limits_or_default(limits: Option<PyLimits>) -> Limits {
    limits.map_or_else(Limits::default, |limits| limits.0)
}

/// A dtype by its text form. `qfloat` needs a scheme and has its own class on the Python side.
pub(crate) fn dtype_from_name(name: &str) -> PyResult<DType> {
    DType::from_name(name).ok_or_else(|| {
        let known: Vec<_> = DType::plain().map(|dtype| dtype.name()).collect();
        PyValueError::new_err(format!("unknown dtype {name:?}; known are {}", known.join(", ")))
    })
}

/// A scalar as the Python value that it stands for.
pub(crate) fn scalar_value(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match scalar {
        Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
        Scalar::UInt(value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
    })
}

/// A Python value as a scalar: `bool` → Bool, `float` → Float, `int` → UInt if it is not negative, else Int; NumPy's
/// scalars by their dtype.
pub(crate) fn scalar_from_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Scalar::Bool(value.extract()?));
    }
    if value.is_exact_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(value.extract()?));
    }
    if value.is_exact_instance_of::<PyInt>() {
        return int_scalar(name, value);
    }
    if let Some(scalar) = numpy_scalar(value)? {
        return Ok(scalar);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return int_scalar(name, value);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("scalar {name:?} must be a bool, int, float or Scalar, got {kind}")))
}

fn int_scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(unsigned) = value.extract::<u64>() {
        return Ok(Scalar::UInt(unsigned));
    }
    let signed = value.extract::<i64>();
    signed.map(Scalar::Int).map_err(|_| PyOverflowError::new_err(format!("scalar {name:?} is {value}, which no 64-bit integer holds")))
}

/// A NumPy scalar or an array of no dimension, told by its dtype's kind.
fn numpy_scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let Ok(dtype) = value.getattr("dtype") else { return Ok(None) };
    let (Ok(kind), Ok(shape)) = (dtype.getattr("kind"), value.getattr("shape")) else { return Ok(None) };
    if !shape.cast::<PyTuple>().is_ok_and(|shape| shape.is_empty()) {
        return Ok(None);
    }
    let item = || value.call_method0("item");
    Ok(match kind.cast::<PyString>()?.to_str()? {
        "b" => Some(Scalar::Bool(item()?.extract()?)),
        "u" => Some(Scalar::UInt(item()?.extract()?)),
        "i" => Some(Scalar::Int(item()?.extract()?)),
        "f" => Some(Scalar::Float(item()?.extract()?)),
        _ => None,
    })
}
