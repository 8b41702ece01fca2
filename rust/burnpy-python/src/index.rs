//! Python's index expressions as basic indices.

use burnpy_buffer::{BasicIndex, LayoutError, Selection};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// The selection of `view[index]`, and whether NumPy gives a scalar for it rather than an array.
pub(crate) fn selection_of(shape: &[u64], index: &Bound<'_, PyAny>) -> PyResult<(Selection, bool)> {
    let entries: Vec<_> = match index.cast::<PyTuple>() {
        Ok(entries) => entries.iter().map(|entry| basic_index(&entry)).collect::<PyResult<_>>()?,
        Err(_) => vec![basic_index(index)?],
    };
    let selection = Selection::new(shape, &entries).map_err(|error| index_error(&error))?;
    let is_scalar = selection.shape().is_empty() && !entries.contains(&BasicIndex::Ellipsis);
    Ok((selection, is_scalar))
}

/// An impossible index, as Python says it.
pub(crate) fn index_error(error: &LayoutError) -> PyErr {
    PyIndexError::new_err(error.to_string())
}

pub(crate) fn basic_index(entry: &Bound<'_, PyAny>) -> PyResult<BasicIndex> {
    if entry.is_none() {
        return Ok(BasicIndex::NewAxis);
    }
    if entry.cast::<PyEllipsis>().is_ok() {
        return Ok(BasicIndex::Ellipsis);
    }
    if let Ok(slice) = entry.cast::<PySlice>() {
        return Ok(BasicIndex::Slice {
            start: bound(&slice.getattr("start")?)?,
            stop: bound(&slice.getattr("stop")?)?,
            step: bound(&slice.getattr("step")?)?,
        });
    }
    // NumPy takes a bool for a mask, and so does nobody here: True is not 1.
    if entry.is_instance_of::<PyBool>() || !has_index(entry)? {
        let kind = entry.get_type().name()?;
        return Err(PyIndexError::new_err(format!(
            "an index takes integers, slices, ... and None, not {kind}"
        )));
    }
    integer(entry)?
        .extract()
        .map(BasicIndex::Int)
        .map_err(|_| PyIndexError::new_err(format!("index {entry} is larger than any tensor")))
}

/// A bound of a slice; one that no 64-bit integer holds is clipped, as it lies outside of any axis.
pub(crate) fn bound(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if value.is_none() {
        return Ok(None);
    }
    let number = integer(value)?;
    match number.extract::<i64>() {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Ok(Some(if number.lt(0)? { i64::MIN } else { i64::MAX }))
        }
        Err(error) => Err(error),
    }
}

fn has_index(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.is_instance_of::<PyInt>() || value.hasattr("__index__")?)
}

fn integer<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyInt>() { Ok(value.clone()) } else { value.call_method0("__index__") }
}
