//! `burnpy._core.ForeignFile`: an open checkpoint that is no burnpack.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burnpy_pack::Limits;
use burnpy_pickle::{Checkpoint, Format, SkipReason, Value};
use burnpy_safetensors::{Header, LENGTH_BYTES, header_end};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::PyLimits;
use crate::export::PyMemory;
use crate::failure::Failure;
use crate::foreign::{Content, Entry, Foreign, PickleContent, Place};
use crate::foreign_dtype::ForeignDType;
use crate::foreign_map::ForeignMap;
use crate::foreign_view::PyForeignView;
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

/// A tensor as another reader found it: name, dtype, shape, and where its bytes are: first byte and whether they lie by
/// columns, or a function that returns them.
#[derive(FromPyObject)]
struct Told {
    #[pyo3(item(0))]
    name: String,
    #[pyo3(item(1))]
    dtype: String,
    #[pyo3(item(2))]
    shape: Vec<u64>,
    #[pyo3(item(3))]
    start: Option<u64>,
    #[pyo3(item(4))]
    by_columns: bool,
    #[pyo3(item(5))]
    provide: Option<Py<PyAny>>,
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
        Self::open_with(py, path, move |path, map| safetensors(path, map, limits.as_ref()))
    }

    /// Opens a checkpoint of PyTorch, in any of its containers.
    ///
    /// Raises:
    ///     CheckpointError: the file is none, is damaged, or asks for more than the limits allow.
    #[staticmethod]
    #[pyo3(signature = (path, limits=None))]
    fn pytorch(py: Python<'_>, path: PathBuf, limits: Option<PyLimits>) -> PyResult<Self> {
        let limits = limits.map(|limits| limits.0);
        Self::open_with(py, path, move |path, map| pytorch(path, map, limits.as_ref()))
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
        Self::open_with(py, path, move |path, map| windows(path, map, entries, limits.as_ref()))
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

    /// The keys of the dict that a path of keys leads to from the root, with whether more names are below each; ``None``
    /// if there is no dict.
    fn dict_keys(&self, path: Vec<String>) -> PyResult<Option<Vec<(String, bool)>>> {
        let open = self.open()?;
        let Content::Pickle(PickleContent { checkpoint, .. }) = &open.content else { return Ok(None) };
        let step = |dict, key: &String| checkpoint.get(dict, key);
        let Some(dict) = path.iter().try_fold(checkpoint.root(), step) else { return Ok(None) };
        let has_names = |key: &str| {
            let value = checkpoint.get(dict, key).map(|value| checkpoint.arena().get(value));
            matches!(value, Some(Value::Dict(_) | Value::Object(_)))
        };
        let keys = checkpoint.keys(dict);
        Ok(keys.map(|keys| {
            keys.into_iter().map(|key| (has_names(&key), key)).map(|(is, key)| (key, is)).collect()
        }))
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
        let opened = py.detach(|| open(&path, ForeignMap::open(&path)?));
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
    /// Groups of leaves by their names.
    fn groups(&self, groups: impl FnOnce(&PickleContent) -> Vec<Vec<usize>>) -> Vec<Vec<String>> {
        let Content::Pickle(pickle) = &self.content else { return Vec::new() };
        let name = |index: usize| pickle.leaves.tensors[index].name.clone();
        groups(pickle).into_iter().map(|group| group.into_iter().map(name).collect()).collect()
    }
}

fn safetensors(path: &Path, map: ForeignMap, limits: Option<&Limits>) -> Result<Foreign, Failure> {
    let len = map.bytes.len() as u64;
    check_file(len, limits)?;
    let end = header_end(&map.bytes[..map.bytes.len().min(4096)], len)?;
    if let Some(limits) = limits {
        check("the header's length", end - LENGTH_BYTES as u64, limits.max_metadata_bytes.into())?;
    }
    // The header ends inside the file, which is in memory.
    let header = Header::decode(&map.bytes[LENGTH_BYTES..end as usize], len)?;
    let entries = header.entries.into_iter().map(|entry| {
        let dtype =
            ForeignDType::from_name(entry.dtype.text()).expect("the table has every type of the format");
        let range = entry.range.start as usize..entry.range.end as usize;
        let place = Place::Window { range, by_columns: false };
        Entry { name: entry.name, dtype, shape: entry.shape, place }
    });
    let entries: Vec<_> = entries.collect();
    check_tensors(&entries, limits)?;
    let content = Content::Safetensors { metadata: header.metadata, data_start: end as usize };
    Ok(Foreign::new(path.to_owned(), map, entries, content, u64::MAX))
}

fn pytorch(path: &Path, map: ForeignMap, limits: Option<&Limits>) -> Result<Foreign, Failure> {
    check_file(map.bytes.len() as u64, limits)?;
    let mut pickle_limits = burnpy_pickle::Limits::default();
    if let Some(limits) = limits {
        pickle_limits.max_inflated_pickle = u64::from(limits.max_metadata_bytes);
        pickle_limits.max_depth = limits.max_depth as usize;
        pickle_limits.max_tensor_bytes = limits.max_tensor_bytes;
    }
    let checkpoint = burnpy_pickle::open(&map.bytes, &pickle_limits)?;
    let leaves = checkpoint.leaves()?;
    let opened = pickled(path.to_owned(), map, Arc::new(checkpoint), leaves, pickle_limits.max_tensor_bytes);
    if let Some(limits) = limits {
        check("the number of tensors", opened.entries.len() as u64, limits.max_tensors as u64)?;
    }
    Ok(opened)
}

fn pickled(
    path: PathBuf,
    map: ForeignMap,
    checkpoint: Arc<Checkpoint>,
    leaves: burnpy_pickle::Leaves,
    max_tensor_bytes: u64,
) -> Foreign {
    let entries = leaves.tensors.iter().enumerate().map(|(index, leaf)| Entry {
        name: leaf.name.clone(),
        dtype: ForeignDType::from_name(leaf.tensor.dtype.name())
            .expect("the table has every type of PyTorch"),
        shape: leaf.tensor.shape.to_vec(),
        place: Place::Leaf(index),
    });
    let entries = entries.collect();
    let verified = checkpoint.storages().iter().map(|_| AtomicBool::new(false)).collect();
    let content = Content::Pickle(PickleContent { checkpoint, leaves, verified });
    Foreign::new(path, map, entries, content, max_tensor_bytes)
}

fn windows(
    path: &Path,
    map: ForeignMap,
    entries: Vec<Entry>,
    limits: Option<&Limits>,
) -> Result<Foreign, Failure> {
    check_file(map.bytes.len() as u64, limits)?;
    check_tensors(&entries, limits)?;
    for entry in &entries {
        if let Place::Window { range, .. } = &entry.place
            && (range.len() as u64 != entry.byte_len() || range.end > map.bytes.len())
        {
            let what = format!("tensor {:?} ends at byte {}, outside of the file", entry.name, range.end);
            return Err(PyValueError::new_err(what).into());
        }
    }
    let max_tensor_bytes = limits.map_or(u64::MAX, |limits| limits.max_tensor_bytes);
    Ok(Foreign::new(path.to_owned(), map, entries, Content::Windows, max_tensor_bytes))
}

fn told_entry(told: &Told) -> PyResult<Entry> {
    let unknown = || PyValueError::new_err(format!("unknown dtype {:?}", told.dtype));
    let dtype = ForeignDType::from_name(&told.dtype).ok_or_else(unknown)?;
    let (name, shape) = (told.name.clone(), told.shape.clone());
    let mut entry = Entry { name, dtype, shape, place: Place::Window { range: 0..0, by_columns: false } };
    entry.place = match (&told.provide, told.start) {
        (Some(provide), _) => Place::Call(Python::attach(|py| provide.clone_ref(py))),
        (None, start) => {
            let start = usize::try_from(start.unwrap_or(0))?;
            let end = start.saturating_add(usize::try_from(entry.byte_len())?);
            Place::Window { range: start..end, by_columns: told.by_columns }
        }
    };
    Ok(entry)
}

fn check_file(len: u64, limits: Option<&Limits>) -> Result<(), Failure> {
    limits.map_or(Ok(()), |limits| check("the file's length", len, limits.max_file_bytes))
}

fn check_tensors(entries: &[Entry], limits: Option<&Limits>) -> Result<(), Failure> {
    let Some(limits) = limits else { return Ok(()) };
    check("the number of tensors", entries.len() as u64, limits.max_tensors as u64)?;
    let large = entries.iter().find(|entry| entry.byte_len() > limits.max_tensor_bytes);
    large.map_or(Ok(()), |entry| {
        let (found, limit) = (entry.byte_len(), limits.max_tensor_bytes);
        Err(Failure::OverLimit { what: "its size", tensor: Some(entry.name.clone()), found, limit })
    })
}

fn check(what: &'static str, found: u64, limit: u64) -> Result<(), Failure> {
    if found > limit {
        return Err(Failure::OverLimit { what, tensor: None, found, limit });
    }
    Ok(())
}
