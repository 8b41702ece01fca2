//! `burnpy.autodiff.Gradients`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burnpy_tensor::Tensor;
use burnpy_tensor::autodiff::Gradients;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::tensor::PyTensor;

/// What ``backward`` computed: the gradient of each leaf. Nothing is stored on tensors and nothing adds up between calls.
///
/// Example:
///     >>> from burnpy import Tensor
///     >>> x = Tensor([2.0]).require_grad()
///     >>> grads = (x * x * x).backward()
///     >>> x in grads, grads[x].item()
///     (True, 12.0)
#[pyclass(frozen, name = "Gradients", module = "burnpy.autodiff")]
pub(crate) struct PyGradients(Mutex<Gradients>);

impl PyGradients {
    pub(crate) fn new(gradients: Gradients) -> Self {
        Self(Mutex::new(gradients))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Gradients> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gradient of a leaf, a plain tensor.
    pub(crate) fn of(&self, tensor: &Tensor) -> Option<Tensor> {
        tensor.grad(&self.lock()).cloned().map(Tensor::from)
    }
}

#[pymethods]
impl PyGradients {
    /// The gradient of a tensor, or ``None``.
    #[pyo3(signature = (tensor, /))]
    fn get(&self, tensor: &Bound<'_, PyTensor>) -> Option<PyTensor> {
        self.of(&tensor.get().0).map(PyTensor)
    }

    /// Takes the gradient of a tensor out; ``None`` if there is none.
    #[pyo3(signature = (tensor, /))]
    fn remove(&self, tensor: &Bound<'_, PyTensor>) -> Option<PyTensor> {
        let node = tensor.get().0.node()?;
        self.lock().remove(node).map(|value| PyTensor(value.into()))
    }

    fn __getitem__(&self, tensor: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        self.get(tensor).ok_or_else(|| PyKeyError::new_err("no gradient of this tensor was computed"))
    }

    fn __contains__(&self, tensor: &Bound<'_, PyTensor>) -> bool {
        tensor.get().0.grad(&self.lock()).is_some()
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    fn __repr__(&self) -> String {
        format!("<gradients of {} tensors>", self.lock().len())
    }
}
