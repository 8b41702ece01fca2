//! What the families of element-wise operations share: loops over whole values, and steps of the graph.

use burnpy_buffer::{DType, Pod};

use super::broadcast::{in_order_of, same_dtype, sum_to, with_dense_order, zip_number, zip_with};
use super::cast::cast_value;
use super::half::via_f32;
use super::scalar::Scalar;
use crate::autodiff::record;
use crate::element::wide;
use crate::error::{Error, Result};
use crate::kernels::map;
use crate::kernels::ops::{self, BinaryOp, UnaryOp};
use crate::kernels::simd::Plain;
use crate::kernels::strided::copy_strided;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_float, dispatch_int, dispatch_wide};

/// An operation of one float, of both widths.
pub(crate) trait FloatUnary: UnaryOp<f32> + UnaryOp<f64> + 'static {}
impl<O: UnaryOp<f32> + UnaryOp<f64> + 'static> FloatUnary for O {}

/// An operation of two floats, of both widths.
pub(crate) trait FloatBinary: BinaryOp<f32> + BinaryOp<f64> + 'static {}
impl<O: BinaryOp<f32> + BinaryOp<f64> + 'static> FloatBinary for O {}

/// `all_numbers!(Name = Kind -> output: types)`: a trait of the operations of each type.
macro_rules! all_numbers {
    ($name:ident = $op:ident: $($number:ty)*) => {
        /// An operation of several types of numbers.
        pub(crate) trait $name: Operation $(+ $op<$number>)* {}
        impl<O: Operation $(+ $op<$number>)*> $name for O {}
    };
    ($name:ident = $op:ident -> $output:ty: $($number:ty)*) => {
        /// An operation of several types of numbers.
        pub(crate) trait $name: Operation $(+ $op<$number, $output>)* {}
        impl<O: Operation $(+ $op<$number, $output>)*> $name for O {}
    };
}
pub(crate) use all_numbers;

/// What any operation is.
pub(crate) trait Operation: Copy + Send + Sync + 'static {}
impl<O: Copy + Send + Sync + 'static> Operation for O {}
all_numbers!(NumberUnary = UnaryOp: f32 f64 i32 i64 u64);
all_numbers!(NumberBinary = BinaryOp: f32 f64 i32 i64 u64);
all_numbers!(IntegerBinary = BinaryOp: i8 i16 i32 i64 u8 u16 u32 u64);

/// Which value the way back needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Save {
    Input,
    Output,
}

/// `op` of each element of a float tensor; the gradient is `backward(gradient, saved)`.
///
/// # Errors
/// `DType` if it is not of floats.
pub(crate) fn float_unary(
    operation: &'static str,
    x: &Tensor,
    forward: impl FloatUnary,
    save: Save,
    backward: impl FloatBinary,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let value = map_floats(operation, x.value(), forward)?;
        Ok(record(operation, [x], value.clone(), |_| {
            let saved = if save == Save::Input { x.value().clone() } else { value };
            move |gradient| Ok([Some(combine(gradient, &saved, backward)?)])
        }))
    })
}

/// `op` of each element of a float tensor, with no gradient but 0: steps.
pub(crate) fn float_step(operation: &'static str, x: &Tensor, op: impl FloatUnary) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let value = map_floats(operation, x.value(), op)?;
        // dx = 0: the function is constant but where it jumps
        Ok(record(operation, [x], value, |_| {
            move |gradient: Value| Ok([Some(Value::zeros(gradient.shape(), gradient.dtype())?)])
        }))
    })
}

/// `op` of each element of floats.
pub(crate) fn map_floats(operation: &'static str, x: &Value, op: impl FloatUnary) -> Result<Value> {
    let dtype = x.dtype();
    dispatch_float!(dtype, T => with_dense_order(x, |x| {
        let dense = x.contiguous();
        let x = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(dtype, dense.shape(), |out: &mut [T]| map::unary(op, x, out))
    }), else => Err(only_floats(operation, dtype)))
}

/// `op` of each element of numbers.
pub(crate) fn map_numbers(operation: &'static str, x: &Value, op: impl NumberUnary) -> Result<Value> {
    let dtype = x.dtype();
    if let Some(wide) = wide(dtype) {
        return cast_value(&map_numbers(operation, &cast_value(x, wide)?, op)?, dtype);
    }
    dispatch_wide!(dtype, T => with_dense_order(x, |x| {
        let dense = x.contiguous();
        let x = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(dtype, dense.shape(), |out: &mut [T]| map::unary(op, x, out))
    }), else => Err(no_arithmetic(operation, dtype)))
}

/// `op` of pairs of floats, broadcast.
pub(crate) fn zip_floats(
    operation: &'static str,
    a: &Value,
    b: &Value,
    op: impl FloatBinary,
) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    dispatch_float!(dtype, T => zip_with::<T, T>(operation, (a, b), dtype, op), else => Err(only_floats(operation, dtype)))
}

/// `op` of pairs of integers, broadcast.
pub(crate) fn zip_integers(
    operation: &'static str,
    a: &Value,
    b: &Value,
    op: impl IntegerBinary,
) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    dispatch_int!(dtype, T => zip_with::<T, T>(operation, (a, b), dtype, op), else => Err(only_integers(operation, dtype)))
}

/// `op` of pairs of numbers, broadcast.
pub(crate) fn zip_numbers(
    operation: &'static str,
    a: &Value,
    b: &Value,
    op: impl NumberBinary,
) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    if let Some(wide) = wide(dtype) {
        let (a, b) = (cast_value(a, wide)?, cast_value(b, wide)?);
        return cast_value(&zip_numbers(operation, &a, &b, op)?, dtype);
    }
    dispatch_wide!(dtype, T => zip_with::<T, T>(operation, (a, b), dtype, op), else => Err(no_arithmetic(operation, dtype)))
}

/// `op(element, number)` of numbers.
pub(crate) fn zip_scalar(
    operation: &'static str,
    x: &Value,
    number: Scalar,
    op: impl NumberBinary,
) -> Result<Value> {
    let dtype = x.dtype();
    if let Some(wide) = wide(dtype) {
        number.check(operation, dtype)?;
        return cast_value(&zip_scalar(operation, &cast_value(x, wide)?, number, op)?, dtype);
    }
    dispatch_wide!(dtype, T => {
        zip_number::<T, T>(operation, x, number.to(operation)?, dtype, op)
    }, else => Err(no_arithmetic(operation, dtype)))
}

/// `op(gradient, saved)`, in the memory of the gradient if nobody else holds it. The result lies in the order of axes of
/// what was saved: the way back walks images with channels last as the way there did.
pub(crate) fn combine(gradient: Value, saved: &Value, op: impl FloatBinary) -> Result<Value> {
    let dtype = gradient.dtype();
    if gradient.shape() != saved.shape() || dtype != saved.dtype() {
        let message = format_args!("gradient {gradient:?} does not fit {saved:?}");
        return Err(Error::shape("backward", message));
    }
    in_order_of(saved.layout(), gradient, |gradient, order| {
        let saved = order.map_or_else(|| saved.clone(), |order| saved.permuted(order)).contiguous();
        dispatch_float!(dtype, T => {
            let saved = saved.as_slice::<T>().expect("contiguous");
            in_place(gradient, |gradient: &mut [T]| map::binary_assign(op, gradient, saved))
        }, else => Err(only_floats("backward", dtype)))
    })
}

/// `op(gradient)`, in its memory if nobody else holds it.
pub(crate) fn transform(gradient: Value, op: impl FloatUnary) -> Result<Value> {
    let dtype = gradient.dtype();
    in_order_of(&gradient.layout().clone(), gradient, |gradient, _| {
        dispatch_float!(dtype, T => in_place(gradient, |gradient: &mut [T]| map::unary_assign(op, gradient)),
            else => Err(only_floats("backward", dtype)))
    })
}

/// `gradient · other`, broadcast, summed to `shape`; in the memory of the gradient if it can be.
pub(crate) fn product(gradient: Value, other: &Value, shape: &[usize]) -> Result<Value> {
    let product = if gradient.shape() == other.shape() {
        combine(gradient, other, ops::Mul)?
    } else {
        zip_floats("backward", &gradient, other, ops::Mul)?
    };
    sum_to(product, shape)
}

/// A value changed in its own memory if that is in row-major order and nobody else holds it, else a changed copy in that
/// order.
pub(crate) fn in_place<T: Pod + Plain>(mut value: Value, change: impl FnOnce(&mut [T])) -> Result<Value> {
    if let Some(elements) = value.try_mut::<T>() {
        change(elements);
        return Ok(value);
    }
    Value::build_as(value.dtype(), value.shape(), |out: &mut [T]| {
        copy_strided(value.block::<T>().expect("of this dtype"), value.layout(), out);
        change(out);
    })
}

/// No such operation but for floats.
#[cold]
pub(crate) fn only_floats(operation: &'static str, dtype: DType) -> Error {
    refused(operation, dtype, "for float tensors")
}

/// No such operation but for integers.
#[cold]
pub(crate) fn only_integers(operation: &'static str, dtype: DType) -> Error {
    refused(operation, dtype, "for int tensors")
}

/// No such operation but for numbers.
#[cold]
pub(crate) fn no_arithmetic(operation: &'static str, dtype: DType) -> Error {
    refused(operation, dtype, "for tensors of numbers")
}

fn refused(operation: &'static str, dtype: DType, what: &str) -> Error {
    Error::dtype(operation, format_args!("only {what}, got {}; cast first", dtype.name()))
}
