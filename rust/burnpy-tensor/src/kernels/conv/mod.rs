//! Convolutions: no matrix of windows is ever made. Kernels of 3 × 3 with a stride of 1 go by tiles, in fewer products
//! (`winograd`), the others directly.
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
mod winograd;

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
    /// Whether kernels of 3 × 3 go by tiles. Doubles are for those who want digits, not speed.
    const TILED: bool;

    /// `self · factor + sum`, rounded once where that is free.
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self;
}

impl ConvElement for f32 {
    const TILED: bool = true;

    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self {
        A::fma32(self, factor, sum)
    }
}

impl ConvElement for f64 {
    const TILED: bool = false;

    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, sum: Self) -> Self {
        A::fma64(self, factor, sum)
    }
}
