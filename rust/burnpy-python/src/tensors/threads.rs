//! How many threads compute.

use burnpy_tensor::parallel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Lets kernels compute on this many threads; results are the same with any number. At the start it is
/// ``BURNPY_NUM_THREADS``, or the number of cores.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub(crate) fn set_num_threads(py: Python<'_>, n: usize) -> PyResult<()> {
    if n == 0 {
        return Err(PyValueError::new_err("at least 1 thread has to compute, got 0"));
    }
    py.detach(|| parallel::set_num_threads(n));
    Ok(())
}

/// The number of threads that kernels compute on.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    parallel::num_threads()
}
