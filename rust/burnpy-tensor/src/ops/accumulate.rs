//! Sums of gradients.

use burnpy_buffer::DType;

use super::arith::add_values;
use super::cast::cast_value;
use super::half::is_half;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::parallel;
use crate::value::Value;

/// Elements that a task adds.
const CHUNK: usize = 64 << 10;

/// `sum + gradient`, in the memory of one of them where nobody else holds it.
pub(crate) fn accumulate(mut sum: Value, mut gradient: Value) -> Result<Value> {
    if sum.shape() != gradient.shape() || sum.dtype() != gradient.dtype() {
        let message = format_args!("gradients {sum:?} and {gradient:?} do not add up");
        return Err(Error::shape("backward", message));
    }
    dispatch_float!(sum.dtype(), T => {
        if let (Some(out), Some(more)) = (sum.try_mut::<T>(), gradient.as_slice::<T>()) {
            add_to(out, more);
            return Ok(sum);
        }
        if let (Some(out), Some(more)) = (gradient.try_mut::<T>(), sum.as_slice::<T>()) {
            add_to(out, more);
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

fn add_to<T: Copy + Send + Sync + std::ops::AddAssign>(out: &mut [T], more: &[T]) {
    parallel::chunks_mut(out, CHUNK, |i, part| {
        let more = &more[i * CHUNK..];
        part.iter_mut().zip(more).for_each(|(out, &more)| *out += more);
    });
}
