//! `burnpy.Device`.

use std::sync::{Mutex, PoisonError};

use burnpy_tensor::{DType, Kind, Tensor, Value, random};
use pyo3::prelude::*;

use super::argument::TensorDType;
use super::tensor::PyTensor;
use crate::enter::error_class;

/// Where tensors are and whether they do autodiff. There is one device in a process: the CPU.
///
/// ``Device()`` is the default device, which does autodiff: what is made there can ask for its gradient. Two devices are equal
/// whether they do autodiff or not.
///
/// Example:
///     >>> from burnpy import Device, Tensor
///     >>> Device().is_autodiff(), Device.cpu().is_autodiff()
///     (True, False)
///     >>> Tensor([1.0], device=Device.cpu()).is_autodiff()
///     False
#[pyclass(frozen, name = "Device", module = "burnpy")]
#[derive(Clone, Copy)]
pub(crate) struct PyDevice {
    pub(crate) autodiff: bool,
}

#[pymethods]
impl PyDevice {
    #[new]
    const fn new() -> Self {
        Self { autodiff: true }
    }

    /// The CPU, without autodiff.
    #[staticmethod]
    const fn cpu() -> Self {
        Self { autodiff: false }
    }

    /// The same device with autodiff.
    const fn autodiff(&self) -> Self {
        Self { autodiff: true }
    }

    /// The same device without autodiff.
    const fn without_autodiff(&self) -> Self {
        Self { autodiff: false }
    }

    /// The same device without autodiff.
    const fn inner(&self) -> Self {
        Self { autodiff: false }
    }

    /// Whether tensors made here can ask for their gradient.
    const fn is_autodiff(&self) -> bool {
        self.autodiff
    }

    /// Starts random numbers again from a seed; ``burnpy.manual_seed`` is the short form.
    fn seed(&self, seed: u64) {
        random::seed(seed);
    }

    /// Chooses the dtypes of tensors that are made of Python's numbers, before the first of them is.
    ///
    /// Raises:
    ///     DeviceError: a tensor has been made already.
    ///     DTypeError: a dtype of another kind.
    #[pyo3(signature = (*, float_dtype=None, int_dtype=None))]
    fn configure(
        &self,
        py: Python<'_>,
        float_dtype: Option<TensorDType>,
        int_dtype: Option<TensorDType>,
    ) -> PyResult<()> {
        let mut defaults = defaults();
        if defaults.is_locked {
            let message = "dtypes of a device can be chosen before the first tensor is made, not after";
            return Err(raise(py, "DeviceError", message.into()));
        }
        for (dtype, kind) in [(float_dtype, Kind::Float), (int_dtype, Kind::Int)] {
            let Some(TensorDType(dtype)) = dtype else { continue };
            if Kind::of(dtype) != kind || dtype.size().is_none() {
                let message = format!("{} is no dtype for {} tensors", dtype.name(), kind.name());
                return Err(raise(py, "DTypeError", message));
            }
        }
        defaults.float = float_dtype.map_or(defaults.float, |dtype| dtype.0);
        defaults.int = int_dtype.map_or(defaults.int, |dtype| dtype.0);
        Ok(())
    }

    /// ``{"float_dtype": …, "int_dtype": …}``: dtypes of tensors that are made of Python's numbers.
    fn settings(&self) -> std::collections::BTreeMap<&'static str, &'static str> {
        let defaults = defaults();
        [("float_dtype", defaults.float.name()), ("int_dtype", defaults.int.name())].into()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.is_instance_of::<Self>()
    }

    const fn __hash__(&self) -> u64 {
        0xC9
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, ())> {
        let make =
            if slf.get().autodiff { slf.get_type().into_any() } else { slf.get_type().getattr("cpu")? };
        Ok((make, ()))
    }

    const fn __repr__(&self) -> &'static str {
        if self.autodiff { "Device.cpu().autodiff()" } else { "Device.cpu()" }
    }
}

fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    let build = || error_class(py, class)?.call1((message,));
    build().map_or_else(|error| error, PyErr::from_value)
}

struct Defaults {
    float: DType,
    int: DType,
    is_locked: bool,
}

fn defaults() -> std::sync::MutexGuard<'static, Defaults> {
    static DEFAULTS: Mutex<Defaults> =
        Mutex::new(Defaults { float: DType::F32, int: DType::I32, is_locked: false });
    DEFAULTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device's dtype for a kind; from then on it is fixed.
pub(crate) fn default_dtype(kind: Kind) -> DType {
    let mut defaults = defaults();
    defaults.is_locked = true;
    match kind {
        Kind::Float => defaults.float,
        Kind::Int => defaults.int,
        Kind::Bool => burnpy_tensor::BOOL,
    }
}

/// A value as a tensor of a device, by default the default one.
pub(crate) fn place(value: Value, device: Option<&Bound<'_, PyDevice>>) -> PyTensor {
    let tensor = Tensor::from(value);
    let autodiff = device.is_none_or(|device| device.get().autodiff);
    PyTensor(if autodiff { tensor.autodiff() } else { tensor })
}
