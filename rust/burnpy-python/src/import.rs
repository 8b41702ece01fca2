//! Memory of Python objects as bytes of the pure crates, without a copy, and Python memory that Rust fills.
#![allow(unsafe_code, reason = "points into memory that a Python object keeps alive")]

use std::any::Any;
use std::sync::Arc;

use burnpy_buffer::{Bytes, HUGE_PAGE};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A Python object that is kept alive, and let go at once wherever its last user is: without this, a reference that
/// is dropped while the GIL is released waits for the next one who takes it, and so does the memory.
pub(crate) struct Held(Option<Py<PyAny>>);

impl Held {
    pub(crate) fn new<T>(object: &Bound<'_, T>) -> Self {
        Self(Some(object.clone().into_any().unbind()))
    }

    pub(crate) const fn object(&self) -> Option<&Py<PyAny>> {
        self.0.as_ref()
    }

    pub(crate) fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.0.as_ref().expect("the object is taken only by drop").bind(py)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            Python::try_attach(|py| object.drop_ref(py));
        }
    }
}

/// The elements of an array that lie in memory one after the other; `owner` holds the array, whose items have
/// `item_size` bytes.
///
/// Whoever changes the array in another thread while it is written gets a mixture, as with any other writer.
pub(crate) fn array_bytes(
    array: &Bound<'_, PyUntypedArray>,
    item_size: usize,
    owner: Arc<dyn Any + Send + Sync>,
) -> Bytes {
    assert!(array.is_c_contiguous(), "bytes of an array that is not contiguous");
    let len = array.len() * item_size;
    // SAFETY: a contiguous array has `len` bytes at its data pointer. `owner` holds a reference to it, and NumPy does
    // not move the elements of an array that somebody else refers to.
    unsafe { Bytes::from_raw_parts((*array.as_array_ptr()).fields.data.cast(), len, owner, false) }
}

/// The memory between the first and the last element of an array of any strides, and the byte of it at which index
/// (0, 0, …) lies. `owner` holds the array.
pub(crate) fn strided_bytes(
    array: &Bound<'_, PyUntypedArray>,
    item_size: usize,
    owner: Arc<dyn Any + Send + Sync>,
) -> (Bytes, usize) {
    if array.is_empty() {
        return (Bytes::empty(), 0);
    }
    let way = |(&size, &stride): (&usize, &isize)| stride * (size - 1) as isize;
    let ways = || array.shape().iter().zip(array.strides()).map(way);
    let before: usize = ways().filter(|&way| way < 0).map(isize::unsigned_abs).sum();
    let after: usize = ways().filter(|&way| way > 0).map(isize::unsigned_abs).sum();
    // SAFETY: all elements of an array are in one allocation, from `before` bytes ahead of index 0 to `after` and one
    // item behind it. `owner` holds a reference to it, and NumPy does not move the elements of an array that somebody
    // else refers to.
    let bytes = unsafe {
        let first = (*array.as_array_ptr()).fields.data.cast::<u8>();
        Bytes::from_raw_parts(first.sub(before), before + after + item_size, owner, false)
    };
    (bytes, before)
}

/// The memory of `bytes`, `bytearray`, `memoryview`, `mmap`, …; the object cannot be resized while it is lent.
pub(crate) fn buffer_bytes(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let buffer = PyUntypedBuffer::get(object)?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("the buffer is not contiguous"));
    }
    let (start, len) = (buffer.buf_ptr(), buffer.len_bytes());
    // SAFETY: the exporter promises `len` contiguous bytes at `start` until the buffer is released, which its drop
    // does: the buffer is the owner.
    Ok(unsafe { Bytes::from_raw_parts(start.cast(), len, Arc::new(buffer), false) })
}

/// The memory of a writable buffer.
pub(crate) struct WritableBuffer(PyUntypedBuffer);

impl FromPyObject<'_, '_> for WritableBuffer {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(&value)?;
        match (buffer.readonly(), buffer.is_c_contiguous()) {
            (true, _) => Err(PyBufferError::new_err("the buffer is read-only")),
            (_, false) => Err(PyBufferError::new_err("the buffer is not contiguous")),
            _ => Ok(Self(buffer)),
        }
    }
}

impl WritableBuffer {
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let len = self.0.len_bytes();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the exporter promises `len` writable bytes until the buffer is released; the borrow of `self` ends
        // before that. Other threads of Python that write there at the same time are the caller's affair, as for
        // `readinto`.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), len) }
    }
}

/// A new `bytes` object of this length and its memory, to be filled before anybody sees the object.
///
/// Made without zeros, which for half a gigabyte would cost as much as the copy that overwrites them.
pub(crate) fn unfilled_bytes<'py>(
    py: Python<'py>,
    len: u64,
) -> PyResult<(Bound<'py, PyBytes>, &'py mut [u8])> {
    let too_long = || PyMemoryError::new_err(format!("cannot allocate {len} bytes: out of memory"));
    let signed = ffi::Py_ssize_t::try_from(len).map_err(|_| too_long())?;
    // SAFETY: a null pointer asks for an object whose content the caller fills; the result is new or an error.
    let object =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), signed)) }
            .map_err(|_| too_long())?;
    // SAFETY: the object is a `bytes`.
    let object = unsafe { object.cast_into_unchecked::<PyBytes>() };
    // SAFETY: the object has `len` bytes and nobody else knows it yet. The callers only write, front to back, and
    // read nothing back.
    let memory = unsafe {
        std::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>(), signed as usize)
    };
    ask_for_huge_pages(memory);
    Ok((object, memory))
}

/// First touch of fresh memory is what a large `bytes` costs: 1.4 GB/s in 4 KiB pages, 7 GB/s in huge ones.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(memory: &mut [u8]) {
    // A piece of this length has at least one whole huge page in it.
    const WORTH_IT: usize = 2 * HUGE_PAGE;
    if memory.len() >= WORTH_IT {
        let lead = memory.as_ptr().align_offset(HUGE_PAGE);
        let inner = &mut memory[lead..];
        let len = inner.len() - inner.len() % HUGE_PAGE;
        // SAFETY: advice on pages that lie within the memory; it changes no content and may be refused.
        unsafe { libc::madvise(inner.as_mut_ptr().cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_memory: &mut [u8]) {}
