//! `burnpy.pack.Tensor`: a named tensor on its way into or out of a container.

use std::any::Any;
use std::sync::Arc;

use burnpy_buffer::{Bytes, DType, PayloadLenError};
use burnpy_pack::{Provider, ProviderError, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::array::payload_of;
use crate::convert::{PyDType, dtype_to_python, scheme_to_python};
use crate::enter::{Raised, enter, error_class};
use crate::import::{Held, unfilled_bytes};

/// A named tensor: its bytes are at hand, or produced when they are wanted.
///
/// Args:
///     name: free text.
///     dtype: text form (``"f32"``, ``"bf16"``, ``"bool(u32)"``, …), NumPy dtype, or ``QuantScheme``.
///     shape: extents; empty for a single element.
///     param_id: id of the parameter that it belongs to, up to 2⁶⁴ − 1.
///     data: the payload: an array, bytes or any buffer. It is shared, not copied, unless an array is not in C order.
///         Nothing is checked before it is written.
///
/// Example:
///     >>> tensor = Tensor("w", "f32", (2,), data=bytes(8))
///     >>> tensor.byte_len()
///     8
#[pyclass(frozen, name = "Tensor", module = "burnpy.pack")]
pub(crate) struct PyTensorEntry(pub(crate) Tensor);

#[pymethods]
impl PyTensorEntry {
    #[new]
    #[pyo3(signature = (name, dtype, shape, param_id=None, data=None))]
    fn new(
        name: String,
        dtype: PyDType,
        shape: Vec<u64>,
        param_id: Option<u64>,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let data =
            data.ok_or_else(|| PyTypeError::new_err("data is missing; Tensor.deferred takes a provider"))?;
        Ok(Self(Tensor::new(name, dtype.0, shape, param_id, payload_of(data, dtype.0)?)))
    }

    /// A tensor whose bytes a function produces when they are wanted.
    ///
    /// The provider takes no argument and returns an array, bytes or any buffer. A write calls it once, in the order
    /// of the tensors, from the thread that writes, and lets its result go before the next one is called; so a
    /// model that is larger than memory can be saved. It must be callable again.
    ///
    /// Args:
    ///     byte_len: length of the payload; by default what ``dtype`` and ``shape`` need.
    ///
    /// Raises:
    ///     ValidationError: the length of ``shape`` and ``dtype`` is over 2⁶⁴ − 1, or the scheme is impossible.
    ///
    /// Example:
    ///     >>> Tensor.deferred("w", dtype="f32", shape=(2,), provider=lambda: bytes(8)).to_bytes()
    ///     b'\x00\x00\x00\x00\x00\x00\x00\x00'
    #[staticmethod]
    #[pyo3(signature = (name, *, dtype, shape, provider, param_id=None, byte_len=None))]
    fn deferred(
        name: String,
        dtype: PyDType,
        shape: Vec<u64>,
        provider: &Bound<'_, PyAny>,
        param_id: Option<u64>,
        byte_len: Option<u64>,
    ) -> PyResult<Self> {
        if !provider.is_callable() {
            return Err(PyTypeError::new_err(format!(
                "provider must be callable, got {}",
                provider.get_type()
            )));
        }
        let byte_len = match byte_len {
            Some(len) => len,
            None => dtype.0.payload_len(&shape).map_err(|error| no_length(provider.py(), &name, &error))?,
        };
        let provider = Arc::new(Function(Held::new(provider), dtype.0));
        Ok(Self(Tensor::deferred(name, dtype.0, shape, param_id, byte_len, provider)))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The element type's text form; ``"qfloat"`` for a quantized tensor.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.dtype.name()
    }

    /// The quantization scheme of a quantized tensor, else ``None``.
    #[getter]
    fn scheme<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        scheme_to_python(py, self.0.dtype)
    }

    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.shape)
    }

    /// Id of the parameter that the tensor belongs to, or ``None``.
    #[getter]
    fn param_id(&self) -> Option<u64> {
        self.0.param_id
    }

    /// Length of the payload in bytes, told without producing it.
    fn byte_len(&self) -> u64 {
        self.0.byte_len()
    }

    /// A copy of the payload; a deferred tensor runs its provider every time.
    ///
    /// Raises:
    ///     TensorBytesSizeMismatch: the provider returned another length than was declared.
    ///     ValidationError: the provider raised; its exception is the ``__cause__``.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = enter(py, || self.0.to_bytes())?;
        let (object, memory) = unfilled_bytes(py, bytes.len() as u64)?;
        py.detach(|| burnpy_buffer::copy_bytes(memory, &bytes));
        Ok(object)
    }

    /// As ``to_bytes``: nothing in Python is used up by being read.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.to_bytes(py)
    }

    /// ``(name, dtype, shape, param_id, bytes)``; dtype is the scheme of a quantized tensor.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dtype = dtype_to_python(py, self.0.dtype)?;
        (self.name(), dtype, self.shape(py)?, self.param_id(), self.to_bytes(py)?).into_pyobject(py)
    }

    /// Shows the garbage collector the provider, which often refers to what holds this tensor. One that is shared with
    /// a writer at work is not shown: it would be counted twice.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let provider = self.0.sole_provider().and_then(Provider::as_any);
        match provider.and_then(|any| any.downcast_ref::<Function>()) {
            Some(Function(held, _)) => visit.call(held.object()),
            None => Ok(()),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.0.name.as_str().into_pyobject(py)?.repr()?;
        let param_id = self.0.param_id.map_or_else(|| "None".to_owned(), |id| id.to_string());
        Ok(format!(
            "Tensor(name={name}, dtype='{}', shape={}, param_id={param_id}, byte_len={})",
            self.0.dtype.name(),
            self.shape(py)?.repr()?,
            self.0.byte_len(),
        ))
    }
}

/// A Python function that produces a payload.
struct Function(Held, DType);

impl Provider for Function {
    fn provide(&self) -> Result<Bytes, ProviderError> {
        let provide = |py: Python<'_>| payload_of(&self.0.bind(py).call0()?, self.1);
        Python::attach(provide).map_err(|error| Raised(error).into())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

fn no_length(py: Python<'_>, name: &str, error: &PayloadLenError) -> PyErr {
    let kwargs = PyDict::new(py);
    let build = || {
        kwargs.set_item("tensor", name)?;
        error_class(py, "ValidationError")?.call((format!("tensor {name:?}: {error}"),), Some(&kwargs))
    };
    build().map_or_else(|error| error, PyErr::from_value)
}
