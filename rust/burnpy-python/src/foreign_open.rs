//! Checkpoints of other formats, opened: header or pickle is read, and who is where is written down.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use burnpy_pack::Limits;
use burnpy_pickle::{Checkpoint, Leaves};
use burnpy_safetensors::{Header, LENGTH_BYTES, header_end};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::foreign::{Content, Entry, Foreign, PickleContent, Place, SizeLimits};
use crate::foreign_dtype::ForeignDType;
use crate::foreign_map::ForeignMap;
use crate::foreign_verify::Check;

/// How much of a file is looked at to tell its format, should it be none.
const START_BYTES: usize = 4096;

/// A tensor as another reader found it: name, dtype, shape, and where its bytes are: first byte and whether they lie by
/// columns, or a function that returns them.
#[derive(FromPyObject)]
pub(crate) struct Told {
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

pub(crate) fn open_safetensors(
    path: &Path,
    map: ForeignMap,
    limits: Option<&Limits>,
) -> Result<Foreign, Failure> {
    let len = map.bytes.len() as u64;
    check_file(len, limits)?;
    let end = header_end(&map.bytes[..map.bytes.len().min(START_BYTES)], len)?;
    if let Some(limits) = limits {
        check("the header's length", end - LENGTH_BYTES as u64, limits.max_metadata_bytes)?;
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
    Ok(Foreign::new(path.to_owned(), map, entries, content, SizeLimits::of(limits)))
}

pub(crate) fn open_pytorch(
    path: &Path,
    map: ForeignMap,
    limits: Option<&Limits>,
) -> Result<Foreign, Failure> {
    check_file(map.bytes.len() as u64, limits)?;
    let mut pickle_limits = burnpy_pickle::Limits::default();
    if let Some(limits) = limits {
        pickle_limits.max_inflated_pickle = limits.max_metadata_bytes;
        pickle_limits.max_depth = limits.max_depth as usize;
        pickle_limits.max_tensor_bytes = limits.max_tensor_bytes;
    }
    let checkpoint = burnpy_pickle::open(&map.bytes, &pickle_limits)?;
    let leaves = checkpoint.leaves()?;
    let opened = pickled(path.to_owned(), map, Arc::new(checkpoint), leaves, SizeLimits::of(limits));
    if let Some(limits) = limits {
        check("the number of tensors", opened.entries.len() as u64, limits.max_tensors)?;
    }
    Ok(opened)
}

fn pickled(
    path: PathBuf,
    map: ForeignMap,
    checkpoint: Arc<Checkpoint>,
    leaves: Leaves,
    sizes: SizeLimits,
) -> Foreign {
    let entries = leaves.tensors.iter().enumerate().map(|(index, leaf)| Entry {
        name: leaf.name.clone(),
        dtype: ForeignDType::from_name(leaf.tensor.dtype.name())
            .expect("the table has every type of PyTorch"),
        shape: leaf.tensor.shape.to_vec(),
        place: Place::Leaf(index),
    });
    let entries = entries.collect();
    let checks = checkpoint.storages().iter().map(|_| Check::default()).collect();
    let content = Content::Pickle(PickleContent { checkpoint, leaves, checks });
    Foreign::new(path, map, entries, content, sizes)
}

pub(crate) fn open_windows(
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
    Ok(Foreign::new(path.to_owned(), map, entries, Content::Windows, SizeLimits::of(limits)))
}

pub(crate) fn told_entry(told: &Told) -> PyResult<Entry> {
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
    check("the number of tensors", entries.len() as u64, limits.max_tensors)?;
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
