//! Axes and indices, as users give them.

use burnpy_buffer::DType;

use super::cast::cast_value;
use crate::element::Kind;
use crate::error::{Error, Result};
use crate::value::Value;

/// The dtype of the indices that operations return: Burn's default for integers on a CPU.
pub const INT: DType = DType::I32;

/// An axis that may be counted from the end.
///
/// # Errors
/// `Shape` with the axis and the rank.
pub(crate) fn axis(operation: &'static str, dim: isize, rank: usize) -> Result<usize> {
    let axis = if dim < 0 { dim + rank as isize } else { dim };
    usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(|| {
        Error::shape(operation, format_args!("axis {dim} is outside of a tensor of rank {rank}"))
    })
}

/// Several axes, each once, in the order given.
///
/// # Errors
/// As [`axis`], or `Argument` if one comes twice.
pub(crate) fn axes(operation: &'static str, dims: &[isize], rank: usize) -> Result<Vec<usize>> {
    let mut axes = Vec::with_capacity(dims.len());
    for &dim in dims {
        let axis = axis(operation, dim, rank)?;
        if axes.contains(&axis) {
            return Err(Error::argument(operation, format_args!("axis {dim} comes twice in {dims:?}")));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Indices into an axis of `size` elements, checked, in row-major order.
///
/// # Errors
/// `DType` if the tensor does not hold integers, `Index` with the first that is not in `0..size`.
pub(crate) fn indices(operation: &'static str, value: &Value, size: usize) -> Result<Vec<usize>> {
    if Kind::of(value.dtype()) != Kind::Int {
        let found = value.dtype().name();
        return Err(Error::dtype(operation, format_args!("indices must be integers, got {found}")));
    }
    let wide = cast_value(value, DType::I64)?.contiguous();
    let numbers = wide.as_slice::<i64>().expect("contiguous");
    let checked =
        numbers.iter().map(|&index| usize::try_from(index).ok().filter(|&index| index < size).ok_or(index));
    checked.collect::<std::result::Result<_, i64>>().map_err(|index| {
        Error::index(operation, format_args!("index {index} is out of bounds for an axis of size {size}"))
    })
}
