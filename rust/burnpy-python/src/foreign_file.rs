//! `burnpy._core.ForeignFile`: an open checkpoint that is no burnpack.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burnpy_pickle::{Checkpoint, Format, SkipReason, Value, ValueId};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::PyLimits;
use crate::export::PyMemory;
use crate::failure::Failure;
use crate::foreign::{Content, Foreign, PickleContent, Place};
use crate::foreign_map::ForeignMap;
use crate::foreign_open::{open_pytorch, open_safetensors, open_windows, told_entry};
use crate::foreign_verify::PyVerification;
use crate::foreign_view::PyForeignView;
use crate::import::buffer_bytes;
use crate::plain_value::plain_value;

/// An open checkpoint that is no burnpack, for ``burnpy.open``: only its header or its pickle was read.
///
/// Nothing in the file is ever executed. It may be used from many threads and after a fork.
#[pyclass(frozen, name = "ForeignFile", module = "burnpy._core")]
pub(crate) struct PyForeignFile {
    path: PathBuf,
    /// Empty once closed. Locked for a clone or a swap only, never while Python runs.
    open: Mutex<Option<Arc<Foreign>>>,
}

/// What was not built: name, kind, reason, shape, dtype.
type SkippedParts = (String, String, &'static str, Option<Vec<u64>>, Option<String>);

#[pymethods]
impl PyForeignFile {
    /// Opens a safetensors file.
    ///
    /// Raises:
    ///     CheckpointError: the file is none, or not a sound one.
    #[staticmethod]
    #[pyo3(signature = (path, limits=None))]
    fn safetensors(py: Python<'_>, path: PathBuf, limits: Option<PyLimits>) -> PyResult<Self> {
        let limits = limits.map(|limits| limits.0);
        Self::open_with(py, path, move |path, map| open_safetensors(path, map, limits.as_ref()))
    }

    /// Opens a checkpoint of PyTorch, in any of its containers.
    ///
    /// Raises:
    ///     CheckpointError: the file is none, is damaged, or asks for more than the limits allow.
    #[staticmethod]
    #[pyo3(signature = (path, limits=None))]
    fn pytorch(py: Python<'_>, path: PathBuf, limits: Option<PyLimits>) -> PyResult<Self> {
        let limits = limits.map(|limits| limits.0);
        Self::open_with(py, path, move |path, map| open_pytorch(path, map, limits.as_ref()))
    }

    /// Opens a file in memory, which must not change; ``kind`` is ``"safetensors"`` or ``"pytorch"``.
    ///
    /// Raises:
    ///     CheckpointError: as for a file.
    #[staticmethod]
    #[pyo3(signature = (data, kind))]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, kind: &str) -> PyResult<Self> {
        let map = ForeignMap::of(buffer_bytes(data)?);
        let open = match kind {
            "safetensors" => open_safetensors,
            "pytorch" => open_pytorch,
            _ => return Err(PyValueError::new_err(format!("kind must be a format, got {kind:?}"))),
        };
        Self::open_map(py, PathBuf::from("<memory>"), |path| open(path, map, None))
    }

    /// Opens a file of which somebody else has found out where its tensors are.
    #[staticmethod]
    #[pyo3(signature = (path, tensors, limits=None))]
    fn windows(
        py: Python<'_>,
        path: PathBuf,
        tensors: &Bound<'_, PyList>,
        limits: Option<PyLimits>,
    ) -> PyResult<Self> {
        let entries =
            tensors.iter().map(|told| told_entry(&told.extract()?)).collect::<PyResult<Vec<_>>>()?;
        let limits = limits.map(|limits| limits.0);
        Self::open_with(py, path, move |path, map| open_windows(path, map, entries, limits.as_ref()))
    }

    /// Names in data order: that of the bytes, or that of the pickle.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.open()?.entries.iter().map(|entry| entry.name.as_str()))
    }

    /// A tensor as a lazy view.
    ///
    /// Raises:
    ///     KeyError: no tensor has this name.
    #[pyo3(signature = (name, /, shown=None))]
    fn view(slf: &Bound<'_, Self>, name: &str, shown: Option<&str>) -> PyResult<PyForeignView> {
        let index = slf.get().open()?.index(name);
        let index = index.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        PyForeignView::new(slf, index, shown.unwrap_or(name))
    }

    /// Dtype, shape, length in bytes and first byte of a tensor, the last as a safetensors header tells it.
    ///
    /// Raises:
    ///     KeyError: no tensor has this name.
    #[pyo3(signature = (name, /))]
    #[allow(clippy::type_complexity, reason = "a tuple for Python's dataclass")]
    fn info(&self, name: &str) -> PyResult<(&'static str, Vec<u64>, u64, Option<usize>)> {
        let open = self.open()?;
        let index = open.index(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let entry = &open.entries[index];
        let start = match (&open.content, &entry.place) {
            (Content::Safetensors { data_start, .. }, Place::Window { range, .. }) => {
                range.start.checked_sub(*data_start)
            }
            _ => None,
        };
        Ok((entry.dtype.name, entry.shape.clone(), entry.byte_len(), start))
    }

    /// Puts off the comparison of large storages with their checksums, which views make, until they are copied.
    ///
    /// Raises:
    ///     KeyError: no tensor has one of the names.
    #[pyo3(signature = (names, /))]
    fn verify_while_copied(&self, names: Vec<String>) -> PyResult<PyVerification> {
        let open = self.open()?;
        let index = |name: &String| open.index(name).ok_or_else(|| PyKeyError::new_err(name.clone()));
        let entries = names.iter().map(index).collect::<PyResult<Vec<_>>>()?;
        Ok(PyVerification::start(open, self.path.clone(), &entries))
    }

    /// The text metadata of a safetensors file, if it has some.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let open = self.open()?;
        let Content::Safetensors { metadata: Some(texts), .. } = &open.content else { return Ok(None) };
        let metadata = PyDict::new(py);
        for (key, text) in texts {
            metadata.set_item(key, text)?;
        }
        Ok(Some(metadata))
    }

    /// Every plain value of a pickle by its full name, as Python has it.
    fn plain_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        let open = self.open()?;
        if let Content::Pickle(pickle) = &open.content {
            for leaf in &pickle.leaves.scalars {
                let value = plain_value(py, &leaf.value, &pickle.checkpoint, &open.map.bytes);
                values
                    .set_item(&leaf.name, value.map_err(|failure| failure.into_exception(py, &self.path))?)?;
            }
        }
        Ok(values)
    }

    /// What was not built: name, kind, reason, shape, dtype.
    fn skipped(&self) -> PyResult<Vec<SkippedParts>> {
        let open = self.open()?;
        let Content::Pickle(pickle) = &open.content else { return Ok(Vec::new()) };
        let parts = pickle.leaves.skipped.iter().map(|skipped| {
            let reason = match skipped.reason {
                SkipReason::Call => "call",
                SkipReason::Global => "global",
                SkipReason::Module => "module",
                SkipReason::Unsupported => "unsupported",
            };
            let (name, kind) = (skipped.name.clone(), skipped.qualified.clone());
            (name, kind, reason, skipped.shape.clone(), skipped.dtype.clone())
        });
        Ok(parts.collect())
    }

    /// Groups of names that are one and the same view of a storage.
    fn ties(&self) -> PyResult<Vec<Vec<String>>> {
        let open = self.open()?;
        Ok(open.groups(|pickle| pickle.leaves.ties()))
    }

    /// Groups of names that share a storage and are not all the same view of it.
    fn overlaps(&self) -> PyResult<Vec<Vec<String>>> {
        let open = self.open()?;
        Ok(open.groups(|pickle| pickle.leaves.overlaps()))
    }

    /// The keys of the dict that a path of keys leads to from the root; ``None`` if there is no dict.
    fn dict_keys(&self, path: Vec<String>) -> PyResult<Option<Vec<String>>> {
        let open = self.open()?;
        Ok(open.value_at(&path).and_then(|(checkpoint, dict)| checkpoint.keys(dict)))
    }

    /// Whether a path of keys leads from the root to a dict or a module, so that there may be more names below.
    fn has_names_below(&self, path: Vec<String>) -> PyResult<bool> {
        let open = self.open()?;
        let value = open.value_at(&path).map(|(checkpoint, value)| checkpoint.arena().get(value));
        Ok(matches!(value, Some(Value::Dict(_) | Value::Object(_))))
    }

    /// What the checkpoint comes in.
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(match &self.open()?.content {
            Content::Safetensors { .. } => "safetensors",
            Content::Windows => "npz",
            Content::Pickle(pickle) => match pickle.checkpoint.format() {
                Format::Zip => "pytorch zip",
                Format::Legacy => "pytorch legacy",
                Format::Tar => "pytorch tar",
                Format::Pickle => "pickle",
            },
        })
    }

    /// The path as it was opened.
    #[getter]
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The bytes of the whole file.
    fn memory(&self, py: Python<'_>) -> PyResult<Py<PyMemory>> {
        Ok(self.open()?.memory(py)?.clone().unbind())
    }

    /// Lets the file go. Arrays made before stay valid, and keep its map; lazy views do not.
    fn close(&self) {
        drop(self.lock().take());
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.open()?.entries.len())
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let open = self.open()?;
        Ok(name.extract::<&str>().is_ok_and(|name| open.index(name).is_some()))
    }

    fn __repr__(&self) -> String {
        let path = self.path.display();
        match self.open() {
            Ok(open) => format!("<burnpy file {path}: {} tensors>", open.entries.len()),
            Err(_) => format!("<burnpy file {path}: closed>"),
        }
    }
}

impl PyForeignFile {
    fn open_with(
        py: Python<'_>,
        path: PathBuf,
        open: impl FnOnce(&Path, ForeignMap) -> Result<Foreign, Failure> + Send,
    ) -> PyResult<Self> {
        Self::open_map(py, path, |path| open(path, ForeignMap::open(path)?))
    }

    fn open_map(
        py: Python<'_>,
        path: PathBuf,
        open: impl FnOnce(&Path) -> Result<Foreign, Failure> + Send,
    ) -> PyResult<Self> {
        let opened = py.detach(|| open(&path));
        let opened = opened.map_err(|failure| failure.into_exception(py, &path))?;
        Ok(Self { path, open: Mutex::new(Some(Arc::new(opened))) })
    }

    /// The open file.
    pub(crate) fn open(&self) -> PyResult<Arc<Foreign>> {
        let closed = || PyValueError::new_err(format!("{}: the file is closed", self.path.display()));
        self.lock().clone().ok_or_else(closed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Foreign>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Foreign {
    /// The value of a pickle that a path of keys leads to from the root.
    fn value_at(&self, path: &[String]) -> Option<(&Checkpoint, ValueId)> {
        let Content::Pickle(PickleContent { checkpoint, .. }) = &self.content else { return None };
        let value = path.iter().try_fold(checkpoint.root(), |dict, key| checkpoint.get(dict, key));
        value.map(|value| (&**checkpoint, value))
    }

    /// Groups of leaves by their names.
    fn groups(&self, groups: impl FnOnce(&PickleContent) -> Vec<Vec<usize>>) -> Vec<Vec<String>> {
        let Content::Pickle(pickle) = &self.content else { return Vec::new() };
        let name = |index: usize| pickle.leaves.tensors[index].name.clone();
        groups(pickle).into_iter().map(|group| group.into_iter().map(name).collect()).collect()
    }
}
