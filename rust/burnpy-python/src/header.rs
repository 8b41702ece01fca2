//! `burnpy.pack.Header` and the format's constants.

use burnpy_pack::{ALIGNMENT, EXTENSION, FORMAT_VERSION, HEADER_SIZE, Header, Limits, MAGIC_NUMBER};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::enter::to_exception;

/// The ten bytes in front of a container.
///
/// Args:
///     metadata_size: length of the metadata, padding not counted.
///
/// Example:
///     >>> Header(1234).into_bytes()[:4]
///     b'NRUB'
#[pyclass(frozen, name = "Header", module = "burnpy.pack", eq)]
#[derive(PartialEq)]
pub(crate) struct PyHeader(pub(crate) Header);

#[pymethods]
impl PyHeader {
    #[new]
    fn new(metadata_size: u32) -> Self {
        Self(Header::new(metadata_size))
    }

    /// Reads a header; version and metadata size are for the reader to judge.
    ///
    /// Raises:
    ///     InvalidHeader: fewer than ten bytes.
    ///     InvalidMagicNumber: the first four are not a burnpack's.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Header::from_bytes(data).map(Self).map_err(|error| to_exception(py, error))
    }

    /// ``MAGIC_NUMBER``.
    #[getter]
    fn magic(&self) -> u32 {
        self.0.magic
    }

    /// The format's version; 0 is read like 1.
    #[getter]
    fn version(&self) -> u16 {
        self.0.version
    }

    /// Length of the metadata.
    #[getter]
    fn metadata_size(&self) -> u32 {
        self.0.metadata_size
    }

    /// The bytes on disk.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.into_bytes())
    }

    fn __repr__(&self) -> String {
        let Header { magic, version, metadata_size } = self.0;
        format!("Header(magic={magic:#010x}, version={version}, metadata_size={metadata_size})")
    }
}

/// The numbers of the format, under the names that Burn gives them.
pub(crate) fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let limits = Limits::default();
    module.add("MAGIC_NUMBER", MAGIC_NUMBER)?;
    module.add("FORMAT_VERSION", FORMAT_VERSION)?;
    module.add("HEADER_SIZE", HEADER_SIZE)?;
    module.add("TENSOR_ALIGNMENT", ALIGNMENT)?;
    module.add("EXTENSION", EXTENSION)?;
    module.add("MAX_METADATA_SIZE", limits.max_metadata_bytes)?;
    module.add("MAX_TENSOR_COUNT", limits.max_tensors)?;
    module.add("MAX_TENSOR_SIZE", limits.max_tensor_bytes)?;
    module.add("MAX_CBOR_RECURSION_DEPTH", limits.max_depth)?;
    module.add("MAX_FILE_SIZE", limits.max_file_bytes)
}
