//! Lets the pages of a mapped file go that have been used.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// Gives the pages of mapped bytes back to the system; who touches them again finds what is in the file.
///
/// Whatever does not lie in a read-only map that burnpy made is left alone.
///
/// Args:
///     address: of the first byte, as ``array.__array_interface__["data"][0]`` tells it.
///     nbytes: length.
#[pyfunction]
#[pyo3(signature = (address, nbytes, /))]
pub(crate) fn forget_pages(py: Python<'_>, address: usize, nbytes: usize) -> PyResult<()> {
    let end = address.checked_add(nbytes).ok_or_else(|| PyOverflowError::new_err("the bytes end nowhere"))?;
    py.detach(|| burnpy_buffer::forget_pages(address..end));
    Ok(())
}
