//! Products of matrices and vectors, norms, decompositions.

use burnpy_tensor::ops;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::gate;
use super::methods::{pairs, unary};
use super::number::Tensors;
use super::tensor::PyTensor;

/// A decomposition costs far more than its elements.
const COSTLY: usize = usize::MAX;

pairs! {
    /// Scalar product of two vectors of one size, of shape ``(1,)``.
    dot;
    /// Matrix times vector: ``(…, m, n)`` by ``(…, n)`` is ``(…, m)``.
    matvec;
    /// All products of an element of one vector and one of the other: ``(…, m)`` and ``(…, n)`` give ``(…, m, n)``.
    outer;
}

unary! {
    /// The main diagonals of the last two axes, a view.
    diag;
    /// The sums of the main diagonals; of one matrix, of shape ``(1,)``.
    trace;
    /// The determinants of the last two axes; of one matrix, of shape ``(1,)``.
    det;
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

    /// The cross product of vectors of 3 along an axis.
    #[pyo3(signature = (other, dim=-1))]
    fn cross(&self, py: Python<'_>, other: &Bound<'_, Self>, dim: isize) -> PyResult<Self> {
        let (x, y) = (&self.0, &other.get().0);
        gate::tensor(py, gate::work(x, y), || x.cross(y, dim))
    }

    /// The covariance of variables along ``dim`` over the observations along the other axis of a matrix, divided by
    /// their number less ``correction``.
    #[pyo3(signature = (dim=0, correction=1))]
    fn cov(&self, py: Python<'_>, dim: isize, correction: usize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.cov(dim, correction))
    }

    /// The p-norm along an axis, kept with size 1; p = 0 counts what is not 0, ±∞ are the largest and smallest magnitude.
    fn vector_norm(&self, py: Python<'_>, p: f64, dim: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.vector_norm(p, dim))
    }

    /// As ``vector_norm``.
    fn lp_norm(&self, py: Python<'_>, p: f64, dim: isize) -> PyResult<Self> {
        self.vector_norm(py, p, dim)
    }

    /// ``x / max(norm, eps)`` along an axis.
    #[pyo3(signature = (p=2.0, dim=1, eps=1e-12))]
    fn vector_normalize(&self, py: Python<'_>, p: f64, dim: isize, eps: f64) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.vector_normalize(p, dim, eps))
    }

    /// The cosine of the angle between vectors along an axis, kept with size 1; norms are at least ``eps``, by default the
    /// smallest positive number.
    #[pyo3(signature = (other, dim=1, eps=None))]
    fn cosine_similarity(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Self>,
        dim: isize,
        eps: Option<f64>,
    ) -> PyResult<Self> {
        let (x, y) = (&self.0, &other.get().0);
        let smallest =
            if x.dtype() == burnpy_tensor::DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
        gate::tensor(py, gate::work(x, y), || x.cosine_similarity(y, dim, eps.unwrap_or(smallest)))
    }

    /// ``q, r`` with ``x = q @ r``: orthonormal columns and an upper triangle. No gradient.
    fn qr(&self, py: Python<'_>) -> PyResult<(Self, Self)> {
        let (q, r) = gate::run(py, COSTLY, || self.0.qr())?;
        Ok((Self(q), Self(r)))
    }

    /// ``l, u, p`` with ``p @ x = l @ u``: lower and upper triangle and a permutation. No gradient.
    fn lu(&self, py: Python<'_>) -> PyResult<(Self, Self, Self)> {
        let (l, u, p) = gate::run(py, COSTLY, || self.0.lu())?;
        Ok((Self(l), Self(u), Self(p)))
    }

    /// ``u, s, vt`` with ``x = u @ diag(s) @ vt``, s descending. No gradient.
    fn svd(&self, py: Python<'_>) -> PyResult<(Self, Self, Self)> {
        let (u, s, vt) = gate::run(py, COSTLY, || self.0.svd())?;
        Ok((Self(u), Self(s), Self(vt)))
    }
}

/// Sums of products by the letters of an equation: ``"ij,jk->ik"`` is the matrix product.
///
/// ``...`` broadcasts from the right, a letter twice in one operand is its diagonal. Without ``->`` the output has the
/// ellipsis, then the letters that come once, in order. A scalar result has shape ``(1,)``.
#[pyfunction]
#[pyo3(signature = (equation, /, *operands))]
pub(crate) fn einsum(py: Python<'_>, equation: &str, operands: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
    let operands: Tensors = operands.as_any().extract()?;
    gate::tensor(py, operands.elements().saturating_mul(8), || ops::einsum(equation, &operands.refs()))
}
