//! Comparisons, masks, bits and booleans.

use pyo3::prelude::*;

use super::gate;
use super::methods::{binary, pairs, unary, with_number};
use super::number::Number;
use super::tensor::PyTensor;

binary! {
    /// Which elements are equal, as a tensor of booleans; ``==``.
    equal, equal_scalar;
    /// Which elements differ; ``!=``.
    not_equal, not_equal_scalar;
    /// Which elements are above; ``>``.
    greater, greater_scalar;
    /// Which elements are not below; ``>=``.
    greater_equal, greater_equal_scalar;
    /// Which elements are below; ``<``.
    lower, lower_scalar;
    /// Which elements are not above; ``<=``.
    lower_equal, lower_equal_scalar;
    /// Bits that are set in both.
    bitwise_and, bitwise_and_scalar;
    /// Bits that are set in one at least.
    bitwise_or, bitwise_or_scalar;
    /// Bits that are set in one only.
    bitwise_xor, bitwise_xor_scalar;
    /// Bits moved up, by the amount modulo the width.
    bitwise_left_shift, bitwise_left_shift_scalar;
    /// Bits moved down, by the amount modulo the width; signed integers keep their sign.
    bitwise_right_shift, bitwise_right_shift_scalar;
}

with_number! {
    /// ``equal`` to a number.
    equal_scalar;
    /// ``not_equal`` to a number.
    not_equal_scalar;
    /// ``greater`` than a number.
    greater_scalar;
    /// ``greater_equal`` with a number.
    greater_equal_scalar;
    /// ``lower`` than a number.
    lower_scalar;
    /// ``lower_equal`` with a number.
    lower_equal_scalar;
    /// ``bitwise_and`` with a number.
    bitwise_and_scalar;
    /// ``bitwise_or`` with a number.
    bitwise_or_scalar;
    /// ``bitwise_xor`` with a number.
    bitwise_xor_scalar;
    /// ``bitwise_left_shift`` by a number.
    bitwise_left_shift_scalar;
    /// ``bitwise_right_shift`` by a number.
    bitwise_right_shift_scalar;
}

pairs! {
    /// True where both are.
    bool_and;
    /// True where one at least is.
    bool_or;
    /// True where one only is.
    bool_xor;
}

unary! {
    /// True where the tensor is not.
    bool_not;
    /// All bits turned.
    bitwise_not;
}

#[pymethods]
impl PyTensor {
    /// Which elements are ``abs(x − other) <= atol + rtol · abs(other)``. NaN is close to nothing, an infinity to itself.
    #[pyo3(signature = (other, rtol=1e-5, atol=1e-8))]
    fn is_close(&self, py: Python<'_>, other: &Bound<'_, Self>, rtol: f64, atol: f64) -> PyResult<Self> {
        let (x, y) = (&self.0, &other.get().0);
        gate::tensor(py, gate::work(x, y), || x.is_close(y, rtol, atol))
    }

    /// Whether all elements are close, a Python bool; see ``is_close``.
    #[pyo3(signature = (other, rtol=1e-5, atol=1e-8))]
    fn all_close(&self, py: Python<'_>, other: &Bound<'_, Self>, rtol: f64, atol: f64) -> PyResult<bool> {
        let (x, y) = (&self.0, &other.get().0);
        gate::run(py, gate::work(x, y), || x.all_close(y, rtol, atol))
    }

    /// ``value`` where the mask is true, this tensor elsewhere.
    fn mask_where(&self, py: Python<'_>, mask: &Bound<'_, Self>, value: &Bound<'_, Self>) -> PyResult<Self> {
        let (mask, value) = (&mask.get().0, &value.get().0);
        gate::tensor(py, gate::work(&self.0, mask), || self.0.mask_where(mask, value))
    }

    /// A number where the mask is true, this tensor elsewhere.
    fn mask_fill(&self, py: Python<'_>, mask: &Bound<'_, Self>, value: Number) -> PyResult<Self> {
        let mask = &mask.get().0;
        gate::tensor(py, gate::work(&self.0, mask), || self.0.mask_fill(mask, value.0))
    }
}
