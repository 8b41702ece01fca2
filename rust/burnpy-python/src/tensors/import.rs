//! Arrays on their way into tensors.

use std::sync::Arc;

use burnpy_buffer::{Bytes, Layout};
use burnpy_tensor::{DType, Error, Value};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;

use super::error::to_exception;
use crate::array::{as_array, dtype_of, unsupported};
use crate::dlpack;
use crate::import::{Held, strided_bytes};

/// Bytes from which on a copy is worth letting other threads run.
const WORTH_IT: usize = 64 << 10;

/// The elements of an array as a value: shared or copied as `copy` says, by default shared if their owner is
/// read-only.
pub(crate) fn value_of(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Value> {
    let py = object.py();
    let array = match as_array("", object)? {
        Some(array) => array.clone(),
        None => py.import("numpy")?.getattr("asarray")?.call1((object,))?.cast_into::<PyUntypedArray>()?,
    };
    let descr = array.dtype();
    let dtype = dtype_of(&descr).ok_or_else(|| unsupported("from_numpy", descr.as_any()))?;
    let is_foreign = descr.byteorder() == b'>' && cfg!(target_endian = "little");
    if is_foreign || array.strides().iter().any(|stride| stride % descr.itemsize() as isize != 0) {
        return if copy == Some(false) { Err(cannot_share(py)) } else { value_of(&in_order(&array)?, None) };
    }
    let shared = shared(&array, dtype).map_err(|error| to_exception(py, error))?;
    share_or_copy(py, shared, copy.unwrap_or_else(|| !is_read_only(&array)))
}

/// The memory that another library lends by DLPack; shared or copied as `copy` says, by default shared if it is said to
/// be read-only.
pub(crate) fn value_of_lent(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Value> {
    let lent = dlpack::lent(object)?;
    let shared = Value::new(lent.bytes, lent.dtype, lent.layout);
    let shared = shared.map_err(|error| to_exception(object.py(), error))?;
    share_or_copy(object.py(), shared, copy.unwrap_or(!lent.is_read_only))
}

fn share_or_copy(py: Python<'_>, shared: Value, is_copied: bool) -> PyResult<Value> {
    if !is_copied {
        return Ok(shared);
    }
    let make = || copied(&shared);
    let value = if shared.bytes().len() < WORTH_IT { make() } else { py.detach(make) };
    value.map_err(|error| to_exception(py, error))
}

fn shared(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> burnpy_tensor::Result<Value> {
    let item_size = array.dtype().itemsize();
    let (bytes, first) = strided_bytes(array, item_size, Arc::new(Held::new(array)));
    let strides: Vec<isize> = array.strides().iter().map(|&stride| stride / item_size as isize).collect();
    let layout = if array.is_empty() {
        Layout::contiguous(array.shape())
    } else {
        Layout::from_parts(array.shape(), strides, first / item_size)
    };
    Value::new(bytes, dtype, layout.map_err(|error| Error::shape("tensor", error))?)
}

/// The same elements in memory of burnpy's own.
fn copied(value: &Value) -> burnpy_tensor::Result<Value> {
    if !value.layout().is_contiguous() {
        return Ok(value.contiguous());
    }
    let size = value.dtype().size().expect("arrays are not quantized");
    let from = value.layout().offset() * size;
    let bytes = value.bytes().slice(from..from + value.num_elements() * size).unwrap_or_else(Bytes::empty);
    let layout = Layout::contiguous(value.shape()).map_err(|error| Error::shape("tensor", error))?;
    Value::new(bytes.to_aligned(), value.dtype(), layout)
}

/// Whether nobody can write to the elements: neither through this array nor through what owns the memory.
fn is_read_only(array: &Bound<'_, PyUntypedArray>) -> bool {
    let mut owner = array.as_any().clone();
    loop {
        let Ok(true) =
            owner.getattr("flags").and_then(|flags| flags.getattr("writeable")?.extract().map(|w: bool| !w))
        else {
            return false;
        };
        match owner.getattr("base") {
            Ok(base) if base.is_none() => return true,
            Ok(base) if base.is_instance_of::<PyUntypedArray>() => owner = base,
            Ok(base) => return PyUntypedBuffer::get(&base).is_ok_and(|buffer| buffer.readonly()),
            Err(_) => return false,
        }
    }
}

fn in_order<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
    let descr = array.dtype().call_method1("newbyteorder", ("=",))?;
    array.call_method1("astype", (descr,))
}

fn cannot_share(py: Python<'_>) -> PyErr {
    let message = "the array's bytes or strides are in another order; with copy=None it is copied";
    to_exception(py, Error::argument("tensor", message))
}
