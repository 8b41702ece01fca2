//! Linear maps along spatial axes: what average pools and interpolation are made of.

use super::conv::no_floats;
use super::max_pool::{channels_last, restored};
use crate::dispatch_float;
use crate::element::Element;
use crate::error::Result;
use crate::kernels::resample::{Taps, resample};
use crate::value::Value;

/// A value with one [`Taps`] applied along each axis behind the channels, in the order in which it lies in memory.
pub(super) fn along_axes(operation: &'static str, value: &Value, taps: &[Taps]) -> Result<Value> {
    let last = lies_last(value);
    let mut value = in_order(value, last);
    for (i, taps) in taps.iter().enumerate() {
        value = along(operation, &value, if last { 1 } else { 2 } + i, taps)?;
    }
    Ok(restored(&value, last))
}

/// The transposed map: from gradients of outputs to those of inputs of these sizes.
pub(super) fn transposed(taps: &[Taps], inputs: &[usize]) -> Vec<Taps> {
    taps.iter().zip(inputs).map(|(taps, &inputs)| taps.transposed(inputs)).collect()
}

/// Whether channels come last in memory.
pub(super) fn lies_last(value: &Value) -> bool {
    !value.layout().is_contiguous() && channels_last(value).layout().is_contiguous()
}

/// Contiguous, with channels last if they lie so.
pub(super) fn in_order(value: &Value, last: bool) -> Value {
    if last { channels_last(value).contiguous() } else { value.contiguous() }
}

fn along(operation: &'static str, value: &Value, axis: usize, taps: &Taps) -> Result<Value> {
    let (inputs, inner) = (value.shape()[axis], value.shape()[axis + 1..].iter().product());
    let mut shape = value.shape().to_vec();
    shape[axis] = taps.outputs();
    dispatch_float!(value.dtype(), T => {
        let x = value.as_slice::<T>().expect("contiguous");
        Value::build_as(value.dtype(), &shape, |out: &mut [T]| {
            resample(taps, <T as Element>::from_f64, inputs, inner, x, out);
        })
    }, else => Err(no_floats(operation, value.dtype())))
}
