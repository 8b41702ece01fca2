//! Memory of the pure crates as Python's: arrays, buffers and DLPack capsules over bytes that stay where they are.
#![allow(unsafe_code, reason = "hands pointers to NumPy and to DLPack's consumers, each with its owner")]

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

use burnpy_buffer::{Bytes, Layout};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArrayObject, get_type_object, npy_intp};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::dtype::Element;

/// Memory that arrays look into: their `base`, which keeps a file map or a private block alive.
///
/// Its buffer is read-only where the file's own pages are mapped; NumPy asks it before it lets anybody switch an array
/// to writable.
#[pyclass(frozen, name = "Memory", module = "burnpy._core")]
pub(crate) struct PyMemory {
    bytes: Bytes,
    writable: bool,
}

impl PyMemory {
    /// Memory that nobody may change through what is made of it.
    pub(crate) const fn read_only(bytes: Bytes) -> Self {
        Self { bytes, writable: false }
    }

    /// Memory that belongs to the arrays alone.
    ///
    /// # Panics
    /// When it cannot be written.
    pub(crate) fn private(bytes: Bytes) -> Self {
        assert!(bytes.is_writable(), "private memory is read-only");
        Self { bytes, writable: true }
    }
}

#[pymethods]
impl PyMemory {
    fn __len__(&self) -> usize {
        self.bytes.len()
    }

    fn __repr__(&self) -> String {
        let access = if self.writable { "private" } else { "read-only" };
        format!("<burnpy memory: {} bytes, {access}>", self.bytes.len())
    }

    /// # Safety
    /// Called by Python with a `view` that is its own to fill.
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let memory = slf.get();
        let (start, len) = (memory.bytes.as_ptr().cast_mut().cast(), memory.bytes.len() as ffi::Py_ssize_t);
        // SAFETY: the buffer keeps `slf`, and so the bytes; it is writable only where `private` has checked.
        let code = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, c_int::from(!memory.writable), flags)
        };
        if code == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// Makes arrays over one stretch of memory after another; keeps what a loop over thousands would ask for again.
pub(crate) struct Arrays<'py> {
    py: Python<'py>,
    array_type: *mut ffi::PyTypeObject,
    dims: Vec<npy_intp>,
    strides: Vec<npy_intp>,
}

impl<'py> Arrays<'py> {
    /// Imports NumPy, if nobody has.
    pub(crate) fn new(py: Python<'py>) -> PyResult<Self> {
        // The crate's own import panics where NumPy is missing or broken; this one raises.
        py.import("numpy")?;
        // SAFETY: the interpreter is attached, as `py` shows.
        let array_type = unsafe { get_type_object(py, NpyTypes::PyArray_Type) };
        Ok(Self { py, array_type, dims: Vec::new(), strides: Vec::new() })
    }

    /// A row-major array over the bytes from `start` on.
    pub(crate) fn contiguous(
        &mut self,
        memory: &Bound<'py, PyMemory>,
        start: usize,
        element: Element,
        shape: &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.dims.clear();
        let mut len = element.size();
        for &extent in shape {
            let dim = npy_intp::try_from(extent).map_err(|_| too_large(shape))?;
            len = if extent == 0 {
                0
            } else {
                len.checked_mul(dim as usize).ok_or_else(|| too_large(shape))?
            };
            self.dims.push(dim);
        }
        if shape.contains(&0) {
            len = 0;
        }
        assert!(
            start + len <= memory.get().bytes.len(),
            "an array of {len} bytes at {start} is outside of its memory"
        );
        self.strides.clear();
        self.make(memory, start, element)
    }

    /// An array over the elements of a layout, which counts from `start`.
    pub(crate) fn strided(
        &mut self,
        memory: &Bound<'py, PyMemory>,
        start: usize,
        element: Element,
        layout: &Layout,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reach = layout.reach().end * element.size();
        assert!(
            start + reach <= memory.get().bytes.len(),
            "a layout that reaches {reach} bytes is outside of its memory"
        );
        self.dims.clear();
        for &extent in layout.shape() {
            let dim = npy_intp::try_from(extent);
            self.dims.push(dim.map_err(|_| too_large(&[extent as u64]))?);
        }
        self.strides.clear();
        self.strides.extend(layout.strides().iter().map(|&stride| stride * element.size() as npy_intp));
        self.make(memory, start + layout.offset() * element.size(), element)
    }

    /// The array of `dims`, and of `strides` if there are any. The callers have checked that it lies in the memory.
    fn make(
        &mut self,
        memory: &Bound<'py, PyMemory>,
        start: usize,
        element: Element,
    ) -> PyResult<Bound<'py, PyAny>> {
        let owner = memory.get();
        let rank =
            c_int::try_from(self.dims.len()).map_err(|_| PyValueError::new_err("too many dimensions"))?;
        let strides = if self.strides.is_empty() { null_mut() } else { self.strides.as_mut_ptr() };
        let flags = if owner.writable { NPY_ARRAY_WRITEABLE } else { 0 };
        let data = owner.bytes.as_ptr().wrapping_add(start).cast_mut().cast();
        let descr = element.descr(self.py)?.clone().into_ptr().cast();
        // SAFETY: `dims` and `strides` have `rank` entries (or strides are null, which is row-major) and all elements
        // lie in the owner's bytes, as the callers have checked; NumPy takes the reference to `descr`.
        let array = unsafe {
            let dims = self.dims.as_mut_ptr();
            let api = &PY_ARRAY_API;
            let array = api.PyArray_NewFromDescr(
                self.py,
                self.array_type,
                descr,
                rank,
                dims,
                strides,
                data,
                flags,
                null_mut(),
            );
            Bound::from_owned_ptr_or_err(self.py, array)?
        };
        let base = memory.clone().into_ptr();
        // SAFETY: the array is new and has no base; NumPy takes the reference to it, also when it fails.
        let code = unsafe {
            PY_ARRAY_API.PyArray_SetBaseObject(self.py, array.as_ptr().cast::<PyArrayObject>(), base)
        };
        if code == 0 { Ok(array) } else { Err(PyErr::fetch(self.py)) }
    }
}

fn too_large(shape: &[u64]) -> PyErr {
    PyOverflowError::new_err(format!("an array of shape {shape:?} is larger than the memory of this machine"))
}

// DLPack's structures, as its header lays them out: https://dmlc.github.io/dlpack/latest/c_api.html

#[repr(C)]
pub(crate) struct DlDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
pub(crate) struct DlDataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

#[repr(C)]
pub(crate) struct DlTensor {
    pub(crate) data: *mut c_void,
    pub(crate) device: DlDevice,
    pub(crate) ndim: i32,
    pub(crate) dtype: DlDataType,
    pub(crate) shape: *mut i64,
    pub(crate) strides: *mut i64,
    pub(crate) byte_offset: u64,
}

/// The form without versions.
#[repr(C)]
pub(crate) struct Managed {
    pub(crate) tensor: DlTensor,
    pub(crate) manager: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// The form since DLPack 1.0.
#[repr(C)]
pub(crate) struct ManagedVersioned {
    pub(crate) version: [u32; 2],
    pub(crate) manager: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Self)>,
    pub(crate) flags: u64,
    pub(crate) tensor: DlTensor,
}

/// What a capsule's tensor points to, and what lives as long as it.
struct Manager {
    _bytes: Bytes,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// DLPack's number of the CPU.
pub(crate) const CPU: i32 = 1;
const VERSION: [u32; 2] = [1, 0];
pub(crate) const FLAG_READ_ONLY: u64 = 1;
const FLAG_IS_COPIED: u64 = 1 << 1;

/// A tensor on its way to another library, which may write to it unless it is read-only.
pub(crate) struct Handover {
    /// Private memory, shared with nobody who minds a write; or any that is handed over read-only.
    pub(crate) bytes: Bytes,
    /// Whether it is a copy, made for this.
    pub(crate) is_copied: bool,
    /// Whether the consumer is told not to write, which takes a capsule with a version.
    pub(crate) is_read_only: bool,
    pub(crate) element: Element,
    pub(crate) shape: Vec<u64>,
    /// Where the elements lie; `None` if they do in row-major order from the start.
    pub(crate) layout: Option<Layout>,
}

impl Handover {
    /// DLPack's capsule of it, in the old form or that since version 1.
    pub(crate) fn into_capsule(self, py: Python<'_>, versioned: bool) -> PyResult<Bound<'_, PyCapsule>> {
        assert!(
            if self.is_read_only { versioned } else { self.bytes.is_writable() },
            "DLPack's consumers may write, but the memory is read-only"
        );
        let element = self.element;
        let offset = self.layout.as_ref().map_or(0, |layout| layout.offset() * element.size());
        let data = self.bytes.as_ptr().wrapping_add(offset).cast_mut().cast();
        let copied = if self.is_copied { FLAG_IS_COPIED } else { 0 };
        let flags = copied | if self.is_read_only { FLAG_READ_ONLY } else { 0 };
        let mut manager = Box::new(self.into_manager()?);
        let tensor = DlTensor {
            data,
            device: DlDevice { device_type: CPU, device_id: 0 },
            ndim: manager.shape.len() as i32,
            dtype: DlDataType { code: element.dlpack_code(), bits: element.size() as u8 * 8, lanes: 1 },
            shape: manager.shape.as_mut_ptr(),
            strides: manager.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let manager = Box::into_raw(manager).cast();
        if versioned {
            let deleter = Some(delete_versioned as _);
            let managed = ManagedVersioned { version: VERSION, manager, deleter, flags, tensor };
            capsule(py, Box::into_raw(Box::new(managed)).cast(), c"dltensor_versioned", drop_versioned)
        } else {
            let managed = Managed { tensor, manager, deleter: Some(delete) };
            capsule(py, Box::into_raw(Box::new(managed)).cast(), c"dltensor", drop_unversioned)
        }
    }

    fn into_manager(self) -> PyResult<Manager> {
        let shape = self.shape.iter().map(|&extent| i64::try_from(extent)).collect::<Result<Vec<_>, _>>();
        let shape = shape.map_err(|_| too_large(&self.shape))?;
        let mut strides = vec![1i64; shape.len()];
        for axis in (1..shape.len()).rev() {
            // Saturating: only arrays without elements can have extents whose product does not fit.
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis].max(1));
        }
        if let Some(layout) = &self.layout {
            strides = layout.strides().iter().map(|&stride| stride as i64).collect();
        }
        Ok(Manager { _bytes: self.bytes, shape, strides })
    }
}

fn capsule<'py>(
    py: Python<'py>,
    managed: *mut c_void,
    name: &'static std::ffi::CStr,
    destructor: ffi::PyCapsule_Destructor,
) -> PyResult<Bound<'py, PyCapsule>> {
    let managed = NonNull::new(managed).expect("a box is not null");
    // SAFETY: `managed` comes from a box of the type that `destructor` frees, which any thread may do.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, managed, name, Some(destructor)) }
}

/// # Safety
/// DLPack's consumers call it once, when they are done.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both boxes were leaked by `into_capsule`, and this is the one call.
    unsafe { drop(Box::from_raw(Box::from_raw(managed).manager.cast::<Manager>())) };
}

/// # Safety
/// As [`delete`].
unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as in `delete`.
    unsafe { drop(Box::from_raw(Box::from_raw(managed).manager.cast::<Manager>())) };
}

/// Frees what nobody has taken: a consumer renames the capsule.
///
/// # Safety
/// Called by Python, with a capsule of `into_capsule`.
unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: under its first name the capsule still owns what `into_capsule` put there.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) != 0 {
            delete(ffi::PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()).cast());
        }
    }
}

/// # Safety
/// As [`drop_unversioned`].
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as in `drop_unversioned`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor_versioned".as_ptr()) != 0 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, c"dltensor_versioned".as_ptr()).cast());
        }
    }
}

/// Lets `object` answer a request for a buffer in the place of another one.
///
/// # Safety
/// `view` must be Python's to fill, as in `__getbuffer__`.
pub(crate) unsafe fn redirect_buffer(
    object: &Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    // SAFETY: `view` is Python's, as the caller promises; the exporter puts itself into it as the owner.
    let code = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view, flags) };
    if code == 0 { Ok(()) } else { Err(PyErr::fetch(object.py())) }
}
