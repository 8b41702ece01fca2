//! Parts of tensors: Python's `t[…]`, Burn's slices, and indices that are tensors.

use burnpy_buffer::BasicIndex;
use burnpy_tensor::ops::{IndexingUpdateOp, Slice};
use burnpy_tensor::{Kind, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PyIterator, PyList, PySlice, PyTuple};

use super::gate;
use super::import::value_of;
use super::number::Number;
use super::shape::all;
use super::tensor::PyTensor;
use crate::array::type_name;
use crate::index::{basic_index, bound};

#[pymethods]
impl PyTensor {
    /// NumPy's indices: integers drop their axis, slices of any step, ``...``, ``None``; and alone or after whole axes,
    /// a mask of booleans or an array, list or tensor of integers.
    ///
    /// Unlike Burn's ``slice``, which keeps the axis of an integer, and walks backwards what the bounds select.
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(row) = index.cast_exact::<PyInt>()
            && let Ok(row) = row.extract::<i64>()
        {
            return gate::tensor(py, 0, || self.0.index(&[BasicIndex::Int(row)]));
        }
        if let Some(indices) = as_indices(index)? {
            return by_indices(py, &self.0, 0, &indices);
        }
        let Ok(entries) = index.cast::<PyTuple>() else {
            let entry = basic_index(index)?;
            return gate::tensor(py, 0, || self.0.index(&[entry]));
        };
        let mut basic = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter_borrowed().enumerate() {
            if let Some(indices) = as_indices(&entry)? {
                return mixed(py, &self.0, entries, place, &indices);
            }
            basic.push(basic_index(&entry)?);
        }
        gate::tensor(py, 0, || self.0.index(&basic))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let (py, tensor) = (slf.py(), &slf.get().0);
        if tensor.rank() == 0 {
            return Err(PyTypeError::new_err("iteration over a tensor without axes"));
        }
        let rows = (0..tensor.shape()[0] as i64)
            .map(|row| gate::tensor(py, 0, || tensor.index(&[BasicIndex::Int(row)]))?.into_pyobject(py));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    /// Burn's slice: for each leading axis an integer (the axis stays, with size 1), a Python slice or a pair of bounds;
    /// ``None`` is a whole axis. Bounds are clipped; a negative step walks what they select backwards.
    ///
    /// Example:
    ///     >>> from burnpy import Tensor
    ///     >>> Tensor([0, 1, 2, 3, 4, 5]).slice([slice(0, 6, -2)]).tolist()
    ///     [5, 3, 1]
    #[pyo3(signature = (ranges, /))]
    fn slice(&self, py: Python<'_>, ranges: Slices) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.slice(&ranges.0))
    }

    /// ``slice`` of one axis.
    fn slice_dim(&self, py: Python<'_>, dim: isize, range: OneSlice) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.slice_dim(dim, range.0))
    }

    /// The tensor with the part of ``slice(ranges)`` replaced by ``values``, which have its shape.
    fn slice_assign(&self, py: Python<'_>, ranges: Slices, values: &Bound<'_, Self>) -> PyResult<Self> {
        let values = &values.get().0;
        gate::tensor(py, self.0.num_elements(), || self.0.slice_assign(&ranges.0, values))
    }

    /// The tensor with the part of ``slice(ranges)`` replaced by a number.
    fn slice_fill(&self, py: Python<'_>, ranges: Slices, value: Number) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.slice_fill(&ranges.0, value.0))
    }

    /// ``start`` to ``start + length`` of an axis.
    fn narrow(&self, py: Python<'_>, dim: isize, start: usize, length: usize) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.narrow(dim, start, length))
    }

    /// One index of an axis, which goes.
    fn select_dim(&self, py: Python<'_>, dim: isize, index: isize) -> PyResult<Self> {
        gate::tensor(py, 0, || self.0.select_dim(dim, index))
    }

    /// Rows of an axis, by a list of indices.
    ///
    /// Raises:
    ///     TensorIndexError: an index is negative or not below the size; so for all methods that take indices.
    fn select(&self, py: Python<'_>, dim: isize, indices: &Bound<'_, Self>) -> PyResult<Self> {
        let indices = &indices.get().0;
        gate::tensor(py, gate::work(&self.0, indices), || self.0.select(dim, indices))
    }

    /// Rows of an axis, by indices of any rank: their axes stand where the axis was.
    fn take(&self, py: Python<'_>, dim: isize, indices: &Bound<'_, Self>) -> PyResult<Self> {
        let indices = &indices.get().0;
        gate::tensor(py, gate::work(&self.0, indices), || self.0.take(dim, indices))
    }

    /// ``out[i][j] = self[indices[i][j]][j]`` for axis 0: indices for each place of the other axes.
    fn gather(&self, py: Python<'_>, dim: isize, indices: &Bound<'_, Self>) -> PyResult<Self> {
        let indices = &indices.get().0;
        gate::tensor(py, indices.num_elements(), || self.0.gather(dim, indices))
    }

    /// Elements, or rows, by coordinates in the last axis of ``indices``.
    fn gather_nd(&self, py: Python<'_>, indices: &Bound<'_, Self>) -> PyResult<Self> {
        let indices = &indices.get().0;
        gate::tensor(py, gate::work(&self.0, indices), || self.0.gather_nd(indices))
    }

    /// The tensor with rows ``indices`` of an axis changed by those of ``values``.
    ///
    /// Args:
    ///     update: ``"assign"``, ``"add"``, ``"mul"``, ``"min"`` or ``"max"``. Rows that are named twice are changed twice.
    fn select_assign(
        &self,
        py: Python<'_>,
        dim: isize,
        indices: &Bound<'_, Self>,
        values: &Bound<'_, Self>,
        update: Update,
    ) -> PyResult<Self> {
        let (indices, values) = (&indices.get().0, &values.get().0);
        gate::tensor(py, self.0.num_elements(), || self.0.select_assign(dim, indices, values, update.0))
    }

    /// The tensor with ``self[indices[i][j]][j]`` (for axis 0) changed by ``values[i][j]``; ``update`` as for
    /// ``select_assign``.
    fn scatter(
        &self,
        py: Python<'_>,
        dim: isize,
        indices: &Bound<'_, Self>,
        values: &Bound<'_, Self>,
        update: Update,
    ) -> PyResult<Self> {
        let (indices, values) = (&indices.get().0, &values.get().0);
        gate::tensor(py, self.0.num_elements(), || self.0.scatter(dim, indices, values, update.0))
    }

    /// The tensor with what ``gather_nd`` takes changed by ``values``; ``update`` as for ``select_assign``.
    fn scatter_nd(
        &self,
        py: Python<'_>,
        indices: &Bound<'_, Self>,
        values: &Bound<'_, Self>,
        update: Update,
    ) -> PyResult<Self> {
        let (indices, values) = (&indices.get().0, &values.get().0);
        gate::tensor(py, self.0.num_elements(), || self.0.scatter_nd(indices, values, update.0))
    }

    /// The elements where a mask of the same shape is true, in row-major order.
    #[pyo3(signature = (mask, /))]
    fn mask_select(&self, py: Python<'_>, mask: &Bound<'_, Self>) -> PyResult<Self> {
        let mask = &mask.get().0;
        gate::tensor(py, self.0.num_elements(), || self.0.mask_select(mask))
    }

    /// Coordinates of the elements that are not 0, (count, rank), in row-major order.
    fn argwhere(&self, py: Python<'_>) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.argwhere())
    }

    /// ``argwhere``, a list of indices for each axis.
    fn nonzero(&self, py: Python<'_>) -> PyResult<Vec<Self>> {
        gate::run(py, self.0.num_elements(), || self.0.nonzero()).map(all)
    }
}

/// The tensor of an index that is a list, an array or a tensor; `None` for a basic one.
fn as_indices(index: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    if let Ok(tensor) = index.cast_exact::<PyTensor>() {
        return Ok(Some(tensor.get().0.inner()));
    }
    let is_array = || index.hasattr("__array_interface__");
    if index.is_instance_of::<PyList>() || (!index.is_instance_of::<PyInt>() && is_array()?) {
        return value_of(index, None).map(|value| Some(value.into()));
    }
    Ok(None)
}

/// `x[indices]` on an axis, whole axes before it.
fn by_indices(py: Python<'_>, x: &Tensor, dim: usize, indices: &Tensor) -> PyResult<PyTensor> {
    match indices.kind() {
        Kind::Bool => by_mask(py, x, dim, indices),
        // A tensor of one integer is one, as NumPy has it.
        Kind::Int => gate::tensor(py, gate::work(x, indices), || {
            let size = x.shape().get(dim).copied().unwrap_or(0);
            x.take(dim as isize, &from_start(indices, size)?)
        }),
        Kind::Float => Err(PyTypeError::new_err("indices must be integers or booleans, got floats")),
    }
}

/// Indices counted from the end as those from the start.
fn from_start(indices: &Tensor, size: usize) -> burnpy_tensor::Result<Tensor> {
    let wide = indices.cast(burnpy_tensor::DType::I64)?.value().contiguous();
    let numbers = wide.as_slice::<i64>().expect("contiguous");
    let from_start = |&index: &i64| if index < 0 { index.saturating_add(size as i64) } else { index };
    let numbers: Vec<i64> = numbers.iter().map(from_start).collect();
    burnpy_tensor::Value::from_slice(&numbers, wide.shape()).map(Tensor::from)
}

fn by_mask(py: Python<'_>, x: &Tensor, dim: usize, mask: &Tensor) -> PyResult<PyTensor> {
    let axes = dim..dim + mask.rank();
    if x.shape().get(axes.clone()) != Some(mask.shape()) {
        let (found, wanted) = (mask.shape(), x.shape());
        let message =
            format_args!("a mask of shape {found:?} from axis {dim} on a tensor of shape {wanted:?}");
        return Err(super::error::to_exception(py, burnpy_tensor::Error::shape("index", message)));
    }
    gate::tensor(py, x.num_elements(), || {
        if dim == 0 && mask.rank() == x.rank() {
            return x.mask_select(mask);
        }
        // The axes of the mask as one, of which the rows are taken where it is true.
        let mut shape: Vec<isize> = x.shape().iter().map(|&size| size as isize).collect();
        shape.splice(axes, [mask.num_elements() as isize]);
        let rows = mask.reshape_literal(&[mask.num_elements() as isize])?.argwhere()?;
        x.reshape_literal(&shape)?.take(dim as isize, &rows.reshape_literal(&[rows.num_elements() as isize])?)
    })
}

/// Basic entries with one list of indices among them.
fn mixed(
    py: Python<'_>,
    x: &Tensor,
    entries: &Bound<'_, PyTuple>,
    place: usize,
    indices: &Tensor,
) -> PyResult<PyTensor> {
    let others = entries.iter_borrowed().enumerate().filter(|&(i, _)| i != place);
    for (_, entry) in others {
        if as_indices(&entry)?.is_some() {
            let message = "two lists of indices in one index; gather_nd takes coordinates";
            return Err(PyTypeError::new_err(message));
        }
        if entry.cast::<PySlice>().is_err() && entry.cast::<PyEllipsis>().is_err() {
            let message =
                "beside a list of indices an index takes slices and ... alone; apply the rest after it";
            return Err(PyTypeError::new_err(message));
        }
    }
    let is_ellipsis =
        |i: usize| entries.get_borrowed_item(i).is_ok_and(|entry| entry.cast::<PyEllipsis>().is_ok());
    // How many axes the list covers, and the axis that it begins at, now that the others keep their number.
    let covered = if indices.kind() == Kind::Bool { indices.rank() } else { 1 };
    let is_after = (0..place).any(is_ellipsis);
    let axis = if is_after {
        let behind = entries.len() - place - 1;
        x.rank().saturating_sub(behind + covered)
    } else {
        place
    };
    let mut basic = Vec::with_capacity(entries.len() + covered);
    for (i, entry) in entries.iter_borrowed().enumerate() {
        if i == place {
            basic.extend(std::iter::repeat_n(BasicIndex::ALL, covered));
        } else {
            basic.push(basic_index(&entry)?);
        }
    }
    let sliced = gate::tensor(py, 0, || x.index(&basic))?;
    by_indices(py, &sliced.0, axis, indices)
}

/// What Burn's `slice` takes for one axis.
struct OneSlice(Slice);

impl FromPyObject<'_, '_> for OneSlice {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self(Slice::ALL));
        }
        if let Ok(slice) = value.cast::<PySlice>() {
            let part = |name| bound(&slice.getattr(name)?).map(|part| part.map(|part| part as isize));
            let step = part("step")?.unwrap_or(1);
            return Ok(Self(Slice::Range { start: part("start")?, stop: part("stop")?, step }));
        }
        if let Ok((start, stop)) = value.extract::<(isize, isize)>() {
            return Ok(Self(Slice::range(start, stop)));
        }
        value.extract::<isize>().map(|index| Self(Slice::At(index))).map_err(|_| {
            let found = type_name(&value);
            PyTypeError::new_err(format!(
                "a slice is an integer, a slice, a pair of bounds or None, got {found}"
            ))
        })
    }
}

/// One for each leading axis.
struct Slices(Vec<Slice>);

impl FromPyObject<'_, '_> for Slices {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PySlice>() || value.is_instance_of::<PyInt>() {
            return Ok(Self(vec![value.extract::<OneSlice>()?.0]));
        }
        let slices = value.try_iter()?.map(|item| Ok(item?.extract::<OneSlice>()?.0));
        slices.collect::<PyResult<_>>().map(Self)
    }
}

/// How values change what is there, by its name.
struct Update(IndexingUpdateOp);

impl FromPyObject<'_, '_> for Update {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Self(match value.extract::<&str>()? {
            "assign" => IndexingUpdateOp::Assign,
            "add" => IndexingUpdateOp::Add,
            "mul" => IndexingUpdateOp::Mul,
            "min" => IndexingUpdateOp::Min,
            "max" => IndexingUpdateOp::Max,
            other => {
                let message =
                    format!("update must be \"assign\", \"add\", \"mul\", \"min\" or \"max\", got {other:?}");
                return Err(PyValueError::new_err(message));
            }
        }))
    }
}
