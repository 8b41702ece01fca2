//! Arithmetic of two tensors, or of a tensor and a number.

use burnpy_tensor::ops::Scalar;
use burnpy_tensor::{Kind, Result, Tensor};
use pyo3::prelude::*;

use super::gate;
use super::methods::{binary, pairs, unary, with_number};
use super::number::{Number, Operand, no_operand};
use super::tensor::PyTensor;

binary! {
    /// Sum. Integers wrap around.
    add, add_scalar;
    /// Difference. Integers wrap around.
    sub, sub_scalar;
    /// Product. Integers wrap around.
    mul, mul_scalar;
    /// Quotient. Integers truncate toward zero.
    div, div_scalar;
    /// What is left of the quotient rounded down, with the sign of ``other``: Python's ``%``.
    remainder, remainder_scalar;
    /// What is left of the quotient rounded toward zero, with the sign of the tensor: C's ``fmod``.
    fmod, fmod_scalar;
}

with_number! {
    /// Sum with a number.
    add_scalar;
    /// Difference with a number.
    sub_scalar;
    /// Product with a number.
    mul_scalar;
    /// Quotient by a number.
    div_scalar;
    /// ``remainder`` by a number.
    remainder_scalar;
    /// ``fmod`` by a number.
    fmod_scalar;
}

pairs! {
    /// The angle of the point (``other``, this tensor).
    atan2;
    /// The length of the hypotenuse, without overflow.
    hypot;
    /// The larger of two elements; NaN if one is.
    max_pair;
    /// The smaller of two elements; NaN if one is.
    min_pair;
}

unary! {
    /// The negative. Integers wrap around.
    neg;
    /// The square. Integers wrap around.
    square;
}

#[pymethods]
impl PyTensor {
    /// To the power of a float or of a tensor of floats.
    #[pyo3(signature = (exponent, /))]
    fn powf(&self, py: Python<'_>, exponent: Operand<'_>) -> PyResult<Self> {
        match exponent {
            Operand::Tensor(exponent) => {
                let y = &exponent.get().0;
                gate::tensor(py, gate::work(&self.0, y), || self.0.powf(y))
            }
            Operand::Number(number) => self.powf_scalar(py, Number(number)),
            Operand::Array => Err(no_operand()),
        }
    }

    /// To the power of a float.
    #[pyo3(signature = (exponent, /))]
    fn powf_scalar(&self, py: Python<'_>, exponent: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.powf_scalar(exponent.0.to_f64()))
    }

    /// To the power of an integer or of a tensor of integers.
    #[pyo3(signature = (exponent, /))]
    fn powi(&self, py: Python<'_>, exponent: Operand<'_>) -> PyResult<Self> {
        match exponent {
            Operand::Tensor(exponent) => {
                let y = &exponent.get().0;
                gate::tensor(py, gate::work(&self.0, y), || self.0.powi(y))
            }
            Operand::Number(number) => self.powi_scalar(py, Number(number)),
            Operand::Array => Err(no_operand()),
        }
    }

    /// To the power of an integer.
    #[pyo3(signature = (exponent, /))]
    fn powi_scalar(&self, py: Python<'_>, exponent: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.powi_scalar(exponent.0.to::<i64>("powi")?))
    }
}

/// The quotient rounded down; its gradient is 0.
pub(crate) fn floor_div(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.kind() == Kind::Int { x.sub(&x.remainder(y)?)?.div(y) } else { x.div(y)?.floor() }
}

/// [`floor_div`] by a number.
pub(crate) fn floor_div_scalar(x: &Tensor, number: Scalar) -> Result<Tensor> {
    if x.kind() == Kind::Int {
        x.sub(&x.remainder_scalar(number)?)?.div_scalar(number)
    } else {
        x.div_scalar(number)?.floor()
    }
}

/// `x ** y`, by the kind of y.
pub(crate) fn power(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if y.kind() == Kind::Float { x.powf(y) } else { x.powi(y) }
}

/// `x ** number`: a whole exponent is one, whatever the tensor holds.
pub(crate) fn power_scalar(x: &Tensor, number: Scalar) -> Result<Tensor> {
    match number {
        Scalar::Float(exponent) => x.powf_scalar(exponent),
        number => x.powi_scalar(number.to("powi")?),
    }
}
