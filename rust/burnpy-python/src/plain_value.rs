//! Plain values of a pickle as Python's.

use burnpy_pickle::{Checkpoint, NumpyScalar, Scalar};
use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyFrozenSet, PyInt, PySet};

use crate::failure::Failure;

/// A scalar as Python has it. Types and devices, which only torch has, become text: ``float32``, ``cuda:0``.
pub(crate) fn plain_value<'py>(
    py: Python<'py>,
    scalar: &Scalar,
    checkpoint: &Checkpoint,
    file: &[u8],
) -> Result<Bound<'py, PyAny>, Failure> {
    let members = |items: &[Scalar]| {
        let values = items.iter().map(|item| plain_value(py, item, checkpoint, file));
        values.collect::<Result<Vec<_>, _>>()
    };
    Ok(match scalar {
        Scalar::None => py.None().into_bound(py),
        Scalar::Bool(value) => value.into_bound_py_any(py)?,
        Scalar::Int(value) => value.into_bound_py_any(py)?,
        Scalar::BigInt(value) => big_int(py, value.to_le_bytes())?,
        Scalar::Float(value) => value.into_bound_py_any(py)?,
        Scalar::Complex(real, imaginary) => PyComplex::from_doubles(py, *real, *imaginary).into_any(),
        Scalar::Text(text) | Scalar::Device(text) => text.into_bound_py_any(py)?,
        Scalar::Bytes(blob) => PyBytes::new(py, &checkpoint.blob(file, blob)?).into_any(),
        Scalar::Set(items) => PySet::new(py, members(items)?)?.into_any(),
        Scalar::FrozenSet(items) => PyFrozenSet::new(py, members(items)?)?.into_any(),
        Scalar::Numpy(scalar) => numpy_scalar(py, scalar)?,
        Scalar::DType(dtype) => dtype.torch_name().into_bound_py_any(py)?,
        // The enum may grow; a value that is not known here has at least a type.
        other => other.type_name().into_bound_py_any(py)?,
    })
}

fn big_int<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let kwargs = PyDict::new(py);
    kwargs.set_item(intern!(py, "signed"), true)?;
    py.get_type::<PyInt>().call_method("from_bytes", (PyBytes::new(py, bytes), "little"), Some(&kwargs))
}

/// A scalar of NumPy's own type, or of `ml_dtypes`'.
fn numpy_scalar<'py>(py: Python<'py>, scalar: &NumpyScalar) -> PyResult<Bound<'py, PyAny>> {
    let name = scalar.dtype.torch_name();
    let numpy = py.import("numpy")?;
    let dtype = match numpy.getattr("dtype")?.call1((name,)) {
        Ok(dtype) => dtype,
        Err(_) => numpy.getattr("dtype")?.call1((py.import("ml_dtypes")?.getattr(name)?,))?,
    };
    let bytes = PyBytes::new(py, &scalar.bytes[..scalar.dtype.size()]);
    let little = dtype.call_method1("newbyteorder", ("<",))?;
    numpy.call_method1("frombuffer", (bytes, little))?.get_item(0)
}
