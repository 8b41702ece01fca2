//! Sums of gradients.

use burnpy_buffer::DType;

use super::arith::add_values;
use super::cast::cast_value;
use super::half::is_half;
use super::slice::zeros_around;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::map;
use crate::kernels::ops::Add;
use crate::kernels::region::{Span, add_part};
use crate::value::Value;

/// `sum + gradient` where the gradient is that of a part, in the memory of the sum where nobody else holds it.
///
/// A sequence that is cut into its steps would otherwise cost a tensor of its whole size for each.
pub(crate) fn accumulate_part(
    sum: Option<Value>,
    shape: &[usize],
    spans: &[Span],
    gradient: Value,
) -> Result<Value> {
    let Some(mut sum) = sum else { return zeros_around(shape, spans, &gradient) };
    if sum.shape() == shape && sum.dtype() == gradient.dtype() && !is_half(sum.dtype()) {
        let part = gradient.contiguous();
        dispatch_float!(sum.dtype(), T => {
            if let (Some(out), Some(part)) = (sum.try_mut::<T>(), part.as_slice::<T>()) {
                add_part(shape, spans, part, out);
                return Ok(sum);
            }
        }, else => {});
    }
    accumulate(sum, zeros_around(shape, spans, &gradient)?)
}

/// `sum + gradient`, in the memory of one of them where nobody else holds it.
pub(crate) fn accumulate(mut sum: Value, mut gradient: Value) -> Result<Value> {
    if sum.shape() != gradient.shape() || sum.dtype() != gradient.dtype() {
        let message = format_args!("gradients {sum:?} and {gradient:?} do not add up");
        return Err(Error::shape("backward", message));
    }
    dispatch_float!(sum.dtype(), T => {
        if let (Some(out), Some(more)) = (sum.try_mut::<T>(), gradient.as_slice::<T>()) {
            map::binary_assign(Add, out, more);
            return Ok(sum);
        }
        if let (Some(out), Some(more)) = (gradient.try_mut::<T>(), sum.as_slice::<T>()) {
            map::binary_assign(Add, out, more);
            return Ok(gradient);
        }
    }, else => {});
    let dtype = sum.dtype();
    if is_half(dtype) {
        let wide = |value: &Value| cast_value(value, DType::F32);
        return cast_value(&add_values("backward", &wide(&sum)?, &wide(&gradient)?)?, dtype);
    }
    add_values("backward", &sum, &gradient)
}
