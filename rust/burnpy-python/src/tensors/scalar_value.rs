//! Tensors as Python's own values.

use burnpy_tensor::{BOOL, DType, Element as _, Error, Kind, Tensor, dispatch_stored};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString};

use super::array::array_of;
use super::error::to_exception;
use super::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// The only element as a Python number.
    ///
    /// Raises:
    ///     ShapeError: there is not exactly one.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        item(py, "item", &self.0)
    }

    /// As ``item``.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_scalar<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        item(py, "into_scalar", &self.0)
    }

    /// The elements as nested lists.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of(py, self.0.value())?.call_method0("tolist")
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        item(py, "bool", &self.0)?.is_truthy()
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        item(py, "float", &self.0)?.extract()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyInt>().call1((item(py, "int", &self.0)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.0.kind() != Kind::Int || self.0.num_elements() != 1 {
            return Err(PyTypeError::new_err("only a tensor of one integer can be an index"));
        }
        item(py, "index", &self.0)
    }

    /// A single element is formatted as the number that it is; of more, only the plain text can be had.
    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        if spec.is_empty()? {
            return Ok(slf.str()?.into_any());
        }
        item(slf.py(), "format", &slf.get().0)?.call_method1("__format__", (spec,))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.shape().first().copied().ok_or_else(|| PyTypeError::new_err("len() of a tensor without axes"))
    }
}

fn item<'py>(py: Python<'py>, operation: &'static str, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if tensor.num_elements() != 1 {
        let message = format_args!("a tensor of shape {:?} is not one number", tensor.shape());
        return Err(to_exception(py, Error::shape(operation, message)));
    }
    let (value, dtype) = (tensor.value().contiguous(), tensor.dtype());
    dispatch_stored!(dtype, T => {
        let number = value.as_slice::<T>().expect("contiguous")[0];
        match Kind::of(dtype) {
            Kind::Float => Ok(PyFloat::new(py, number.to_f64()).into_any()),
            Kind::Bool => Ok(PyBool::new(py, number.to_i64() != 0).to_owned().into_any()),
            Kind::Int if dtype == DType::U64 => Ok((number.to_i64() as u64).into_pyobject(py)?.into_any()),
            Kind::Int => Ok(number.to_i64().into_pyobject(py)?.into_any()),
        }
    }, else => {
        debug_assert!(dtype != BOOL);
        Err(to_exception(py, Error::dtype(operation, "a quantized tensor has no numbers; dequantize it first")))
    })
}
