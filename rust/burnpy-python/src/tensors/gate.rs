//! The gate out of Python for tensors: as `enter`, but small operations keep the GIL.

use burnpy_tensor::{Result, Tensor};
use pyo3::prelude::*;

use super::error::to_exception;
use super::tensor::PyTensor;

/// Elements from which on other threads of Python may run meanwhile. To let the GIL go and take it again costs more
/// than an addition of a thousand numbers, and far more where others want it.
const WORTH_IT: usize = 8 << 10;

/// Runs a closure, without the GIL if it touches many elements, and turns its error into the exception of its kind.
#[inline]
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    elements: usize,
    run: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let result = if elements < WORTH_IT { run() } else { py.detach(run) };
    result.map_err(|error| to_exception(py, error))
}

/// [`run`] for what makes a tensor.
#[inline]
pub(crate) fn tensor(
    py: Python<'_>,
    elements: usize,
    make: impl FnOnce() -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    run(py, elements, make).map(PyTensor)
}

/// Elements that an operation on two broadcast tensors may touch.
#[inline]
pub(crate) fn work(a: &Tensor, b: &Tensor) -> usize {
    let (n, m) = (a.num_elements(), b.num_elements());
    if n == m { n } else { n.saturating_mul(m) }
}
