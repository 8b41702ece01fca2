//! An open checkpoint of another format: its tensors by name, and where their bytes are.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use burnpy_buffer::{Bytes, Layout, copy_bytes};
use burnpy_pack::Limits;
use burnpy_pickle::{Checkpoint, Leaves};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::export::PyMemory;
use crate::failure::Failure;
use crate::foreign_dtype::ForeignDType;
use crate::foreign_map::ForeignMap;
use crate::foreign_verify::Check;
use crate::import::buffer_bytes;

/// The most axes that NumPy's arrays have.
const MAX_RANK: usize = 64;

/// One tensor: what it is, and where.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dtype: &'static ForeignDType,
    pub(crate) shape: Vec<u64>,
    pub(crate) place: Place,
}

/// Where a tensor's bytes are.
pub(crate) enum Place {
    /// In the file as they are wanted: little-endian, one after the other, by rows or by columns.
    Window { range: Range<usize>, by_columns: bool },
    /// Where a pickle says; the number is that of its leaf.
    Leaf(usize),
    /// What a Python function returns, by rows and little-endian.
    Call(Py<PyAny>),
}

/// What beside the tensors is in a file.
pub(crate) enum Content {
    Safetensors { metadata: Option<BTreeMap<String, String>>, data_start: usize },
    Pickle(PickleContent),
    Windows,
}

/// A pickle, and the part of it that is listed.
pub(crate) struct PickleContent {
    pub(crate) checkpoint: Arc<Checkpoint>,
    pub(crate) leaves: Leaves,
    /// Which storages were compared with their checksums.
    pub(crate) checks: Vec<Check>,
}

/// How large a tensor may be.
#[derive(Clone, Copy)]
pub(crate) struct SizeLimits {
    /// One that has to be copied, or that would be large once it is: an element may stand for any number of them.
    copy: u64,
    /// One that is a part of the file.
    view: u64,
}

impl SizeLimits {
    /// The caller's limits; without any, what is in the file is taken, whatever its size.
    pub(crate) fn of(limits: Option<&Limits>) -> Self {
        match limits {
            Some(limits) => Self { copy: limits.max_tensor_bytes, view: limits.max_tensor_bytes },
            None => Self { copy: Limits::default().max_tensor_bytes, view: u64::MAX },
        }
    }
}

/// A file of another format, opened.
pub(crate) struct Foreign {
    pub(crate) path: PathBuf,
    pub(crate) map: ForeignMap,
    pub(crate) entries: Vec<Entry>,
    pub(crate) content: Content,
    sizes: SizeLimits,
    places: HashMap<Box<str>, usize>,
    memory: PyOnceLock<Py<PyMemory>>,
    private: PyOnceLock<Option<Bytes>>,
}

/// A tensor's elements, ready for an array.
pub(crate) enum Data {
    /// Where they lie in the file.
    InFile { start: usize, layout: Layout },
    /// Brought into order: by rows, little-endian.
    Owned(Bytes),
}

impl Entry {
    /// Number of elements, as far as a number holds it.
    pub(crate) fn num_elements(&self) -> u64 {
        if self.shape.contains(&0) {
            return 0;
        }
        self.shape.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent))
    }

    /// Bytes of a contiguous copy, as far as a number holds it.
    pub(crate) fn byte_len(&self) -> u64 {
        self.dtype.byte_len(self.num_elements())
    }

    fn over_limit(&self, what: &'static str, found: u64, limit: u64) -> Failure {
        Failure::OverLimit { what, tensor: Some(self.name.clone()), found, limit }
    }
}

impl Foreign {
    pub(crate) fn new(
        path: PathBuf,
        map: ForeignMap,
        entries: Vec<Entry>,
        content: Content,
        sizes: SizeLimits,
    ) -> Self {
        let places = entries.iter().enumerate().map(|(index, entry)| (entry.name.as_str().into(), index));
        Self {
            path,
            map,
            content,
            sizes,
            places: places.collect(),
            entries,
            memory: PyOnceLock::new(),
            private: PyOnceLock::new(),
        }
    }

    /// The place of a name in data order.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The whole file as the owner of arrays.
    pub(crate) fn memory<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyMemory>> {
        let make = || Py::new(py, PyMemory::read_only(self.map.bytes.clone()));
        Ok(self.memory.get_or_try_init(py, make)?.bind(py))
    }

    /// The whole file in memory that may be written. Made with the GIL held, as for burnpacks.
    pub(crate) fn private(&self, py: Python<'_>) -> Option<Bytes> {
        self.private.get_or_init(py, || self.map.private(&self.path)).clone()
    }

    /// A tensor's elements where they lie, if an array can be made of them there; else a copy.
    ///
    /// # Errors
    /// Whatever is wrong with the tensor; `over limit` for a repeated one that no memory holds.
    pub(crate) fn data(&self, entry: &Entry) -> Result<Data, Failure> {
        if entry.shape.len() > MAX_RANK {
            return Err(entry.over_limit("the number of axes", entry.shape.len() as u64, MAX_RANK as u64));
        }
        if let Some(data) = self.in_file(entry)? {
            return Ok(data);
        }
        self.contiguous(entry).map(Data::Owned)
    }

    /// The elements as a layout of the file; `None` where they must be unpacked, swapped or corrected.
    fn in_file(&self, entry: &Entry) -> Result<Option<Data>, Failure> {
        let (range, strides) = match &entry.place {
            Place::Window { range, by_columns } => {
                (range.clone(), by_columns.then(|| column_strides(&entry.shape)))
            }
            Place::Leaf(leaf) => match self.leaf_in_file(entry, *leaf)? {
                Some(place) => place,
                None => return Ok(None),
            },
            Place::Call(_) => return Ok(None),
        };
        let layout = layout_of(entry, strides.as_deref())?;
        Ok(Some(Data::InFile { start: range.start, layout }))
    }

    #[allow(clippy::type_complexity, reason = "a range of the file, and strides where it is not row-major")]
    fn leaf_in_file(
        &self,
        entry: &Entry,
        leaf: usize,
    ) -> Result<Option<(Range<usize>, Option<Vec<u64>>)>, Failure> {
        let Content::Pickle(pickle) = &self.content else { return Ok(None) };
        let leaf = &pickle.leaves.tensors[leaf];
        let placement = pickle.checkpoint.placement(&self.map.bytes, leaf)?;
        let repeated = placement.byte_len > placement.window.end - placement.window.start;
        let limit = if repeated { self.sizes.copy } else { self.sizes.view };
        if placement.byte_len > limit {
            return Err(entry.over_limit("its size", placement.byte_len, limit));
        }
        let swapped = placement.big_endian && leaf.tensor.dtype.swap_size() > 1;
        let Some(range) = placement.in_file.filter(|_| !swapped) else { return Ok(None) };
        // PyTorch takes every byte but 0 for true, NumPy's booleans are 0 and 1.
        let is_other = |byte: &u8| *byte > 1;
        if entry.dtype.name == "bool" && self.map.bytes[range.clone()].iter().any(is_other) {
            return Ok(None);
        }
        if placement.contiguous {
            return Ok(Some((range, None)));
        }
        // Packed elements have no array of their own shape, so their order cannot be told by strides.
        Ok(entry.dtype.element.map(|_| (range, Some(leaf.tensor.strides.to_vec()))))
    }

    /// A copy of a tensor's elements, by rows and little-endian.
    ///
    /// # Errors
    /// As [`data`](Self::data); `over limit`.
    pub(crate) fn contiguous(&self, entry: &Entry) -> Result<Bytes, Failure> {
        match (&entry.place, &self.content) {
            (Place::Leaf(leaf), Content::Pickle(pickle)) => {
                let leaf = &pickle.leaves.tensors[*leaf];
                Ok(pickle.checkpoint.read(&self.map.bytes, leaf)?.into())
            }
            (Place::Call(provide), _) => Python::attach(|py| provided(provide.bind(py), entry.byte_len())),
            (Place::Window { range, by_columns }, _) => {
                let window = self.map.bytes.get(range.clone()).unwrap_or_default();
                let mut out = vec![0; window.len()];
                if *by_columns {
                    let layout = layout_of(entry, Some(&column_strides(&entry.shape)))?;
                    gather(window, &layout, entry.dtype, &mut out);
                } else {
                    copy_bytes(&mut out, window);
                }
                Ok(out.into())
            }
            (Place::Leaf(_), _) => Ok(Bytes::empty()),
        }
    }
}

/// The bytes that a Python function returns.
fn provided(provide: &Bound<'_, PyAny>, byte_len: u64) -> Result<Bytes, Failure> {
    let bytes = buffer_bytes(&provide.call0()?)?;
    if bytes.len() as u64 == byte_len {
        return Ok(bytes);
    }
    let what = format!("{} bytes were produced, {byte_len} were declared", bytes.len());
    Err(pyo3::exceptions::PyValueError::new_err(what).into())
}

/// Strides of elements that lie by columns, as Fortran has them.
fn column_strides(shape: &[u64]) -> Vec<u64> {
    let steps = shape.iter().scan(1u64, |step, &extent| {
        let stride = *step;
        *step = step.saturating_mul(extent);
        Some(stride)
    });
    steps.collect()
}

/// The layout of an array of the entry's shape; row-major without strides.
fn layout_of(entry: &Entry, strides: Option<&[u64]>) -> Result<Layout, Failure> {
    let too_many = || entry.over_limit("the number of elements", entry.num_elements(), i64::MAX as u64);
    let shape: Option<Vec<usize>> = entry.shape.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let shape = shape.ok_or_else(too_many)?;
    let Some(strides) = strides else { return Layout::contiguous(shape).map_err(|_| too_many()) };
    // The stride of an axis that is never stepped along may be anything, also what does not fit.
    let steps = shape.iter().zip(strides).map(|(&extent, &stride)| match extent {
        0 | 1 => Some(0),
        _ => isize::try_from(stride).ok(),
    });
    let strides: Option<Vec<isize>> = steps.collect();
    Layout::from_parts(shape, strides.ok_or_else(too_many)?, 0).map_err(|_| too_many())
}

/// Elements of a layout, by rows.
fn gather(window: &[u8], layout: &Layout, dtype: &ForeignDType, out: &mut [u8]) {
    let size = (dtype.bits / 8) as usize;
    let mut index = vec![0; layout.rank()];
    for target in out.chunks_exact_mut(size.max(1)) {
        let at: usize = index.iter().zip(layout.strides()).map(|(i, stride)| i * stride.unsigned_abs()).sum();
        target.copy_from_slice(&window[at * size..(at + 1) * size]);
        for (i, extent) in index.iter_mut().zip(layout.shape()).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
}
