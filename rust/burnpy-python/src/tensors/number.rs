//! Python numbers and tensors as arguments of operations.

use burnpy_tensor::ops::Scalar;
use burnpy_tensor::{Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

use super::gate;
use super::tensor::PyTensor;
use crate::convert::scalar_from_value;

/// A Python number, before it is known which dtype it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) Scalar);

impl FromPyObject<'_, '_> for Number {
    type Error = PyErr;

    #[inline]
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(float) = value.cast_exact::<PyFloat>() {
            return Ok(Self(Scalar::Float(float.value())));
        }
        if value.is_exact_instance_of::<PyInt>() {
            return integer(&value).map(Self);
        }
        other(&value).map(Self)
    }
}

/// What no 64 bits hold is as good as a float: floats round it, integers refuse it.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(Scalar::Int(small));
    }
    value.extract::<u64>().map(Scalar::UInt).or_else(|_| value.extract::<f64>().map(Scalar::Float))
}

/// Booleans, NumPy's numbers, and subclasses of Python's.
fn other(value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Scalar::Bool(value.extract()?));
    }
    Ok(match scalar_from_value("number", value)? {
        burnpy_pack::Scalar::Bool(value) => Scalar::Bool(value),
        burnpy_pack::Scalar::Int(value) => Scalar::Int(value),
        burnpy_pack::Scalar::UInt(value) => Scalar::UInt(value),
        burnpy_pack::Scalar::Float(value) => Scalar::Float(value),
    })
}

/// The other side of an operation: a tensor or a number.
pub(crate) enum Operand<'py> {
    Tensor(Bound<'py, PyTensor>),
    Number(Scalar),
    /// Refused in words: NumPy would make an array of the tensor, and its graph would be lost unseen.
    Array,
}

impl<'py> FromPyObject<'_, 'py> for Operand<'py> {
    type Error = PyErr;

    #[inline]
    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.cast_exact::<PyTensor>() {
            Ok(tensor) => Ok(Self::Tensor(tensor.to_owned())),
            Err(_) => match value.extract::<Number>() {
                Ok(number) => Ok(Self::Number(number.0)),
                Err(_) if value.hasattr("__array_interface__")? => Ok(Self::Array),
                Err(error) => Err(error),
            },
        }
    }
}

/// Tensors of a sequence.
pub(crate) struct Tensors(pub(crate) Vec<Tensor>);

impl FromPyObject<'_, '_> for Tensors {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let tensors = value.try_iter()?.map(|item| Ok(item?.cast::<PyTensor>()?.get().0.clone()));
        tensors.collect::<PyResult<_>>().map(Self)
    }
}

impl Tensors {
    pub(crate) fn refs(&self) -> Vec<&Tensor> {
        self.0.iter().collect()
    }

    /// Elements of all of them.
    pub(crate) fn elements(&self) -> usize {
        self.0.iter().map(Tensor::num_elements).sum()
    }
}

/// An operation with a tensor or with a number.
#[inline]
pub(crate) fn binary(
    py: Python<'_>,
    x: &Tensor,
    other: Operand<'_>,
    tensor: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor> + Send,
    scalar: impl FnOnce(&Tensor, Scalar) -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    match other {
        Operand::Tensor(other) => {
            let y = &other.get().0;
            gate::tensor(py, gate::work(x, y), || tensor(x, y))
        }
        Operand::Number(number) => gate::tensor(py, x.num_elements(), || scalar(x, number)),
        Operand::Array => Err(no_operand()),
    }
}

#[cold]
pub(crate) fn no_operand() -> PyErr {
    PyTypeError::new_err("an array is no operand of a tensor; Tensor.from_numpy(array) makes a tensor of it")
}
