//! Sums of gradients.

use burnpy_buffer::DType;

use super::arith::add_values;
use super::cast::cast_value;
use super::half::is_half;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::map;
use crate::kernels::ops::Add;
use crate::value::Value;

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
