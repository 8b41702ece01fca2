//! Tensors in pickles.

use burnpy_buffer::{AlignedBuf, Bytes, Layout};
use burnpy_tensor::{Error, Tensor, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::error::to_exception;
use super::tensor::PyTensor;
use crate::convert::{PyDType, dtype_to_python};
use crate::export::PyMemory;
use crate::import::buffer_bytes;

/// What a pickle keeps: the function that restores, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Vec<usize>, Bound<'py, PyAny>, bool, bool));

#[pymethods]
impl PyTensor {
    /// Values, dtype, device and ``require_grad`` are kept; a graph is not.
    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Reduced<'py>> {
        let (tensor, dense) = (&self.0, self.0.value().contiguous());
        let dtype = dtype_to_python(py, tensor.dtype())?;
        let payload = payload(&dense);
        let data = if protocol >= 5 {
            // Out of band where the pickler wants it, else the bytes that it makes of it.
            let memory = Bound::new(py, PyMemory::read_only(payload))?;
            py.import("pickle")?.getattr("PickleBuffer")?.call1((memory,))?
        } else {
            PyBytes::new(py, &payload).into_any()
        };
        let restore = py.import("burnpy._core")?.getattr("restore_tensor")?;
        let shape = tensor.shape().to_vec();
        Ok((restore, (dtype, shape, data, tensor.is_autodiff(), tensor.is_require_grad())))
    }
}

fn payload(dense: &Value) -> Bytes {
    let Some(size) = dense.dtype().size() else { return dense.bytes().clone() };
    let from = dense.layout().offset() * size;
    dense.bytes().slice(from..from + dense.num_elements() * size).unwrap_or_else(Bytes::empty)
}

/// The tensor of a pickle's arguments.
#[pyfunction]
#[pyo3(signature = (dtype, shape, data, autodiff, require_grad, /))]
pub(crate) fn restore_tensor(
    dtype: PyDType,
    shape: Vec<usize>,
    data: &Bound<'_, PyAny>,
    autodiff: bool,
    require_grad: bool,
) -> PyResult<PyTensor> {
    let bytes = buffer_bytes(data)?;
    let mut block = AlignedBuf::for_overwrite(bytes.len());
    burnpy_buffer::copy_bytes(&mut block, &bytes);
    let restore = || -> burnpy_tensor::Result<Tensor> {
        let layout = Layout::contiguous(&shape).map_err(|error| Error::shape("tensor", error))?;
        let tensor = Tensor::from(Value::new(block.into(), dtype.0, layout)?);
        let tensor = if autodiff { tensor.autodiff() } else { tensor };
        if require_grad { tensor.require_grad() } else { Ok(tensor) }
    };
    restore().map(PyTensor).map_err(|error| to_exception(data.py(), error))
}
