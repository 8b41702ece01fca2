//! Elements changed where tensors of indices say.

use burnpy_buffer::DType;

use super::axis::{Indices, axis};
use super::broadcast::{Shape, same_dtype};
use super::half::{dequantized, via_f32};
use super::index::{Pick, checked_places, coordinates, picked_values};
use crate::autodiff::record;
use crate::element::{BOOL, Element};
use crate::error::{Error, Result};
use crate::kernels::index::{scatter_elements, scatter_rows, walk_updates};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_bits, dispatch_float, dispatch_int};

/// What becomes of an element where an index leads: of several values for one element, each in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingUpdateOp {
    /// The value.
    Assign,
    /// The sum; for booleans "or".
    Add,
    /// The product.
    Mul,
    /// The lesser; NaN if one is.
    Min,
    /// The greater; NaN if one is.
    Max,
}

impl Tensor {
    /// The tensor with rows of an axis changed by those of `values`: row `indices[k]` by row k, in the order of k.
    ///
    /// # Errors
    /// `Shape` or `DType` if the values do not fit, `Index` for an index outside of the axis.
    pub fn select_assign(
        &self,
        dim: isize,
        indices: &Self,
        values: &Self,
        update: IndexingUpdateOp,
    ) -> Result<Self> {
        let along = axis("select_assign", dim, self.rank())?;
        let at = Indices::of("select_assign", indices.value(), self.shape()[along])?;
        let mut wanted: Shape = self.shape().into();
        wanted[along] = at.as_slice().len();
        if at.shape().len() != 1 || values.shape() != &wanted[..] {
            let (at, values) = (at.shape(), values.shape());
            let message =
                format_args!("values of shape {values:?} for indices of shape {at:?}, expected {wanted:?}");
            return Err(Error::shape("select_assign", message));
        }
        self.changed("select_assign", Pick::rows(self.shape(), along), at, values, update)
    }

    /// The tensor with `self[…, indices[…, k, …], …]` changed by `values[…, k, …]` along an axis, in the order of k.
    ///
    /// # Errors
    /// `Shape` or `DType` if the values do not fit, `Index` for an index outside of the axis.
    pub fn scatter(
        &self,
        dim: isize,
        indices: &Self,
        values: &Self,
        update: IndexingUpdateOp,
    ) -> Result<Self> {
        let along = checked_places("scatter", dim, self.shape(), indices.shape())?;
        let at = Indices::of("scatter", indices.value(), self.shape()[along])?;
        if at.shape() != values.shape() {
            let (at, values) = (at.shape(), values.shape());
            return Err(Error::shape(
                "scatter",
                format_args!("values of shape {values:?} for indices of {at:?}"),
            ));
        }
        self.changed("scatter", Pick::elements(self.shape(), along), at, values, update)
    }

    /// The tensor with the elements, or rows, that coordinates name (see [`Tensor::gather_nd`]) changed by `values`.
    ///
    /// # Errors
    /// `Shape` or `DType` if the values do not fit, `Index` for a coordinate outside of its axis.
    pub fn scatter_nd(&self, indices: &Self, values: &Self, update: IndexingUpdateOp) -> Result<Self> {
        let (pick, at, wanted) = coordinates("scatter_nd", self.shape(), indices.value())?;
        if values.shape() != &wanted[..] {
            let values = values.shape();
            let message = format_args!("values of shape {values:?}, the coordinates name {wanted:?}");
            return Err(Error::shape("scatter_nd", message));
        }
        self.changed("scatter_nd", pick, at, values, update)
    }

    fn changed(
        &self,
        operation: &'static str,
        pick: Pick,
        at: Indices,
        values: &Self,
        update: IndexingUpdateOp,
    ) -> Result<Self> {
        let run = |[x, values]: [&Self; 2]| {
            same_dtype(operation, x.value(), values.value())?;
            changed_wide(operation, x, values, pick, at, update)
        };
        // What is assigned is not rounded.
        if update == IndexingUpdateOp::Assign {
            dequantized([self, values], run)
        } else {
            via_f32([self, values], run)
        }
    }
}

fn changed_wide(
    operation: &'static str,
    x: &Tensor,
    values: &Tensor,
    pick: Pick,
    at: Indices,
    update: IndexingUpdateOp,
) -> Result<Tensor> {
    let value = updated(operation, x.value().clone(), pick, &at, values.value(), update)?;
    Ok(record(operation, [x, values], value, |needs| {
        let kept = (update != IndexingUpdateOp::Add).then(|| (x.value().clone(), values.value().clone()));
        let shape: Shape = values.shape().into();
        move |gradient: Value| match &kept {
            // x + v: dx = dy, dv = dy where v went
            None => {
                let dv = needs[1].then(|| picked_values(&gradient, pick, &at, &shape)).transpose()?;
                Ok([needs[0].then_some(gradient), dv])
            }
            Some((x, values)) => undone(&gradient, x, values, pick, &at, update),
        }
    }))
}

/// Gradients of a chain of updates, the last one first: y = f(x, v) gives v its share of the slot's gradient and
/// leaves x its own there.
///
/// Assign: dv = g, dx = 0. Mul: dv = g · x, dx = g · v, with the x that the slot held then. Min and Max: all to the one
/// that it is, to x if they are equal.
fn undone(
    gradient: &Value,
    x: &Value,
    values: &Value,
    pick: Pick,
    at: &Indices,
    update: IndexingUpdateOp,
) -> Result<[Option<Value>; 2]> {
    if super::half::is_half(gradient.dtype()) {
        let wide = |value: &Value| super::cast::cast_value(value, DType::F32);
        let both = undone(&wide(gradient)?, &wide(x)?, &wide(values)?, pick, at, update)?;
        let [dx, dv] =
            both.map(|value| value.map(|v| super::cast::cast_value(&v, gradient.dtype())).transpose());
        return Ok([dx?, dv?]);
    }
    let indices = at.as_slice();
    let (outer, size, inner, single) = match pick {
        Pick::Rows { outer, size, inner } => (outer, size, inner, false),
        Pick::Elements { outer, size, inner } => (outer, size, inner, true),
    };
    let count = if single { indices.len() / (outer * inner).max(1) } else { indices.len() };
    let dims = (outer, size, count, inner);
    let index = |value: usize| if single { indices[value] } else { indices[value / inner % count] };
    let (gradient, x, values) = (gradient.contiguous(), x.contiguous(), values.contiguous());
    dispatch_float!(gradient.dtype(), T => {
        let parts = (gradient.as_slice::<T>(), x.as_slice::<T>(), values.as_slice::<T>());
        let (Some(dy), Some(x), Some(v)) = parts else { unreachable!("all of one dtype") };
        // What each slot held when its value came.
        let (mut slots, mut before) = (x.to_vec(), vec![T::ZERO; v.len()]);
        walk_updates(dims, index, false, |i, slot| {
            before[i] = slots[slot];
            slots[slot] = combined(update, slots[slot], v[i]);
        });
        let (mut dx, mut dv) = (dy.to_vec(), vec![T::ZERO; v.len()]);
        walk_updates(dims, index, true, |i, slot| {
            let g = dx[slot];
            (dx[slot], dv[i]) = match update {
                IndexingUpdateOp::Assign => (T::ZERO, g),
                IndexingUpdateOp::Add => (g, g),
                IndexingUpdateOp::Mul => (g * v[i], g * before[i]),
                IndexingUpdateOp::Min if v[i] < before[i] => (T::ZERO, g),
                IndexingUpdateOp::Max if v[i] > before[i] => (T::ZERO, g),
                IndexingUpdateOp::Min | IndexingUpdateOp::Max => (g, T::ZERO),
            };
        });
        let value = |data: &[T], like: &Value| {
            Value::build_as(gradient.dtype(), like.shape(), |out: &mut [T]| out.copy_from_slice(data))
        };
        Ok([Some(value(&dx, &gradient)?), Some(value(&dv, &values)?)])
    }, else => Err(Error::dtype("backward", "only floats have gradients")))
}

/// One float after an update.
fn combined<T: Element + std::ops::Add<Output = T> + std::ops::Mul<Output = T>>(
    update: IndexingUpdateOp,
    x: T,
    v: T,
) -> T {
    match update {
        IndexingUpdateOp::Assign => v,
        IndexingUpdateOp::Add => x + v,
        IndexingUpdateOp::Mul => x * v,
        IndexingUpdateOp::Min => lesser(x, v),
        IndexingUpdateOp::Max => greater(x, v),
    }
}

/// The lesser of two; NaN if one is.
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
#[inline(always)]
fn lesser<T: PartialOrd + Copy>(x: T, v: T) -> T {
    if v < x || v != v { v } else { x }
}

/// The greater of two; NaN if one is.
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
#[inline(always)]
fn greater<T: PartialOrd + Copy>(x: T, v: T) -> T {
    if v > x || v != v { v } else { x }
}

/// The value after updates, in its own memory if nobody else holds it.
pub(crate) fn updated(
    operation: &'static str,
    x: Value,
    pick: Pick,
    at: &Indices,
    values: &Value,
    update: IndexingUpdateOp,
) -> Result<Value> {
    use IndexingUpdateOp::{Add, Assign, Max, Min, Mul};
    let dtype = x.dtype();
    let refused = || {
        let name = dtype.name();
        Err(Error::dtype(operation, format_args!("{update:?} is not for {name} tensors")))
    };
    if update == Assign {
        return dispatch_bits!(dtype.size().unwrap_or(1), T => run(x, pick, at, values, |_: T, v: T| v));
    }
    if super::half::is_half(dtype) {
        let wide = |value: &Value| super::cast::cast_value(value, DType::F32);
        let sum = updated(operation, wide(&x)?, pick, at, &wide(values)?, update)?;
        return super::cast::cast_value(&sum, dtype);
    }
    if dtype == BOOL {
        return if update == Add { run(x, pick, at, values, |x: u8, v: u8| x | v) } else { refused() };
    }
    dispatch_float!(dtype, T => match update {
        Add => run(x, pick, at, values, |x: T, v: T| x + v),
        _ => run(x, pick, at, values, |x: T, v: T| combined(update, x, v)),
    }, else => dispatch_int!(dtype, T => match update {
        Add => run(x, pick, at, values, T::wrapping_add),
        Mul => run(x, pick, at, values, T::wrapping_mul),
        Min => run(x, pick, at, values, |x: T, v: T| x.min(v)),
        _ => run(x, pick, at, values, |x: T, v: T| if update == Max { x.max(v) } else { v }),
    }, else => refused()))
}

fn run<T: burnpy_buffer::Pod>(
    mut x: Value,
    pick: Pick,
    at: &Indices,
    values: &Value,
    update: impl Fn(T, T) -> T + Sync,
) -> Result<Value> {
    let (values, at) = (values.contiguous(), at.as_slice());
    let values = values.as_slice::<T>().expect("one dtype");
    let write = |out: &mut [T]| match pick {
        Pick::Rows { size, inner, .. } => scatter_rows(out, (size, inner), at, values, &update),
        Pick::Elements { outer, size, inner } => {
            let count = at.len() / (outer * inner).max(1);
            scatter_elements(out, (size, count, inner), at, values, &update);
        }
    };
    if let Some(out) = x.try_mut::<T>() {
        write(out);
        return Ok(x);
    }
    let dense = x.contiguous();
    Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
        crate::kernels::join::copy_parallel(dense.as_slice().expect("contiguous"), out);
        write(out);
    })
}
