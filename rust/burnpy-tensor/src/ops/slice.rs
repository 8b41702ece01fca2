//! Parts of tensors: Burn's slices, which keep every axis, and NumPy's basic indices.

use burnpy_buffer::{BasicIndex, DType, Layout, LayoutError, Selection};

use super::axis::axis;
use super::broadcast::{Shape, same_dtype};
use super::half::dequantized;
use super::scalar::Scalar;
use super::views::movable;
use crate::autodiff::{Flow, record, record_many};
use crate::element::{BOOL, Element};
use crate::error::{Error, Result};
use crate::kernels::region::{Fill, Span, embed};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_bits, dispatch_stored};

/// What is taken of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// One index, negative from the end. The axis stays, with size 1.
    At(isize),
    /// The indices from `start` to before `stop`, both negative from the end and cut to the axis; every `step`-th, from
    /// the front if it is positive, from the back if it is negative.
    ///
    /// Unlike Python's slices, the bounds say what is selected and the step how it is walked: 0..6 by −2 is 5, 3, 1.
    Range {
        /// First index; the axis' first if missing.
        start: Option<isize>,
        /// First index that is not taken; the end of the axis if missing.
        stop: Option<isize>,
        /// Distance and direction; not 0.
        step: isize,
    },
}

impl Slice {
    /// All of an axis.
    pub const ALL: Self = Self::Range { start: None, stop: None, step: 1 };

    /// `start..stop`.
    pub const fn range(start: isize, stop: isize) -> Self {
        Self::Range { start: Some(start), stop: Some(stop), step: 1 }
    }

    /// As indices of an axis.
    fn span(self, operation: &'static str, axis: usize, size: usize) -> Result<Span> {
        match self {
            Self::At(index) => {
                let start = index_of(operation, index, axis, size)?;
                Ok(Span { start, step: 1, count: 1 })
            }
            Self::Range { step: 0, .. } => {
                Err(Error::argument(operation, format_args!("the slice of axis {axis} has a step of 0")))
            }
            Self::Range { start, stop, step } => {
                let clip = |bound: isize| {
                    let from_end =
                        if bound < 0 { size.saturating_sub(bound.unsigned_abs()) } else { bound as usize };
                    from_end.min(size)
                };
                let (start, stop) = (start.map_or(0, clip), stop.map_or(size, clip));
                let count = stop.saturating_sub(start).div_ceil(step.unsigned_abs());
                let first = if step > 0 { start } else { stop.saturating_sub(1) };
                let step = if count < 2 { 1 } else { step };
                Ok(Span { start: if count == 0 { 0 } else { first }, step, count })
            }
        }
    }
}

impl Tensor {
    /// A part of the tensor, one slice for each leading axis; the other axes are whole. A view, without a copy.
    ///
    /// # Errors
    /// `Shape` for more slices than axes, `Index` for an index outside of its axis, `Argument` for a step of 0.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value, ops::Slice};
    /// let x = Tensor::from(Value::from_slice(&[0i32, 1, 2, 3, 4, 5], &[6])?);
    /// let back = x.slice(&[Slice::Range { start: Some(0), stop: Some(6), step: -2 }])?;
    /// assert_eq!(back.contiguous().value().as_slice::<i32>(), Some(&[5, 3, 1][..]));
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
        let spans = spans("slice", self.shape(), slices)?;
        self.sliced("slice", spans)
    }

    /// [`Tensor::slice`] of one axis.
    ///
    /// # Errors
    /// As there, or `Shape` if there is no such axis.
    pub fn slice_dim(&self, dim: isize, slice: Slice) -> Result<Self> {
        let axis = axis("slice_dim", dim, self.rank())?;
        let mut spans = whole(self.shape());
        spans[axis] = slice.span("slice_dim", axis, self.shape()[axis])?;
        self.sliced("slice_dim", spans)
    }

    /// The tensor with a part of it replaced by `values`, which have its shape.
    ///
    /// # Errors
    /// As [`Tensor::slice`]; `Shape` or `DType` if the values do not fit.
    pub fn slice_assign(&self, slices: &[Slice], values: &Self) -> Result<Self> {
        let spans = spans("slice_assign", self.shape(), slices)?;
        if !values.shape().iter().eq(spans.iter().map(|span| &span.count)) {
            let (found, wanted) = (values.shape(), counts(&spans));
            let message = format_args!("values of shape {found:?} for a part of shape {wanted:?}");
            return Err(Error::shape("slice_assign", message));
        }
        dequantized([self, values], |[x, values]| {
            same_dtype("slice_assign", x.value(), values.value())?;
            let value = with_part(x.value(), &spans, values.value())?;
            // dx = dy outside of the part, 0 in it; dvalues = dy in the part
            Ok(record("slice_assign", [x, values], value, |needs| {
                move |gradient: Value| {
                    let dx = needs[0].then(|| filled_part(&gradient, &spans, Scalar::Int(0))).transpose()?;
                    Ok([dx, needs[1].then(|| part(&gradient, &spans))])
                }
            }))
        })
    }

    /// The tensor with all of a part of it replaced by a number.
    ///
    /// # Errors
    /// As [`Tensor::slice`].
    pub fn slice_fill(&self, slices: &[Slice], number: Scalar) -> Result<Self> {
        let spans = spans("slice_fill", self.shape(), slices)?;
        let value = filled_part(movable("slice_fill", self)?.as_ref(), &spans, number)?;
        // dx = dy outside of the part, 0 in it
        Ok(record("slice_fill", [self], value, |_| {
            move |gradient: Value| Ok([Some(filled_part(&gradient, &spans, Scalar::Int(0))?)])
        }))
    }

    /// `start..start + length` of an axis.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Index` if the range leaves it, `Argument` if it is empty.
    pub fn narrow(&self, dim: isize, start: usize, length: usize) -> Result<Self> {
        let axis = axis("narrow", dim, self.rank())?;
        let size = self.shape()[axis];
        if length == 0 {
            return Err(Error::argument("narrow", "a length of 0; slice gives empty parts"));
        }
        if start.checked_add(length).is_none_or(|end| end > size) {
            let message = format_args!("{length} elements from {start} on leave axis {axis} of size {size}");
            return Err(Error::index("narrow", message));
        }
        self.narrowed("narrow", axis, start, length)
    }

    /// Index `i` of an axis, negative from the end; the axis goes.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Index` if the index is outside of it.
    pub fn select_dim(&self, dim: isize, index: isize) -> Result<Self> {
        let axis = axis("select_dim", dim, self.rank())?;
        let mut entries = vec![BasicIndex::ALL; axis];
        entries.push(BasicIndex::Int(index as i64));
        self.index(&entries)
    }

    /// What NumPy's basic index takes: integers drop their axis, slices are Python's, new axes have size 1. A view,
    /// without a copy.
    ///
    /// # Errors
    /// `Index` for an integer outside of its axis, `Shape` for more entries than axes, `Argument` for a step of 0 or a
    /// second ellipsis.
    pub fn index(&self, entries: &[BasicIndex]) -> Result<Self> {
        let value = movable("index", self)?;
        let shape: Vec<u64> = self.shape().iter().map(|&size| size as u64).collect();
        let selection = Selection::new(&shape, entries).map_err(index_error)?;
        let value = value.with_layout(value.layout().select(&selection).map_err(index_error)?);
        // dx = dy where the index leads, 0 elsewhere
        Ok(record_many("index", &[self], value, || {
            let shape: Shape = self.shape().into();
            let spans: Vec<Span> = selection
                .axes()
                .iter()
                .map(|axis| Span {
                    start: axis.start as usize,
                    step: axis.step as isize,
                    count: axis.count as usize,
                })
                .collect();
            move |gradient: Value, flow: &mut Flow<'_>| {
                let counts = counts(&spans);
                flow.give_part(0, &shape, &spans, gradient.reshaped(&counts))
            }
        }))
    }

    /// The tensor with what a basic index takes replaced by `values`, broadcast.
    ///
    /// # Errors
    /// As [`Tensor::index`]; `Shape` or `DType` if the values do not fit.
    pub fn index_assign(&self, entries: &[BasicIndex], values: &Self) -> Result<Self> {
        let shape: Vec<u64> = self.shape().iter().map(|&size| size as u64).collect();
        let selection = Selection::new(&shape, entries).map_err(index_error)?;
        let wanted: Vec<isize> = selection.shape().iter().map(|&size| size as isize).collect();
        // NumPy drops leading axes of size 1 of what does not fit otherwise.
        let extra = values.shape().iter().take_while(|&&size| size == 1).count();
        let extra = extra.min(values.rank().saturating_sub(wanted.len()));
        let values = values.with_shape("index_assign", &values.shape()[extra..])?.expand(&wanted)?;
        let axes = selection.axes();
        let counts: Shape = axes.iter().map(|axis| axis.count as usize).collect();
        let slices: Vec<Slice> = axes.iter().map(|axis| walked(axis.start, axis.step, axis.count)).collect();
        self.slice_assign(&slices, &values.with_shape("index_assign", &counts)?)
    }

    /// A part of one axis that is known to be inside.
    pub(crate) fn narrowed(
        &self,
        operation: &'static str,
        axis: usize,
        start: usize,
        count: usize,
    ) -> Result<Self> {
        let mut spans = whole(self.shape());
        spans[axis] = Span { start: if count == 0 { 0 } else { start }, step: 1, count };
        self.sliced(operation, spans)
    }

    fn sliced(&self, operation: &'static str, spans: Vec<Span>) -> Result<Self> {
        let value = part(movable(operation, self)?.as_ref(), &spans);
        // dx = dy in the part, 0 around it
        Ok(record_many(operation, &[self], value, || {
            let shape: Shape = self.shape().into();
            move |gradient: Value, flow: &mut Flow<'_>| flow.give_part(0, &shape, &spans, gradient)
        }))
    }
}

/// The slice that walks `count` indices from `start` on.
fn walked(start: u64, step: i64, count: u64) -> Slice {
    let (start, step, count) = (start as isize, step as isize, count as isize);
    let last = start + step * (count - 1).max(0);
    let (low, high) = (start.min(last), start.max(last));
    Slice::Range { start: Some(low), stop: Some(if count == 0 { low } else { high + 1 }), step }
}

fn index_error(error: LayoutError) -> Error {
    match error {
        LayoutError::OutOfBounds { .. } => Error::index("index", error),
        LayoutError::ZeroStep { .. } | LayoutError::Ellipses { .. } => Error::argument("index", error),
        _ => Error::shape("index", error),
    }
}

/// An index of an axis, that may be counted from the end.
fn index_of(operation: &'static str, index: isize, axis: usize, size: usize) -> Result<usize> {
    let from_start = if index < 0 { index.checked_add_unsigned(size) } else { Some(index) };
    let found = from_start.and_then(|index| usize::try_from(index).ok()).filter(|&index| index < size);
    found.ok_or_else(|| {
        Error::index(operation, format_args!("index {index} is out of bounds for axis {axis} of size {size}"))
    })
}

fn whole(shape: &[usize]) -> Vec<Span> {
    shape.iter().map(|&size| Span::whole(size)).collect()
}

fn counts(spans: &[Span]) -> Shape {
    spans.iter().map(|span| span.count).collect()
}

fn spans(operation: &'static str, shape: &[usize], slices: &[Slice]) -> Result<Vec<Span>> {
    if slices.len() > shape.len() {
        let (given, rank) = (slices.len(), shape.len());
        return Err(Error::shape(operation, format_args!("{given} slices for a tensor of rank {rank}")));
    }
    let of_axis = |(axis, &size): (usize, &usize)| match slices.get(axis) {
        Some(slice) => slice.span(operation, axis, size),
        None => Ok(Span::whole(size)),
    };
    shape.iter().enumerate().map(of_axis).collect()
}

/// A view of what the spans name.
pub(crate) fn part(value: &Value, spans: &[Span]) -> Value {
    let cut = |layout: Layout, (axis, span): (usize, &Span)| {
        if *span == Span::whole(layout.shape()[axis]) {
            return layout;
        }
        layout.sliced(axis, span.start, span.step, span.count)
    };
    value.with_layout(spans.iter().enumerate().fold(value.layout().clone(), cut))
}

/// A part of one axis, as a view.
pub(crate) fn part_of_axis(value: &Value, axis: usize, span: Span) -> Value {
    value.with_layout(value.layout().sliced(axis, span.start, span.step, span.count))
}

/// A tensor of a shape: `inside` where the spans say, zeros around it.
pub(crate) fn zeros_around(shape: &[usize], spans: &[Span], inside: &Value) -> Result<Value> {
    number_around(shape, spans, inside, Scalar::Int(0))
}

/// [`zeros_around`] with any number.
pub(crate) fn number_around(
    shape: &[usize],
    spans: &[Span],
    inside: &Value,
    number: Scalar,
) -> Result<Value> {
    let inside = inside.contiguous();
    dispatch_stored!(inside.dtype(), T => {
        let (x, number) = (inside.as_slice::<T>().expect("contiguous"), as_stored::<T>("slice", number, inside.dtype())?);
        Value::build_as(inside.dtype(), shape, |out| {
            embed(shape, spans, Fill::From(x), Fill::With(number), out);
        })
    }, else => Err(Error::dtype("slice", "not for quantized tensors; dequantize first")))
}

/// A number as an element of a dtype, which may be a boolean.
fn as_stored<T: Element>(operation: &'static str, number: Scalar, dtype: DType) -> Result<T> {
    if dtype == BOOL { Ok(T::from_i64(number.to_bool(operation)?.into())) } else { number.to(operation) }
}

/// The value with `inside` where the spans say.
fn with_part(value: &Value, spans: &[Span], inside: &Value) -> Result<Value> {
    let (around, inside) = (value.contiguous(), inside.contiguous());
    dispatch_bits!(value.dtype().size().unwrap_or(1), T => {
        let (x, around) = (inside.as_slice::<T>().expect("contiguous"), around.as_slice::<T>().expect("contiguous"));
        Value::build_as(value.dtype(), value.shape(), |out| {
            embed(value.shape(), spans, Fill::From(x), Fill::From(around), out);
        })
    })
}

/// The value with a number where the spans say.
pub(crate) fn filled_part(value: &Value, spans: &[Span], number: Scalar) -> Result<Value> {
    let around = value.contiguous();
    dispatch_stored!(value.dtype(), T => {
        let around = around.as_slice::<T>().expect("contiguous");
        let number = as_stored::<T>("slice_fill", number, value.dtype())?;
        Value::build_as(value.dtype(), value.shape(), |out| {
            embed(value.shape(), spans, Fill::With(number), Fill::From(around), out);
        })
    }, else => Err(Error::dtype("slice_fill", "not for quantized tensors; dequantize first")))
}

#[cfg(test)]
#[path = "slice_tests.rs"]
mod tests;
