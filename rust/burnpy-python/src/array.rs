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

/// Makes tensors of arrays; remembers the last dtype, which in a loop over a model is nearly always the next one's.
#[derive(Default)]
pub(crate) struct Arrays<'py> {
    last: Option<(Bound<'py, PyArrayDescr>, Known)>,
}

#[derive(Clone, Copy)]
struct Known {
    dtype: Option<DType>,
    item_size: usize,
    is_little_endian: bool,
}

impl<'py> Arrays<'py> {
    /// A tensor of an array's elements. They are borrowed where they lie as the file wants them, else brought into
    /// order when the writer reaches them, one array at a time. `owner` holds the array.
    ///
    /// # Errors
    /// `DTypeError`.
    pub(crate) fn tensor(
        &mut self,
        name: String,
        array: &Bound<'py, PyUntypedArray>,
        param_id: Option<u64>,
        owner: &Arc<Held>,
    ) -> PyResult<Tensor> {
        let Known { dtype, item_size, is_little_endian } = self.known(array.dtype());
        let dtype = dtype.ok_or_else(|| unsupported(&name, array.dtype().as_any()))?;
        let shape = array.shape().iter().map(|&extent| extent as u64).collect();
        if is_little_endian && array.is_c_contiguous() {
            return Ok(Tensor::new(
                name,
                dtype,
                shape,
                param_id,
                array_bytes(array, item_size, owner.clone()),
            ));
        }
        let byte_len = (array.len() * item_size) as u64;
        let provider = Arc::new(Unordered(Held::new(array), dtype));
        Ok(Tensor::deferred(name, dtype, shape, param_id, byte_len, provider))
    }

    fn known(&mut self, descr: Bound<'py, PyArrayDescr>) -> Known {
        if let Some((last, known)) = &self.last
            && last.is(&descr)
        {
            return *known;
        }
        let known = Known {
            dtype: dtype_of(&descr),
            item_size: descr.itemsize(),
            is_little_endian: is_little_endian(&descr),
        };
        self.last = Some((descr, known));
        known
    }
}

/// The array that a value is, if it is one.
///
/// # Errors
/// `TypeError` for a masked array: its mask would be lost.
pub(crate) fn as_array<'a, 'py>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<Option<&'a Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = value.cast_exact::<PyUntypedArray>() {
        return Ok(Some(array));
    }
    let Ok(array) = value.cast::<PyUntypedArray>() else { return Ok(None) };
    if value.is_instance(&value.py().import("numpy.ma")?.getattr("MaskedArray")?)? {
        let message =
            format!("tensor {name:?} is a masked array, whose mask no burnpack holds; filled() drops it");
        return Err(PyTypeError::new_err(message));
    }
    Ok(Some(array))
}

/// The payload that a Python object holds for a tensor of a dtype: an array, or any buffer.
///
/// # Errors
/// `TypeError` for an array whose elements are not, and do not stand for, the dtype's.
pub(crate) fn payload_of(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Bytes> {
    if value.hasattr("__array_interface__")? {
        let array = in_order(value)?;
        check_elements(&array.dtype(), dtype)?;
        let owner = Arc::new(Held::new(&array));
        return Ok(array_bytes(&array, array.dtype().itemsize(), owner));
    }
    buffer_bytes(value).map_err(|error| match error.is_instance_of::<PyTypeError>(value.py()) {
        true => PyTypeError::new_err(format!("{} is no array, bytes or other buffer", type_name(value))),
        false => error,
    })
}

/// Refuses an array of pointers, texts or other numbers as a payload: its bytes would be written, and mean nothing.
///
/// Integers and booleans may stand for the bits of any dtype, since NumPy has not all of them; and any number is bytes.
fn check_elements(descr: &Bound<'_, PyArrayDescr>, wanted: DType) -> PyResult<()> {
    let is_bits = match dtype_of(descr) {
        Some(DType::F32) => matches!(wanted, DType::F32 | DType::Flex32),
        Some(float @ (DType::F64 | DType::F16 | DType::BF16)) => wanted == float,
        Some(_) => true,
        None => descr.num() >= FIRST_USER_DTYPE,
    };
    let is_number = dtype_of(descr).is_some() || descr.kind() == b'c';
    if is_bits || (is_number && matches!(wanted, DType::U8 | DType::QFloat(_))) {
        return Ok(());
    }
    let (found, wanted) = (descr.str()?, wanted.name());
    Err(PyTypeError::new_err(format!("an array of {found} is no payload of a tensor of {wanted}")))
}

/// The name of a value's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().fully_qualified_name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// An array whose elements are not in the file's order: transposed, strided, reversed, broadcast, big-endian.
struct Unordered(Held, DType);

impl Provider for Unordered {
    fn provide(&self) -> Result<Bytes, ProviderError> {
        Python::attach(|py| payload_of(self.0.bind(py), self.1)).map_err(|error| Raised(error).into())
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
