//! `burnpy.pack.Reader`: an open container.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use burnpy_buffer::MapMode;
use burnpy_pack::{Limits, ReadOptions, Reader, find_read_path, resolve_read_path};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::convert::{PyBackend, PyLimits, limits_or_default, scalar_value};
use crate::enter::{enter, to_exception};
use crate::header::PyHeader;
use crate::import::{Held, buffer_bytes, unfilled_bytes};
use crate::open::Open;
use crate::python_source::PythonSource;
use crate::scalar::PyScalar;
use crate::tensor_entry::PyTensorEntry;
use crate::tensor_info::PyTensorInfo;
use crate::view::PyView;

/// An open container, with the names and the strictness of Burn's reader.
///
/// Opening reads the header and the metadata; a payload is read when it is asked for. A reader may be used from many
/// threads and after a fork; one that was opened from a file can be pickled, and opens the same path again.
///
/// Example:
///     >>> reader = Reader.from_bytes(Writer([Tensor("w", "u8", (3,), data=b"abc")]).into_bytes())
///     >>> reader.tensor_names(), reader.tensor_data("w")
///     (['w'], b'abc')
///
/// Source: Burn ``burn_pack::Reader``
#[pyclass(frozen, name = "Reader", module = "burnpy.pack")]
pub(crate) struct PyReader {
    path: Option<PathBuf>,
    options: ReadOptions,
    /// The Python object that serves the bytes, if there is one; `path` is its address then.
    source: Option<Held>,
    /// Empty once closed. Locked for a clone or a swap only, never while Python runs.
    open: Mutex<Option<Arc<Open>>>,
}

#[pymethods]
impl PyReader {
    /// Opens a file; a path without extension at which nothing exists gets ``.bpk``.
    ///
    /// Args:
    ///     strict: also refuse what Burn's own writer would not have written.
    ///     limits: bounds on what is accepted; Burn's by default.
    ///     backend: ``"mmap"`` maps the file, ``"pread"`` reads it, which is safe when another process may cut it;
    ///         ``"auto"`` maps it where that is possible.
    ///
    /// Raises:
    ///     FileNotFoundError, PermissionError, IsADirectoryError: from the system.
    ///     InvalidHeader, InvalidMagicNumber, InvalidVersion, MetadataDeserializationError, ValidationError: the file
    ///         is no burnpack, or not a sound one.
    #[staticmethod]
    #[pyo3(signature = (path, *, strict=false, limits=None, backend=PyBackend::default()),
           text_signature = "(path, *, strict=False, limits=None, backend='auto')")]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        strict: bool,
        limits: Option<PyLimits>,
        backend: PyBackend,
    ) -> PyResult<Self> {
        let options = options(strict, limits, backend);
        Self::open_file(py, &path, resolve_read_path(&path), options)
    }

    /// Opens the file at exactly this path; otherwise as ``from_file``.
    #[staticmethod]
    #[pyo3(signature = (path, *, strict=false, limits=None, backend=PyBackend::default()),
           text_signature = "(path, *, strict=False, limits=None, backend='auto')")]
    fn from_file_exact(
        py: Python<'_>,
        path: PathBuf,
        strict: bool,
        limits: Option<PyLimits>,
        backend: PyBackend,
    ) -> PyResult<Self> {
        let options = options(strict, limits, backend);
        Self::open_file(py, &path, path.clone(), options)
    }

    /// Opens a container in memory: ``bytes``, ``memoryview``, ``mmap``, … It is not copied, and must not change.
    #[staticmethod]
    #[pyo3(signature = (data, *, strict=false, limits=None))]
    fn from_bytes(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        strict: bool,
        limits: Option<PyLimits>,
    ) -> PyResult<Self> {
        let bytes = buffer_bytes(data)?;
        let options = options(strict, limits, PyBackend::default());
        let reader = enter(py, || Reader::from_bytes(bytes, &options))?;
        Ok(Self::new(reader, options))
    }

    /// Opens what a Python object serves: ``size``, ``etag``, ``read_ranges([(start, end), …])`` and a text form.
    #[staticmethod]
    #[pyo3(signature = (source, *, strict=false, limits=None))]
    fn _from_source(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        strict: bool,
        limits: Option<PyLimits>,
    ) -> PyResult<Self> {
        let place = PathBuf::from(source.str()?.to_str()?);
        let options = options(strict, limits, PyBackend::default());
        let bytes = Arc::new(PythonSource::new(source)?);
        let open = || Reader::from_source(bytes, &options).map_err(|error| error.with_path(&place));
        let reader = enter(py, open)?.at_place(&place);
        Ok(Self { source: Some(Held::new(source)), ..Self::new(reader, options) })
    }

    /// As ``from_file``, but a path at which nothing exists gets ``.bpk`` whatever its extension. ``private`` asks
    /// for a map that may be written to, without any effect on the file.
    #[staticmethod]
    #[pyo3(signature = (path, *, strict=false, limits=None, backend=PyBackend::default(), private=false),
           text_signature = "(path, *, strict=False, limits=None, backend='auto', private=False)")]
    fn _find(
        py: Python<'_>,
        path: PathBuf,
        strict: bool,
        limits: Option<PyLimits>,
        backend: PyBackend,
        private: bool,
    ) -> PyResult<Self> {
        let map_mode = if private { MapMode::Private } else { MapMode::Shared };
        let options = ReadOptions { map_mode, ..options(strict, limits, backend) };
        Self::open_file(py, &path, find_read_path(&path), options)
    }

    /// Names, sorted.
    fn tensor_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.open()?.reader.names())
    }

    /// Names in data order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let open = self.open()?;
        PyList::new(py, open.reader.entries().map(|entry| entry.name()))
    }

    /// A copy of a tensor's payload.
    ///
    /// Raises:
    ///     TensorNotFound: no tensor has this name.
    #[pyo3(signature = (name, /))]
    pub(crate) fn tensor_data<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let open = self.open()?;
        let entry = enter(py, || open.reader.entry(name))?;
        let (object, memory) = unfilled_bytes(py, entry.byte_len())?;
        enter(py, || open.reader.read_into(&entry, memory))?;
        Ok(object)
    }

    /// Every tensor, in name order, its bytes lazy.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_tensors(&self, py: Python<'_>) -> PyResult<Vec<PyTensorEntry>> {
        let open = self.open()?;
        let names = open.reader.names().map(|name| open.reader.tensor(&open.reader.entry(name)?));
        let tensors: Result<Vec<_>, _> = names.collect();
        Ok(enter(py, || tensors)?.into_iter().map(PyTensorEntry).collect())
    }

    /// What the container says of a tensor.
    ///
    /// Raises:
    ///     TensorNotFound: no tensor has this name.
    #[pyo3(signature = (name, /))]
    fn info(&self, py: Python<'_>, name: &str) -> PyResult<PyTensorInfo> {
        let open = self.open()?;
        enter(py, || open.reader.entry(name).map(|entry| PyTensorInfo::from(&entry)))
    }

    /// A tensor as a lazy view.
    ///
    /// Raises:
    ///     TensorNotFound: no tensor has this name.
    #[pyo3(signature = (name, /))]
    fn view(slf: &Bound<'_, Self>, name: &str) -> PyResult<PyView> {
        PyView::new(slf, name)
    }

    /// Everything that is wrong with the container, where ``strict=True`` stops at the first: keys that are unknown or
    /// stand twice, misplaced tensors, padding that is not zero, booleans that are neither 0 nor 1.
    ///
    /// Reads the metadata again, all gaps and all boolean payloads.
    ///
    /// Example:
    ///     >>> Reader.from_bytes(Writer([]).into_bytes()).problems()
    ///     []
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (open, limits) = (self.open()?, &self.options.limits);
        let found = enter(py, || open.reader.problems(limits))?;
        Ok(found
            .into_iter()
            .map(|error| to_exception(py, error).into_value(py).into_bound(py).into_any())
            .collect())
    }

    /// The texts beside the tensors.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = PyDict::new(py);
        for (key, value) in self.open()?.reader.metadata() {
            metadata.set_item(key, value)?;
        }
        Ok(metadata)
    }

    /// The numbers beside the tensors, as ``Scalar``.
    fn scalars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scalars = PyDict::new(py);
        for (key, &value) in self.open()?.reader.scalars() {
            scalars.set_item(key, Py::new(py, PyScalar(value))?)?;
        }
        Ok(scalars)
    }

    /// The numbers beside the tensors, as Python's.
    fn _scalar_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scalars = PyDict::new(py);
        for (key, &value) in self.open()?.reader.scalars() {
            scalars.set_item(key, scalar_value(py, value)?)?;
        }
        Ok(scalars)
    }

    /// The header.
    #[getter]
    fn header(&self) -> PyResult<PyHeader> {
        Ok(PyHeader(self.open()?.reader.header()))
    }

    /// Where the data section starts in the file.
    #[getter]
    fn data_start(&self) -> PyResult<u64> {
        Ok(self.open()?.reader.data_start())
    }

    /// The file's absolute path, or ``None`` for a container in memory or in a store.
    #[getter]
    fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref().filter(|_| self.source.is_none())
    }

    /// How many bytes were read from the file so far; ``None`` where it is mapped.
    #[getter]
    fn _bytes_read(&self) -> PyResult<Option<u64>> {
        Ok(self.open()?.reader.source().bytes_read())
    }

    /// All tensors as NumPy arrays in data order.
    #[pyo3(signature = (*, copy))]
    fn _arrays<'py>(&self, py: Python<'py>, copy: bool) -> PyResult<Bound<'py, PyDict>> {
        self.open()?.arrays(py, copy)
    }

    /// Some tensors as NumPy arrays, in the order of the names, read together.
    #[pyo3(signature = (names, /))]
    fn _arrays_of<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        self.open()?.arrays_of(py, &names)
    }

    /// All tensors as DLPack capsules over private memory, in data order.
    #[pyo3(signature = (*, copy))]
    fn _capsules<'py>(&self, py: Python<'py>, copy: bool) -> PyResult<Bound<'py, PyDict>> {
        self.open()?.capsules(py, copy)
    }

    /// Lets the file go. Arrays made before stay valid, and keep its map; lazy views do not.
    fn close(&self) {
        drop(self.lock().take());
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.open()?.reader.len())
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let open = self.open()?;
        Ok(name.extract::<&str>().is_ok_and(|name| open.reader.get(name).is_some()))
    }

    fn __repr__(&self) -> String {
        let place = self.path.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        match self.open() {
            Ok(open) => format!("<burnpy.pack.Reader of {place}: {} tensors>", open.reader.len()),
            Err(_) => format!("<burnpy.pack.Reader of {place}: closed>"),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, reader) = (slf.py(), slf.get());
        if let Some(source) = &reader.source {
            let args = (source.bind(py), reader.options.strict, numbers_of(&reader.options.limits));
            return (slf.get_type().getattr("_reopen_source")?, args).into_pyobject(py);
        }
        let Some(path) = &reader.path else {
            return Err(PyTypeError::new_err(
                "a reader of a container in memory cannot be pickled: it has no path",
            ));
        };
        let limits = numbers_of(&reader.options.limits);
        let private = reader.options.map_mode == MapMode::Private;
        let args = (path, reader.options.strict, limits, PyBackend(reader.options.backend).name(), private);
        (slf.get_type().getattr("_reopen")?, args).into_pyobject(py)
    }

    /// What a pickle calls for a container in a store.
    #[staticmethod]
    fn _reopen_source(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        strict: bool,
        limits: LimitNumbers,
    ) -> PyResult<Self> {
        Self::_from_source(py, source, strict, Some(PyLimits(limits_of(limits))))
    }

    /// What a pickle calls, and who opens the files of an index.
    #[staticmethod]
    fn _reopen(
        py: Python<'_>,
        path: PathBuf,
        strict: bool,
        limits: Option<LimitNumbers>,
        backend: PyBackend,
        private: bool,
    ) -> PyResult<Self> {
        let limits = limits.map_or_else(Limits::default, limits_of);
        let map_mode = if private { MapMode::Private } else { MapMode::Shared };
        Self::open_file(py, &path, path.clone(), ReadOptions { limits, strict, backend: backend.0, map_mode })
    }
}

impl PyReader {
    fn new(reader: Reader, options: ReadOptions) -> Self {
        let path = reader.path().map(ToOwned::to_owned);
        Self {
            path,
            options,
            source: None,
            open: Mutex::new(Some(Arc::new(Open::new(reader, options.map_mode)))),
        }
    }

    fn open_file(py: Python<'_>, asked: &Path, resolved: PathBuf, options: ReadOptions) -> PyResult<Self> {
        let opened = enter(py, || Reader::from_file_exact(&resolved, &options));
        let reader = opened.map_err(|error| match asked == resolved {
            true => error,
            false => with_both_paths(py, error, asked, &resolved),
        })?;
        Ok(Self::new(reader, options))
    }

    /// The open container.
    pub(crate) fn open(&self) -> PyResult<Arc<Open>> {
        self.lock().clone().ok_or_else(|| {
            let place =
                self.path.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
            PyValueError::new_err(format!("{place}: the reader is closed"))
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type LimitNumbers = (u64, u64, u64, u32, u64);

const fn limits_of(numbers: LimitNumbers) -> Limits {
    let (max_metadata_bytes, max_tensors, max_tensor_bytes, max_depth, max_file_bytes) = numbers;
    Limits { max_metadata_bytes, max_tensors, max_tensor_bytes, max_depth, max_file_bytes }
}

const fn numbers_of(limits: &Limits) -> LimitNumbers {
    let Limits { max_metadata_bytes, max_tensors, max_tensor_bytes, max_depth, max_file_bytes } = *limits;
    (max_metadata_bytes, max_tensors, max_tensor_bytes, max_depth, max_file_bytes)
}

fn options(strict: bool, limits: Option<PyLimits>, backend: PyBackend) -> ReadOptions {
    ReadOptions { limits: limits_or_default(limits), strict, backend: backend.0, map_mode: MapMode::Shared }
}

/// Python's own exception for a path, with the names as asked and as resolved.
fn with_both_paths(py: Python<'_>, error: PyErr, asked: &Path, resolved: &Path) -> PyErr {
    let kind = error.get_type(py);
    let plain = ["FileNotFoundError", "PermissionError", "IsADirectoryError"];
    if !kind.name().is_ok_and(|name| plain.iter().any(|plain| name == *plain)) {
        return error;
    }
    let build = || -> PyResult<PyErr> {
        let value = error.value(py);
        let (errno, text) = (value.getattr("errno")?, value.getattr("strerror")?);
        let fields = (errno, text, asked.as_os_str(), None::<i32>, resolved.as_os_str());
        Ok(PyErr::from_value(kind.call1(fields)?))
    };
    build().unwrap_or_else(|failed| failed)
}
