//! `burnpy.pack.Writer`: a container of tensors, metadata and scalars.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use burnpy_pack::Writer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{PyLimits, limits_or_default};
use crate::enter::enter;
use crate::import::{WritableBuffer, unfilled_bytes};
use crate::python_source::PartWriter;
use crate::save::with_entries;
use crate::scalar::scalar_of;
use crate::tensor_entry::PyTensorEntry;

/// Builds a container; its tensors will lie in the order in which they are given.
///
/// A writer can be used more than once; a deferred tensor runs its provider at every write.
///
/// Args:
///     tensors: the tensors.
///     metadata: texts by key.
///     scalars: ``Scalar``, ``bool``, ``int`` or ``float`` by name.
///     auto_extension: whether ``.bpk`` is appended to a path without extension.
///     overwrite: whether a file at the destination is replaced.
///     durable: whether ``write_to_file`` waits until the disk has the file.
///     limits: what may not be exceeded; by default what Burn's reader accepts.
///
/// Example:
///     >>> weights = Tensor("w", "f32", (2,), data=bytes(8))
///     >>> writer = Writer([weights]).with_metadata("producer", "me").with_scalar("lr", 0.001)
///     >>> len(writer.into_bytes()) == writer.size()
///     True
#[pyclass(frozen, name = "Writer", module = "burnpy.pack")]
pub(crate) struct PyWriter(Mutex<Writer>);

#[pymethods]
impl PyWriter {
    #[new]
    #[pyo3(signature = (
        tensors, metadata=None, scalars=None, *, auto_extension=true, overwrite=true, durable=true, limits=None
    ))]
    fn new(
        tensors: Vec<PyRef<'_, PyTensorEntry>>,
        metadata: Option<&Bound<'_, PyAny>>,
        scalars: Option<&Bound<'_, PyAny>>,
        auto_extension: bool,
        overwrite: bool,
        durable: bool,
        limits: Option<PyLimits>,
    ) -> PyResult<Self> {
        let writer = Writer::new(tensors.iter().map(|tensor| tensor.0.clone()).collect())
            .auto_extension(auto_extension)
            .overwrite(overwrite)
            .durable(durable)
            .limits(limits_or_default(limits));
        with_entries(writer, metadata, scalars).map(|writer| Self(Mutex::new(writer)))
    }

    /// Adds a text and returns the writer; the same key again replaces.
    fn with_metadata<'py>(slf: Bound<'py, Self>, key: String, value: String) -> Bound<'py, Self> {
        slf.get().change(|writer| writer.with_metadata(key, value));
        slf
    }

    /// Adds a ``Scalar``, ``bool``, ``int`` or ``float`` and returns the writer; the same key again replaces.
    fn with_scalar<'py>(
        slf: Bound<'py, Self>,
        key: String,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let scalar = scalar_of(&key, value)?;
        slf.get().change(|writer| writer.with_scalar(key, scalar));
        Ok(slf)
    }

    /// Sets whether ``.bpk`` is appended to a path without extension, and returns the writer.
    fn auto_extension(slf: Bound<'_, Self>, on: bool) -> Bound<'_, Self> {
        slf.get().change(|writer| writer.auto_extension(on));
        slf
    }

    /// Sets whether a file at the destination is replaced, and returns the writer.
    fn overwrite(slf: Bound<'_, Self>, on: bool) -> Bound<'_, Self> {
        slf.get().change(|writer| writer.overwrite(on));
        slf
    }

    /// Sets whether ``write_to_file`` waits until the disk has the file, and returns the writer.
    fn durable(slf: Bound<'_, Self>, on: bool) -> Bound<'_, Self> {
        slf.get().change(|writer| writer.durable(on));
        slf
    }

    /// Sets what may not be exceeded, and returns the writer.
    fn limits(slf: Bound<'_, Self>, limits: PyLimits) -> Bound<'_, Self> {
        slf.get().change(|writer| writer.limits(limits.0));
        slf
    }

    /// Length of the container in bytes; plans it, and calls no provider.
    ///
    /// Raises:
    ///     ValidationError: a payload's length does not follow from dtype and shape, a name stands twice, or something
    ///         is over a limit.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        enter(py, || self.snapshot().size())
    }

    /// Writes the container to the front of a writable buffer and returns its length; the rest stays untouched.
    ///
    /// Raises:
    ///     IoError: the buffer is too short; nothing is written then.
    fn write_into(&self, py: Python<'_>, mut buffer: WritableBuffer) -> PyResult<u64> {
        enter(py, || self.snapshot().write_into(buffer.as_mut_slice()))
    }

    /// The container as bytes.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        write_to_python_bytes(py, self.snapshot())
    }

    /// Writes a file that appears whole or not at all.
    ///
    /// Args:
    ///     path: ``.bpk`` is appended where there is no extension, unless ``auto_extension`` is off.
    ///     durable: overrides what the writer was made with.
    ///
    /// Raises:
    ///     AlreadyExists: something is there, and ``overwrite`` is off.
    ///     ValidationError: before any file exists; or a provider raised, its exception is the ``__cause__``.
    ///     IoError: the disk is full, or fails; whatever was there is as it was.
    #[pyo3(signature = (path, *, durable=None))]
    fn write_to_file(&self, py: Python<'_>, path: PathBuf, durable: Option<bool>) -> PyResult<()> {
        enter(py, || {
            let writer = self.snapshot();
            let writer = match durable {
                Some(durable) => writer.durable(durable),
                None => writer,
            };
            writer.write_to_file(path)
        })
    }

    /// Writes straight into the file, which keeps its inode and hard links; a failure leaves it cut.
    ///
    /// Raises:
    ///     ValidationError: also when a tensor's bytes are mapped from that very file.
    fn write_to_file_in_place(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        enter(py, || self.snapshot().write_to_file_in_place(path))
    }

    /// Hands the container front to back to a function, as bytes of `part_bytes` each; what it raises comes out.
    fn _write_parts(&self, py: Python<'_>, write: &Bound<'_, PyAny>, part_bytes: usize) -> PyResult<()> {
        let mut parts = PartWriter::new(write, part_bytes);
        enter(py, || self.snapshot().write_to(&mut parts))
    }
}

impl PyWriter {
    pub(crate) const fn wrap(writer: Writer) -> Self {
        Self(Mutex::new(writer))
    }

    /// The writer as it is now; payloads are shared, not copied.
    fn snapshot(&self) -> Writer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(Writer) -> Writer) {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *writer, Writer::new(Vec::new()));
        *writer = change(old);
    }
}

/// The container in a new `bytes` object, which is written once.
pub(crate) fn write_to_python_bytes(py: Python<'_>, writer: Writer) -> PyResult<Bound<'_, PyBytes>> {
    let (size, writer) = enter(py, || writer.size().map(|size| (size, writer)))?;
    let (object, memory) = unfilled_bytes(py, size)?;
    enter(py, || writer.write_into(memory))?;
    Ok(object)
}
