//! How many threads compute.

use burnpy_tensor::parallel::{self, Share};
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

/// Gives kernels that this thread calls a share of the threads, ``(threads, pool)``, or takes it away; what it had before is
/// returned.
#[pyfunction]
#[pyo3(signature = (share, /))]
pub(crate) fn set_thread_share(share: Option<(usize, usize)>) -> Option<(usize, usize)> {
    parallel::set_share(share.map(|(threads, pool)| Share::new(threads, pool))).map(Share::parts)
}

/// The number of threads that kernels compute on; in a rank that is a thread, its share of them.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    parallel::num_threads()
}
