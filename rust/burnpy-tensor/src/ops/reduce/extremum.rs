//! The largest and the smallest element. NaN wins both.

use burnpy_buffer::DType;

use super::values::{AsRows, Reduced, fold_values};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::number::Real;
use crate::kernels::ops;
use crate::kernels::reduce::{Largest, Max, Min, Smallest, arg_axis};
use crate::ops::broadcast::Shape;
use crate::ops::cast::cast_value;
use crate::ops::elementwise::map_numbers;
use crate::ops::half::{number_dtype, via_f32};
use crate::ops::{INT, axis};
use crate::tensor::Tensor;
use crate::value::Value;

/// The expression with `T` one of the types that [`ordered`] gives.
macro_rules! dispatch_ordered {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::I32 => { type $T = i32; $body }
            DType::I64 => { type $T = i64; $body }
            DType::U64 => { type $T = u64; $body }
            other => dispatch_float!(other, $T => $body, else => unreachable!("only ordered types")),
        }
    };
}

/// Which element is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extreme {
    Max,
    Min,
    /// The largest absolute value.
    MaxAbs,
}

impl Tensor {
    /// Largest element, of shape `[1]`; NaN if there is one. The gradient goes to the first that is largest.
    ///
    /// # Errors
    /// `Shape` if there are no elements, `DType` for booleans.
    pub fn max(&self) -> Result<Self> {
        all("max", self, Extreme::Max)
    }

    /// Smallest element, of shape `[1]`; see [`Tensor::max`].
    ///
    /// # Errors
    /// As [`Tensor::max`].
    pub fn min(&self) -> Result<Self> {
        all("min", self, Extreme::Min)
    }

    /// Largest absolute value, of shape `[1]`; see [`Tensor::max`].
    ///
    /// # Errors
    /// As [`Tensor::max`].
    pub fn max_abs(&self) -> Result<Self> {
        all("max_abs", self, Extreme::MaxAbs)
    }

    /// Largest element along an axis, which is kept with size 1; see [`Tensor::max`].
    ///
    /// # Errors
    /// As [`Tensor::max`], or `Shape` if there is no such axis.
    pub fn max_dim(&self, dim: isize) -> Result<Self> {
        self.max_dims(&[dim])
    }

    /// Smallest element along an axis, which is kept with size 1; see [`Tensor::max`].
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn min_dim(&self, dim: isize) -> Result<Self> {
        self.min_dims(&[dim])
    }

    /// Largest absolute value along an axis, which is kept with size 1; see [`Tensor::max`].
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn max_abs_dim(&self, dim: isize) -> Result<Self> {
        self.max_abs_dims(&[dim])
    }

    /// Largest element along axes, which are kept with size 1. Without axes, nothing changes.
    ///
    /// # Errors
    /// As [`Tensor::max_dim`], or `Argument` if an axis comes twice.
    pub fn max_dims(&self, dims: &[isize]) -> Result<Self> {
        along("max_dim", self, dims, Extreme::Max)
    }

    /// Smallest element along axes; see [`Tensor::max_dims`].
    ///
    /// # Errors
    /// As [`Tensor::max_dims`].
    pub fn min_dims(&self, dims: &[isize]) -> Result<Self> {
        along("min_dim", self, dims, Extreme::Min)
    }

    /// Largest absolute value along axes; without axes, all absolute values.
    ///
    /// # Errors
    /// As [`Tensor::max_dims`].
    pub fn max_abs_dims(&self, dims: &[isize]) -> Result<Self> {
        along("max_abs_dim", self, dims, Extreme::MaxAbs)
    }

    /// [`Tensor::max_dim`], and [`Tensor::argmax`].
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn max_dim_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        Ok((self.max_dim(dim)?, self.argmax(dim)?))
    }

    /// [`Tensor::min_dim`], and [`Tensor::argmin`].
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn min_dim_with_indices(&self, dim: isize) -> Result<(Self, Self)> {
        Ok((self.min_dim(dim)?, self.argmin(dim)?))
    }

    /// Where along an axis the largest element is; the first of several. The first NaN, if there is one.
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn argmax(&self, dim: isize) -> Result<Self> {
        argument("argmax", self, dim, Extreme::Max)
    }

    /// Where along an axis the smallest element is; see [`Tensor::argmax`].
    ///
    /// # Errors
    /// As [`Tensor::max_dim`].
    pub fn argmin(&self, dim: isize) -> Result<Self> {
        argument("argmin", self, dim, Extreme::Min)
    }
}

fn all(operation: &'static str, x: &Tensor, extreme: Extreme) -> Result<Tensor> {
    let reduced = Reduced::all(x.value()).needs_elements(operation, x.value())?;
    extremum(operation, x, reduced, extreme, Some([1].as_slice().into()))
}

fn along(operation: &'static str, x: &Tensor, dims: &[isize], extreme: Extreme) -> Result<Tensor> {
    let reduced = Reduced::new(operation, x.value(), dims)?.needs_elements(operation, x.value())?;
    extremum(operation, x, reduced, extreme, None)
}

fn extremum(
    operation: &'static str,
    x: &Tensor,
    reduced: Reduced,
    extreme: Extreme,
    seen: Option<Shape>,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let value = extremum_values(operation, x.value(), &reduced, extreme)?;
        let value = seen.map_or_else(|| value.clone(), |shape| value.reshaped(&shape));
        // dx = dy at the element that won (with its sign, for an absolute value), 0 elsewhere
        Ok(record(operation, [x], value, |_| {
            let x = x.value().clone();
            move |gradient: Value| Ok([Some(winners(operation, &x, &gradient, &reduced, extreme)?)])
        }))
    })
}

fn extremum_values(operation: &'static str, x: &Value, reduced: &Reduced, extreme: Extreme) -> Result<Value> {
    let ordered = ordered(operation, x, extreme)?;
    let value = dispatch_ordered!(ordered.dtype(), T => match extreme {
        Extreme::Max | Extreme::MaxAbs => fold_values::<T>(&ordered, reduced, Max),
        Extreme::Min => fold_values::<T>(&ordered, reduced, Min),
    })?;
    cast_value(&value, x.dtype())
}

/// The numbers whose order decides, of one of the few types that are searched.
fn ordered(operation: &'static str, x: &Value, extreme: Extreme) -> Result<Value> {
    let wide = match x.dtype() {
        DType::F16 | DType::BF16 => cast_value(x, DType::F32)?,
        DType::I8 | DType::I16 | DType::U8 | DType::U16 => cast_value(x, DType::I32)?,
        DType::U32 => cast_value(x, DType::I64)?,
        DType::F64 | DType::F32 | DType::Flex32 | DType::I64 | DType::I32 | DType::U64 => x.clone(),
        other => {
            let name = other.name();
            return Err(Error::dtype(operation, format_args!("{name} tensors have no order; cast first")));
        }
    };
    if extreme != Extreme::MaxAbs {
        return Ok(wide);
    }
    // Absolute values as `abs` has them: that of the lowest integer of any width wraps around.
    let narrow = cast_value(&map_numbers(operation, &wide, ops::Abs)?, x.dtype())?;
    cast_value(&narrow, wide.dtype())
}

fn argument(operation: &'static str, x: &Tensor, dim: isize, extreme: Extreme) -> Result<Tensor> {
    let axis = axis::axis(operation, dim, x.rank())?;
    let reduced = Reduced::over(x.value(), vec![axis]).needs_elements(operation, x.value())?;
    let numbers = cast_value(x.value(), number_dtype(x.dtype()))?;
    let indices = indices(&ordered(operation, &numbers, extreme)?, axis, extreme);
    let value = Value::from_slice(&indices, &reduced.kept)?;
    Ok(Tensor::from_parts(cast_value(&value, INT)?, None, x.is_autodiff()))
}

/// The first index of the extreme element along an axis, or of the first NaN.
fn indices(ordered: &Value, axis: usize, extreme: Extreme) -> Vec<i64> {
    let dense = ordered.contiguous();
    let (before, after) = dense.shape().split_at(axis);
    let sizes = [before.iter().product(), after[0], after[1..].iter().product()];
    let mut out = vec![0; sizes[0] * sizes[2]];
    if !out.is_empty() {
        dispatch_ordered!(dense.dtype(), T => {
            let x = dense.as_slice::<T>().expect("contiguous");
            match extreme {
                Extreme::Max | Extreme::MaxAbs => arg_axis(Largest, x, sizes, &mut out),
                Extreme::Min => arg_axis(Smallest, x, sizes, &mut out),
            }
        });
    }
    out
}

/// The gradient of each result at the first element that won, 0 elsewhere.
fn winners(
    operation: &'static str,
    x: &Value,
    gradient: &Value,
    reduced: &Reduced,
    extreme: Extreme,
) -> Result<Value> {
    let as_rows = AsRows::new(x, reduced);
    let indices = indices(&ordered(operation, &as_rows.rows, extreme)?, 1, extreme);
    let gradient = gradient.contiguous();
    let value = dispatch_float!(x.dtype(), T => {
        let (x, gradient) = (as_rows.rows.as_slice::<T>().expect("contiguous"), gradient.as_slice::<T>().expect("contiguous"));
        Value::build_as(as_rows.rows.dtype(), as_rows.rows.shape(), |out: &mut [T]| {
            out.fill(0.0);
            for (row, (&at, &gradient)) in indices.iter().zip(gradient).enumerate() {
                let at = row * reduced.count + at as usize;
                out[at] = gradient * sign(extreme, x[at]);
            }
        })
    }, else => Err(Error::dtype(operation, "only floats have gradients")))?;
    Ok(as_rows.restore(&value))
}

/// The slope of what is compared: 1, or that of an absolute value.
fn sign<T: Real>(extreme: Extreme, x: T) -> T {
    match extreme {
        Extreme::MaxAbs if x == T::ZERO => T::ZERO,
        Extreme::MaxAbs => x.over(x.magnitude()),
        _ => T::ONE,
    }
}
