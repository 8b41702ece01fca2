//! Tensors of a rule: constants, ranges, masks, random numbers.

use burnpy_tensor::ops::{Distribution, Scalar};
use burnpy_tensor::{DType, Kind, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::argument::{Shape, TensorDType};
use super::device::{PyDevice, default_dtype};
use super::gate;
use super::methods::{unary, with_number};
use super::number::Number;
use super::random::PyDraw;
use super::tensor::PyTensor;
use crate::array::type_name;

unary! {
    /// Zeros of the same shape, dtype and device.
    zeros_like;
    /// Ones of the same shape, dtype and device.
    ones_like;
    /// The same shape, dtype and device, elements of any value.
    empty_like;
}

with_number! {
    /// A number, in the same shape, dtype and device.
    full_like;
}

#[pymethods]
impl PyTensor {
    /// Zeros, floats unless a dtype is given.
    #[staticmethod]
    #[pyo3(signature = (shape, device=None, *, dtype=None))]
    fn zeros(
        py: Python<'_>,
        shape: Shape,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Float);
        made(py, &shape, device, || Tensor::zeros(&shape, dtype))
    }

    /// Ones, floats unless a dtype is given.
    #[staticmethod]
    #[pyo3(signature = (shape, device=None, *, dtype=None))]
    fn ones(
        py: Python<'_>,
        shape: Shape,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Float);
        made(py, &shape, device, || Tensor::ones(&shape, dtype))
    }

    /// Elements of any value, floats unless a dtype is given.
    #[staticmethod]
    #[pyo3(signature = (shape, device=None, *, dtype=None))]
    fn empty(
        py: Python<'_>,
        shape: Shape,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Float);
        made(py, &shape, device, || Tensor::empty(&shape, dtype))
    }

    /// A number in a shape; the dtype is the device's for its kind unless one is given.
    #[staticmethod]
    #[pyo3(signature = (shape, value, device=None, *, dtype=None))]
    fn full(
        py: Python<'_>,
        shape: Shape,
        value: Number,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, kind_of(value.0));
        made(py, &shape, device, || Tensor::full(&shape, value.0, dtype))
    }

    /// Integers from ``start`` to before ``end``, or from 0 to before ``start`` if it stands alone.
    #[staticmethod]
    #[pyo3(signature = (start, end=None, step=1, *, device=None, dtype=None))]
    fn arange(
        py: Python<'_>,
        start: i64,
        end: Option<i64>,
        step: i64,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Int);
        let (start, end) = end.map_or((0, start), |end| (start, end));
        made(py, &[], device, || Tensor::arange(start, end, step, dtype))
    }

    /// Integers from ``start`` to before ``end``, every ``step``-th.
    #[staticmethod]
    #[pyo3(signature = (start, end, step, *, device=None))]
    fn arange_step(
        py: Python<'_>,
        start: i64,
        end: i64,
        step: i64,
        device: Device<'_, '_>,
    ) -> PyResult<Self> {
        Self::arange(py, start, Some(end), step, device, None)
    }

    /// The identity matrix.
    #[staticmethod]
    #[pyo3(signature = (size, device=None, *, dtype=None))]
    fn eye(
        py: Python<'_>,
        size: usize,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Float);
        made(py, &[size, size], device, || Tensor::eye(size, dtype))
    }

    /// Random numbers.
    ///
    /// Args:
    ///     distribution: ``burnpy.tensor.Distribution``; by default floats in [0, 1).
    #[staticmethod]
    #[pyo3(signature = (shape, distribution=None, device=None, *, dtype=None))]
    fn random(
        py: Python<'_>,
        shape: Shape,
        distribution: Option<Drawn>,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let dtype = or_default(dtype, Kind::Float);
        made(py, &shape, device, || Tensor::random(&shape, Drawn::or_default(distribution), dtype))
    }

    /// Random numbers of a stream: a function of it, the shape and the distribution alone. Floats unless a dtype is given.
    #[staticmethod]
    #[pyo3(signature = (draw, shape, distribution=None, device=None, *, dtype=None))]
    fn random_from(
        py: Python<'_>,
        draw: &Bound<'_, PyDraw>,
        shape: Shape,
        distribution: Option<Drawn>,
        device: Device<'_, '_>,
        dtype: Option<TensorDType>,
    ) -> PyResult<Self> {
        let (dtype, draw) = (or_default(dtype, Kind::Float), draw.get().0);
        let distribution = Drawn::or_default(distribution);
        made(py, &shape, device, || Tensor::random_from(draw, &shape, distribution, dtype))
    }

    /// Random numbers of the same shape, dtype and device.
    #[pyo3(signature = (distribution=None))]
    fn random_like(&self, py: Python<'_>, distribution: Option<Drawn>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.random_like(Drawn::or_default(distribution)))
    }

    /// Classes drawn by weights, ``num_samples`` for each row of the last axis: ``(…, num_samples)`` of
    /// ``(…, classes)``. A class comes as often as its weight, which is at least 0, is a part of the row's sum.
    fn categorical(&self, py: Python<'_>, num_samples: usize) -> PyResult<Self> {
        let rows = self.0.num_elements() / self.0.shape().last().map_or(1, |&classes| classes.max(1));
        let work = rows.saturating_mul(num_samples).saturating_add(self.0.num_elements());
        gate::tensor(py, work, || self.0.categorical(num_samples))
    }

    /// With another axis at the end, 1 at the class that the integer names and 0 elsewhere.
    fn one_hot(&self, py: Python<'_>, num_classes: usize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements().saturating_mul(num_classes), || self.0.one_hot(num_classes))
    }

    /// With another axis at place ``axis``, ``on_value`` at the class that the number names and ``off_value`` elsewhere.
    /// Negative classes wrap around once.
    #[pyo3(signature = (num_classes, on_value, off_value, axis))]
    fn one_hot_fill(
        &self,
        py: Python<'_>,
        num_classes: usize,
        on_value: Number,
        off_value: Number,
        axis: isize,
    ) -> PyResult<Self> {
        let work = self.0.num_elements().saturating_mul(num_classes);
        gate::tensor(py, work, || self.0.one_hot_fill(num_classes, on_value.0, off_value.0, axis))
    }

    /// True above the diagonal, outside of what a lower triangle keeps.
    #[staticmethod]
    #[pyo3(signature = (shape, offset=0, device=None))]
    fn tril_mask(py: Python<'_>, shape: Shape, offset: i64, device: Device<'_, '_>) -> PyResult<Self> {
        made(py, &shape, device, || Tensor::tril_mask(&shape, offset))
    }

    /// True below the diagonal, outside of what an upper triangle keeps.
    #[staticmethod]
    #[pyo3(signature = (shape, offset=0, device=None))]
    fn triu_mask(py: Python<'_>, shape: Shape, offset: i64, device: Device<'_, '_>) -> PyResult<Self> {
        made(py, &shape, device, || Tensor::triu_mask(&shape, offset))
    }

    /// True outside of the diagonal.
    #[staticmethod]
    #[pyo3(signature = (shape, offset=0, device=None))]
    fn diag_mask(py: Python<'_>, shape: Shape, offset: i64, device: Device<'_, '_>) -> PyResult<Self> {
        made(py, &shape, device, || Tensor::diag_mask(&shape, offset))
    }

    /// Coordinates of all places of a shape, in another axis at the end.
    #[staticmethod]
    #[pyo3(signature = (shape, device=None))]
    fn cartesian_grid(py: Python<'_>, shape: Shape, device: Device<'_, '_>) -> PyResult<Self> {
        made(py, &shape, device, || Tensor::cartesian_grid(&shape))
    }

    /// Elements set to 0 with a probability, the others scaled by ``1 / (1 − prob)``.
    fn dropout(&self, py: Python<'_>, prob: f64) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.dropout(prob))
    }
}

/// A device among the arguments of a constructor.
type Device<'a, 'py> = Option<&'a Bound<'py, PyDevice>>;

fn or_default(dtype: Option<TensorDType>, kind: Kind) -> DType {
    dtype.map_or_else(|| default_dtype(kind), |dtype| dtype.0)
}

const fn kind_of(number: Scalar) -> Kind {
    match number {
        Scalar::Float(_) => Kind::Float,
        Scalar::Bool(_) => Kind::Bool,
        Scalar::Int(_) | Scalar::UInt(_) => Kind::Int,
    }
}

/// A tensor on its device.
fn made(
    py: Python<'_>,
    shape: &[usize],
    device: Device<'_, '_>,
    make: impl FnOnce() -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    let elements = shape.iter().fold(1usize, |n, &size| n.saturating_mul(size));
    let tensor = gate::run(py, elements, make)?;
    let autodiff = device.is_none_or(|device| device.get().autodiff);
    Ok(PyTensor(if autodiff { tensor.autodiff() } else { tensor }))
}

/// `burnpy.tensor.Distribution`, or its name where it has no numbers.
struct Drawn(Distribution);

impl Drawn {
    fn or_default(drawn: Option<Self>) -> Distribution {
        drawn.map_or(Distribution::Default, |drawn| drawn.0)
    }
}

impl FromPyObject<'_, '_> for Drawn {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let other = || {
            let found = type_name(&value);
            PyTypeError::new_err(format!("expected a burnpy.tensor.Distribution, got {found}"))
        };
        let name = value.getattr_opt("name")?.ok_or_else(other)?;
        let number = |field: &str| value.getattr(field)?.extract::<f64>();
        Ok(Self(match name.cast::<PyString>().map_err(|_| other())?.to_str()? {
            "default" => Distribution::Default,
            "uniform" => Distribution::Uniform(number("first")?, number("second")?),
            "normal" => Distribution::Normal(number("first")?, number("second")?),
            "bernoulli" => Distribution::Bernoulli(number("first")?),
            _ => return Err(other()),
        }))
    }
}
