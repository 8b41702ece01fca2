//! Opens a container: header and metadata at once, payloads when they are asked for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burnpy_buffer::{AlignedBuf, Bytes, DType, MapMode, map_file};

use crate::error::{Error, ErrorKind, Result};
use crate::header::{HEADER_SIZE, Header};
use crate::limits::Limits;
use crate::metadata::{Descriptor, Metadata};
use crate::path::resolve_read_path;
use crate::scalar::Scalar;
use crate::scratch::EISDIR;
use crate::source::{FileSource, MemorySource, Source};
use crate::tensor::Tensor;
use crate::validate;

/// How a file's payloads are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// The map, where the system can map the file.
    #[default]
    Auto,
    /// A memory map: windows cost nothing. Another process that cuts the file can kill this one.
    Mmap,
    /// Reads through the open handle: a file that is cut gives an error.
    Pread,
}

/// What a reader accepts, and how it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bounds.
    pub limits: Limits,
    /// Also refuses whatever Burn's own writer would not have written.
    pub strict: bool,
    /// How a file is reached.
    pub backend: Backend,
    /// Whether a map may be written to, in private.
    pub map_mode: MapMode,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), strict: false, backend: Backend::Auto, map_mode: MapMode::Shared }
    }
}

/// An open container. Its methods take `&self` and may be called from many threads.
///
/// ```
/// use burnpy_buffer::{Bytes, DType};
/// use burnpy_pack::{ReadOptions, Reader, Tensor, Writer};
/// let tensor = Tensor::new("w", DType::U8, vec![3], Some(7), Bytes::from(vec![1, 2, 3]));
/// let file = Writer::new(vec![tensor]).into_bytes()?;
/// let reader = Reader::from_bytes(file.into(), &ReadOptions::default())?;
/// let entry = reader.entry("w")?;
/// assert_eq!((entry.shape(), entry.param_id()), (&[3][..], Some(7)));
/// assert_eq!(&reader.bytes(&entry)?[..], [1, 2, 3]);
/// assert!(reader.entry("v").is_err());
/// # Ok::<(), burnpy_pack::Error>(())
/// ```
pub struct Reader {
    source: Arc<dyn Source>,
    path: Option<PathBuf>,
    header: Header,
    data_start: u64,
    metadata: Metadata,
    /// Positions in the metadata, in data order.
    order: Vec<u32>,
}

/// What a container says of one tensor.
#[derive(Clone, Copy)]
pub struct Entry<'r> {
    metadata: &'r Metadata,
    descriptor: &'r Descriptor,
}

impl<'r> Entry<'r> {
    /// Name.
    pub fn name(&self) -> &'r str {
        self.metadata.name(self.descriptor)
    }

    /// Element type.
    pub const fn dtype(&self) -> DType {
        self.descriptor.dtype
    }

    /// Shape.
    pub fn shape(&self) -> &'r [u64] {
        self.metadata.shape(self.descriptor)
    }

    /// Id of the parameter that the tensor belongs to.
    pub const fn param_id(&self) -> Option<u64> {
        self.descriptor.param_id
    }

    /// First byte, counted from the start of the data section.
    pub const fn start(&self) -> u64 {
        self.descriptor.start
    }

    /// First byte behind, counted likewise.
    pub const fn end(&self) -> u64 {
        self.descriptor.end
    }

    /// Length of the payload.
    pub const fn byte_len(&self) -> u64 {
        self.descriptor.end - self.descriptor.start
    }
}

/// The first read of a file that is not mapped: most heads fit, so that one request is enough.
const FIRST_READ: u64 = 64 << 10;

impl Reader {
    /// Opens a container in memory.
    ///
    /// # Errors
    /// Every kind of the header, the metadata and the rules of the format.
    pub fn from_bytes(bytes: Bytes, options: &ReadOptions) -> Result<Self> {
        let unlimited = Limits { max_file_bytes: u64::MAX, ..options.limits };
        Self::from_source(Arc::new(MemorySource::new(bytes)), &ReadOptions { limits: unlimited, ..*options })
    }

    /// Opens a file. A path without extension at which nothing exists gets `.bpk`.
    ///
    /// # Errors
    /// As [`Reader::from_bytes`], with the path; `IoError`.
    pub fn from_file(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        Self::from_file_exact(resolve_read_path(path.as_ref()), options)
    }

    /// Opens the file at exactly this path.
    ///
    /// # Errors
    /// As [`Reader::from_file`].
    pub fn from_file_exact(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let opened = open_source(path, options).and_then(|source| Self::from_source(source, options));
        let mut reader = opened.map_err(|error| error.with_path(path))?;
        // Absolute: a later change of the working folder must not make the path mean another file.
        reader.path = Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        Ok(reader)
    }

    /// The same reader, whose errors tell this place: the address of a source that is no file.
    #[must_use]
    pub fn at_place(mut self, place: impl Into<PathBuf>) -> Self {
        self.path = Some(place.into());
        self
    }

    /// Opens a container in any source, in at most two reads.
    ///
    /// # Errors
    /// As [`Reader::from_bytes`]; `IoError`.
    pub fn from_source(source: Arc<dyn Source>, options: &ReadOptions) -> Result<Self> {
        let (len, limits) = (source.len(), &options.limits);
        if len > limits.max_file_bytes {
            return Err(Error::over("the size of the file in bytes", len, limits.max_file_bytes));
        }
        let first = read(&*source, 0, len.min(FIRST_READ))?;
        let header = Header::from_bytes(&first)?;
        header.check_version()?;
        let size = u64::from(header.metadata_size);
        if size > limits.max_metadata_bytes {
            return Err(Error::over("the size of the metadata in bytes", size, limits.max_metadata_bytes));
        }
        let end = HEADER_SIZE as u64 + size;
        if end > len {
            let what = "cut off inside the metadata";
            return Err(ErrorKind::InvalidHeader { what, expected: end, found: len }.into());
        }
        let head = if end <= first.len() as u64 { first } else { read(&*source, 0, end)? };
        let metadata = Metadata::decode(&head[HEADER_SIZE..end as usize], limits, options.strict)?;
        let data_start = validate::check(&header, &metadata, len, limits)?;
        let order = data_order(&metadata);
        let reader = Self { source, path: None, header, data_start, metadata, order };
        if options.strict {
            reader.check_strict(end)?;
        }
        Ok(reader)
    }

    fn check_strict(&self, metadata_end: u64) -> Result<()> {
        validate::check_strict(&self.header, &self.metadata, self.data_start, self.source.len())?;
        let padding = read(&*self.source, metadata_end, self.data_start.saturating_sub(metadata_end))?;
        validate::check_zero(&padding, metadata_end)
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.metadata.tensors.iter().map(|descriptor| self.metadata.name(descriptor))
    }

    /// Entries in data order: by start, then end, then name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.order.iter().map(|&index| self.entry_of(&self.metadata.tensors[index as usize]))
    }

    /// The entry at a place in data order.
    ///
    /// # Panics
    /// When there is none.
    pub fn at(&self, index: usize) -> Entry<'_> {
        self.entry_of(&self.metadata.tensors[self.order[index] as usize])
    }

    /// The place in data order of a name that must be there.
    ///
    /// # Errors
    /// As [`Reader::entry`].
    pub fn index(&self, name: &str) -> Result<usize> {
        self.entry(name)?;
        let wanted = self.metadata.find(name).unwrap_or_default();
        // `order` is sorted by this: tensors that share a place stay in name order.
        let key = |index: usize| {
            let descriptor = &self.metadata.tensors[index];
            (descriptor.start, descriptor.end, index)
        };
        Ok(self.order.partition_point(|&index| key(index as usize) < key(wanted)))
    }

    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<Entry<'_>> {
        self.metadata.find(name).map(|index| self.entry_of(&self.metadata.tensors[index]))
    }

    /// The entry of a name that must be there.
    ///
    /// # Errors
    /// `TensorNotFound`, with the nearest name that is there.
    pub fn entry(&self, name: &str) -> Result<Entry<'_>> {
        self.get(name).ok_or_else(|| {
            let nearest = nearest(name, self.names()).map(str::to_owned);
            self.located(ErrorKind::TensorNotFound { name: name.to_owned(), nearest }.into())
        })
    }

    const fn entry_of<'r>(&'r self, descriptor: &'r Descriptor) -> Entry<'r> {
        Entry { metadata: &self.metadata, descriptor }
    }

    /// Texts.
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata.metadata
    }

    /// Scalars.
    pub const fn scalars(&self) -> &BTreeMap<String, Scalar> {
        &self.metadata.scalars
    }

    /// The header.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// Where the data section starts.
    pub const fn data_start(&self) -> u64 {
        self.data_start
    }

    /// The file, if the container was opened from one; absolute.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The metadata as decoded, for the rules of the whole file.
    pub(crate) const fn decoded(&self) -> &Metadata {
        &self.metadata
    }

    /// Where the bytes come from.
    pub const fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// A payload: a window where the source has such, else read into aligned memory, again at every call.
    ///
    /// # Errors
    /// `ValidationError` for a quantized tensor of impossible scheme or length; `IoError`.
    pub fn bytes(&self, entry: &Entry<'_>) -> Result<Bytes> {
        self.check_quantized(entry)?;
        let (start, len) = (self.data_start + entry.start(), entry.byte_len());
        read(&*self.source, start, len).map_err(|error| self.located(error).with_tensor(entry.name()))
    }

    /// Copies a payload into memory of exactly its length.
    ///
    /// # Errors
    /// As [`Reader::bytes`]; `ValidationError` for another length.
    pub fn read_into(&self, entry: &Entry<'_>, out: &mut [u8]) -> Result<()> {
        self.check_quantized(entry)?;
        if out.len() as u64 != entry.byte_len() {
            let (found, needed) = (out.len() as u64, entry.byte_len());
            let what = format!("the buffer has {found} bytes, the tensor {needed}");
            let kind = ErrorKind::Validation { what, found: Some(found), limit: Some(needed) };
            return Err(self.located(kind.into()).with_tensor(entry.name()));
        }
        let read = fill(&*self.source, self.data_start + entry.start(), out);
        read.map_err(|error| self.located(error).with_tensor(entry.name()))
    }

    /// Every tensor, in name order, its bytes lazy.
    ///
    /// # Errors
    /// `ValidationError` for a quantized tensor of impossible scheme or length.
    pub fn into_tensors(self) -> Result<Vec<Tensor>> {
        self.metadata.tensors.iter().map(|descriptor| self.tensor(&self.entry_of(descriptor))).collect()
    }

    /// One tensor, its bytes lazy.
    ///
    /// # Errors
    /// As [`Reader::into_tensors`].
    pub fn tensor(&self, entry: &Entry<'_>) -> Result<Tensor> {
        self.check_quantized(entry)?;
        let range = self.data_start + entry.start()..self.data_start + entry.end();
        let shape = entry.shape().to_vec();
        let mut tensor = Tensor::window(entry.name(), entry.dtype(), shape, Arc::clone(&self.source), range);
        tensor.param_id = entry.param_id();
        Ok(tensor)
    }

    /// A quantized payload's length is no matter of the container to Burn. Handed out wrong, it would crash whoever
    /// unpacks it.
    ///
    /// # Errors
    /// `ValidationError`.
    pub fn check_quantized(&self, entry: &Entry<'_>) -> Result<()> {
        match entry.dtype() {
            dtype @ DType::QFloat(_) => validate::check_payload_len(dtype, entry.shape(), entry.byte_len())
                .map_err(|error| self.located(error).with_tensor(entry.name())),
            _ => Ok(()),
        }
    }

    /// An error of the container's user about a tensor, told with its name and the file.
    pub fn refusal(&self, entry: &Entry<'_>, what: impl Into<String>) -> Error {
        self.located(Error::validation(what)).with_tensor(entry.name())
    }

    pub(crate) fn located(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.with_path(path),
            None => error,
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.path)
            .field("tensors", &self.len())
            .finish_non_exhaustive()
    }
}

fn data_order(metadata: &Metadata) -> Vec<u32> {
    let key = |&index: &u32| {
        let descriptor = &metadata.tensors[index as usize];
        (descriptor.start, descriptor.end)
    };
    // Limits keep the count far below 2^32; the metadata's own arenas hold no more.
    let mut order: Vec<u32> = (0..metadata.tensors.len() as u32).collect();
    // Stable, so that tensors that share a place stay in name order.
    order.sort_by_key(key);
    order
}

fn open_source(path: &Path, options: &ReadOptions) -> Result<Arc<dyn Source>> {
    // Asked before it is opened: to open a pipe is to wait for its writer, and nothing interrupts that.
    let meta = path.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::from_raw_os_error(EISDIR).into());
    }
    if !meta.is_file() {
        let what = "a device, pipe or socket, which cannot be read at any place";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what).into());
    }
    let file = File::open(path)?;
    let meta = file.metadata()?;
    // Told before mapping: a file over the limit is refused, not mapped.
    if meta.len() > options.limits.max_file_bytes {
        return Err(Error::over("the size of the file in bytes", meta.len(), options.limits.max_file_bytes));
    }
    if options.backend == Backend::Pread {
        return Ok(Arc::new(FileSource::new(file)?));
    }
    match map_file(&file, options.map_mode) {
        Ok(map) => Ok(Arc::new(MemorySource::of_map(map, &file))),
        Err(_) if options.backend == Backend::Auto => Ok(Arc::new(FileSource::new(file)?)),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn read(source: &dyn Source, start: u64, len: u64) -> Result<Bytes> {
    let end = start.checked_add(len).ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
    // A source of somebody else's making may lend another length; that is not taken.
    if let Some(view) = source.view(start..end).filter(|view| view.len() as u64 == len) {
        return Ok(view);
    }
    let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let mut out = AlignedBuf::try_for_overwrite(len)?;
    fill(source, start, &mut out)?;
    Ok(out.into())
}

/// Reads all of `out`; a source that has become shorter than it was is told with the bytes that it owes.
fn fill(source: &dyn Source, start: u64, out: &mut [u8]) -> Result<()> {
    source.read_into(start, out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            let end = start.saturating_add(out.len() as u64);
            io::Error::new(
                error.kind(),
                format!("cut off: bytes {start} to {end} are not all there any more"),
            )
        }
        _ => error,
    })?;
    Ok(())
}

/// The name that differs least, if it differs by no more than a third of the length.
fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // A hint, not a search engine: long names and long lists are not worth the time of a failed look-up.
    const MAX_NAME: usize = 200;
    const MAX_NAMES: usize = 2_000;
    let wanted = wanted.as_bytes();
    if wanted.len() > MAX_NAME {
        return None;
    }
    let near = names.take(MAX_NAMES).filter(|name| name.len().abs_diff(wanted.len()) <= wanted.len() / 3 + 1);
    near.map(|name| (edit_distance(wanted, name.as_bytes()), name))
        .filter(|(distance, _)| *distance <= wanted.len() / 3)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein's distance, one row at a time.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
