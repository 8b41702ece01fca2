//! Two shapes become one: NumPy's rule, a superset of Burn's, which asks for equal ranks.

use burnpy_buffer::{DType, Layout, Pod};
use smallvec::SmallVec;

use super::cast::cast_value;
use super::half::is_half;
use super::reduce::sum_axes;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::ops::BinaryOp;
use crate::kernels::simd::Plain;
use crate::kernels::zip::{Closure, zip_strided};
use crate::value::Value;

/// Sizes of the axes of a result.
pub(crate) type Shape = SmallVec<[usize; 5]>;

/// The shape that both broadcast to: aligned at the last axis, sizes equal or 1.
///
/// # Errors
/// `Shape` with both shapes.
pub(crate) fn broadcast_shape(operation: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    if a == b {
        return Ok(a.into());
    }
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    let joint = (0..rank).map(|axis| match (size(a, axis), size(b, axis)) {
        (x, y) if x == y || y == 1 => Ok(x),
        (1, y) => Ok(y),
        (x, y) => Err(Error::shape(
            operation,
            format_args!("shapes {a:?} and {b:?} do not broadcast: sizes {x} and {y} of axis {axis}"),
        )),
    });
    joint.collect()
}

/// Both values must have one dtype.
///
/// # Errors
/// `DType` with both.
pub(crate) fn same_dtype(operation: &'static str, a: &Value, b: &Value) -> Result<DType> {
    if a.dtype() == b.dtype() {
        return Ok(a.dtype());
    }
    let (a, b) = (a.dtype().name(), b.dtype().name());
    Err(Error::dtype(operation, format_args!("dtypes {a} and {b} differ; cast one of them")))
}

/// `f` of each pair of elements, broadcast, as elements of `dtype`.
///
/// # Errors
/// `Shape` if the shapes do not fit.
pub(crate) fn zip<T: Element + Plain, R: Pod + Plain>(
    operation: &'static str,
    values: (&Value, &Value),
    dtype: DType,
    f: impl Fn(T, T) -> R + Copy + Send + Sync,
) -> Result<Value> {
    zip_with(operation, values, dtype, Closure(f))
}

/// [`zip`] with an operation of the kernels. Two values in one dense layout give a result in that layout.
///
/// # Errors
/// As [`zip`].
pub(crate) fn zip_with<T: Element + Plain, R: Pod + Plain>(
    operation: &'static str,
    (a, b): (&Value, &Value),
    dtype: DType,
    op: impl BinaryOp<T, R>,
) -> Result<Value> {
    if let Some(order) = joint_order(a, b) {
        let (x, y) = (a.permuted(&order), b.permuted(&order));
        return Ok(zip_in_order(operation, (&x, &y), dtype, op)?.permuted(&inverse(&order)));
    }
    zip_in_order(operation, (a, b), dtype, op)
}

fn zip_in_order<T: Element + Plain, R: Pod + Plain>(
    operation: &'static str,
    (a, b): (&Value, &Value),
    dtype: DType,
    op: impl BinaryOp<T, R>,
) -> Result<Value> {
    let (x, y) = (typed(operation, a)?, typed(operation, b)?);
    if a.shape() == b.shape() {
        return Value::build_as(dtype, a.shape(), |out| {
            zip_strided((x, a.layout()), (y, b.layout()), out, op)
        });
    }
    let shape = broadcast_shape(operation, a.shape(), b.shape())?;
    let layouts = [spread(a.layout(), &shape), spread(b.layout(), &shape)];
    Value::build_as(dtype, &shape, |out| zip_strided((x, &layouts[0]), (y, &layouts[1]), out, op))
}

/// `op(element, number)` of each element. No tensor is made of the number, and no code but that of [`zip_with`].
///
/// # Errors
/// `DType` if the elements are of another type.
pub(crate) fn zip_number<T: Element + Plain, R: Pod + Plain>(
    operation: &'static str,
    x: &Value,
    number: T,
    dtype: DType,
    op: impl BinaryOp<T, R>,
) -> Result<Value> {
    with_dense_order(x, |x| {
        let (block, number) = (typed(operation, x)?, [number]);
        let one = spread(&Layout::contiguous([1usize; 0]).expect("one element"), x.shape());
        Value::build_as(dtype, x.shape(), |out| {
            zip_strided((block, x.layout()), (&number, &one), out, op);
        })
    })
}

/// The order of axes in which the elements of both lie densely in memory, if it is not the usual one.
fn joint_order(a: &Value, b: &Value) -> Option<Vec<usize>> {
    let is_permuted =
        !a.layout().is_contiguous() && a.shape() == b.shape() && a.layout().strides() == b.layout().strides();
    if is_permuted { a.layout().dense_order() } else { None }
}

/// `run` on a value whose axes are in the order of memory where they are dense in some order; its result has them
/// where they were. What maps elements alone saves the copy of a permuted value by that.
pub(crate) fn with_dense_order(value: &Value, run: impl FnOnce(&Value) -> Result<Value>) -> Result<Value> {
    if value.layout().is_contiguous() {
        return run(value);
    }
    in_order_of(value.layout(), value.clone(), |value, _| run(&value))
}

/// `run` on a value with its axes in the order in which a layout is dense, if that is not the usual one; its result has
/// them where they were. The value is moved, so that it can be changed in place.
pub(crate) fn in_order_of(
    layout: &Layout,
    value: Value,
    run: impl FnOnce(Value, Option<&[usize]>) -> Result<Value>,
) -> Result<Value> {
    let order = if layout.is_contiguous() { None } else { layout.dense_order() };
    let Some(order) = order else { return run(value, None) };
    let permuted = value.permuted(&order);
    drop(value);
    Ok(run(permuted, Some(&order))?.permuted(&inverse(&order)))
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
    inverse
}

/// The block as numbers of a type.
pub(crate) fn typed<'a, T: Element>(operation: &'static str, value: &'a Value) -> Result<&'a [T]> {
    value.block().ok_or_else(|| {
        let (found, wanted) = (value.dtype().name(), T::DTYPE.name());
        Error::dtype(operation, format_args!("expected {wanted}, got {found}"))
    })
}

fn spread(layout: &Layout, shape: &[usize]) -> Layout {
    layout.broadcast_to(shape).expect("it is what the shape was made from")
}

/// The gradient of a broadcast input: the sum over the axes along which it was repeated.
pub(crate) fn sum_to(gradient: Value, shape: &[usize]) -> Result<Value> {
    if gradient.shape() == shape {
        return Ok(gradient);
    }
    if is_half(gradient.dtype()) {
        let sum = sum_to(cast_value(&gradient, DType::F32)?, shape)?;
        return cast_value(&sum, gradient.dtype());
    }
    let added = gradient.rank() - shape.len();
    let repeated = |axis: usize| axis < added || (shape[axis - added] == 1 && gradient.shape()[axis] != 1);
    let axes: Vec<usize> = (0..gradient.rank()).filter(|&axis| repeated(axis)).collect();
    Ok(sum_axes("backward", &gradient, &axes)?.reshaped(shape))
}
