//! Tensors of Python's numbers and of arrays.

use burnpy_tensor::{Kind, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::argument::TensorDType;
use super::device::{PyDevice, default_dtype, place};
use super::gate;
use super::import::{value_of, value_of_lent};
use super::nested::value_of_numbers;
use super::number::Number;
use super::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// A tensor of an array's elements, with its dtype.
    ///
    /// Args:
    ///     array: a NumPy array, or anything that NumPy makes one of.
    ///     copy: by default the memory is shared if its owner is read-only, and copied else. ``True`` copies; ``False``
    ///         shares, on your word that nobody writes to it while the tensor, or what came from it, lives.
    ///     device: by default one with autodiff.
    ///
    /// Raises:
    ///     DTypeError: complex numbers, texts, objects.
    ///
    /// Example:
    ///     >>> import numpy as np
    ///     >>> from burnpy import Tensor
    ///     >>> Tensor.from_numpy(np.arange(3)).dtype
    ///     'i64'
    #[staticmethod]
    #[pyo3(signature = (array, copy=None, *, device=None))]
    fn from_numpy(
        array: &Bound<'_, PyAny>,
        copy: Option<bool>,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<Self> {
        Ok(place(value_of(array, copy)?, device))
    }

    /// A tensor of what another library lends by DLPack, with its dtype.
    ///
    /// Args:
    ///     copy: by default the memory is shared if it is said to be read-only, and copied else; ``True`` and ``False``
    ///         as for ``from_numpy``.
    ///
    /// Raises:
    ///     BufferError: the memory is not the CPU's, or no tensor has the dtype.
    #[staticmethod]
    #[pyo3(signature = (tensor, copy=None, *, device=None))]
    fn from_dlpack(
        tensor: &Bound<'_, PyAny>,
        copy: Option<bool>,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<Self> {
        Ok(place(value_of_lent(tensor, copy)?, device))
    }

    /// A tensor of ``TensorData``, nested lists or an array, with the device's dtype for its kind unless one is given.
    #[staticmethod]
    #[pyo3(signature = (data, device=None, *, dtype=None))]
    fn from_data(
        data: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyDevice>>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        from_object(data, dtype, device)
    }

    /// [`Tensor.from_data`] that makes floats of whatever numbers there are.
    #[staticmethod]
    #[pyo3(signature = (data, device=None))]
    fn from_floats(data: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        from_object(data, Some(TensorDType(default_dtype(Kind::Float))), device)
    }

    /// [`Tensor.from_data`] that makes integers of whatever numbers there are.
    #[staticmethod]
    #[pyo3(signature = (data, device=None))]
    fn from_ints(data: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        from_object(data, Some(TensorDType(default_dtype(Kind::Int))), device)
    }
}

/// The tensor of a constructor's argument.
pub(crate) fn from_object(
    data: &Bound<'_, PyAny>,
    dtype: Option<TensorDType>,
    device: Option<&Bound<'_, PyDevice>>,
) -> PyResult<PyTensor> {
    if let Ok(tensor) = data.cast_exact::<PyTensor>() {
        return again(tensor, dtype, device);
    }
    let is_number = || data.extract::<Number>().is_ok();
    if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() || is_number() {
        return Ok(place(value_of_numbers(data, dtype)?, device));
    }
    let value = match data.getattr_opt("_tensor")? {
        // `TensorData`, whose elements may be of dtypes that NumPy has not.
        Some(inner) if inner.is_instance_of::<PyTensor>() => {
            inner.cast::<PyTensor>()?.get().0.value().clone()
        }
        _ => value_of(data, None)?,
    };
    let dtype = dtype.map_or_else(|| default_dtype(Kind::of(value.dtype())), |dtype| dtype.0);
    let cast = gate::run(data.py(), value.num_elements(), || Tensor::from(value).cast(dtype))?;
    Ok(place(cast.into_value(), device))
}

fn again(
    tensor: &Bound<'_, PyTensor>,
    dtype: Option<TensorDType>,
    device: Option<&Bound<'_, PyDevice>>,
) -> PyResult<PyTensor> {
    let (py, tensor) = (tensor.py(), &tensor.get().0);
    let placed = match device.map(|device| device.get().autodiff) {
        Some(true) => tensor.autodiff(),
        Some(false) => tensor.inner(),
        None => tensor.clone(),
    };
    let Some(TensorDType(dtype)) = dtype else { return Ok(PyTensor(placed)) };
    gate::tensor(py, placed.num_elements(), || placed.cast(dtype))
}
