//! Sums over all axes but that of channels.

use super::conv::{images, no_floats};
use crate::dispatch_float;
use crate::error::Result;
use crate::kernels::conv::channel_sums;
use crate::value::Value;

/// The sums of the channels of `[batch, channels, …]`, with up to three more axes.
pub(super) fn sum_of_channels(operation: &'static str, value: &Value) -> Result<Value> {
    let channels = value.shape()[1];
    let mut sizes = [1; 5];
    sizes[..2].copy_from_slice(&value.shape()[..2]);
    sizes[7 - value.rank()..].copy_from_slice(&value.shape()[2..]);
    dispatch_float!(value.dtype(), T => {
        Value::build_as(value.dtype(), &[channels], |out: &mut [T]| {
            channel_sums(&images(value), sizes, out);
        })
    }, else => Err(no_floats(operation, value.dtype())))
}
