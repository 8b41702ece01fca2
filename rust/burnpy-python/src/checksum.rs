//! `burnpy._core.crc32`: the checksum of zip archives.

use burnpy_pickle::crc32 as crc32_of;
use pyo3::prelude::*;

use crate::import::buffer_bytes;

/// The CRC-32 of buffers that follow each other; large ones are read by two threads.
///
/// Args:
///     pieces: the buffers.
#[pyfunction]
#[pyo3(signature = (pieces, /))]
pub(crate) fn crc32(py: Python<'_>, pieces: Vec<Bound<'_, PyAny>>) -> PyResult<u32> {
    let pieces = pieces.iter().map(buffer_bytes).collect::<PyResult<Vec<_>>>()?;
    Ok(py.detach(|| crc32_of(&pieces.iter().map(|piece| &piece[..]).collect::<Vec<_>>())))
}
