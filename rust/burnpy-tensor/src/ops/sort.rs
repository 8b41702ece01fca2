//! Order: sorted rows, the greatest of them, the one in the middle.
//!
//! The order is total, −NaN < −∞ < … < −0 < +0 < … < ∞ < NaN. Unlike Burn: stable, also where it descends.

use super::axis::{INT, Indices, axis};
use super::broadcast::Shape;
use super::index::Pick;
use super::views::movable;
use crate::autodiff::record;
use crate::dispatch_stored;
use crate::error::{Error, Result};
use crate::kernels::sort::{arg_sort_rows, nth_of_rows, sort_rows};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// Ascending along an axis.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn sort(&self, dim: isize) -> Result<Self> {
        self.sorted("sort", dim, false)
    }

    /// Descending along an axis.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn sort_descending(&self, dim: isize) -> Result<Self> {
        self.sorted("sort_descending", dim, true)
    }

    /// Ascending along an axis, and where each element came from.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn sort_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        self.ordered("sort_with_indices", dim, None, false)
    }

    /// [`Tensor::sort_with_indices`], descending.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn sort_descending_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        self.ordered("sort_descending_with_indices", dim, None, true)
    }

    /// Where the elements of the ascending order come from.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn argsort(&self, dim: isize) -> Result<Self> {
        Ok(self.inner_like().ordered("argsort", dim, None, false)?.1)
    }

    /// [`Tensor::argsort`], descending.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn argsort_descending(&self, dim: isize) -> Result<Self> {
        Ok(self.inner_like().ordered("argsort_descending", dim, None, true)?.1)
    }

    /// The `k` greatest along an axis, descending.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if it has fewer than k elements.
    pub fn topk(&self, k: usize, dim: isize) -> Result<Self> {
        Ok(self.ordered("topk", dim, Some(k), true)?.0)
    }

    /// [`Tensor::topk`], and where they came from.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value};
    /// let x = Tensor::from(Value::from_slice(&[12.0f32, -2.0, 3.0], &[3])?);
    /// let (values, indices) = x.topk_with_indices(2, 0)?;
    /// assert_eq!(values.value().as_slice::<f32>(), Some(&[12.0, 3.0][..]));
    /// assert_eq!(indices.value().as_slice::<i32>(), Some(&[0, 2][..]));
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn topk_with_indices(&self, k: usize, dim: isize) -> Result<(Self, Self)> {
        self.ordered("topk_with_indices", dim, Some(k), true)
    }

    /// Where the `k` greatest along an axis are.
    ///
    /// # Errors
    /// As [`Tensor::topk`]. Unlike Burn: k may be the axis' size.
    pub fn argtopk(&self, k: usize, dim: isize) -> Result<Self> {
        Ok(self.inner_like().ordered("argtopk", dim, Some(k), true)?.1)
    }

    /// The middle one of the ascending order along an axis, the lower of two; the axis stays, with size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, or it is empty.
    pub fn median(&self, dim: isize) -> Result<Self> {
        Ok(self.median_with_indices(dim)?.0)
    }

    /// [`Tensor::median`], and where it came from.
    ///
    /// # Errors
    /// As there.
    pub fn median_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        let along = axis("median", dim, self.rank())?;
        let len = self.shape()[along];
        if len == 0 {
            return Err(Error::shape("median", format_args!("axis {along} of {:?} is empty", self.shape())));
        }
        let x = rows_of(movable("median", self)?.as_ref(), along);
        let mut shape: Shape = x.shape().into();
        shape[self.rank() - 1] = 1;
        let indices = dispatch_stored!(x.dtype(), T => {
            let x = x.as_slice::<T>().expect("contiguous");
            Value::build(&shape, |out: &mut [i32]| nth_of_rows(x, len, (len - 1) / 2, out))
        }, else => unreachable!("movable"))?;
        let indices = axis_back(&indices, along).contiguous();
        let at = Indices::of("median", &indices, len)?;
        let shape: Shape = at.shape().into();
        let values = self.picked("median", Pick::elements(self.shape(), along), at, &shape)?;
        Ok((values, Self::from_parts(indices, None, self.is_autodiff())))
    }

    fn inner_like(&self) -> Self {
        Self::from_parts(self.value().clone(), None, self.is_autodiff())
    }

    fn sorted(&self, operation: &'static str, dim: isize, descending: bool) -> Result<Self> {
        if self.is_tracked() {
            return Ok(self.ordered(operation, dim, None, descending)?.0);
        }
        let along = axis(operation, dim, self.rank())?;
        let x = rows_of(movable(operation, self)?.as_ref(), along);
        let len = self.shape()[along];
        let value = dispatch_stored!(x.dtype(), T => {
            let dense = x.as_slice::<T>().expect("contiguous");
            Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| sort_rows(dense, len, descending, out))
        }, else => unreachable!("movable"))?;
        Ok(Self::from_parts(axis_back(&value, along), None, self.is_autodiff()))
    }

    /// The first `k` of the order, all if not given, and where they came from.
    fn ordered(
        &self,
        operation: &'static str,
        dim: isize,
        k: Option<usize>,
        descending: bool,
    ) -> Result<(Self, Self)> {
        let along = axis(operation, dim, self.rank())?;
        let len = self.shape()[along];
        let k = k.unwrap_or(len);
        if k > len {
            return Err(Error::argument(operation, format_args!("k = {k} is over the axis' size, {len}")));
        }
        if i32::try_from(len).is_err() {
            return Err(Error::shape(
                operation,
                format_args!("an axis of size {len} is too long for i32 indices"),
            ));
        }
        let x = rows_of(movable(operation, self)?.as_ref(), along);
        let mut shape: Shape = x.shape().into();
        shape[self.rank() - 1] = k;
        let mut values = None;
        let indices = dispatch_stored!(x.dtype(), T => {
            let dense = x.as_slice::<T>().expect("contiguous");
            Value::build(&shape, |indices: &mut [i32]| {
                values = Some(Value::build_as(x.dtype(), &shape, |values: &mut [T]| {
                    arg_sort_rows(dense, (len, k), descending, values, indices);
                }));
            })
        }, else => unreachable!("movable"))?;
        let values = axis_back(&values.expect("built")?, along);
        let indices = axis_back(&indices, along);
        debug_assert_eq!(indices.dtype(), INT);
        // dx = dy where each came from
        let values = record(operation, [self], values, |_| {
            let (at, shape) = (indices.clone(), Shape::from_slice(self.shape()));
            move |gradient: Value| {
                let at = Indices::of(operation, &at, len)?;
                Ok([Some(super::index::sum_at(&shape, Pick::elements(&shape, along), &at, &gradient)?)])
            }
        });
        Ok((values, Self::from_parts(indices, None, self.is_autodiff())))
    }
}

/// The value in row-major order with an axis last.
fn rows_of(value: &Value, axis: usize) -> Value {
    let mut order: Shape = (0..value.rank()).filter(|&other| other != axis).collect();
    order.push(axis);
    value.permuted(&order).contiguous()
}

/// The last axis where it came from.
fn axis_back(value: &Value, axis: usize) -> Value {
    let last = value.rank() - 1;
    let mut order: Shape = (0..last).collect();
    order.insert(axis, last);
    value.permuted(&order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradients, elements, ints, leaf};

    #[test]
    fn rows_are_sorted_along_any_axis_with_their_indices() {
        let x = ints(&[5, 3, 6, 12, -2, 3], &[2, 3]);
        assert_eq!(elements(&x.sort(1).unwrap()), [3., 5., 6., -2., 3., 12.]);
        assert_eq!(elements(&x.sort(0).unwrap()), [5., -2., 3., 12., 3., 6.]);
        assert_eq!(elements(&x.sort_descending(-1).unwrap()), [6., 5., 3., 12., 3., -2.]);
        assert_eq!(elements(&x.argsort(0).unwrap()), [0., 1., 1., 1., 0., 0.]);
        let (values, indices) = x.topk_with_indices(2, 1).unwrap();
        assert_eq!((elements(&values), elements(&indices)), (vec![6., 5., 12., 3.], vec![2., 0., 0., 2.]));
        assert_eq!((values.shape(), indices.dtype()), (&[2, 2][..], INT));
        assert_eq!(elements(&x.topk(3, 1).unwrap()), elements(&x.sort_descending(1).unwrap()));
        assert_eq!(elements(&x.argtopk(1, 1).unwrap()), [2., 0.]);
        assert_eq!(elements(&x.median(1).unwrap()), [5., 3.]);
        assert_eq!(elements(&x.median(0).unwrap()), [5., -2., 3.]);
    }

    #[test]
    fn equal_ones_keep_their_order_also_backwards() {
        let x = ints(&[1, 0, 1, 0, 1], &[5]);
        assert_eq!(elements(&x.argsort(0).unwrap()), [1., 3., 0., 2., 4.]);
        assert_eq!(elements(&x.argsort_descending(0).unwrap()), [0., 2., 4., 1., 3.]);
    }

    #[test]
    fn gradients_go_where_the_elements_came_from() {
        for dim in 0..3 {
            let x = leaf(&[2, 3, 4]);
            check_gradients(std::slice::from_ref(&x), |x| x[0].sort(dim));
            check_gradients(std::slice::from_ref(&x), |x| x[0].sort_descending(dim));
            check_gradients(std::slice::from_ref(&x), |x| x[0].topk(2, dim));
            check_gradients(std::slice::from_ref(&x), |x| x[0].median(dim));
        }
    }

    #[test]
    fn empty_and_single_rows_are_sorted_already() {
        let (empty, one) = (ints(&[], &[2, 0]), ints(&[7], &[1]));
        assert_eq!(empty.sort(1).unwrap().shape(), [2, 0]);
        assert_eq!(empty.sort(0).unwrap().shape(), [2, 0]);
        assert_eq!(empty.sort_with_indices(1).unwrap().1.shape(), [2, 0]);
        assert_eq!(one.topk(0, 0).unwrap().shape(), [0]);
        assert_eq!(elements(&one.median(0).unwrap()), [7.]);
    }

    #[test]
    fn what_cannot_be_sorted_is_an_error() {
        let x = ints(&[1, 2, 3], &[3]);
        let cases = [
            (x.sort(1), "sort: axis 1 is outside of a tensor of rank 1"),
            (x.topk(4, 0), "topk: k = 4 is over the axis' size, 3"),
            (x.argtopk(4, 0), "argtopk: k = 4 is over the axis' size, 3"),
            (ints(&[], &[0]).median(0), "median: axis 0 of [0] is empty"),
        ];
        for (result, message) in cases {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }
}
