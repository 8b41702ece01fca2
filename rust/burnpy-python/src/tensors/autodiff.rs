//! Gradients: leaves, the walk back, custom operations, checkpoints.

use burnpy_tensor::autodiff::{self, Recording};
use burnpy_tensor::{Error, Tensor, Value};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::error::{foreign, to_exception};
use super::gate;
use super::gradients::PyGradients;
use super::number::Tensors;
use super::tensor::PyTensor;
use crate::import::Held;

#[pymethods]
impl PyTensor {
    /// A leaf with these values, that asks for its gradient.
    ///
    /// Raises:
    ///     AutodiffError: the device does no autodiff, or the tensor is the result of a recorded operation.
    ///     DTypeError: the tensor is not of floats.
    fn require_grad(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.require_grad())
    }

    /// ``require_grad`` or its contrary, by a flag.
    #[pyo3(signature = (require_grad, /))]
    fn set_require_grad(&self, py: Python<'_>, require_grad: bool) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.set_require_grad(require_grad))
    }

    /// Whether the tensor is a leaf that asks for its gradient.
    fn is_require_grad(&self) -> bool {
        self.0.is_require_grad()
    }

    /// Whether the tensor takes part in a graph.
    fn is_tracked(&self) -> bool {
        self.0.is_tracked()
    }

    /// Whether the tensor's device does autodiff.
    fn is_autodiff(&self) -> bool {
        self.0.is_autodiff()
    }

    /// The same values cut off the graph, on the same device; a leaf stays one.
    fn detach(&self) -> Self {
        Self(self.0.detach())
    }

    /// The same values on a device without autodiff.
    fn inner(&self) -> Self {
        Self(self.0.inner())
    }

    /// As ``inner``.
    fn without_autodiff(&self) -> Self {
        Self(self.0.inner())
    }

    /// The same tensor on a device with autodiff; no leaf by that.
    fn autodiff(&self) -> Self {
        Self(self.0.autodiff())
    }

    /// ``inner.autodiff()``.
    #[staticmethod]
    fn from_inner(inner: &Self) -> Self {
        inner.autodiff()
    }

    /// Gradients of the sum of all elements with respect to the leaves behind it. The graph is used up: a second call
    /// raises, and what it saved is freed even while outputs live.
    ///
    /// Raises:
    ///     AutodiffError: the tensor is not tracked, or an earlier call has used up a part of its graph.
    fn backward(&self, py: Python<'_>) -> PyResult<PyGradients> {
        let gradients = py.detach(|| self.0.backward());
        gradients.map(PyGradients::new).map_err(|error| to_exception(py, error))
    }

    /// The gradient of this leaf, a plain tensor; ``None`` if it is none, or none was computed.
    #[pyo3(signature = (gradients, /))]
    fn grad(&self, gradients: &Bound<'_, PyGradients>) -> Option<Self> {
        gradients.get().of(&self.0).map(Self)
    }

    /// Takes the gradient of this leaf out of the others.
    #[pyo3(signature = (gradients, /))]
    fn grad_remove(&self, gradients: &Bound<'_, PyGradients>) -> Option<Self> {
        let node = self.0.node()?;
        gradients.get().lock().remove(node).map(|value| Self(value.into()))
    }

    /// Puts another gradient in the place of this leaf's.
    ///
    /// Raises:
    ///     AutodiffError: this is no leaf, or ``gradient`` is not a plain tensor.
    ///     ShapeError, DTypeError: ``gradient`` is not as the leaf is.
    #[pyo3(signature = (gradients, gradient, /))]
    fn grad_replace(
        &self,
        py: Python<'_>,
        gradients: &Bound<'_, PyGradients>,
        gradient: &Bound<'_, Self>,
    ) -> PyResult<()> {
        let gradient = &gradient.get().0;
        let node = self.0.node().filter(|node| node.is_leaf()).ok_or_else(|| {
            to_exception(py, Error::graph("grad_replace", "the tensor is no leaf that requires a gradient"))
        })?;
        if gradient.is_autodiff() {
            let message = "the gradient must be a plain tensor; call inner() first";
            return Err(to_exception(py, Error::graph("grad_replace", message)));
        }
        check_like("grad_replace", self.0.value(), gradient.value())
            .map_err(|error| to_exception(py, error))?;
        gradients.get().lock().replace(node, gradient.value().clone());
        Ok(())
    }
}

fn check_like(operation: &'static str, x: &Value, gradient: &Value) -> burnpy_tensor::Result<()> {
    if x.shape() != gradient.shape() {
        let (found, wanted) = (gradient.shape(), x.shape());
        let message = format_args!("a gradient of shape {found:?} for a tensor of shape {wanted:?}");
        return Err(Error::shape(operation, message));
    }
    if x.dtype() != gradient.dtype() {
        let (found, wanted) = (gradient.dtype().name(), x.dtype().name());
        return Err(Error::dtype(operation, format_args!("a gradient of {found} for a tensor of {wanted}")));
    }
    Ok(())
}

/// Whether operations on tracked tensors are recorded on this thread; the state before is returned.
#[pyfunction]
#[pyo3(signature = (is_on, /))]
pub(crate) fn set_recording(is_on: bool) -> bool {
    // A checkpoint that looks whether it would be recorded must go on looking.
    match (autodiff::recording(), is_on) {
        (Recording::Probe, true) => true,
        _ => autodiff::set_recording(if is_on { Recording::On } else { Recording::Off }) != Recording::Off,
    }
}

/// The result of a custom operation as a tensor whose gradient goes through ``backward``.
///
/// ``backward(gradient)`` returns as many gradients as there are inputs, ``None`` where there is none.
#[pyfunction]
#[pyo3(signature = (name, inputs, output, backward, /))]
pub(crate) fn apply_function(
    name: &Bound<'_, PyString>,
    inputs: Tensors,
    output: &Bound<'_, PyTensor>,
    backward: &Bound<'_, PyAny>,
) -> PyResult<PyTensor> {
    let name = interned(name.to_str()?);
    let value = output.get().0.value().clone();
    let tensor = autodiff::record_many(name, &inputs.refs(), value, || {
        let backward = Held::new(backward);
        let inputs: Vec<Value> = inputs.0.iter().map(|input| input.value().clone()).collect();
        move |gradient, flow| {
            let gradients = Python::attach(|py| call_backward(py, &backward, gradient, inputs.len()))
                .map_err(|error| foreign(name, error))?;
            for (i, gradient) in gradients.into_iter().enumerate() {
                let Some(gradient) = gradient.filter(|_| flow.needs(i)) else { continue };
                check_like(name, &inputs[i], gradient.value())?;
                flow.give(i, gradient.into_value())?;
            }
            Ok(())
        }
    });
    Ok(PyTensor(tensor))
}

fn call_backward(
    py: Python<'_>,
    backward: &Held,
    gradient: Value,
    count: usize,
) -> PyResult<Vec<Option<Tensor>>> {
    let result = backward.bind(py).call1((PyTensor(gradient.into()),))?;
    let gradients = result.cast::<PyTuple>()?;
    debug_assert_eq!(gradients.len(), count);
    let tensor = |item: Bound<'_, PyAny>| match item.is_none() {
        true => Ok(None),
        false => Ok(Some(item.cast::<PyTensor>()?.get().0.clone())),
    };
    gradients.iter().map(tensor).collect()
}

/// Names of operations live as long as the process; there are as many as custom operations.
fn interned(name: &str) -> &'static str {
    static NAMES: std::sync::Mutex<Vec<&'static str>> = std::sync::Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.push(name);
    name
}

/// ``function(*tensors)``, of which only the inputs are kept: ``backward`` calls the function again. Random draws are the
/// same both times.
#[pyfunction]
#[pyo3(signature = (function, /, *tensors))]
pub(crate) fn checkpoint(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    tensors: &Bound<'_, PyTuple>,
) -> PyResult<PyTensor> {
    let tensors: Tensors = tensors.as_any().extract()?;
    let function = Held::new(function);
    let run = move |inputs: &[Tensor]| {
        let call = |py: Python<'_>| {
            let inputs = inputs.iter().map(|input| PyTensor(input.clone()));
            let inputs = inputs.map(|input| Bound::new(py, input)).collect::<PyResult<Vec<_>>>()?;
            let output = function.bind(py).call1(PyTuple::new(py, inputs)?)?;
            Ok(output.cast::<PyTensor>()?.get().0.clone())
        };
        Python::attach(call).map_err(|error| foreign("checkpoint", error))
    };
    gate::tensor(py, 0, || autodiff::checkpoint(&tensors.refs(), run))
}
