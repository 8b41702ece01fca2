//! Running sums, products and extrema along an axis.

use super::axis::{INT, Indices, axis};
use super::broadcast::Shape;
use super::half::{is_half, via_f32};
use super::index::{Pick, around};
use super::views::movable;
use crate::autodiff::record;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::scan::scan;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, dispatch_float, dispatch_int, dispatch_number};

impl Tensor {
    /// Running sums along an axis. Floats are summed in f64, integers wrap around.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `DType` for booleans.
    pub fn cumsum(&self, dim: isize) -> Result<Self> {
        via_f32([self], |[x]| {
            let along = axis("cumsum", dim, x.rank())?;
            let value = running_sum(x.value(), along, false)?;
            // dx_i = Σ_{j ≥ i} dy_j
            Ok(record("cumsum", [x], value, |_| {
                move |gradient: Value| Ok([Some(running_sum(&gradient, along, true)?)])
            }))
        })
    }

    /// Running products along an axis. Floats are multiplied in f64, integers wrap around.
    ///
    /// # Errors
    /// As [`Tensor::cumsum`].
    pub fn cumprod(&self, dim: isize) -> Result<Self> {
        via_f32([self], |[x]| {
            let along = axis("cumprod", dim, x.rank())?;
            let value = running_product(x.value(), along)?;
            Ok(record("cumprod", [x], value, |_| {
                let x = x.value().clone();
                move |gradient: Value| Ok([Some(product_backward(&x, &gradient, along)?)])
            }))
        })
    }

    /// The greatest so far along an axis; from a NaN on, NaN.
    ///
    /// # Errors
    /// As [`Tensor::cumsum`].
    pub fn cummax(&self, dim: isize) -> Result<Self> {
        Ok(self.running_extreme("cummax", dim, true)?.0)
    }

    /// The least so far along an axis; from a NaN on, NaN.
    ///
    /// # Errors
    /// As [`Tensor::cumsum`].
    pub fn cummin(&self, dim: isize) -> Result<Self> {
        Ok(self.running_extreme("cummin", dim, false)?.0)
    }

    /// [`Tensor::cummax`], and where each stands: of equal ones the last.
    ///
    /// # Errors
    /// As there.
    pub fn cummax_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        self.running_extreme("cummax", dim, true)
    }

    /// [`Tensor::cummin`], and where each stands: of equal ones the last.
    ///
    /// # Errors
    /// As there.
    pub fn cummin_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        self.running_extreme("cummin", dim, false)
    }

    fn running_extreme(&self, operation: &'static str, dim: isize, greatest: bool) -> Result<(Self, Self)> {
        let along = axis(operation, dim, self.rank())?;
        let x = movable(operation, self)?;
        let wide = if is_half(x.dtype()) { super::cast::cast_value(&x, DType::F32)? } else { x.into_owned() };
        let indices = extreme_places(operation, &wide, along, greatest)?;
        let at = Indices::of(operation, &indices, self.shape()[along])?;
        // dx = Σ dy over the places that an element is the extreme of
        let values = self.picked(operation, Pick::elements(self.shape(), along), at, self.shape())?;
        debug_assert_eq!(indices.dtype(), INT);
        Ok((values, Self::from_parts(indices, None, self.is_autodiff())))
    }
}

fn no_numbers(operation: &'static str, dtype: DType) -> Error {
    Error::dtype(operation, format_args!("{} tensors have no arithmetic; cast first", dtype.name()))
}

fn running_sum(x: &Value, axis: usize, backwards: bool) -> Result<Value> {
    let (dense, (_, len, inner)) = (x.contiguous(), around(x.shape(), axis));
    let dims = (len, inner);
    dispatch_float!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
            scan(dims, backwards, 0.0, |sum, i| sum + data[i].to_f64(), T::from_f64, out);
        })
    }, else => dispatch_int!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        Value::build(x.shape(), |out: &mut [T]| {
            scan(dims, backwards, 0, |sum: T, i| sum.wrapping_add(data[i]), |sum| sum, out);
        })
    }, else => Err(no_numbers("cumsum", x.dtype()))))
}

fn running_product(x: &Value, axis: usize) -> Result<Value> {
    let (dense, (_, len, inner)) = (x.contiguous(), around(x.shape(), axis));
    let dims = (len, inner);
    dispatch_float!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
            scan(dims, false, 1.0, |product, i| product * data[i].to_f64(), T::from_f64, out);
        })
    }, else => dispatch_int!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        Value::build(x.shape(), |out: &mut [T]| {
            scan(dims, false, 1, |product: T, i| product.wrapping_mul(data[i]), |product| product, out);
        })
    }, else => Err(no_numbers("cumprod", x.dtype()))))
}

/// dx_i = Σ_{j ≥ i} dy_j Π_{k ≤ j, k ≠ i} x_k = P_{i−1} · S_i, with P_i = P_{i−1} · x_i and
/// S_i = dy_i + x_{i+1} · S_{i+1}: no division, so that zeros are numbers like any other.
fn product_backward(x: &Value, gradient: &Value, axis: usize) -> Result<Value> {
    let (dense, dy, (_, len, inner)) = (x.contiguous(), gradient.contiguous(), around(x.shape(), axis));
    dispatch_float!(x.dtype(), T => {
        let (x, dy) = (dense.as_slice::<T>().expect("contiguous"), dy.as_slice::<T>().expect("contiguous"));
        let mut suffix = vec![0.0; x.len()];
        // The pair is (S, x) of the element after.
        let behind = |(sum, next): (f64, f64), i: usize| (dy[i].to_f64() + next * sum, x[i].to_f64());
        scan((len, inner), true, (0.0, 0.0), behind, |(sum, _)| sum, &mut suffix);
        Value::build_as(dense.dtype(), dense.shape(), |out: &mut [T]| {
            // The triple is P before this element, P after it, and the result.
            let step = |(_, before, _): (f64, f64, f64), i: usize| {
                (before, before * x[i].to_f64(), before * suffix[i])
            };
            scan((len, inner), false, (1.0, 1.0, 0.0), step, |(_, _, dx)| T::from_f64(dx), out);
        })
    }, else => Err(no_numbers("cumprod", x.dtype())))
}

/// Where the extreme so far stands along an axis.
fn extreme_places(operation: &'static str, x: &Value, axis: usize, greatest: bool) -> Result<Value> {
    let (dense, (_, len, inner)) = (x.contiguous(), around(x.shape(), axis));
    if i32::try_from(len).is_err() {
        return Err(Error::shape(
            operation,
            format_args!("an axis of size {len} is too long for i32 indices"),
        ));
    }
    let shape: Shape = x.shape().into();
    dispatch_number!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        let step = |held: usize, i: usize| {
            if held == usize::MAX {
                return i;
            }
            let (old, new) = (data[held], data[i]);
            let order = if greatest { new.partial_cmp(&old) } else { old.partial_cmp(&new) };
            match order {
                Some(order) if order.is_lt() => held,
                // Equal, better, or a NaN that comes first; one that is held stays.
                Some(_) => i,
                None if old.partial_cmp(&old).is_none() => held,
                None => i,
            }
        };
        Value::build(&shape, |out: &mut [i32]| {
            let place = |held: usize| (held / inner % len) as i32;
            scan((len, inner), false, usize::MAX, step, place, out);
        })
    }, else => Err(no_numbers(operation, x.dtype())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, tensor};
    use crate::ops::testing::{check_gradients, elements, ints, leaf, leaf_of};

    #[test]
    fn results_run_along_the_axis() {
        let x = ints(&[1, 2, 3, 4, -5, 6], &[2, 3]);
        type Run = fn(&Tensor, isize) -> Result<Tensor>;
        let cases: [(Run, [f64; 6], [f64; 6]); 4] = [
            (Tensor::cumsum, [1., 3., 6., 4., -1., 5.], [1., 2., 3., 5., -3., 9.]),
            (Tensor::cumprod, [1., 2., 6., 4., -20., -120.], [1., 2., 3., 4., -10., 18.]),
            (Tensor::cummax, [1., 2., 3., 4., 4., 6.], [1., 2., 3., 4., 2., 6.]),
            (Tensor::cummin, [1., 1., 1., 4., -5., -5.], [1., 2., 3., 1., -5., 3.]),
        ];
        for (run, rows, columns) in cases {
            assert_eq!(elements(&run(&x, 1).unwrap()), rows);
            assert_eq!(elements(&run(&x, 0).unwrap()), columns);
            assert_eq!(run(&ints(&[], &[2, 0]), 1).unwrap().shape(), [2, 0]);
            let floats = x.cast(DType::F16).unwrap().transpose().unwrap();
            assert_eq!(elements(&run(&floats, 0).unwrap().transpose().unwrap()), rows);
            assert!(run(&x.cast(crate::BOOL).unwrap(), 0).is_err());
        }
        let (_, at) = ints(&[3, 1, 3, 2], &[4]).cummax_with_indices(0).unwrap();
        assert_eq!(elements(&at), [0., 0., 2., 2.]);
    }

    #[test]
    fn from_a_nan_on_extrema_are_nan() {
        let x = tensor(&[1.0, f64::NAN, 3.0, f64::NEG_INFINITY], &[4]);
        let nan = f64::NAN;
        assert_close(&elements(&x.cummax(0).unwrap()), &[1.0, nan, nan, nan], 0.0);
        assert_close(&elements(&x.cummin(0).unwrap()), &[1.0, nan, nan, nan], 0.0);
    }

    #[test]
    fn long_sums_do_not_drift() {
        let x = tensor(&vec![0.1f32; 1 << 20], &[1 << 20]);
        let last = elements(&x.cumsum(0).unwrap())[(1 << 20) - 1];
        assert!((last - 0.1f32 as f64 * (1 << 20) as f64).abs() < 0.01, "{last}");
    }

    #[test]
    fn gradients_are_right_also_with_zeros() {
        for dim in 0..3 {
            check_gradients(&[leaf(&[2, 3, 4])], |x| x[0].cumsum(dim));
            check_gradients(&[leaf(&[2, 3, 4])], |x| x[0].cummax(dim));
            check_gradients(&[leaf(&[2, 3, 4])], |x| x[0].cummin(dim));
        }
        let zeros = leaf_of(&[2.0, 0.0, 3.0, 0.5, 0.0, -1.0, 0.0, 4.0], &[2, 4]);
        for dim in 0..2 {
            check_gradients(std::slice::from_ref(&zeros), |x| x[0].cumprod(dim));
        }
    }
}
