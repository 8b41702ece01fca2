//! Tensors of other libraries, by DLPack.
#![allow(unsafe_code, reason = "reads structures and memory of DLPack's producers, each with its owner")]

use std::ffi::CStr;
use std::sync::Arc;

use burnpy_buffer::{BoolStore, Bytes, DType, Layout};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::export::{CPU, DlTensor, FLAG_READ_ONLY, Managed, ManagedVersioned};

/// Memory that another library lends.
pub(crate) struct Lent {
    pub(crate) bytes: Bytes,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// Whether its owner has said that nobody may write to it.
    pub(crate) is_read_only: bool,
}

/// Asks an object for its memory.
///
/// # Errors
/// `BufferError` for memory of another device, for a later major version of DLPack and for dtypes that no tensor has.
pub(crate) fn lent(object: &Bound<'_, PyAny>) -> PyResult<Lent> {
    let py = object.py();
    let (device, _) = object.call_method0("__dlpack_device__")?.extract::<(i32, i32)>()?;
    if device != CPU {
        return Err(PyBufferError::new_err(format!(
            "the tensor is on a device of type {device}, not on the CPU"
        )));
    }
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 0))?;
    let capsule = match object.call_method("__dlpack__", (), Some(&options)) {
        // From before DLPack 1.0, which has no such argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__")?,
        capsule => capsule?,
    };
    take(&capsule.cast_into::<PyCapsule>()?)
}

fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Lent> {
    if let Some(managed) =
        claim::<ManagedVersioned>(capsule, c"dltensor_versioned", c"used_dltensor_versioned")?
    {
        let owner = Owner(managed, |managed: *mut ManagedVersioned| {
            // SAFETY: the producer's structure, which is freed by this one call.
            unsafe { (*managed).deleter.map_or((), |deleter| deleter(managed)) }
        });
        // SAFETY: the structure is the producer's until `owner` is dropped; its head is the same in all versions.
        let ([major, minor], flags) = unsafe { ((*managed).version, (*managed).flags) };
        if major != 1 {
            return Err(PyBufferError::new_err(format!("DLPack {major}.{minor} is not known, 1.0 is")));
        }
        // SAFETY: as above, of a version that is known.
        return unsafe { read(&raw const (*managed).tensor, Arc::new(owner), flags & FLAG_READ_ONLY != 0) };
    }
    if let Some(managed) = claim::<Managed>(capsule, c"dltensor", c"used_dltensor")? {
        let owner = Owner(managed, |managed: *mut Managed| {
            // SAFETY: the producer's structure, which is freed by this one call.
            unsafe { (*managed).deleter.map_or((), |deleter| deleter(managed)) }
        });
        // SAFETY: the structure is the producer's until `owner` is dropped.
        return unsafe { read(&raw const (*managed).tensor, Arc::new(owner), false) };
    }
    Err(PyBufferError::new_err("the capsule holds no DLPack tensor, or somebody has taken it"))
}

/// What the capsule of a name points to, from now on ours to free.
fn claim<T>(
    capsule: &Bound<'_, PyCapsule>,
    name: &'static CStr,
    used: &'static CStr,
) -> PyResult<Option<*mut T>> {
    // SAFETY: a capsule of this name points to this structure, by DLPack's rules; renamed, its destructor leaves it
    // alone.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 0 {
            return Ok(None);
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        if ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        Ok(Some(pointer.cast()))
    }
}

/// Frees a producer's structure, with the GIL: producers in Python need it.
struct Owner<T>(*mut T, fn(*mut T));

// SAFETY: the structure is only read after it is claimed, and its deleter may be called on any thread.
unsafe impl<T> Send for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Owner<T> {}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        Python::try_attach(|_| self.1(self.0));
    }
}

/// # Safety
/// `tensor` is a producer's, alive as long as `owner`.
unsafe fn read(
    tensor: *const DlTensor,
    owner: Arc<dyn std::any::Any + Send + Sync>,
    is_read_only: bool,
) -> PyResult<Lent> {
    // SAFETY: the caller's promise.
    let tensor = unsafe { &*tensor };
    let (code, bits, lanes) = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
    let dtype = (lanes == 1).then(|| dtype_of(code, bits)).flatten().ok_or_else(|| {
        PyBufferError::new_err(format!(
            "no tensor has DLPack's dtype (code {code}, {bits} bits, {lanes} lanes)"
        ))
    })?;
    let rank = usize::try_from(tensor.ndim).unwrap_or(0);
    // SAFETY: there are `ndim` sizes, and as many strides unless they are null.
    let (shape, strides) = unsafe { (numbers(tensor.shape, rank), numbers(tensor.strides, rank)) };
    let shape: Vec<usize> = shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
    let bad = |error| PyBufferError::new_err(format!("the tensor's layout is impossible: {error}"));
    let dense = Layout::contiguous(&shape).map_err(bad)?;
    if dense.num_elements() == 0 {
        return Ok(Lent { bytes: Bytes::empty(), layout: dense, dtype, is_read_only });
    }
    let strides = if tensor.strides.is_null() {
        dense.strides().to_vec()
    } else {
        strides.iter().map(|&s| s as isize).collect()
    };
    let way = |(&size, &stride): (&usize, &isize)| stride.saturating_mul(size as isize - 1);
    let before: isize = shape.iter().zip(&strides).map(way).filter(|&way| way < 0).sum();
    let layout = Layout::from_parts(&shape, &strides, before.unsigned_abs()).map_err(bad)?;
    let size = dtype.size().expect("plain dtypes have one");
    let len = layout
        .reach()
        .end
        .checked_mul(size)
        .ok_or_else(|| PyBufferError::new_err("the tensor is too large"))?;
    // SAFETY: the producer's memory reaches from the first element to the last, as the layout says; `owner` keeps it.
    let bytes = unsafe {
        let first = tensor.data.cast::<u8>().add(tensor.byte_offset as usize).offset(before * size as isize);
        Bytes::from_raw_parts(first, len, owner, false)
    };
    Ok(Lent { bytes, layout, dtype, is_read_only })
}

/// # Safety
/// There are `count` numbers at `start`, unless it is null.
unsafe fn numbers<'a>(start: *const i64, count: usize) -> &'a [i64] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, count) }
}

const fn dtype_of(code: u8, bits: u8) -> Option<DType> {
    Some(match (code, bits) {
        (0, 64) => DType::I64,
        (0, 32) => DType::I32,
        (0, 16) => DType::I16,
        (0, 8) => DType::I8,
        (1, 64) => DType::U64,
        (1, 32) => DType::U32,
        (1, 16) => DType::U16,
        (1, 8) => DType::U8,
        (2, 64) => DType::F64,
        (2, 32) => DType::F32,
        (2, 16) => DType::F16,
        (4, 16) => DType::BF16,
        (6, 8) => DType::Bool(BoolStore::Native),
        _ => return None,
    })
}
