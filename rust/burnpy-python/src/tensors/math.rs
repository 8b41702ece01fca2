//! Elementary functions, of each element.

use burnpy_tensor::{DType, Kind};
use pyo3::prelude::*;

use super::gate;
use super::methods::{unary, with_number};
use super::number::Number;
use super::tensor::PyTensor;

unary! {
    /// The exponential.
    exp;
    /// The natural logarithm.
    log;
    /// The natural logarithm of 1 + x, accurate near 0.
    log1p;
    /// The square root.
    sqrt;
    /// 1 / x.
    recip;
    /// The absolute value; the gradient at 0 is 0.
    abs;
    /// −1, 0 or 1; 0 for NaN too.
    sign;
    /// The sine.
    sin;
    /// The cosine.
    cos;
    /// The tangent.
    tan;
    /// The hyperbolic sine.
    sinh;
    /// The hyperbolic cosine.
    cosh;
    /// The hyperbolic tangent.
    tanh;
    /// The inverse sine.
    asin;
    /// The inverse cosine.
    acos;
    /// The inverse tangent.
    atan;
    /// The inverse hyperbolic sine.
    asinh;
    /// The inverse hyperbolic cosine.
    acosh;
    /// The inverse hyperbolic tangent.
    atanh;
    /// The error function.
    erf;
    /// The nearest whole number, of two the even one; the gradient is 0, as for ``floor``, ``ceil`` and ``trunc``.
    round;
    /// The largest whole number that is not above.
    floor;
    /// The smallest whole number that is not below.
    ceil;
    /// Without the fraction.
    trunc;
    /// Which elements are NaN.
    is_nan;
    /// Which elements are infinite.
    is_inf;
    /// Which elements are neither infinite nor NaN.
    is_finite;
    /// Whether there is a NaN, a boolean of shape ``(1,)``.
    contains_nan;
}

with_number! {
    /// Not below a bound; NaN stays NaN.
    clamp_min;
    /// Not above a bound; NaN stays NaN.
    clamp_max;
}

#[pymethods]
impl PyTensor {
    /// Kept between two bounds, of which the upper one wins. NaN stays NaN, and a bound of NaN gives NaN everywhere.
    fn clamp(&self, py: Python<'_>, min: Number, max: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.clamp(min.0, max.0))
    }

    /// Rounded to a number of decimals, halves to the even digit; negative ones are left of the point.
    fn round_to(&self, py: Python<'_>, decimals: i32) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.round_to(decimals))
    }

    #[pyo3(signature = (ndigits=None))]
    fn __round__(&self, py: Python<'_>, ndigits: Option<i32>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || match ndigits {
            Some(decimals) => self.0.round_to(decimals),
            None => self.0.round(),
        })
    }

    /// Floats: the same tensor; quantized ones: f32; integers and booleans: as the device's dtype for floats.
    fn float(&self, py: Python<'_>) -> PyResult<Self> {
        self.as_kind(py, Kind::Float)
    }

    /// Integers: the same tensor; floats truncate toward zero; as the device's dtype for integers.
    fn int(&self, py: Python<'_>) -> PyResult<Self> {
        self.as_kind(py, Kind::Int)
    }

    /// Which elements are not 0.
    fn bool(&self, py: Python<'_>) -> PyResult<Self> {
        self.as_kind(py, Kind::Bool)
    }
}

impl PyTensor {
    fn as_kind(&self, py: Python<'_>, kind: Kind) -> PyResult<Self> {
        let tensor = &self.0;
        let dtype = match tensor.dtype() {
            DType::QFloat(_) if kind == Kind::Float => DType::F32,
            dtype if tensor.kind() == kind => dtype,
            _ => super::device::default_dtype(kind),
        };
        gate::tensor(py, tensor.num_elements(), || tensor.cast(dtype))
    }
}
