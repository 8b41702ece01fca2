//! `burnpy.pack.TensorInfo`: what a container says of one tensor.

use burnpy_buffer::DType;
use burnpy_pack::Entry;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::convert::{PyDType, dtype_to_python, scheme_to_python};

/// What a container says of one tensor; nothing of the payload was read for it.
#[pyclass(frozen, name = "TensorInfo", module = "burnpy.pack", eq)]
#[derive(PartialEq)]
pub(crate) struct PyTensorInfo {
    name: String,
    dtype: DType,
    shape: Vec<u64>,
    param_id: Option<u64>,
    offsets: (u64, u64),
}

impl From<&Entry<'_>> for PyTensorInfo {
    fn from(entry: &Entry<'_>) -> Self {
        Self {
            name: entry.name().to_owned(),
            dtype: entry.dtype(),
            shape: entry.shape().to_vec(),
            param_id: entry.param_id(),
            offsets: (entry.start(), entry.end()),
        }
    }
}

#[pymethods]
impl PyTensorInfo {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The element type's text form: ``"f32"``, ``"bf16"``, ``"bool(u32)"``, ``"qfloat"``, …
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype.name()
    }

    /// The quantization scheme of a quantized tensor, else ``None``.
    #[getter]
    fn scheme<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        scheme_to_python(py, self.dtype)
    }

    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Id of the parameter that the tensor belongs to, or ``None``.
    #[getter]
    const fn param_id(&self) -> Option<u64> {
        self.param_id
    }

    /// First byte and first byte behind, counted from the start of the data section.
    #[getter]
    const fn offsets(&self) -> (u64, u64) {
        self.offsets
    }

    /// Length of the payload in bytes.
    #[getter]
    const fn nbytes(&self) -> u64 {
        self.offsets.1 - self.offsets.0
    }

    /// What a pickle calls.
    #[staticmethod]
    fn _restore(
        name: String,
        dtype: PyDType,
        shape: Vec<u64>,
        param_id: Option<u64>,
        offsets: (u64, u64),
    ) -> Self {
        Self { name, dtype: dtype.0, shape, param_id, offsets }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, info) = (slf.py(), slf.get());
        let dtype = dtype_to_python(py, info.dtype)?;
        let args = (info.name(), dtype, info.shape(py)?, info.param_id, info.offsets);
        (slf.get_type().getattr("_restore")?, args).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, &self.name).repr()?;
        let param_id = self.param_id.map_or_else(|| "None".to_owned(), |id| id.to_string());
        let (dtype, shape) = (self.dtype.name(), self.shape(py)?.repr()?);
        Ok(format!(
            "TensorInfo(name={name}, dtype='{dtype}', shape={shape}, param_id={param_id}, offsets={:?})",
            self.offsets
        ))
    }
}
