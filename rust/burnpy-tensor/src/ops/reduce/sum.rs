//! Sums and means.

use burnpy_buffer::DType;

use super::values::{Reduced, fold_values, spread};
use crate::autodiff::record;
use crate::element::Kind;
use crate::error::{Error, Result};
use crate::kernels::number::Number;
use crate::kernels::reduce::{Fold, Sum};
use crate::ops::broadcast::{Shape, zip};
use crate::ops::cast::cast_value;
use crate::ops::half::via_f32;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_bits, dispatch_float};

impl Tensor {
    /// Sum of all elements, of shape `[1]`; 0 if there are none. Floats are summed in doubles, integers wrap around.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn sum(&self) -> Result<Self> {
        sum("sum", self, |x| Ok(Reduced::all(x)), Some([1].as_slice().into()))
    }

    /// Sum along an axis, which is kept with size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `DType` for booleans.
    pub fn sum_dim(&self, dim: isize) -> Result<Self> {
        self.sum_dims(&[dim])
    }

    /// Sum along axes, which are kept with size 1. Without axes, nothing is summed.
    ///
    /// # Errors
    /// As [`Tensor::sum_dim`], or `Argument` if an axis comes twice.
    pub fn sum_dims(&self, dims: &[isize]) -> Result<Self> {
        sum("sum_dim", self, |x| Reduced::new("sum_dim", x, dims), None)
    }

    /// Sum along axes, which vanish.
    ///
    /// # Errors
    /// As [`Tensor::sum_dims`].
    pub fn sum_dims_squeeze(&self, dims: &[isize]) -> Result<Self> {
        let reduced = Reduced::new("sum_dims_squeeze", self.value(), dims)?;
        let axes = self.shape().iter().enumerate().filter(|(axis, _)| !reduced.axes.contains(axis));
        let shape: Shape = axes.map(|(_, &size)| size).collect();
        sum("sum_dims_squeeze", self, |_| Ok(reduced), Some(shape))
    }

    /// Mean of all elements, of shape `[1]`. Of integers, the quotient truncated towards zero.
    ///
    /// # Errors
    /// `Shape` for no integers at all (no floats give NaN), `DType` for booleans.
    pub fn mean(&self) -> Result<Self> {
        mean("mean", self, |x| Ok(Reduced::all(x)), Some([1].as_slice().into()))
    }

    /// Mean along an axis, which is kept with size 1.
    ///
    /// # Errors
    /// As [`Tensor::mean`], or `Shape` if there is no such axis.
    pub fn mean_dim(&self, dim: isize) -> Result<Self> {
        self.mean_dims(&[dim])
    }

    /// Mean along axes, which are kept with size 1. Without axes, nothing changes.
    ///
    /// # Errors
    /// As [`Tensor::mean_dim`], or `Argument` if an axis comes twice.
    pub fn mean_dims(&self, dims: &[isize]) -> Result<Self> {
        mean("mean_dim", self, |x| Reduced::new("mean_dim", x, dims), None)
    }
}

/// y = Σ x: dx = dy, repeated
fn sum(
    operation: &'static str,
    x: &Tensor,
    reduced: impl FnOnce(&Value) -> Result<Reduced>,
    seen: Option<Shape>,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let reduced = reduced(x.value())?;
        let value = sum_reduced(operation, x.value(), &reduced)?;
        let value = seen.map_or_else(|| value.clone(), |shape| value.reshaped(&shape));
        Ok(record(operation, [x], value, |_| {
            let shape: Shape = x.shape().into();
            move |gradient: Value| Ok([Some(spread(&gradient, &reduced.kept, &shape))])
        }))
    })
}

/// y = Σ x / n: dx = dy / n, repeated
fn mean(
    operation: &'static str,
    x: &Tensor,
    reduced: impl FnOnce(&Value) -> Result<Reduced>,
    seen: Option<Shape>,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let reduced = reduced(x.value())?;
        let value = mean_reduced(operation, x.value(), &reduced)?;
        let value = seen.map_or_else(|| value.clone(), |shape| value.reshaped(&shape));
        Ok(record(operation, [x], value, |_| {
            let shape: Shape = x.shape().into();
            move |gradient: Value| {
                let share = divided(&gradient, reduced.count as f64)?;
                Ok([Some(spread(&share, &reduced.kept, &shape))])
            }
        }))
    })
}

/// The sum along axes, which are kept with size 1.
pub(crate) fn sum_axes(operation: &'static str, value: &Value, axes: &[usize]) -> Result<Value> {
    sum_reduced(operation, value, &Reduced::over(value, axes.to_vec()))
}

fn sum_reduced(operation: &'static str, value: &Value, reduced: &Reduced) -> Result<Value> {
    dispatch_float!(value.dtype(), T => fold_values::<T>(value, reduced, Sum), else => {
        is_int(operation, value)?;
        // Modulo 2^bits, signs do not matter.
        dispatch_bits!(value.dtype().size().unwrap_or(8), T => fold_values::<T>(value, reduced, Sum))
    })
}

fn is_int(operation: &'static str, value: &Value) -> Result<()> {
    if Kind::of(value.dtype()) == Kind::Int {
        return Ok(());
    }
    Err(Error::dtype(
        operation,
        format_args!("{} tensors have no arithmetic; cast first", value.dtype().name()),
    ))
}

fn mean_reduced(operation: &'static str, value: &Value, reduced: &Reduced) -> Result<Value> {
    dispatch_float!(value.dtype(), T => {
        fold_values::<T>(value, reduced, Divided { count: reduced.count as f64 })
    }, else => {
        is_int(operation, value)?;
        if reduced.count == 0 && reduced.kept.iter().all(|&size| size > 0) {
            return Err(Error::shape(operation, format_args!("no mean of no integers, shape {:?}", value.shape())));
        }
        // In 64 bits, so that narrow sums do not wrap around.
        if value.dtype() == DType::U64 {
            return fold_values::<u64>(value, reduced, Divided { count: reduced.count as u64 });
        }
        let wide = cast_value(value, DType::I64)?;
        cast_value(&fold_values::<i64>(&wide, reduced, Divided { count: reduced.count as i64 })?, value.dtype())
    })
}

/// `x / divisor`.
pub(super) fn divided(x: &Value, divisor: f64) -> Result<Value> {
    let divisor = Value::full(&[], divisor, x.dtype())?;
    dispatch_float!(x.dtype(), T => zip("div", (x, &divisor), x.dtype(), |x: T, d: T| x / d), else =>
        Err(Error::dtype("div", "only floats have gradients")))
}

/// [`Sum`], divided by a number.
#[derive(Clone, Copy)]
struct Divided<N> {
    count: N,
}

impl<T: Number<Wide = N>, N: Number> Fold<T> for Divided<N> {
    type Wide = N;
    const START: N = N::ZERO;

    #[inline(always)]
    fn step(self, wide: N, x: T) -> N {
        wide.plus(x.widen())
    }
    #[inline(always)]
    fn join(self, a: N, b: N) -> N {
        a.plus(b)
    }
    #[inline(always)]
    fn finish(self, wide: N) -> T {
        T::narrow(wide.over(self.count))
    }
}
