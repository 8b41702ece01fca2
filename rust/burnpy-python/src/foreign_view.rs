//! `burnpy._core.ForeignView`: one tensor of a checkpoint that is no burnpack, read when it is asked for.

use std::ffi::c_int;
use std::sync::Arc;

use burnpy_buffer::{Bytes, Layout};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString, PyTuple};

use crate::dtype::Element;
use crate::export::{Arrays, Handover, PyMemory, redirect_buffer};
use crate::failure::Failure;
use crate::foreign::{Data, Entry, Foreign};
use crate::foreign_file::PyForeignFile;
use crate::import::buffer_bytes;
use crate::index::{index_error, selection_of};

/// One tensor of an open checkpoint: shape and dtype at once, elements when they are asked for.
///
/// An array is a read-only view over the file's own pages, strides and repetitions kept, wherever the elements lie there
/// as they are wanted; those that are packed, big-endian or not quite booleans are read into memory of their own, at
/// every call. ``view[index]`` takes NumPy's basic indices.
///
/// Where no NumPy dtype means the elements (``f4e2m1fn``, ``c32``, …), ``numpy()`` gives their bytes in a row, and they
/// cannot be indexed. A view is of no use after its file is closed; the arrays made of it are.
///
/// Raises:
///     CheckpointError: when elements are asked for that are damaged, missing or too many.
#[pyclass(frozen, name = "ForeignView", module = "burnpy._core", sequence)]
pub(crate) struct PyForeignView {
    file: Py<PyForeignFile>,
    /// Place in data order.
    index: usize,
    name: Py<PyString>,
    dtype: &'static str,
    shape: Py<PyTuple>,
}

#[pymethods]
impl PyForeignView {
    /// The name.
    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// The element type's text form: ``"f32"``, ``"bf16"``, ``"f8e4m3fn"``, …
    #[getter]
    const fn dtype(&self) -> &'static str {
        self.dtype
    }

    /// ``None``: only burnpacks have quantization schemes.
    #[getter]
    fn scheme(&self) -> Option<Py<PyAny>> {
        None
    }

    /// The extents.
    #[getter]
    fn shape(&self, py: Python<'_>) -> Py<PyTuple> {
        self.shape.clone_ref(py)
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> usize {
        self.shape.bind(py).len()
    }

    /// Number of elements.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_entry(py, |_, entry| Ok(entry.num_elements()))
    }

    /// Length in bytes of the elements, one after the other.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_entry(py, |_, entry| Ok(entry.byte_len()))
    }

    /// ``None``: only burnpacks have ids of parameters.
    #[getter]
    const fn param_id(&self) -> Option<u64> {
        None
    }

    /// The tensor as a NumPy array: read-only over the file, else read into memory of its own.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.with_entry(py, |open, entry| {
            let data = self.run(py, || {
                let data = open.data(entry)?;
                open.verify(entry)?;
                Ok(data)
            })?;
            array(py, open, entry, data)
        })
    }

    /// The tensor as a PyTorch tensor: a private window of the file, copied page by page where it is written to, or a
    /// copy. A write reaches neither the file nor NumPy arrays of it.
    fn torch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let convert = py.import("burnpy.torch")?.getattr("_from_capsule")?;
        let torch_name = self.with_entry(py, |_, entry| Ok(entry.dtype.torch))?;
        let Some(name) = torch_name else { return convert.call1((self.capsule(py, false, false, false)?,)) };
        // DLPack has numbers for these types that torch does not take: it gets bytes, and is told what they are.
        let bytes = convert.call1((self.capsule(py, false, false, true)?,))?;
        let typed = bytes.call_method1("view", (py.import("torch")?.getattr(name)?,))?;
        typed.call_method1("reshape", (self.shape.bind(py),))
    }

    /// The tensor as a JAX array; not copied where JAX can use the file's memory.
    fn jax<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("burnpy.jax")?.getattr("_from_view")?.call1((slf,))
    }

    /// The elements of an index as a DLPack capsule of the old form, over private memory.
    #[pyo3(signature = (index, /))]
    fn _capsule_of<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let element = self.element(py)?;
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("asarray", (self.__getitem__(py, index)?,))?;
        let shape = array.getattr("shape")?.extract()?;
        let bytes = copy_of(&array)?;
        Handover { bytes, is_copied: true, is_read_only: false, element, shape, layout: None }
            .into_capsule(py, false)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.element(py)?;
        self.with_entry(py, |open, entry| {
            let (selection, is_scalar) = selection_of(&entry.shape, index)?;
            let found = match self.run(py, || open.data(entry))? {
                Data::InFile { start, layout } => {
                    let part = layout.select(&selection).map_err(|error| index_error(&error))?;
                    array(py, open, entry, Data::InFile { start, layout: part })?
                }
                owned @ Data::Owned(_) => array(py, open, entry, owned)?.get_item(index)?,
            };
            let is_array = found.hasattr("flags")? && found.getattr("ndim")?.extract::<usize>()? == 0;
            if is_scalar && is_array { found.get_item(PyTuple::empty(py)) } else { Ok(found) }
        })
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.numpy(py)?;
        if dtype.is_none() && copy != Some(true) {
            return Ok(array);
        }
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        options.set_item("copy", copy)?;
        py.import("numpy")?.getattr("array")?.call((array,), Some(&options))
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if stream.is_some() {
            return Err(PyValueError::new_err("stream must be None: the tensor is in the memory of the CPU"));
        }
        if dl_device.is_some_and(|device| device != CPU) {
            return Err(PyBufferError::new_err("a tensor of a file can only be handed to the CPU"));
        }
        let versioned = max_version.is_some_and(|version| version >= (1, 0));
        self.capsule(py, copy == Some(true), versioned, false)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        CPU
    }

    /// A copy of the elements, one after the other.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with_entry(py, |open, entry| {
            let data = self.run(py, || {
                open.verify(entry)?;
                open.contiguous_data(entry)
            })?;
            Ok(PyBytes::new(py, &data))
        })
    }

    /// # Safety
    /// Called by Python with a `view` that is its own to fill.
    #[allow(unsafe_code, reason = "Python's slot has this form; the work is in export.rs")]
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let mut array = this.numpy(slf.py())?;
        let added =
            this.with_entry(slf.py(), |_, entry| Ok(entry.dtype.element.is_some_and(Element::is_added)))?;
        if added {
            // As for bf16 in a burnpack: given as bytes, NumPy would make bytes of it.
            if flags & ffi::PyBUF_FORMAT != 0 {
                let what = format!("no buffer format is {}; ask for a plain buffer, or numpy()", this.dtype);
                return Err(PyBufferError::new_err(what));
            }
            array = array.call_method1("view", ("uint8",))?;
        }
        // SAFETY: `view` is what Python gave.
        unsafe { redirect_buffer(&array, view, flags) }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let shape = self.shape.bind(py);
        if shape.is_empty() {
            return Err(PyTypeError::new_err("len() of a tensor without axes"));
        }
        shape.get_item(0)?.extract()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, shape) = (self.name.bind(py).repr()?, self.shape.bind(py).repr()?);
        Ok(format!("<burnpy view {name}: {} {shape}>", self.dtype))
    }
}

/// DLPack's number of the CPU.
const CPU: (i32, i32) = (1, 0);

impl PyForeignView {
    /// The view of a tensor by its place, under the name that is shown.
    pub(crate) fn new(file: &Bound<'_, PyForeignFile>, index: usize, name: &str) -> PyResult<Self> {
        let (py, open) = (file.py(), file.get().open()?);
        let entry = &open.entries[index];
        Ok(Self {
            file: file.clone().unbind(),
            index,
            name: PyString::new(py, name).unbind(),
            dtype: entry.dtype.name,
            shape: PyTuple::new(py, &entry.shape)?.unbind(),
        })
    }

    fn with_entry<T>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&Arc<Foreign>, &Entry) -> PyResult<T>,
    ) -> PyResult<T> {
        let open = self.file.bind(py).get().open()?;
        run(&open, &open.entries[self.index])
    }

    /// Runs without the GIL; the error is told of the file.
    fn run<T: Send>(&self, py: Python<'_>, run: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
        py.detach(run).map_err(|failure| failure.into_exception(py, self.file.bind(py).get().path()))
    }

    /// What an element is in NumPy.
    fn element(&self, py: Python<'_>) -> PyResult<Element> {
        let element = self.with_entry(py, |_, entry| Ok(entry.dtype.element))?;
        element.ok_or_else(|| {
            let what = format!("a tensor of {} cannot be indexed; numpy() gives its bytes", self.dtype);
            PyTypeError::new_err(what)
        })
    }

    fn capsule<'py>(
        &self,
        py: Python<'py>,
        copy: bool,
        versioned: bool,
        as_bytes: bool,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.with_entry(py, |open, entry| {
            let element = entry.dtype.element.filter(|_| !as_bytes).unwrap_or(Element::U8);
            let is_flat = as_bytes || entry.dtype.element.is_none();
            let shape = if is_flat { vec![entry.byte_len()] } else { entry.shape.clone() };
            let window = if copy { None } else { self.private_window(py, open, entry, element)? };
            if let Some(bytes) = window {
                return Handover {
                    bytes,
                    is_copied: false,
                    is_read_only: false,
                    element,
                    shape,
                    layout: None,
                }
                .into_capsule(py, versioned);
            }
            let bytes = self.run(py, || {
                open.verify(entry)?;
                let bytes = open.contiguous(entry)?;
                let ready = bytes.is_writable() && bytes.is_aligned_to(element.size());
                Ok(if ready { bytes } else { bytes.to_aligned() })
            })?;
            Handover { bytes, is_copied: true, is_read_only: false, element, shape, layout: None }
                .into_capsule(py, versioned)
        })
    }

    /// The elements in a private map, if they lie in the file as DLPack's consumers take them.
    fn private_window(
        &self,
        py: Python<'_>,
        open: &Foreign,
        entry: &Entry,
        element: Element,
    ) -> PyResult<Option<Bytes>> {
        let Data::InFile { start, layout } = self.run(py, || open.data(entry))? else { return Ok(None) };
        if !layout.is_contiguous() {
            return Ok(None);
        }
        let end = start + entry.byte_len() as usize;
        let window = open.private(py).and_then(|map| map.slice(start..end));
        Ok(window.filter(|window| window.is_aligned_to(element.size())))
    }
}

/// The array of a tensor's elements.
fn array<'py>(py: Python<'py>, open: &Foreign, entry: &Entry, data: Data) -> PyResult<Bound<'py, PyAny>> {
    let (element, bytes_in_a_row) = (entry.dtype.element, [entry.byte_len()]);
    let mut arrays = Arrays::new(py)?;
    match data {
        Data::InFile { start, layout } => match element {
            Some(element) => arrays.strided(open.memory(py)?, start, element, &layout),
            None => arrays.contiguous(open.memory(py)?, start, Element::U8, &bytes_in_a_row),
        },
        Data::Owned(bytes) => {
            let writable = bytes.is_writable();
            let memory = if writable { PyMemory::private(bytes) } else { PyMemory::read_only(bytes) };
            let memory = Bound::new(py, memory)?;
            match element {
                Some(element) => arrays.contiguous(&memory, 0, element, &entry.shape),
                None => arrays.contiguous(&memory, 0, Element::U8, &bytes_in_a_row),
            }
        }
    }
}

/// A copy of an array's elements, by rows.
fn copy_of(array: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    Ok(buffer_bytes(&array.call_method0("tobytes")?)?.to_aligned())
}

impl Foreign {
    /// The elements one after the other: a window of the file where they lie so, else a copy.
    fn contiguous_data(&self, entry: &Entry) -> Result<Bytes, Failure> {
        match self.data(entry)? {
            Data::InFile { start, layout } if Layout::is_contiguous(&layout) => {
                let end = start + entry.byte_len() as usize;
                Ok(self.map.bytes.slice(start..end).unwrap_or_default())
            }
            Data::InFile { .. } => self.contiguous(entry),
            Data::Owned(bytes) => Ok(bytes),
        }
    }
}
