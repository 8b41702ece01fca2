//! Python's operators.

use burnpy_tensor::{Result, Tensor};
use pyo3::prelude::*;

use super::gate;
use super::nested::number_tensor;
use super::number::Operand;
use super::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    fn __add__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, "add", Tensor::add)
    }

    fn __radd__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__add__(py, other)
    }

    fn __mul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, "mul", Tensor::mul)
    }

    fn __rmul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__mul__(py, other)
    }
}

/// An operation with a tensor or with a number.
#[inline]
fn binary(
    py: Python<'_>,
    x: &Tensor,
    other: Operand<'_>,
    operation: &'static str,
    run: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    match other {
        Operand::Tensor(other) => {
            let y = &other.get().0;
            gate::tensor(py, gate::work(x, y), || run(x, y))
        }
        Operand::Number(number) => {
            gate::tensor(py, x.num_elements(), || run(x, &number_tensor(operation, number, x.dtype())?))
        }
    }
}
