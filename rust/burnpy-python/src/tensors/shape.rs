//! Shapes, and tensors made of several and several made of one.

use burnpy_tensor::Tensor;
use burnpy_tensor::ops::{PadMode, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::argument::{Ints, Shape};
use super::gate;
use super::methods::{along, along_all};
use super::number::{Number, Tensors};
use super::tensor::PyTensor;

/// A view costs the same whatever its size.
const VIEW: usize = 0;

along! {
    /// Without an axis, which has size 1.
    squeeze_dim;
    /// With an axis of size 1 before axis ``dim``; the rank itself puts it last, as −1 does.
    unsqueeze_dim;
}

along_all! {
    /// Without several axes of size 1; without all of them if none is named.
    squeeze_dims;
    /// With axes of size 1 at these places of the result.
    unsqueeze_dims;
    /// Backwards along these axes.
    flip;
}

#[pymethods]
impl PyTensor {
    /// More elements around the last axes.
    ///
    /// Args:
    ///     padding: ``(left, right, top, bottom)`` for the last two axes, or a list of pairs (before, after) for the last
    ///         axes in order.
    ///     mode: ``"constant"``, ``"reflect"`` (less than the size) or ``"edge"``.
    ///     value: what a constant padding is.
    #[pyo3(signature = (padding, mode="constant", value=Number(Scalar::Int(0))))]
    fn pad(&self, py: Python<'_>, padding: Pads, mode: &str, value: Number) -> PyResult<Self> {
        let mode = match mode {
            "constant" => PadMode::Constant(value.0),
            "reflect" => PadMode::Reflect,
            "edge" => PadMode::Edge,
            other => {
                let message = format!("mode must be \"constant\", \"reflect\" or \"edge\", got {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        gate::tensor(py, self.0.num_elements(), || self.0.pad(&padding.0, mode))
    }

    /// Diagonal ``diagonal`` of the last two axes and what is below it; 0 above.
    #[pyo3(signature = (diagonal=0))]
    fn tril(&self, py: Python<'_>, diagonal: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.tril(diagonal))
    }

    /// Diagonal ``diagonal`` of the last two axes and what is above it; 0 below.
    #[pyo3(signature = (diagonal=0))]
    fn triu(&self, py: Python<'_>, diagonal: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.triu(diagonal))
    }

    /// The windows of ``size`` elements along an axis that begin every ``step`` elements: their number stands where the
    /// axis was, their elements in a new last axis. A view.
    fn unfold(&self, py: Python<'_>, dim: isize, size: usize, step: usize) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.unfold(dim, size, step))
    }

    /// Another shape of as many elements: −1 is inferred, 0 copies the size of that axis.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let shape = Ints::of_args(shape)?;
        gate::tensor(py, self.0.num_elements(), || self.0.reshape(&shape))
    }

    /// ``reshape`` where 0 is a size like any other.
    #[pyo3(signature = (*shape))]
    fn reshape_literal(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let shape = Ints::of_args(shape)?;
        gate::tensor(py, self.0.num_elements(), || self.0.reshape_literal(&shape))
    }

    /// Axes ``start`` to ``end``, inclusive, as one.
    #[pyo3(signature = (start=0, end=-1))]
    fn flatten(&self, py: Python<'_>, start: isize, end: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.flatten(start, end))
    }

    /// Without its axes of size 1.
    fn squeeze(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.squeeze())
    }

    /// With leading axes of size 1, up to ``rank`` axes.
    fn unsqueeze(&self, py: Python<'_>, rank: usize) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.unsqueeze(rank))
    }

    /// The last two axes swapped.
    fn transpose(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.transpose())
    }

    /// The last two axes swapped.
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<Self> {
        self.transpose(py)
    }

    /// Two axes swapped.
    #[pyo3(signature = (dim1, dim2, /))]
    fn swap_dims(&self, py: Python<'_>, dim1: isize, dim2: isize) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.swap_dims(dim1, dim2))
    }

    /// Axis i of the result is axis ``dims[i]`` of this tensor.
    #[pyo3(signature = (*dims))]
    fn permute(&self, py: Python<'_>, dims: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let dims = Ints::of_args(dims)?;
        gate::tensor(py, VIEW, || self.0.permute(&dims))
    }

    /// Axes ``src`` go to places ``dst``; the others keep their order.
    fn movedim(&self, py: Python<'_>, src: Ints, dst: Ints) -> PyResult<Self> {
        gate::tensor(py, VIEW, || self.0.movedim(&src, &dst))
    }

    /// Axes of size 1 repeated and leading axes added, without a copy; −1 keeps a size.
    #[pyo3(signature = (*shape))]
    fn expand(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let shape = Ints::of_args(shape)?;
        gate::tensor(py, VIEW, || self.0.expand(&shape))
    }

    /// The tensor ``times[i]`` times along axis i.
    #[pyo3(signature = (*times))]
    fn repeat(&self, py: Python<'_>, times: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let times: Shape =
            if times.len() == 1 { times.get_item(0)?.extract()? } else { times.as_any().extract()? };
        let elements = times.iter().fold(self.0.num_elements(), |n, &times| n.saturating_mul(times));
        gate::tensor(py, elements, || self.0.repeat(&times))
    }

    /// The tensor ``times`` times along an axis.
    fn repeat_dim(&self, py: Python<'_>, dim: isize, times: usize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements().saturating_mul(times), || self.0.repeat_dim(dim, times))
    }

    /// Tensors one after the other along an axis; their other sizes are the same.
    #[staticmethod]
    #[pyo3(signature = (tensors, dim=0))]
    fn cat(py: Python<'_>, tensors: Tensors, dim: isize) -> PyResult<Self> {
        gate::tensor(py, tensors.elements(), || Tensor::cat(&tensors.refs(), dim))
    }

    /// Tensors of one shape along a new axis.
    #[staticmethod]
    #[pyo3(signature = (tensors, dim=0))]
    fn stack(py: Python<'_>, tensors: Tensors, dim: isize) -> PyResult<Self> {
        gate::tensor(py, tensors.elements(), || Tensor::stack(&tensors.refs(), dim))
    }

    /// Pieces of ``size`` along an axis, the last one smaller if it does not divide.
    #[pyo3(signature = (size, dim=0))]
    fn split(&self, py: Python<'_>, size: usize, dim: isize) -> PyResult<Vec<Self>> {
        gate::run(py, VIEW, || self.0.split(size, dim)).map(all)
    }

    /// Pieces of these sizes along an axis, which add up to its size.
    #[pyo3(signature = (sizes, dim=0))]
    fn split_with_sizes(&self, py: Python<'_>, sizes: Shape, dim: isize) -> PyResult<Vec<Self>> {
        gate::run(py, VIEW, || self.0.split_with_sizes(&sizes, dim)).map(all)
    }

    /// At most ``chunks`` pieces of equal size along an axis, the last one smaller if it does not divide.
    #[pyo3(signature = (chunks, dim=0))]
    fn chunk(&self, py: Python<'_>, chunks: usize, dim: isize) -> PyResult<Vec<Self>> {
        gate::run(py, VIEW, || self.0.chunk(chunks, dim)).map(all)
    }

    /// The indices of an axis one by one, which keeps size 1.
    fn iter_dim(&self, py: Python<'_>, dim: isize) -> PyResult<Vec<Self>> {
        gate::run(py, VIEW, || self.0.iter_dim(dim)).map(all)
    }

    /// Moved along axes, ``shifts[i]`` places towards higher indices of ``dims[i]``; what leaves comes in at the start.
    fn roll(&self, py: Python<'_>, shifts: Ints, dims: Ints) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.roll(&shifts, &dims))
    }

    /// Moved along an axis, ``shift`` places towards higher indices.
    fn roll_dim(&self, py: Python<'_>, shift: isize, dim: isize) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.roll_dim(shift, dim))
    }

    /// The same tensor with its elements in row-major order in memory: itself if they are, else a copy.
    fn contiguous(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || Ok(self.0.contiguous()))
    }
}

/// Padding of the last axes: four numbers, or pairs.
struct Pads(Vec<(usize, usize)>);

impl FromPyObject<'_, '_> for Pads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok((left, right, top, bottom)) = value.extract::<(usize, usize, usize, usize)>() {
            return Ok(Self(vec![(top, bottom), (left, right)]));
        }
        value.extract().map(Self)
    }
}

pub(crate) fn all(tensors: Vec<Tensor>) -> Vec<PyTensor> {
    tensors.into_iter().map(PyTensor).collect()
}
