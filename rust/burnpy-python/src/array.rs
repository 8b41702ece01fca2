//! NumPy's arrays, and whatever else holds a payload, on their way into a container.

use std::sync::Arc;

use burnpy_buffer::{BoolStore, Bytes, DType};
use burnpy_pack::{Provider, ProviderError, Tensor};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::enter::{Raised, error_class};
use crate::import::{Held, array_bytes, buffer_bytes};

/// From this number on, a dtype is no part of NumPy but added to it.
const FIRST_USER_DTYPE: i32 = 256;

/// What a NumPy dtype is in a container, whatever its byte order; `None` for what none can hold.
pub(crate) fn dtype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    if descr.num() >= FIRST_USER_DTYPE {
        return descr.typeobj().name().is_ok_and(|name| name == "bfloat16").then_some(DType::BF16);
    }
    Some(match (descr.kind(), descr.itemsize()) {
        (b'f', 8) => DType::F64,
        (b'f', 4) => DType::F32,
        (b'f', 2) => DType::F16,
        (b'i', 8) => DType::I64,
        (b'i', 4) => DType::I32,
        (b'i', 2) => DType::I16,
        (b'i', 1) => DType::I8,
        (b'u', 8) => DType::U64,
        (b'u', 4) => DType::U32,
        (b'u', 2) => DType::U16,
        (b'u', 1) => DType::U8,
        (b'b', 1) => DType::Bool(BoolStore::Native),
        _ => return None,
    })
}

/// A tensor of an array's elements. They are borrowed where they lie as the file wants them, else brought into order
/// when the writer reaches them, one array at a time. `owner` holds the array.
pub(crate) fn tensor_of_array(
    name: String,
    array: &Bound<'_, PyUntypedArray>,
    param_id: Option<u64>,
    owner: &Arc<Held>,
) -> PyResult<Tensor> {
    let descr = array.dtype();
    let dtype = dtype_of(&descr).ok_or_else(|| unsupported(&name, descr.as_any()))?;
    let shape = array.shape().iter().map(|&extent| extent as u64).collect();
    if array.is_c_contiguous() && is_little_endian(&descr) {
        return Ok(Tensor::new(name, dtype, shape, param_id, array_bytes(array, owner.clone())));
    }
    let byte_len = (array.len() * descr.itemsize()) as u64;
    let provider = Arc::new(Ordered(Held::new(array)));
    Ok(Tensor::deferred(name, dtype, shape, param_id, byte_len, provider))
}

/// The payload that a Python object holds: an array, or any buffer.
pub(crate) fn payload_of(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if value.hasattr("__array_interface__")? {
        let array = in_order(value)?;
        let owner = Arc::new(Held::new(&array));
        return Ok(array_bytes(&array, owner));
    }
    buffer_bytes(value).map_err(|error| match error.is_instance_of::<PyTypeError>(value.py()) {
        true => PyTypeError::new_err(format!("{} is no array, bytes or other buffer", type_name(value))),
        false => error,
    })
}

/// The name of a value's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().fully_qualified_name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// An array whose elements are not in the file's order: transposed, strided, reversed, broadcast, big-endian.
struct Ordered(Held);

impl Provider for Ordered {
    fn provide(&self) -> Result<Bytes, ProviderError> {
        Python::attach(|py| payload_of(self.0.bind(py))).map_err(|error| Raised(error).into())
    }
}

/// A dtype that no container holds, told of its tensor.
pub(crate) fn unsupported(name: &str, dtype: &Bound<'_, PyAny>) -> PyErr {
    let text = dtype.str().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    let message = format!("tensor {name:?}: burnpack has no dtype for {text}");
    let kwargs = PyDict::new(dtype.py());
    let build = || {
        kwargs.set_item("tensor", name)?;
        kwargs.set_item("dtype", text)?;
        error_class(dtype.py(), "DTypeError")?.call((message,), Some(&kwargs))
    };
    build().map_or_else(|error| error, PyErr::from_value)
}

fn is_little_endian(descr: &Bound<'_, PyArrayDescr>) -> bool {
    match descr.byteorder() {
        b'>' => false,
        b'=' => cfg!(target_endian = "little"),
        _ => true,
    }
}

/// The array as it lies in a file: row by row, little-endian. A copy only where it must be one.
fn in_order<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("ascontiguousarray", (value,))?.cast_into::<PyUntypedArray>()?;
    let descr = array.dtype();
    if is_little_endian(&descr) {
        return Ok(array);
    }
    let little = descr.call_method1("newbyteorder", ("<",))?;
    Ok(array.call_method1("astype", (little,))?.cast_into()?)
}
