//! Tensors on their way out: arrays, buffers, capsules of DLPack.

use std::ffi::c_int;

use burnpy_buffer::{Bytes, Layout};
use burnpy_tensor::{DType, Value};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::tensor::PyTensor;
use crate::dtype::Element;
use crate::export::{Arrays, Handover, PyMemory, redirect_buffer};

/// DLPack's number of the CPU.
const CPU: (i32, i32) = (1, 0);

#[pymethods]
impl PyTensor {
    /// The elements as a read-only NumPy array over the same memory; bf16 has ``ml_dtypes``' dtype. The graph is left
    /// behind. A quantized tensor gives its payload as bytes.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of(py, self.0.value())
    }

    /// The elements as a NumPy array of its own.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numpy(py)?.call_method1("copy", ("C",))
    }

    /// The elements, shape and dtype as ``TensorData``, without graph and device.
    fn to_data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("burnpy.tensor.data")?.getattr("TensorData")?.call1((slf,))
    }

    /// As ``to_data``.
    #[allow(clippy::wrong_self_convention, reason = "Burn's name")]
    fn into_data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_data(slf)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.numpy(py)?;
        if dtype.is_none() && copy != Some(true) {
            return Ok(array);
        }
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        options.set_item("copy", copy)?;
        py.import("numpy")?.getattr("array")?.call((array,), Some(&options))
    }

    /// A capsule over the same memory, flagged read-only; a copy for consumers of the time before DLPack 1.0, which
    /// know no such flag.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if stream.is_some() {
            return Err(PyValueError::new_err("stream must be None: the tensor is in the memory of the CPU"));
        }
        if dl_device.is_some_and(|device| device != CPU) {
            return Err(PyBufferError::new_err("a tensor can only be handed to the CPU"));
        }
        let is_versioned = max_version.is_some_and(|version| version >= (1, 0));
        let is_copied = copy.unwrap_or(!is_versioned);
        if !is_copied && !is_versioned {
            let message = "a tensor is shared read-only, which needs DLPack 1.0; ask for a copy";
            return Err(PyBufferError::new_err(message));
        }
        let value = if is_copied { py.detach(|| private(self.0.value())) } else { self.0.value().clone() };
        handover(&value, is_copied).into_capsule(py, is_versioned)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        CPU
    }

    /// # Safety
    /// Called by Python with a `view` that is its own to fill.
    #[allow(unsafe_code, reason = "Python's slot has this form; the work is in export.rs")]
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let value = slf.get().0.value();
        let mut array = array_of(slf.py(), value)?;
        if value.dtype() == DType::BF16 {
            // As of a container's view: given as bytes, NumPy would make bytes of it.
            if flags & ffi::PyBUF_FORMAT != 0 {
                return Err(PyBufferError::new_err(
                    "no buffer format is bf16; ask for a plain buffer, or numpy()",
                ));
            }
            array = array.call_method1("view", ("uint8",))?;
        }
        // SAFETY: `view` is what Python gave.
        unsafe { redirect_buffer(&array, view, flags) }
    }
}

/// A read-only array over the memory of a value.
pub(crate) fn array_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let memory = Bound::new(py, PyMemory::read_only(value.bytes().clone()))?;
    let (element, mut arrays) = (Element::of(value.dtype()), Arrays::new(py)?);
    if matches!(value.dtype(), DType::QFloat(_)) {
        return arrays.contiguous(&memory, 0, element, &[value.bytes().len() as u64]);
    }
    arrays.strided(&memory, 0, element, value.layout())
}

/// The elements in memory that nobody else knows.
fn private(value: &Value) -> Value {
    let dense = value.contiguous();
    let size = dense.dtype().size().unwrap_or(1);
    let from = dense.layout().offset() * size;
    let bytes = dense.bytes().slice(from..from + dense.num_elements() * size).unwrap_or_else(Bytes::empty);
    let layout = Layout::contiguous(dense.shape()).expect("its elements are in memory already");
    Value::new(bytes.to_aligned(), dense.dtype(), layout).expect("as long as before")
}

fn handover(value: &Value, is_copied: bool) -> Handover {
    Handover {
        bytes: value.bytes().clone(),
        is_copied,
        is_read_only: !is_copied,
        element: Element::of(value.dtype()),
        shape: value.shape().iter().map(|&size| size as u64).collect(),
        layout: Some(value.layout().clone()),
    }
}
