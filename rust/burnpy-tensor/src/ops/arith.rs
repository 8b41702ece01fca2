//! Sum, difference, product, quotient.

use super::broadcast::{same_dtype, sum_to, zip};
use super::half::via_f32;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_float, dispatch_int};

impl Tensor {
    /// `self + other`, broadcast. Integers wrap around.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the dtypes differ or are booleans.
    pub fn add(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = add_values("add", a.value(), b.value())?;
            let shapes = [a.value().clone(), b.value().clone()].map(|value| value.shape().to_vec());
            // d(a + b) = da + db
            Ok(record("add", [a, b], value, |needs| {
                move |gradient: Value| {
                    let share = |i: usize| needs[i].then(|| sum_to(gradient.clone(), &shapes[i])).transpose();
                    Ok([share(0)?, share(1)?])
                }
            }))
        })
    }

    /// `self * other`, broadcast. Integers wrap around.
    ///
    /// # Errors
    /// As [`Tensor::add`].
    pub fn mul(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = mul_values("mul", a.value(), b.value())?;
            // d(a · b) = b · da + a · db
            Ok(record("mul", [a, b], value, |needs| {
                let (x, y) = (a.value().clone(), b.value().clone());
                move |gradient: Value| {
                    let share =
                        |of: &Value, other: &Value| sum_to(mul_values("mul", &gradient, other)?, of.shape());
                    let dx = needs[0].then(|| share(&x, &y)).transpose()?;
                    let dy = needs[1].then(|| share(&y, &x)).transpose()?;
                    Ok([dx, dy])
                }
            }))
        })
    }
}

/// The sum of two values, broadcast.
pub(crate) fn add_values(operation: &'static str, a: &Value, b: &Value) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    dispatch_float!(dtype, T => zip(operation, (a, b), dtype, |a: T, b: T| a + b), else =>
        dispatch_int!(dtype, T => zip(operation, (a, b), dtype, T::wrapping_add), else => Err(no_arithmetic(operation, dtype))))
}

/// The product of two values, broadcast.
pub(crate) fn mul_values(operation: &'static str, a: &Value, b: &Value) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    dispatch_float!(dtype, T => zip(operation, (a, b), dtype, |a: T, b: T| a * b), else =>
        dispatch_int!(dtype, T => zip(operation, (a, b), dtype, T::wrapping_mul), else => Err(no_arithmetic(operation, dtype))))
}

fn no_arithmetic(operation: &'static str, dtype: burnpy_buffer::DType) -> Error {
    Error::dtype(operation, format_args!("{} tensors have no arithmetic; cast first", dtype.name()))
}
