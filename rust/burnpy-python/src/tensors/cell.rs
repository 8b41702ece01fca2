//! Where a parameter keeps its value.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burnpy_tensor::Tensor;
use pyo3::prelude::*;

use super::gradients::PyGradients;
use super::tensor::PyTensor;

/// The value of a parameter: the one thing that changes in training. What ``get`` gave never changes; an update happens
/// where the value lies if nobody else holds its memory.
///
/// Example:
///     >>> from burnpy import Tensor
///     >>> cell = Cell(Tensor([1.0]))
///     >>> cell.set(cell.get() * 2.0)
///     >>> cell.get().item()
///     2.0
// `None` in the middle of an update alone, which holds the lock.
#[pyclass(frozen, name = "Cell", module = "burnpy._core")]
pub(crate) struct PyCell(Mutex<Option<Tensor>>);

#[pymethods]
impl PyCell {
    #[new]
    #[pyo3(signature = (tensor, /))]
    fn new(tensor: &Bound<'_, PyTensor>) -> Self {
        Self(Mutex::new(Some(tensor.get().0.clone())))
    }

    /// The value.
    fn get(&self) -> PyTensor {
        PyTensor(whole(&self.lock()).clone())
    }

    /// Exchanges the value.
    #[pyo3(signature = (tensor, /))]
    fn set(&self, tensor: &Bound<'_, PyTensor>) {
        // Dropped after the lock is given back: it may free a long graph.
        let former = self.lock().replace(tensor.get().0.clone());
        drop(former);
    }

    fn __repr__(&self) -> String {
        let content = self.lock();
        let tensor = whole(&content);
        format!("<cell of {} {:?}>", tensor.dtype().name(), tensor.shape())
    }
}

impl PyCell {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Tensor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tensor of a locked cell.
pub(crate) fn whole(content: &Option<Tensor>) -> &Tensor {
    content.as_ref().expect("a cell is whole whenever its lock is free")
}

/// Takes the tensor of a locked cell out, for an update that puts it back.
pub(crate) fn take(content: &mut Option<Tensor>) -> Tensor {
    content.take().expect("a cell is whole whenever its lock is free")
}

/// Takes the gradients of the cells' values out of what ``backward`` computed; ``None`` where there is none.
#[pyfunction]
#[pyo3(signature = (gradients, cells, /))]
pub(crate) fn take_gradients(
    gradients: &Bound<'_, PyGradients>,
    cells: Vec<Bound<'_, PyCell>>,
) -> Vec<Option<PyTensor>> {
    let mut gradients = gradients.get().lock();
    let mut take = |cell: &Bound<'_, PyCell>| {
        let content = cell.get().lock();
        whole(&content).node().and_then(|node| gradients.remove(node)).map(|value| PyTensor(value.into()))
    };
    cells.iter().map(&mut take).collect()
}
