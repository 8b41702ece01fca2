//! The class itself: what a tensor is.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use burnpy_tensor::Tensor;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::argument::TensorDType;
use super::create::from_object;
use super::device::PyDevice;
use super::gate;

/// An immutable array of numbers or booleans, that can take part in a graph of gradients.
///
/// Names of methods are Burn's: reductions over an axis keep it with size 1 and full reductions have shape ``(1,)``; dtypes
/// never mix, and a Python number takes the dtype of the tensor beside it. Shapes broadcast by NumPy's rules, a
/// superset of Burn's. No operation changes a tensor, so it can be shared among threads.
///
/// ``==``, ``<``, … compare element by element; ``t[index]`` is NumPy's: an integer drops its axis (Burn's ``slice`` keeps
/// it). Tensors hash by identity, therefore ``in`` and ``list.index`` do not work with them.
///
/// Args:
///     data: a number, nested lists of numbers, an array, ``TensorData`` or another tensor.
///     dtype: by default the device's: f32, i32 or bool for what is float, int or bool.
///     device: by default one with autodiff.
///
/// Example:
///     >>> from burnpy import Tensor
///     >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]]).require_grad()
///     >>> grads = (x * x).backward()
///     >>> x.grad(grads).numpy().tolist()
///     [[2.0, 4.0], [6.0, 8.0]]
#[pyclass(frozen, name = "Tensor", module = "burnpy", weakref)]
pub(crate) struct PyTensor(pub(crate) Tensor);

impl From<Tensor> for PyTensor {
    fn from(tensor: Tensor) -> Self {
        Self(tensor)
    }
}

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (data, *, dtype=None, device=None))]
    fn new(
        data: &Bound<'_, PyAny>,
        dtype: Option<TensorDType>,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<Self> {
        from_object(data, dtype, device)
    }

    /// Sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }

    /// Sizes of the axes.
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.shape(py)
    }

    /// The element type's text form: ``"f32"``, ``"bf16"``, ``"bool"``, …
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.dtype().name()
    }

    /// ``"float"``, ``"int"`` or ``"bool"``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    /// Number of axes.
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.0.num_elements()
    }

    /// Number of elements.
    fn num_elements(&self) -> usize {
        self.0.num_elements()
    }

    /// Bytes of the elements; those of a view do not tell how much memory it keeps alive.
    #[getter]
    fn nbytes(&self) -> usize {
        let value = self.0.value();
        value.dtype().size().map_or(value.bytes().len(), |size| size * value.num_elements())
    }

    /// Where the tensor is, and whether it does autodiff.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice { autodiff: self.0.is_autodiff() }
    }

    /// The same tensor on a device; it keeps its own autodiff, as with Burn.
    #[pyo3(signature = (device, /))]
    fn to_device(slf: &Bound<'_, Self>, device: &Bound<'_, PyDevice>) -> Py<Self> {
        let _ = device;
        slf.clone().unbind()
    }

    /// The same numbers as another dtype: floats round to nearest, float to int truncates toward zero and saturates, int
    /// to int wraps, anything to bool is ``!= 0``.
    ///
    /// Raises:
    ///     DTypeError: a quantized dtype.
    #[pyo3(signature = (dtype, /))]
    fn cast(&self, py: Python<'_>, dtype: TensorDType) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.cast(dtype.0))
    }

    fn __hash__(slf: &Bound<'_, Self>) -> u64 {
        let mut hasher = DefaultHasher::new();
        slf.as_ptr().addr().hash(&mut hasher);
        hasher.finish()
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    #[pyo3(signature = (_memo, /))]
    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }

    /// The same tensor; nothing can change it.
    fn clone(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("burnpy.tensor.printing")?.getattr("text")?.call1((slf,))
    }

    /// Ahead of NumPy's arrays: ``array + tensor`` must not turn the tensor into an array and lose its graph.
    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }
}
