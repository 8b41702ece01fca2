//! Variances.

use super::sum::divided;
use super::values::{AsRows, Reduced};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::reduce::moments_rows;
use crate::ops::arith::mul_values;
use crate::ops::broadcast::zip;
use crate::ops::half::via_f32;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// Variance along an axis, which is kept with size 1: `Σ (x − mean)² / (n − 1)`.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `DType` if it is not of floats.
    pub fn var(&self, dim: isize) -> Result<Self> {
        variance("var", self, dim, 1)
    }

    /// Variance along an axis, which is kept with size 1: `Σ (x − mean)² / n`.
    ///
    /// # Errors
    /// As [`Tensor::var`].
    pub fn var_bias(&self, dim: isize) -> Result<Self> {
        variance("var_bias", self, dim, 0)
    }

    /// [`Tensor::var`] and the mean.
    ///
    /// # Errors
    /// As [`Tensor::var`].
    pub fn var_mean(&self, dim: isize) -> Result<(Self, Self)> {
        Ok((self.var(dim)?, self.mean_dim(dim)?))
    }

    /// [`Tensor::var_bias`] and the mean.
    ///
    /// # Errors
    /// As [`Tensor::var`].
    pub fn var_mean_bias(&self, dim: isize) -> Result<(Self, Self)> {
        Ok((self.var_bias(dim)?, self.mean_dim(dim)?))
    }
}

fn variance(operation: &'static str, x: &Tensor, dim: isize, less: usize) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let reduced = Reduced::new(operation, x.value(), &[dim])?;
        let divisor = reduced.count as f64 - less as f64;
        let as_rows = AsRows::new(x.value(), &reduced);
        let mut means = None;
        let value = dispatch_float!(x.dtype(), T => {
            Value::build_as(x.dtype(), &reduced.kept, |variance: &mut [T]| {
                let mean = Value::build_as(x.dtype(), &reduced.kept, |mean: &mut [T]| {
                    moments_rows(as_rows.rows.as_slice().expect("contiguous"), reduced.count, mean, variance);
                });
                means = mean.ok();
                let scale = (reduced.count as f64 / divisor) as T;
                variance.iter_mut().for_each(|variance| *variance *= scale);
            })
        }, else => Err(Error::dtype(operation, format_args!("needs floats, got {}", x.dtype().name()))))?;
        // dx = dy · 2 (x − mean) / divisor
        Ok(record(operation, [x], value, |_| {
            let (x, mean) = (x.value().clone(), means.expect("as large as the variance"));
            move |gradient: Value| {
                let deviation = dispatch_float!(x.dtype(), T => {
                    zip(operation, (&x, &mean), x.dtype(), |x: T, mean: T| x - mean)
                }, else => unreachable!("checked above"))?;
                Ok([Some(mul_values(operation, &deviation, &divided(&gradient, divisor / 2.0)?)?)])
            }
        }))
    })
}
