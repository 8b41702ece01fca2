//! Convolutions with one channel in each group: vectors of channels instead of tiles.

use super::ConvElement;
use crate::simd::{Arch, Copies, Kernel};

/// Weights `[tap][channel]` and a bias for each channel.
pub(super) struct ByTap<T> {
    pub(super) weights: Vec<T>,
    pub(super) biases: Vec<T>,
}

impl<T: ConvElement> ByTap<T> {
    /// Of weights `[channel][1][tap]`; `backward` reverses the taps.
    pub(super) fn new(weights: &[T], bias: Option<&[T]>, channels: usize, backward: bool) -> Self {
        let taps = weights.len() / channels;
        let mut by_tap = vec![T::ZERO; weights.len()];
        for (channel, weights) in weights.chunks_exact(taps).enumerate() {
            for (tap, &weight) in weights.iter().enumerate() {
                let tap = if backward { taps - 1 - tap } else { tap };
                by_tap[tap * channels + channel] = weight;
            }
        }
        Self { weights: by_tap, biases: bias.map_or_else(|| vec![T::ZERO; channels], <[T]>::to_vec) }
    }
}

/// A row of outputs: pixel `p` begins at `p · out_step`, tap `(at, k)` of it reads from `p · source_step + at` on.
pub(super) struct DepthRow<'a, T> {
    pub(super) source: &'a [T],
    pub(super) source_step: usize,
    pub(super) taps: &'a [(usize, usize)],
    pub(super) weights: &'a [T],
    pub(super) biases: &'a [T],
    pub(super) out: &'a mut [T],
    pub(super) out_step: usize,
    pub(super) pixels: usize,
    pub(super) relu: bool,
}

impl<T: ConvElement> Kernel for DepthRow<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let channels = self.biases.len();
        for pixel in 0..self.pixels {
            let out = &mut self.out[pixel * self.out_step..][..channels];
            out.copy_from_slice(self.biases);
            for &(at, tap) in self.taps {
                let x = &self.source[pixel * self.source_step + at..][..channels];
                let weights = &self.weights[tap * channels..][..channels];
                for ((out, &x), &weight) in out.iter_mut().zip(x).zip(weights) {
                    *out = x.fma::<A>(weight, *out);
                }
            }
            if self.relu {
                out.iter_mut().for_each(|out| *out = if *out < T::ZERO { T::ZERO } else { *out });
            }
        }
    }
}

/// Gradients of weights `[tap][channel]`: the sums of `source · gradient` over a row of pixels are added.
pub(super) struct DepthWeights<'a, T> {
    pub(super) source: &'a [T],
    pub(super) source_step: usize,
    pub(super) taps: &'a [(usize, usize)],
    /// Pixel after pixel.
    pub(super) gradient: &'a [T],
    pub(super) channels: usize,
    pub(super) out: &'a mut [T],
}

impl<T: ConvElement> Kernel for DepthWeights<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let channels = self.channels;
        for (pixel, gradient) in self.gradient.chunks_exact(channels).enumerate() {
            for &(at, tap) in self.taps {
                let x = &self.source[pixel * self.source_step + at..][..channels];
                let out = &mut self.out[tap * channels..][..channels];
                for ((out, &x), &gradient) in out.iter_mut().zip(x).zip(gradient) {
                    *out = x.fma::<A>(gradient, *out);
                }
            }
        }
    }
}
