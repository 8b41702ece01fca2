//! An open container and the memory that its arrays share.

use std::fs::File;

use burnpy_buffer::{AlignedBuf, Bytes, MapMode, map_file};
use burnpy_pack::{Entry, Error, FileSource, Identity, Reader, Source};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyString};

use crate::dtype::{Element, array_shape};
use crate::enter::{enter, error_class, to_exception};
use crate::export::{Arrays, Handover, PyMemory};

/// A reader, and what is made once for all that it hands out.
pub(crate) struct Open {
    pub(crate) reader: Reader,
    /// Whether windows of the source are private already.
    is_private: bool,
    /// The whole source as memory, if it has windows.
    memory: PyOnceLock<Option<Py<PyMemory>>>,
    /// A private map of the same file, for those who may write.
    private: PyOnceLock<Option<Bytes>>,
}

impl Open {
    pub(crate) const fn new(reader: Reader, map_mode: MapMode) -> Self {
        let is_private = matches!(map_mode, MapMode::Private);
        Self { reader, is_private, memory: PyOnceLock::new(), private: PyOnceLock::new() }
    }

    /// Where a payload starts in the source. It is in memory, or was checked to be in the file: it fits.
    pub(crate) fn position(&self, entry: &Entry<'_>) -> usize {
        (self.reader.data_start() + entry.start()) as usize
    }

    /// The memory of a source with windows; one owner for all arrays.
    pub(crate) fn memory<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyMemory>>> {
        let memory = self.memory.get_or_try_init(py, || match self.whole() {
            Some(bytes) => Py::new(py, PyMemory::read_only(bytes)).map(Some),
            None => Ok(None),
        })?;
        Ok(memory.as_ref().map(|memory| memory.bind(py)))
    }

    /// Every tensor as an array, in data order: read-only windows, or private copies.
    pub(crate) fn arrays<'py>(&self, py: Python<'py>, copy: bool) -> PyResult<Bound<'py, PyDict>> {
        match self.memory(py)? {
            Some(memory) if !copy => self.window_arrays(py, memory),
            _ if self.is_remote() => self.fetched_arrays(py, self.reader.entries().collect(), copy),
            _ => self.copied_arrays(py),
        }
    }

    fn window_arrays<'py>(
        &self,
        py: Python<'py>,
        memory: &Bound<'py, PyMemory>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut arrays = Arrays::new(py)?;
        self.collect(py, |_, entry| {
            self.reader.check_quantized(entry).map_err(|error| to_exception(py, error))?;
            let array = array_of(&mut arrays, memory, self.position(entry), entry);
            array.map_err(|error| self.no_array(py, entry, error))
        })
    }

    /// Some tensors as arrays, in the order of the names: windows of the source, or read together.
    pub(crate) fn arrays_of<'py>(&self, py: Python<'py>, names: &[String]) -> PyResult<Bound<'py, PyDict>> {
        let entries: Result<Vec<_>, _> = names.iter().map(|name| self.reader.entry(name)).collect();
        self.fetched_arrays(py, entries.map_err(|error| to_exception(py, error))?, false)
    }

    /// Whether each read is a request, so that many at once are better than one after another.
    fn is_remote(&self) -> bool {
        matches!(self.reader.source().identity(), Some(Identity::Tag(_)))
    }

    /// Arrays of payloads that are read in one call of the source.
    fn fetched_arrays<'py>(
        &self,
        py: Python<'py>,
        entries: Vec<Entry<'_>>,
        copy: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let fetched = enter(py, || self.fetch(&entries))?;
        let (mut arrays, tensors) = (Arrays::new(py)?, PyDict::new(py));
        for (entry, bytes) in entries.iter().zip(fetched) {
            let memory = match copy {
                true => PyMemory::private(py.detach(|| bytes.to_aligned())),
                false => PyMemory::read_only(aligned(entry, bytes)),
            };
            let array = array_of(&mut arrays, &Bound::new(py, memory)?, 0, entry);
            tensors.set_item(entry.name(), array.map_err(|error| self.no_array(py, entry, error))?)?;
        }
        Ok(tensors)
    }

    fn fetch(&self, entries: &[Entry<'_>]) -> Result<Vec<Bytes>, Error> {
        entries.iter().try_for_each(|entry| self.reader.check_quantized(entry))?;
        let start = self.reader.data_start();
        let ranges: Vec<_> = entries.iter().map(|entry| start + entry.start()..start + entry.end()).collect();
        Ok(self.reader.source().read_ranges(&ranges)?)
    }

    fn copied_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let copies = enter(py, || self.reader.copy_all())?;
        let blocks: Vec<_> = copies
            .blocks
            .into_iter()
            .map(|block| Bound::new(py, PyMemory::private(block)))
            .collect::<PyResult<_>>()?;
        let mut arrays = Arrays::new(py)?;
        self.collect(py, |index, entry| {
            let (block, start) = copies.places[index];
            let array = array_of(&mut arrays, &blocks[block], start, entry);
            array.map_err(|error| self.no_array(py, entry, error))
        })
    }

    /// Every tensor as a DLPack capsule over private memory, in data order.
    pub(crate) fn capsules<'py>(&self, py: Python<'py>, copy: bool) -> PyResult<Bound<'py, PyDict>> {
        let private = if copy { None } else { self.private_map(py) };
        if let Some(map) = private {
            return self.collect(py, |_, entry| {
                self.reader.check_quantized(entry).map_err(|error| to_exception(py, error))?;
                let start = self.position(entry);
                capsule_of(py, &map, start, false, entry).map(Bound::into_any)
            });
        }
        if self.is_remote() {
            let entries: Vec<_> = self.reader.entries().collect();
            let fetched = enter(py, || self.fetch(&entries))?;
            return self.collect(py, |index, entry| {
                let block = py.detach(|| fetched[index].to_aligned());
                capsule_of(py, &block, 0, true, entry).map(Bound::into_any)
            });
        }
        let copies = enter(py, || self.reader.copy_all())?;
        self.collect(py, |index, entry| {
            let (block, start) = copies.places[index];
            capsule_of(py, &copies.blocks[block], start, true, entry).map(Bound::into_any)
        })
    }

    fn collect<'py>(
        &self,
        py: Python<'py>,
        mut make: impl FnMut(usize, &Entry<'_>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let tensors = PyDict::new(py);
        for (index, entry) in self.reader.entries().enumerate() {
            tensors.set_item(PyString::new(py, entry.name()), make(index, &entry)?)?;
        }
        Ok(tensors)
    }

    /// One payload for a library that may write to it: a window of a private map where there is one and the numbers
    /// are aligned, else a copy.
    pub(crate) fn handover(&self, py: Python<'_>, entry: &Entry<'_>, copy: bool) -> PyResult<Handover> {
        let element = Element::of(entry.dtype());
        let shape = array_shape(entry.dtype(), entry.shape(), entry.byte_len());
        enter(py, || self.reader.check_quantized(entry))?;
        let start = self.position(entry);
        let window = if copy { None } else { self.private_map(py) };
        let window = window.and_then(|map| map.slice(start..start + entry.byte_len() as usize));
        if let Some(bytes) = window.filter(|window| window.is_aligned_to(element.size())) {
            return Ok(Handover {
                bytes,
                is_copied: false,
                is_read_only: false,
                element,
                shape,
                layout: None,
            });
        }
        let bytes = enter(py, || self.read_copy(entry))?;
        Ok(Handover { bytes, is_copied: true, is_read_only: false, element, shape, layout: None })
    }

    fn read_copy(&self, entry: &Entry<'_>) -> Result<Bytes, Error> {
        let mut out = AlignedBuf::try_for_overwrite(entry.byte_len() as usize)?;
        self.reader.read_into(entry, &mut out)?;
        Ok(out.into())
    }

    /// A good tensor that is more than an array can be, of 70 axes or 2⁶³ rows of nothing: NumPy's own error says what
    /// is too much, but not of what.
    pub(crate) fn no_array(&self, py: Python<'_>, entry: &Entry<'_>, error: PyErr) -> PyErr {
        let is_refusal =
            error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyOverflowError>(py);
        let own = error_class(py, "Error").is_ok_and(|class| error.is_instance(py, &class));
        if own || !is_refusal {
            return error;
        }
        let what = format!("no array can be made of it: {}", error.value(py));
        let named = self.reader.refusal(entry, what);
        let raised = to_exception(py, named);
        raised.set_cause(py, Some(error));
        raised
    }

    fn whole(&self) -> Option<Bytes> {
        let source = self.reader.source();
        source.view(0..source.len())
    }

    /// All of the file in memory that may be written without anybody else seeing it.
    ///
    /// Made with the GIL held: a fork in the middle of it would leave the child to wait for ever.
    fn private_map(&self, py: Python<'_>) -> Option<Bytes> {
        if self.is_private {
            return self.whole().filter(Bytes::is_writable);
        }
        self.private.get_or_init(py, || self.map_again()).clone()
    }

    /// A second map of the file, if it is still the file that was opened.
    fn map_again(&self) -> Option<Bytes> {
        self.whole()?;
        let identity = self.reader.source().identity()?;
        // Another program may have put a pipe in its place, which would be waited for.
        let file = self.reader.path().filter(|path| path.is_file())?;
        let file = File::open(file).ok()?;
        let map = map_file(&file, MapMode::Private).ok()?;
        let source = FileSource::new(file).ok()?;
        (source.identity() == Some(identity) && source.len() == self.reader.source().len()).then_some(map)
    }
}

/// The bytes as they are if an array can show them, else a copy.
fn aligned(entry: &Entry<'_>, bytes: Bytes) -> Bytes {
    if bytes.is_aligned_to(Element::of(entry.dtype()).size()) { bytes } else { bytes.to_aligned() }
}

/// The array of a payload that lies at `start` of the memory.
pub(crate) fn array_of<'py>(
    arrays: &mut Arrays<'py>,
    memory: &Bound<'py, PyMemory>,
    start: usize,
    entry: &Entry<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let element = Element::of(entry.dtype());
    if matches!(entry.dtype(), burnpy_buffer::DType::QFloat(_)) {
        return arrays.contiguous(memory, start, element, &[entry.byte_len()]);
    }
    arrays.contiguous(memory, start, element, entry.shape())
}

fn capsule_of<'py>(
    py: Python<'py>,
    block: &Bytes,
    start: usize,
    is_copied: bool,
    entry: &Entry<'_>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let element = Element::of(entry.dtype());
    let window = block.slice(start..start + entry.byte_len() as usize).expect("a payload lies in its block");
    let bytes = if window.is_aligned_to(element.size()) { window } else { window.to_aligned() };
    let shape = array_shape(entry.dtype(), entry.shape(), entry.byte_len());
    Handover { bytes, is_copied, is_read_only: false, element, shape, layout: None }.into_capsule(py, false)
}
