//! Products of matrices and vectors.

use pyo3::prelude::*;

use super::gate;
use super::methods::pairs;
use super::tensor::PyTensor;

pairs! {
    /// Scalar product of two vectors of one size, of shape ``(1,)``.
    dot;
    /// Matrix times vector: ``(…, m, n)`` by ``(…, n)`` is ``(…, m)``.
    matvec;
    /// All products of an element of one vector and one of the other: ``(…, m)`` and ``(…, n)`` give ``(…, m, n)``.
    outer;
}

#[pymethods]
impl PyTensor {
    /// Matrix product of the last two axes; leading axes broadcast.
    ///
    /// Raises:
    ///     ShapeError: a rank below 2, or inner sizes that differ.
    #[pyo3(signature = (other, /))]
    pub(crate) fn matmul(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let (x, y) = (&self.0, &other.get().0);
        let work = x.num_elements().saturating_mul(y.shape().last().copied().unwrap_or(1));
        gate::tensor(py, work, || x.matmul(y))
    }
}
