//! Elements picked by tensors of indices. Indices count from the start: negative ones are errors.

use super::axis::{Indices, axis};
use super::broadcast::Shape;
use super::update::updated;
use super::views::movable;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::kernels::index::{gather_elements, gather_rows};
use crate::ops::IndexingUpdateOp;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{Kind, dispatch_bits};

/// How indices lie on a tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pick {
    /// Each names a row: all that comes after an axis, or after as many leading axes as there are coordinates.
    Rows {
        /// Elements before the axis, along it, and after it.
        outer: usize,
        /// Along it.
        size: usize,
        /// After it.
        inner: usize,
    },
    /// Each names an element along an axis; other places are its own.
    Elements {
        /// Elements before the axis.
        outer: usize,
        /// Along it.
        size: usize,
        /// After it.
        inner: usize,
    },
}

impl Pick {
    pub(crate) fn rows(shape: &[usize], axis: usize) -> Self {
        let (outer, size, inner) = around(shape, axis);
        Self::Rows { outer, size, inner }
    }

    pub(crate) fn elements(shape: &[usize], axis: usize) -> Self {
        let (outer, size, inner) = around(shape, axis);
        Self::Elements { outer, size, inner }
    }
}

/// Elements before an axis, along it, and after it.
pub(crate) fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

impl Tensor {
    /// Rows of an axis, by a list of indices.
    ///
    /// # Errors
    /// `Shape` if there is no such axis or the indices have not rank 1, `Index` for one that is outside of the axis.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value};
    /// let x = Tensor::from(Value::from_slice(&[0i32, 1, 2, 3, 4, 5], &[2, 3])?);
    /// let columns = Tensor::from(Value::from_slice(&[2i32, 0], &[2])?);
    /// assert_eq!(x.select(1, &columns)?.value().as_slice::<i32>(), Some(&[2, 0, 5, 3][..]));
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn select(&self, dim: isize, indices: &Self) -> Result<Self> {
        if indices.rank() != 1 {
            let message =
                format_args!("indices must have rank 1, got shape {:?}; take has any", indices.shape());
            return Err(Error::shape("select", message));
        }
        self.take_rows("select", dim, indices)
    }

    /// Rows of an axis, by indices of any rank: their axes stand where the axis was.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Index` for an index outside of it.
    pub fn take(&self, dim: isize, indices: &Self) -> Result<Self> {
        self.take_rows("take", dim, indices)
    }

    /// Rows of this table, (entries, width), by indices of any shape: (…, width).
    ///
    /// # Errors
    /// `Shape` if the table has not two axes, `Index` for an index outside of it.
    pub fn embedding(&self, indices: &Self) -> Result<Self> {
        if self.rank() != 2 {
            let message = format_args!("a table has two axes, got shape {:?}", self.shape());
            return Err(Error::shape("embedding", message));
        }
        self.take_rows("embedding", 0, indices)
    }

    fn take_rows(&self, operation: &'static str, dim: isize, at: &Self) -> Result<Self> {
        let axis = axis(operation, dim, self.rank())?;
        let at = Indices::of(operation, at.value(), self.shape()[axis])?;
        let mut shape: Shape = self.shape()[..axis].into();
        shape.extend_from_slice(at.shape());
        shape.extend_from_slice(&self.shape()[axis + 1..]);
        self.picked(operation, Pick::rows(self.shape(), axis), at, &shape)
    }

    /// `out[…, k, …] = self[…, indices[…, k, …], …]` along an axis: indices for each place of the others.
    ///
    /// # Errors
    /// `Shape` if the other sizes differ, `Index` for an index outside of the axis.
    pub fn gather(&self, dim: isize, indices: &Self) -> Result<Self> {
        let axis = checked_places("gather", dim, self.shape(), indices.shape())?;
        let at = Indices::of("gather", indices.value(), self.shape()[axis])?;
        let shape: Shape = at.shape().into();
        self.picked("gather", Pick::elements(self.shape(), axis), at, &shape)
    }

    /// Elements, or rows, by coordinates in the last axis of `indices`: `out[…] = self[indices[…, 0], indices[…, 1], …]`.
    ///
    /// # Errors
    /// `Shape` for more coordinates than axes, `Index` for one that is outside of its axis.
    pub fn gather_nd(&self, indices: &Self) -> Result<Self> {
        let (pick, at, shape) = coordinates("gather_nd", self.shape(), indices.value())?;
        self.picked("gather_nd", pick, at, &shape)
    }

    /// The elements where a mask of the same shape is true, in row-major order.
    ///
    /// # Errors
    /// `Shape` if the shapes differ, `DType` if the mask is not of booleans.
    pub fn mask_select(&self, mask: &Self) -> Result<Self> {
        if mask.kind() != Kind::Bool {
            let found = mask.dtype().name();
            return Err(Error::dtype(
                "mask_select",
                format_args!("the mask must be of booleans, got {found}"),
            ));
        }
        if mask.shape() != self.shape() {
            let (a, b) = (self.shape(), mask.shape());
            return Err(Error::shape("mask_select", format_args!("a mask of shape {b:?} for shape {a:?}")));
        }
        let flags = mask.value().contiguous();
        let size = u32::try_from(self.num_elements())
            .map_err(|_| Error::shape("mask_select", "more elements than indices of 32 bits can name"))?;
        let places: Vec<u32> = places_of(flags.as_slice().expect("booleans are bytes"), |i| i as u32);
        let (count, pick) = (places.len(), Pick::Rows { outer: 1, size: size as usize, inner: 1 });
        self.picked("mask_select", pick, Indices::new(&places)?, &[count])
    }

    /// Coordinates of the elements that are not 0, (count, rank), in row-major order.
    ///
    /// # Errors
    /// `DType` for quantized tensors.
    pub fn argwhere(&self) -> Result<Self> {
        let flags = super::cast::cast_value(movable("argwhere", self)?.as_ref(), crate::BOOL)?.contiguous();
        let places: Vec<usize> = places_of(flags.as_slice().expect("booleans are bytes"), |i| i);
        let (shape, rank) = (self.shape(), self.rank());
        let value = Value::build(&[places.len(), rank], |out: &mut [i32]| {
            for (row, &place) in out.chunks_exact_mut(rank.max(1)).zip(&places) {
                let mut left = place;
                for (slot, &size) in row.iter_mut().zip(shape).rev() {
                    *slot = (left % size) as i32;
                    left /= size;
                }
            }
        })?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }

    /// [`Tensor::argwhere`], a list of indices for each axis.
    ///
    /// # Errors
    /// As there.
    pub fn nonzero(&self) -> Result<Vec<Self>> {
        let all = self.argwhere()?;
        (0..self.rank()).map(|axis| Ok(all.select_dim(1, axis as isize)?.contiguous())).collect()
    }

    pub(crate) fn picked(
        &self,
        operation: &'static str,
        pick: Pick,
        at: Indices,
        shape: &[usize],
    ) -> Result<Self> {
        let value = picked_values(movable(operation, self)?.as_ref(), pick, &at, shape)?;
        // dx = Σ dy over the places that an element went to
        Ok(record(operation, [self], value, |_| {
            let shape: Shape = self.shape().into();
            move |gradient: Value| Ok([Some(sum_at(&shape, pick, &at, &gradient)?)])
        }))
    }
}

/// The elements of a value that indices name, in a shape.
pub(crate) fn picked_values(x: &Value, pick: Pick, at: &Indices, shape: &[usize]) -> Result<Value> {
    let (dense, at) = (x.contiguous(), at.as_slice());
    dispatch_bits!(x.dtype().size().unwrap_or(1), T => {
        let x = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(dense.dtype(), shape, |out: &mut [T]| match pick {
            Pick::Rows { size, inner, .. } => gather_rows(x, (size, inner), at, out),
            Pick::Elements { outer, size, inner } => {
                let count = at.len() / (outer * inner).max(1);
                gather_elements(x, (size, count, inner), at, out);
            }
        })
    })
}

/// Zeros of a shape, with values added where indices say.
pub(crate) fn sum_at(shape: &[usize], pick: Pick, at: &Indices, values: &Value) -> Result<Value> {
    updated("backward", Value::zeros(shape, values.dtype())?, pick, at, values, IndexingUpdateOp::Add)
}

/// The axis that indices of `given` shape go along, if they have the tensor's other sizes.
pub(crate) fn checked_places(
    operation: &'static str,
    dim: isize,
    shape: &[usize],
    given: &[usize],
) -> Result<usize> {
    let axis = axis(operation, dim, shape.len())?;
    let same = |(other, (a, b)): (usize, (&usize, &usize))| other == axis || a == b;
    if given.len() != shape.len() || !shape.iter().zip(given).enumerate().all(same) {
        let message =
            format_args!("indices of shape {given:?} differ from {shape:?} in more than axis {axis}");
        return Err(Error::shape(operation, message));
    }
    Ok(axis)
}

/// Coordinates in the last axis as indices of rows, and the shape of what they name.
pub(crate) fn coordinates(
    operation: &'static str,
    shape: &[usize],
    given: &Value,
) -> Result<(Pick, Indices, Shape)> {
    let Some((&depth, lead)) = given.shape().split_last().filter(|&(&depth, _)| depth <= shape.len()) else {
        let message = format_args!("indices of shape {:?} for a tensor of shape {shape:?}", given.shape());
        return Err(Error::shape(operation, message));
    };
    let rows: usize = lead.iter().product();
    let size: usize = shape[..depth].iter().product();
    let mut at = vec![0u32; rows];
    for (i, &size) in shape[..depth].iter().enumerate() {
        let last = given.rank() - 1;
        let column = given.with_layout(given.layout().sliced(last, i, 1, 1));
        let column = Indices::of(operation, &column, size)?;
        let size = size as u32;
        at.iter_mut().zip(column.as_slice()).for_each(|(at, &i)| *at = at.wrapping_mul(size).wrapping_add(i));
    }
    if u32::try_from(size).is_err() {
        return Err(Error::shape(operation, format_args!("{size} rows are too many for indices of 32 bits")));
    }
    let mut out: Shape = lead.into();
    out.extend_from_slice(&shape[depth..]);
    let inner = shape[depth..].iter().product();
    Ok((Pick::Rows { outer: 1, size, inner }, Indices::new(&at)?, out))
}

/// Where flags are set. No branch: it would be guessed wrong at every other flag.
fn places_of<I: Copy + Default>(flags: &[u8], index: impl Fn(usize) -> I) -> Vec<I> {
    let count = flags.iter().filter(|&&flag| flag != 0).count();
    // One more, for what is written and not kept.
    let (mut places, mut at) = (vec![I::default(); count + 1], 0);
    for (i, &flag) in flags.iter().enumerate() {
        places[at] = index(i);
        at += usize::from(flag != 0);
    }
    places.truncate(count);
    places
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
