//! `burnpy.pack.View`: one tensor of an open container, read when it is asked for.

use std::ffi::c_int;
use std::sync::Arc;

use burnpy_buffer::{Bytes, DType, Layout, Selection};
use burnpy_pack::{Entry, Tensor};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString, PyTuple};

use crate::convert::scheme_to_python;
use crate::dtype::Element;
use crate::enter::enter;
use crate::export::{Arrays, Handover, PyMemory, redirect_buffer};
use crate::index::{index_error, selection_of};
use crate::open::{Open, array_of};
use crate::reader::PyReader;
use crate::tensor_info::PyTensorInfo;

/// One tensor of an open container: shape and dtype at once, elements when they are asked for.
///
/// ``view[index]`` takes NumPy's basic indices (integers, slices of any step, ``...``, ``None``) and reads no more rows
/// than they need: from a map a read-only array over the file's own pages, else an array of its own.
///
/// A view is of no use after its reader is closed; the arrays made of it are. A quantized tensor's elements are packed:
/// ``numpy()`` gives its payload as bytes, and it cannot be indexed.
///
/// Example:
///     >>> view = Reader.from_bytes(Writer([Tensor("w", "u8", (2, 2), data=b"abcd")]).into_bytes()).view("w")
///     >>> view.shape, view[1].tolist()
///     ((2, 2), [99, 100])
#[pyclass(frozen, name = "View", module = "burnpy.pack", sequence)]
pub(crate) struct PyView {
    reader: Py<PyReader>,
    /// Place in data order.
    index: usize,
    name: Py<PyString>,
    dtype: DType,
    shape: Vec<u64>,
}

#[pymethods]
impl PyView {
    /// The name.
    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// The element type's text form: ``"f32"``, ``"bf16"``, …
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype.name()
    }

    /// The quantization scheme of a quantized tensor, else ``None``.
    #[getter]
    fn scheme<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        scheme_to_python(py, self.dtype)
    }

    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Length of the payload in bytes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_entry(py, |_, entry| Ok(entry.byte_len()))
    }

    /// Id of the parameter that the tensor belongs to, or ``None``.
    #[getter]
    fn param_id(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with_entry(py, |_, entry| Ok(entry.param_id()))
    }

    /// What the container says of the tensor.
    fn info(&self, py: Python<'_>) -> PyResult<PyTensorInfo> {
        self.with_entry(py, |_, entry| Ok(PyTensorInfo::from(entry)))
    }

    /// The tensor as a NumPy array: read-only over the map, else read into memory of its own.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.with_entry(py, |open, entry| {
            enter(py, || open.reader.check_quantized(entry))?;
            let mut arrays = Arrays::new(py)?;
            let array = match open.memory(py)? {
                Some(memory) => array_of(&mut arrays, memory, open.position(entry), entry),
                None => {
                    let bytes = enter(py, || open.reader.bytes(entry))?;
                    array_of(&mut arrays, &Bound::new(py, PyMemory::private(bytes))?, 0, entry)
                }
            };
            array.map_err(|error| open.no_array(py, entry, error))
        })
    }

    /// The tensor as a PyTorch tensor: a private window of the file, copied page by page where it is written to. A
    /// write reaches neither the file nor NumPy arrays of it.
    fn torch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let convert = py.import("burnpy.torch")?.getattr("_from_capsule")?;
        convert.call1((self.capsule(py, false, false)?,))
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
        let (selection, _) = self.selection(index)?;
        self.with_entry(py, |open, entry| {
            let bytes = self.select(py, open, entry, &selection)?;
            let is_own = open.reader.source().view(0..0).is_none();
            let bytes = if is_own && bytes.is_writable() { bytes } else { py.detach(|| bytes.to_aligned()) };
            let (element, shape) = (Element::of(self.dtype), selection.shape().to_vec());
            Handover { bytes, is_copied: true, is_read_only: false, element, shape, layout: None }
                .into_capsule(py, false)
        })
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (selection, is_scalar) = self.selection(index)?;
        let array = self.with_entry(py, |open, entry| {
            let array = match open.memory(py)? {
                Some(memory) => self.window(py, memory, open.position(entry), &selection),
                None => {
                    let bytes = self.select(py, open, entry, &selection)?;
                    // What a source in Python lends is not the array's own.
                    let bytes = if bytes.is_writable() { bytes } else { py.detach(|| bytes.to_aligned()) };
                    let memory = Bound::new(py, PyMemory::private(bytes))?;
                    Arrays::new(py)?.contiguous(&memory, 0, Element::of(self.dtype), selection.shape())
                }
            };
            array.map_err(|error| open.no_array(py, entry, error))
        })?;
        if is_scalar { array.get_item(PyTuple::empty(py)) } else { Ok(array) }
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
        self.capsule(py, copy == Some(true), versioned)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        CPU
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let name = self.name.bind(py).to_str()?;
        self.reader.bind(py).get().tensor_data(py, name)
    }

    /// # Safety
    /// Called by Python with a `view` that is its own to fill.
    #[allow(unsafe_code, reason = "Python's slot has this form; the work is in export.rs")]
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let mut array = this.numpy(slf.py())?;
        if this.dtype == DType::BF16 {
            // No buffer format means bf16. Given as bytes, NumPy would make bytes of it: it asks for a buffer before
            // it asks for `__array__`. So only those who want no format get them.
            if flags & ffi::PyBUF_FORMAT != 0 {
                return Err(PyBufferError::new_err(
                    "no buffer format is bf16; ask for a plain buffer, or numpy()",
                ));
            }
            array = array.call_method1("view", ("uint8",))?;
        }
        // SAFETY: `view` is what Python gave.
        unsafe { redirect_buffer(&array, view, flags) }
    }

    fn __len__(&self) -> PyResult<usize> {
        let first =
            self.shape.first().ok_or_else(|| PyTypeError::new_err("len() of a tensor without axes"))?;
        Ok(usize::try_from(*first)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, shape) = (self.name.bind(py).repr()?, self.shape(py)?.repr()?);
        Ok(format!("<burnpy.pack.View {name}: {} {shape}>", self.dtype.name()))
    }
}

/// DLPack's number of the CPU.
const CPU: (i32, i32) = (1, 0);

impl PyView {
    /// The view of a name.
    pub(crate) fn new(reader: &Bound<'_, PyReader>, name: &str) -> PyResult<Self> {
        let (py, open) = (reader.py(), reader.get().open()?);
        let index = enter(py, || open.reader.index(name))?;
        let entry = open.reader.at(index);
        Ok(Self {
            reader: reader.clone().unbind(),
            index,
            name: PyString::new(py, name).unbind(),
            dtype: entry.dtype(),
            shape: entry.shape().to_vec(),
        })
    }

    /// The tensor as the writer takes it; its bytes stay where they are.
    pub(crate) fn to_tensor(&self, py: Python<'_>) -> PyResult<Tensor> {
        self.with_entry(py, |open, entry| enter(py, || open.reader.tensor(entry)))
    }

    fn with_entry<T>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&Arc<Open>, &Entry<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let open = self.reader.bind(py).get().open()?;
        let entry = open.reader.at(self.index);
        run(&open, &entry)
    }

    fn selection(&self, index: &Bound<'_, PyAny>) -> PyResult<(Selection, bool)> {
        if matches!(self.dtype, DType::QFloat(_)) {
            return Err(PyTypeError::new_err(
                "a quantized tensor cannot be indexed; numpy() gives its payload",
            ));
        }
        selection_of(&self.shape, index)
    }

    fn select(
        &self,
        py: Python<'_>,
        open: &Open,
        entry: &Entry<'_>,
        selection: &Selection,
    ) -> PyResult<Bytes> {
        enter(py, || open.reader.select(entry, selection))
    }

    fn window<'py>(
        &self,
        py: Python<'py>,
        memory: &Bound<'py, PyMemory>,
        start: usize,
        selection: &Selection,
    ) -> PyResult<Bound<'py, PyAny>> {
        let element = Element::of(self.dtype);
        let shape =
            self.shape.iter().map(|&extent| usize::try_from(extent)).collect::<Result<Vec<_>, _>>()?;
        let whole = Layout::contiguous(shape).map_err(|error| index_error(&error))?;
        let layout = whole.select(selection).map_err(|error| index_error(&error))?;
        Arrays::new(py)?.strided(memory, start, element, &layout)
    }

    fn capsule<'py>(&self, py: Python<'py>, copy: bool, versioned: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let open = self.reader.bind(py).get().open()?;
        open.handover(py, &open.reader.at(self.index), copy)?.into_capsule(py, versioned)
    }
}
