//! Comparisons and tests: tensors of booleans, without gradients.

use burnpy_buffer::DType;

use super::broadcast::{same_dtype, with_dense_order, zip_number, zip_with};
use super::cast::cast_value;
use super::elementwise::{Operation, all_numbers, no_arithmetic, only_floats};
use super::half::{is_half, plain_pair};
use super::scalar::Scalar;
use crate::element::{BOOL, wide};
use crate::error::Result;
use crate::kernels::map;
use crate::kernels::ops::formula::{IsClose, IsFinite, IsInfinite};
use crate::kernels::ops::{self, BinaryOp, UnaryOp};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_float, dispatch_wide};

all_numbers!(Comparison = BinaryOp -> u8: f32 f64 i32 i64 u64);

/// Comparisons as lines: name, name with a number, operation.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident, $with_number:ident = $op:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// The shapes are broadcast; the result is a tensor of booleans.
            ///
            /// # Errors
            /// `Shape` if the shapes do not broadcast, `DType` if the dtypes differ, or booleans have no order.
            pub fn $name(&self, other: &Self) -> Result<Self> {
                let name = stringify!($name);
                let value = compare(name, self.value(), other.value(), $op)?;
                Ok(Self::from_parts(value, None, self.is_autodiff() || other.is_autodiff()))
            }

            $(#[$doc])*
            ///
            /// The other one is a number.
            ///
            /// # Errors
            /// `DType` if the number does not go with the dtype, or booleans have no order.
            pub fn $with_number(&self, other: Scalar) -> Result<Self> {
                let value = compare_scalar(stringify!($with_number), self.value(), other, $op)?;
                Ok(Self::from_parts(value, None, self.is_autodiff()))
            }
        )*}
    };
}

comparisons! {
    /// `self == other`.
    equal, equal_scalar = ops::Equal;
    /// `self != other`.
    not_equal, not_equal_scalar = ops::NotEqual;
    /// `self > other`.
    greater, greater_scalar = ops::Greater;
    /// `self >= other`.
    greater_equal, greater_equal_scalar = ops::GreaterEqual;
    /// `self < other`.
    lower, lower_scalar = ops::Less;
    /// `self <= other`.
    lower_equal, lower_equal_scalar = ops::LessEqual;
}

impl Tensor {
    /// `|self - other| <= atol + rtol |other|`, broadcast. NaN is close to nothing, an infinity to itself.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the tensors are not of floats of one dtype.
    pub fn is_close(&self, other: &Self, rtol: f64, atol: f64) -> Result<Self> {
        let (a, b) = plain_pair(self.value(), other.value())?;
        same_dtype("is_close", &a, &b)?;
        let (a, b) = (widened(&a)?, widened(&b)?);
        let dtype = a.dtype();
        let value = dispatch_float!(dtype, T => {
            zip_with::<T, u8>("is_close", (&a, &b), BOOL, IsClose { rtol, atol })
        }, else => Err(only_floats("is_close", dtype)))?;
        Ok(Self::from_parts(value, None, self.is_autodiff() || other.is_autodiff()))
    }

    /// Whether all elements are close; see [`Tensor::is_close`].
    ///
    /// # Errors
    /// As [`Tensor::is_close`].
    pub fn all_close(&self, other: &Self, rtol: f64, atol: f64) -> Result<bool> {
        let close = self.is_close(other, rtol, atol)?.value().contiguous();
        Ok(close.as_slice::<u8>().is_some_and(|flags| !flags.contains(&0)))
    }

    /// Which elements are NaN.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn is_nan(&self) -> Result<Self> {
        test("is_nan", self, ops::IsNan)
    }

    /// Which elements are infinite.
    ///
    /// # Errors
    /// As [`Tensor::is_nan`].
    pub fn is_inf(&self) -> Result<Self> {
        test("is_inf", self, IsInfinite)
    }

    /// Which elements are neither infinite nor NaN.
    ///
    /// # Errors
    /// As [`Tensor::is_nan`].
    pub fn is_finite(&self) -> Result<Self> {
        test("is_finite", self, IsFinite)
    }
}

fn widened(value: &Value) -> Result<Value> {
    if is_half(value.dtype()) { cast_value(value, DType::F32) } else { Ok(value.clone()) }
}

/// The dtype that one is compared in.
fn computed(dtype: DType) -> DType {
    if is_half(dtype) { DType::F32 } else { wide(dtype).unwrap_or(dtype) }
}

/// Booleans are compared as bytes, for equality only.
fn comparable(operation: &'static str, dtype: DType) -> DType {
    if dtype == BOOL && matches!(operation, "equal" | "not_equal" | "equal_scalar" | "not_equal_scalar") {
        return DType::U8;
    }
    dtype
}

fn compare(operation: &'static str, a: &Value, b: &Value, op: impl Comparison) -> Result<Value> {
    let (a, b) = plain_pair(a, b)?;
    let dtype = comparable(operation, same_dtype(operation, &a, &b)?);
    let computed = computed(dtype);
    let (a, b) = (cast_value(&a, computed)?, cast_value(&b, computed)?);
    dispatch_wide!(computed, T => {
        zip_with::<T, u8>(operation, (&a, &b), BOOL, op)
    }, else => Err(no_arithmetic(operation, dtype)))
}

fn compare_scalar(operation: &'static str, x: &Value, number: Scalar, op: impl Comparison) -> Result<Value> {
    let number = if x.dtype() == BOOL { Scalar::Int(number.to_bool(operation)?.into()) } else { number };
    let (dtype, number) = (comparable(operation, x.dtype()), number.beside(x.dtype()));
    number.check(operation, dtype)?;
    let computed = computed(dtype);
    let x = if dtype == computed { x.clone() } else { cast_value(x, computed)? };
    dispatch_wide!(computed, T => {
        zip_number::<T, u8>(operation, &x, number.to(operation)?, BOOL, op)
    }, else => Err(no_arithmetic(operation, dtype)))
}

fn test(operation: &'static str, x: &Tensor, op: impl UnaryOp<f32, u8> + UnaryOp<f64, u8>) -> Result<Tensor> {
    let value = widened(x.value())?;
    let flags = dispatch_float!(value.dtype(), T => with_dense_order(&value, |x| {
        let dense = x.contiguous();
        let x = dense.as_slice::<T>().expect("contiguous");
        Value::build_bool(dense.shape(), |out| map::unary(op, x, out))
    }), else => Err(only_floats(operation, x.dtype())))?;
    Ok(Tensor::from_parts(flags, None, x.is_autodiff()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{column_major, float};

    fn flags(tensor: &Result<Tensor>) -> Vec<u8> {
        tensor.as_ref().unwrap().value().contiguous().as_slice::<u8>().unwrap().to_vec()
    }

    #[test]
    fn numbers_are_compared_and_nan_with_nothing() {
        let (a, b) = (float(&[1.0, 2.0, f64::NAN], &[3]), float(&[2.0, 2.0, f64::NAN], &[3]));
        for dtype in [DType::F64, DType::F32, DType::F16] {
            let (a, b) = (a.cast(dtype).unwrap(), b.cast(dtype).unwrap());
            assert_eq!(flags(&a.equal(&b)), [0, 1, 0]);
            assert_eq!(flags(&a.not_equal(&b)), [1, 0, 1]);
            assert_eq!(flags(&a.lower(&b)), [1, 0, 0]);
            assert_eq!(flags(&a.lower_equal(&b)), [1, 1, 0]);
            assert_eq!(flags(&a.greater(&b)), [0, 0, 0]);
            assert_eq!(flags(&a.greater_equal_scalar(Scalar::Int(2))), [0, 1, 0]);
        }
        let (x, row) = (float(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), float(&[2.0, 2.0], &[2]));
        assert_eq!(flags(&column_major(&x).greater(&row)), [0, 0, 1, 1]);
    }

    #[test]
    fn a_number_beside_half_precision_is_rounded_as_its_elements_are() {
        for dtype in [DType::F16, DType::BF16] {
            let x = float(&[0.1], &[1]).cast(dtype).unwrap();
            let tenth = Scalar::Float(0.1);
            assert_eq!(flags(&x.equal_scalar(tenth)), [1]);
            assert_eq!(flags(&x.lower_scalar(tenth)), [0]);
            let leaf = x.autodiff().require_grad().unwrap();
            let grads = leaf.clamp_min(tenth).unwrap().backward().unwrap();
            assert_eq!(crate::ops::check::doubles(leaf.grad(&grads).unwrap()), [1.0], "on the bound");
        }
    }

    #[test]
    fn booleans_are_equal_or_not_but_have_no_order() {
        let a: Tensor = Value::build_bool(&[2], |out| out.copy_from_slice(&[0, 1])).unwrap().into();
        assert_eq!(flags(&a.equal(&a)), [1, 1]);
        assert_eq!(flags(&a.not_equal_scalar(Scalar::Bool(true))), [1, 0]);
        assert!(a.lower(&a).is_err() && a.equal_scalar(Scalar::Float(1.0)).is_err());
        let ints: Tensor = Value::from_slice(&[1u8, 2], &[2]).unwrap().into();
        assert!(ints.equal(&a).is_err() && ints.lower_scalar(Scalar::Int(256)).is_err());
        assert!(ints.lower_scalar(Scalar::Float(1.5)).is_err() && ints.is_nan().is_err());
    }

    #[test]
    fn infinities_are_close_to_themselves_only() {
        let inf = f64::INFINITY;
        let a = float(&[1.0, 1.0, inf, f64::NAN, 1.0, -inf], &[6]);
        let b = float(&[1.000_001, 1.1, inf, f64::NAN, inf, inf], &[6]);
        assert_eq!(flags(&a.is_close(&b, 1e-5, 1e-8)), [1, 0, 1, 0, 0, 0]);
        assert!(!a.all_close(&b, 1e-5, 1e-8).unwrap());
        assert!(float(&[], &[0]).all_close(&float(&[], &[0]), 0.0, 0.0).unwrap());
    }

    #[test]
    fn what_is_finite_is_told() {
        let x = float(&[1.0, f64::NAN, f64::NEG_INFINITY], &[3]);
        for x in [x.clone(), x.cast(DType::BF16).unwrap()] {
            assert_eq!(flags(&x.is_nan()), [0, 1, 0]);
            assert_eq!(flags(&x.is_inf()), [0, 0, 1]);
            assert_eq!(flags(&x.is_finite()), [1, 0, 0]);
            assert_eq!(flags(&x.contains_nan()), [1]);
        }
    }
}
