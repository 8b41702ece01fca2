//! Transposes a matrix piece by piece, from a mapped file into memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::import::{WritableBuffer, buffer_bytes};

/// Copies rows of a matrix into the columns of ``out`` from ``at`` on; see ``burnpy.store.draw``.
///
/// Args:
///     source: bytes of whole rows.
///     cols: elements of a row.
///     element: bytes of an element: 1, 2, 4, 8 or 16.
///     out: bytes of the transposed matrix.
///     out_cols: elements of one of its rows.
///     at: the first column that is written.
///
/// Raises:
///     ValueError: the numbers do not agree.
#[pyfunction]
#[pyo3(signature = (source, cols, element, out, out_cols, at))]
pub(crate) fn transpose_rows(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    cols: usize,
    element: usize,
    mut out: WritableBuffer,
    out_cols: usize,
    at: usize,
) -> PyResult<()> {
    let source = buffer_bytes(source)?;
    let to = out.as_mut_slice();
    let row_len = cols.checked_mul(element).filter(|&len| len > 0);
    let rows = row_len.filter(|len| source.len() % len == 0).map(|len| source.len() / len);
    let fits = rows.and_then(|rows| rows.checked_add(at)).is_some_and(|end| end <= out_cols);
    let is_whole = row_len.and_then(|len| len.checked_mul(out_cols)) == Some(to.len());
    if !fits || !is_whole || ![1, 2, 4, 8, 16].contains(&element) {
        let what = format!("{} bytes of rows of {cols} do not fit", source.len());
        return Err(PyValueError::new_err(what));
    }
    py.detach(|| burnpy_buffer::transpose_rows(&source, cols, element, to, out_cols, at));
    Ok(())
}
