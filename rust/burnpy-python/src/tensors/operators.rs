//! Python's operators.

use burnpy_tensor::ops::Scalar;
use burnpy_tensor::{Kind, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;

use super::arithmetic::{floor_div, floor_div_scalar, power, power_scalar};
use super::gate;
use super::nested::number_tensor;
use super::number::{Number, Operand, binary};
use super::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    fn __add__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::add, Tensor::add_scalar)
    }

    fn __radd__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__add__(py, other)
    }

    fn __sub__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::sub, Tensor::sub_scalar)
    }

    fn __rsub__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.rsub_scalar(other.0))
    }

    fn __mul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::mul, Tensor::mul_scalar)
    }

    fn __rmul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__mul__(py, other)
    }

    fn __truediv__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::div, Tensor::div_scalar)
    }

    fn __rtruediv__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.rdiv_scalar(other.0))
    }

    fn __floordiv__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, floor_div, floor_div_scalar)
    }

    fn __rfloordiv__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        reflected(py, "div", other, &self.0, floor_div)
    }

    fn __mod__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::remainder, Tensor::remainder_scalar)
    }

    fn __rmod__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        reflected(py, "remainder", other, &self.0, Tensor::remainder)
    }

    fn __pow__(
        &self,
        py: Python<'_>,
        exponent: Operand<'_>,
        modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if modulo.is_some() {
            return Err(PyTypeError::new_err("pow() of a tensor takes no modulus"));
        }
        binary(py, &self.0, exponent, power, power_scalar)
    }

    fn __rpow__(&self, py: Python<'_>, base: Number, modulo: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let _ = modulo;
        reflected(py, "powf", base, &self.0, power)
    }

    fn __matmul__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        self.matmul(py, other)
    }

    fn __and__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        logic(py, &self.0, other, [Tensor::bool_and, Tensor::bitwise_and])
    }

    fn __rand__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__and__(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        logic(py, &self.0, other, [Tensor::bool_or, Tensor::bitwise_or])
    }

    fn __ror__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__or__(py, other)
    }

    fn __xor__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        logic(py, &self.0, other, [Tensor::bool_xor, Tensor::bitwise_xor])
    }

    fn __rxor__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.__xor__(py, other)
    }

    fn __lshift__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::bitwise_left_shift, Tensor::bitwise_left_shift_scalar)
    }

    fn __rlshift__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        reflected(py, "bitwise_left_shift", other, &self.0, Tensor::bitwise_left_shift)
    }

    fn __rshift__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        binary(py, &self.0, other, Tensor::bitwise_right_shift, Tensor::bitwise_right_shift_scalar)
    }

    fn __rrshift__(&self, py: Python<'_>, other: Number) -> PyResult<Self> {
        reflected(py, "bitwise_right_shift", other, &self.0, Tensor::bitwise_right_shift)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.neg())
    }

    fn __pos__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.abs())
    }

    fn __invert__(&self, py: Python<'_>) -> PyResult<Self> {
        let x = &self.0;
        gate::tensor(py, x.num_elements(), || if is_bool(x) { x.bool_not() } else { x.bitwise_not() })
    }

    fn __richcmp__(&self, py: Python<'_>, other: Operand<'_>, op: CompareOp) -> PyResult<Self> {
        let (tensor, scalar): (Pair, WithNumber) = match op {
            CompareOp::Eq => (Tensor::equal, Tensor::equal_scalar),
            CompareOp::Ne => (Tensor::not_equal, Tensor::not_equal_scalar),
            CompareOp::Lt => (Tensor::lower, Tensor::lower_scalar),
            CompareOp::Le => (Tensor::lower_equal, Tensor::lower_equal_scalar),
            CompareOp::Gt => (Tensor::greater, Tensor::greater_scalar),
            CompareOp::Ge => (Tensor::greater_equal, Tensor::greater_equal_scalar),
        };
        binary(py, &self.0, other, tensor, scalar)
    }
}

type Pair = fn(&Tensor, &Tensor) -> Result<Tensor>;
type WithNumber = fn(&Tensor, Scalar) -> Result<Tensor>;

fn is_bool(x: &Tensor) -> bool {
    x.kind() == Kind::Bool
}

/// The operation of booleans or that of bits.
fn logic(py: Python<'_>, x: &Tensor, other: Operand<'_>, [bools, bits]: [Pair; 2]) -> PyResult<PyTensor> {
    let run = if is_bool(x) { bools } else { bits };
    binary(py, x, other, run, |x, number| run(x, &number_tensor("bitwise", number, x.dtype())?))
}

/// An operation with a number on its left.
fn reflected(
    py: Python<'_>,
    operation: &'static str,
    number: Number,
    x: &Tensor,
    run: Pair,
) -> PyResult<PyTensor> {
    gate::tensor(py, x.num_elements(), || run(&number_tensor(operation, number.0, x.dtype())?, x))
}
