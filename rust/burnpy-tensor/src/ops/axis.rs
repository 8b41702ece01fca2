//! Axes and indices, as users give them.

use std::sync::atomic::{AtomicBool, Ordering};

use burnpy_buffer::DType;

use super::cast::cast_value;
use crate::dispatch_int;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::parallel;
use crate::value::Value;

/// Indices that a task checks.
const CHUNK: usize = 64 << 10;

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
    let checked = Indices::of(operation, value, size)?;
    Ok(checked.as_slice().iter().map(|&index| index as usize).collect())
}

fn checked_indices(operation: &'static str, value: &Value, size: usize) -> Result<Indices> {
    let (dense, fault) = (value.contiguous(), AtomicBool::new(false));
    // What does not fit 32 bits is not an index of an axis whose size does.
    let limit = u32::try_from(size).map_err(|_| {
        Error::shape(operation, format_args!("an axis of size {size} is too long for indices of 32 bits"))
    })?;
    let checked = dispatch_int!(value.dtype(), T => {
        let numbers = dense.as_slice::<T>().expect("contiguous");
        Value::build(value.shape(), |out: &mut [u32]| {
            parallel::chunks_mut(out, CHUNK, |i, part| {
                let mut fits = true;
                for (out, number) in part.iter_mut().zip(&numbers[i * CHUNK..]) {
                    let number = number.to_i64() as u64;
                    fits &= number < u64::from(limit);
                    *out = number as u32;
                }
                if !fits {
                    fault.store(true, Ordering::Relaxed);
                }
            });
        })
    }, else => {
        let found = value.dtype().name();
        Err(Error::dtype(operation, format_args!("indices must be integers, got {found}")))
    })?;
    if fault.into_inner() {
        return Err(outside(operation, &dense, size));
    }
    Ok(Indices(checked))
}

/// The first index that is not in `0..size`.
#[cold]
fn outside(operation: &'static str, dense: &Value, size: usize) -> Error {
    let wide = cast_value(dense, DType::I64).expect("integers");
    let numbers = wide.as_slice::<i64>().expect("contiguous");
    let first = numbers.iter().find(|&&index| usize::try_from(index).map_or(true, |index| index >= size));
    let (index, unsigned) = (first.copied().unwrap_or(0), dense.dtype() == DType::U64);
    let index = if unsigned { i128::from(index as u64) } else { i128::from(index) };
    Error::index(operation, format_args!("index {index} is out of bounds for an axis of size {size}"))
}

/// Checked indices in memory of their own, that costs nothing to clone.
#[derive(Clone)]
pub(crate) struct Indices(Value);

impl Indices {
    /// Those of a tensor, for an axis of `size` elements.
    ///
    /// # Errors
    /// As [`indices`].
    pub(crate) fn of(operation: &'static str, value: &Value, size: usize) -> Result<Self> {
        checked_indices(operation, value, size)
    }

    /// From the numbers.
    pub(crate) fn new(numbers: &[u32]) -> Result<Self> {
        Ok(Self(Value::from_slice(numbers, &[numbers.len()])?))
    }

    /// The numbers, row-major.
    pub(crate) fn as_slice(&self) -> &[u32] {
        self.0.as_slice().expect("made contiguous")
    }

    /// The shape that they were given in.
    pub(crate) fn shape(&self) -> &[usize] {
        self.0.shape()
    }
}
