//! Writes a container: planned from lengths, then drawn tensor by tensor.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use burnpy_buffer::AlignedBuf;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::path::resolve_write_path;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::scratch::{AtomicFile, follow_links};
use crate::sink::{FileSink, Sink, SliceSink, StreamSink};
use crate::source::is_same_file;
use crate::tensor::Tensor;

/// Builds a container of tensors, text metadata and scalars. Cloning shares the bytes.
///
/// ```
/// use burnpy_pack::{Scalar, Writer};
/// let bytes = Writer::new(vec![]).with_metadata("producer", "me").with_scalar("step", 3u32).into_bytes()?;
/// assert_eq!(bytes.len(), 256); // padding up to the data section is always there
/// # Ok::<(), burnpy_pack::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    tensors: Vec<Tensor>,
    metadata: BTreeMap<String, String>,
    scalars: BTreeMap<String, Scalar>,
    auto_extension: bool,
    overwrite: bool,
    durable: bool,
    limits: Limits,
}

impl Writer {
    /// A writer of these tensors; their bytes will lie in this order.
    pub fn new(tensors: Vec<Tensor>) -> Self {
        Self {
            tensors,
            metadata: BTreeMap::new(),
            scalars: BTreeMap::new(),
            auto_extension: true,
            overwrite: true,
            durable: true,
            limits: Limits::default(),
        }
    }

    /// Adds a text; the same key again replaces.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds a scalar; the same key again replaces.
    #[must_use]
    pub fn with_scalar(mut self, key: impl Into<String>, value: impl Into<Scalar>) -> Self {
        self.scalars.insert(key.into(), value.into());
        self
    }

    /// Whether `.bpk` is appended to a path without extension (it is).
    #[must_use]
    pub const fn auto_extension(mut self, on: bool) -> Self {
        self.auto_extension = on;
        self
    }

    /// Whether a file at the destination is replaced (it is).
    #[must_use]
    pub const fn overwrite(mut self, on: bool) -> Self {
        self.overwrite = on;
        self
    }

    /// Whether [`Writer::write_to_file`] waits until the disk has the file (it does).
    #[must_use]
    pub const fn durable(mut self, on: bool) -> Self {
        self.durable = on;
        self
    }

    /// What may not be exceeded.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The layout; touches no payload.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn plan(&self) -> Result<Plan> {
        Plan::new(&self.tensors, &self.metadata, &self.scalars, &self.limits)
    }

    /// Length of the container; runs the whole plan.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn size(&self) -> Result<u64> {
        self.plan().map(|plan| plan.total())
    }

    /// Writes the container to the front of `memory` and returns its length; the rest stays untouched.
    ///
    /// # Errors
    /// `IoError` for memory that is too short, before anything is written; as [`Plan::new`]; the errors of providers.
    pub fn write_into(self, memory: &mut [u8]) -> Result<u64> {
        let plan = self.plan()?;
        write_planned_into(&plan, self.tensors, memory)?;
        Ok(plan.total())
    }

    /// The container in memory.
    ///
    /// # Errors
    /// As [`Writer::write_into`].
    pub fn into_bytes(self) -> Result<AlignedBuf> {
        let plan = self.plan()?;
        let len = usize::try_from(plan.total()).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut memory = AlignedBuf::try_for_overwrite(len)?;
        write_planned_into(&plan, self.tensors, &mut memory)?;
        Ok(memory)
    }

    /// Writes a file that appears whole or not at all: a scratch file beside it is renamed when it is complete.
    ///
    /// # Errors
    /// As [`Plan::new`] before any file exists; `AlreadyExists`, `IoError`, the errors of providers; whatever was at
    /// the destination is as it was.
    pub fn write_to_file(self, path: impl AsRef<Path>) -> Result<()> {
        let path = self.resolved_path(path.as_ref());
        self.write_atomic(&path).map_err(|error| error.with_path(&path))
    }

    /// Writes the scratch file of [`Writer::write_to_file`] and leaves the commit to the caller, who has several files
    /// to put in place together.
    ///
    /// # Errors
    /// As [`Writer::write_to_file`].
    pub fn write_scratch(self, path: impl AsRef<Path>) -> Result<AtomicFile> {
        let path = self.resolved_path(path.as_ref());
        self.write_beside(&path).map_err(|error| error.with_path(&path))
    }

    /// Writes straight into the file at the path. Keeps its inode and hard links, but a failure leaves it cut.
    ///
    /// # Errors
    /// As [`Writer::write_to_file`]; `ValidationError` when a tensor's bytes are a window of that very file.
    pub fn write_to_file_in_place(self, path: impl AsRef<Path>) -> Result<()> {
        let path = self.resolved_path(path.as_ref());
        self.write_in_place(&path).map_err(|error| error.with_path(&path))
    }

    /// Writes the container front to back into anything that takes bytes.
    ///
    /// ```
    /// use burnpy_buffer::{Bytes, DType};
    /// use burnpy_pack::{Tensor, Writer};
    /// let writer = Writer::new(vec![Tensor::new("w", DType::U8, vec![3], None, Bytes::from(vec![1, 2, 3]))]);
    /// let mut out = Vec::new();
    /// writer.clone().write_to(&mut out)?;
    /// assert_eq!(out[..], writer.into_bytes()?[..]);
    /// # Ok::<(), burnpy_pack::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::new`], before anything is written; `IoError`; the errors of providers. What was written before
    /// stays so.
    pub fn write_to(self, out: &mut dyn io::Write) -> Result<()> {
        let plan = self.plan()?;
        plan.check_file(&self.limits)?;
        emit(&plan, self.tensors, &mut StreamSink::new(out))
    }

    /// The file that a path means to this writer.
    pub fn resolved_path(&self, path: &Path) -> PathBuf {
        if self.auto_extension { resolve_write_path(path) } else { path.to_owned() }
    }

    fn write_atomic(self, path: &Path) -> Result<()> {
        let overwrite = self.overwrite;
        let scratch = self.write_beside(path)?;
        if overwrite { scratch.commit() } else { scratch.commit_new() }
    }

    fn write_beside(self, path: &Path) -> Result<AtomicFile> {
        let plan = self.plan()?;
        plan.check_file(&self.limits)?;
        if !self.overwrite && path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let scratch = AtomicFile::create(path, self.durable)?;
        scratch.reserve(plan.total())?;
        emit(&plan, self.tensors, &mut scratch.sink())?;
        Ok(scratch)
    }

    fn write_in_place(self, path: &Path) -> Result<()> {
        let plan = self.plan()?;
        plan.check_file(&self.limits)?;
        let target = follow_links(path)?;
        if let Some(tensor) = self.tensors.iter().find(|tensor| reads_from(tensor, &target)) {
            let what = "its bytes are a window of the file that would be overwritten in place";
            return Err(Error::validation(what).with_tensor(&tensor.name));
        }
        let mut options = OpenOptions::new();
        options.write(true);
        let file = match self.overwrite {
            true => options.create(true).truncate(true).open(path),
            false => options.create_new(true).open(path),
        };
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::from(ErrorKind::AlreadyExists),
            _ => error.into(),
        })?;
        emit(&plan, self.tensors, &mut FileSink::new(&file))
    }
}

/// Whether a tensor's bytes come from the file at a path, through a map or a handle.
fn reads_from(tensor: &Tensor, path: &Path) -> bool {
    tensor.identity().is_some_and(|identity| is_same_file(path, &identity))
        || tensor.resident().is_some_and(|bytes| burnpy_buffer::is_mapped_from(bytes, path))
}

fn write_planned_into(plan: &Plan, tensors: Vec<Tensor>, memory: &mut [u8]) -> Result<()> {
    let available = memory.len();
    let front = usize::try_from(plan.total()).ok().and_then(|total| memory.get_mut(..total));
    let front = front.ok_or_else(|| {
        let text = format!("the buffer has {available} bytes, {} are needed", plan.total());
        Error::from(io::Error::new(io::ErrorKind::WriteZero, text))
    })?;
    emit(plan, tensors, &mut SliceSink::new(front))
}

/// Sends everything in order; each tensor is dropped before the next one is drawn.
fn emit(plan: &Plan, tensors: Vec<Tensor>, sink: &mut dyn Sink) -> Result<()> {
    sink.put(plan.head())?;
    let mut at = plan.head().len() as u64;
    for (tensor, place) in tensors.into_iter().zip(plan.places()) {
        sink.pad((place.start - at) as usize)?;
        tensor.draw(&mut |bytes| Ok(sink.put(bytes)?))?;
        at = place.end;
    }
    sink.pad((plan.total() - at) as usize)?;
    Ok(sink.finish()?)
}
