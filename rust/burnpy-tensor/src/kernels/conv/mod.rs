//! Convolutions, directly: no matrix of windows is ever made.
//!
//! Outputs and gradients of inputs are written channels last. A task takes some rows of them, brings the elements of
//! the source that they need into one block of channels-last rows with the zeros around them, unless they lie like that
//! already, and adds up tiles of pixels × channels from it. The gradient of an input is such a sum too, of the
//! gradients of outputs with the weights reversed: one for each remainder of the stride.
//!
//! An element's products are always added in one order, given by the shape: its bits depend neither on the number of
//! threads nor on strides.

mod channels;
mod depthwise;
mod forward;
mod pack;
mod plan;
#[cfg(test)]
mod tests;
mod weights;

use burnpy_buffer::Pod;

pub use channels::channel_sums;
pub use forward::{conv, conv_input_gradient};
pub use pack::Images;
pub use plan::{ConvAxis, ConvShape};
pub use weights::conv_weight_gradient;

use super::number::Number;
use super::simd::{SlideElement, Transpose};
use crate::simd::Arch;

/// Numbers that there are convolutions of: `f32` and `f64`.
pub trait ConvElement: Pod + Default + Number + SlideElement + Transpose {
    /// `self · factor + sum`, rounded once where that is free.
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self;
}

impl ConvElement for f32 {
    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self {
        A::fma32(self, factor, sum)
    }
}

impl ConvElement for f64 {
    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self {
        A::fma64(self, factor, sum)
    }
}
