//! Order along an axis.

use pyo3::prelude::*;

use super::gate;
use super::methods::{along, along_pair};
use super::tensor::PyTensor;

along! {
    /// Ascending along an axis: −∞ < … < −0 < +0 < … < ∞ < NaN.
    sort;
    /// Descending along an axis.
    sort_descending;
    /// Where the elements of the ascending order come from.
    argsort;
    /// Where the elements of the descending order come from.
    argsort_descending;
    /// The middle one of the ascending order, the lower of two; the axis stays, with size 1.
    median;
}

along_pair! {
    /// Ascending along an axis, and where each element came from.
    sort_with_indices;
    /// Descending along an axis, and where each element came from.
    sort_descending_with_indices;
    /// ``median``, and where it came from.
    median_with_indices;
}

#[pymethods]
impl PyTensor {
    /// The ``k`` greatest along an axis, descending.
    fn topk(&self, py: Python<'_>, k: usize, dim: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.topk(k, dim))
    }

    /// The ``k`` greatest along an axis, and where they are.
    fn topk_with_indices(&self, py: Python<'_>, k: usize, dim: isize) -> PyResult<(Self, Self)> {
        let (values, indices) = gate::run(py, self.0.num_elements(), || self.0.topk_with_indices(k, dim))?;
        Ok((Self(values), Self(indices)))
    }

    /// Where the ``k`` greatest along an axis are; ``k`` is below its size, as in Burn.
    fn argtopk(&self, py: Python<'_>, k: usize, dim: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.argtopk(k, dim))
    }
}
