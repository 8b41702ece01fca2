//! Which elements a convolution adds up, axis by axis.

/// One spatial axis of a convolution: output `o` reads inputs `o · stride + k · dilation − pad` for taps `k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvAxis {
    /// Elements of the input.
    pub input: usize,
    /// Elements of the output.
    pub output: usize,
    /// Taps.
    pub kernel: usize,
    /// Inputs from one output to the next.
    pub stride: usize,
    /// Inputs from one tap to the next.
    pub dilation: usize,
    /// Zeros before the input.
    pub pad: usize,
}

impl ConvAxis {
    /// An axis of one element, that is convolved with nothing.
    pub const ONE: Self = Self { input: 1, output: 1, kernel: 1, stride: 1, dilation: 1, pad: 0 };
}

/// The sizes of a convolution of up to three spatial axes; axes that there are not come first, as [`ConvAxis::ONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvShape {
    /// Images.
    pub batch: usize,
    /// Groups of channels.
    pub groups: usize,
    /// Channels of the input in each group.
    pub inputs: usize,
    /// Channels of the output in each group.
    pub outputs: usize,
    /// Depth, height, width.
    pub axes: [ConvAxis; 3],
}

impl ConvShape {
    /// Taps of the whole kernel.
    pub(super) fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.kernel).product()
    }

    /// Whether each channel is convolved by itself.
    pub(super) fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.inputs == 1 && self.outputs == 1
    }
}

/// The sums of some elements along an axis: element `first + j · step` of the result, for `j < count`, has for each tap
/// `(k, at)` a product of weight `k` and element `j · source_step + at` of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) count: usize,
    pub(super) source_step: usize,
    /// In the order of `at`.
    pub(super) taps: Vec<(usize, isize)>,
}

impl Pass {
    /// The pass without taps that read zeros only.
    fn useful(mut self, size: usize) -> Self {
        let reach = (self.count.saturating_sub(1) * self.source_step) as isize;
        self.taps.retain(|&(_, at)| at < size as isize && at + reach >= 0);
        self
    }

    /// Where the first tap reads for `j = 0`, and over how many elements the taps spread.
    pub(super) fn span(&self) -> (isize, usize) {
        match (self.taps.first(), self.taps.last()) {
            (Some(first), Some(last)) => (first.1, (last.1 - first.1) as usize + 1),
            _ => (0, 0),
        }
    }

    /// The `j` of results from `from` up to `to`.
    pub(super) fn within(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let index = |at: usize| at.saturating_sub(self.first).div_ceil(self.step).min(self.count);
        index(from)..index(to)
    }
}

impl ConvAxis {
    /// The outputs as sums over inputs.
    pub(super) fn forward(&self) -> Vec<Pass> {
        let taps = (0..self.kernel).map(|k| (k, (k * self.dilation) as isize - self.pad as isize)).collect();
        let pass = Pass { first: 0, step: 1, count: self.output, source_step: self.stride, taps };
        vec![pass.useful(self.input)]
    }

    /// The gradients of inputs as sums over those of outputs, tap `k` with weight `kernel − 1 − k`.
    ///
    /// Input `i` is read by output `o` with tap `k` where `i + pad = o · stride + k · dilation`: the inputs of each
    /// remainder of `i + pad` have taps of their own.
    pub(super) fn backward(&self) -> Vec<Pass> {
        let Self { input, output, kernel, stride, dilation, pad } = *self;
        let passes = (0..stride).map(|remainder| {
            let skipped = pad.saturating_sub(remainder).div_ceil(stride);
            let first = (skipped * stride + remainder).saturating_sub(pad);
            let count = input.saturating_sub(first).div_ceil(stride);
            let taps = (0..kernel).rev().filter(|k| k * dilation % stride == remainder % stride);
            let taps =
                taps.map(|k| (kernel - 1 - k, skipped as isize - (k * dilation / stride) as isize)).collect();
            Pass { first, step: stride, count, source_step: 1, taps }.useful(output)
        });
        passes.filter(|pass| pass.count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axes() -> impl Strategy<Value = ConvAxis> {
        (1..9usize, 1..5usize, 1..5usize, 1..4usize, 0..5usize, 0..5usize).prop_filter_map(
            "windows fit",
            |(input, kernel, stride, dilation, pad, end)| {
                let room = (input + pad + end).checked_sub((kernel - 1) * dilation + 1)?;
                Some(ConvAxis { input, output: room / stride + 1, kernel, stride, dilation, pad })
            },
        )
    }

    proptest! {
        #[test]
        fn both_ways_have_the_products_of_the_definition(axis in axes()) {
            let mut expected = Vec::new();
            for o in 0..axis.output {
                for k in 0..axis.kernel {
                    if let Some(i) = (o * axis.stride + k * axis.dilation).checked_sub(axis.pad)
                        && i < axis.input
                    {
                        expected.push((i, o, k));
                    }
                }
            }
            let products = |passes: Vec<Pass>, size: usize| {
                let mut all = Vec::new();
                for pass in passes {
                    for j in 0..pass.count {
                        for &(k, at) in &pass.taps {
                            let from = (j * pass.source_step) as isize + at;
                            if (0..size as isize).contains(&from) {
                                all.push((pass.first + j * pass.step, from as usize, k));
                            }
                        }
                    }
                }
                all
            };
            let mut forward: Vec<_> =
                products(axis.forward(), axis.input).into_iter().map(|(o, i, k)| (i, o, k)).collect();
            let mut backward: Vec<_> = products(axis.backward(), axis.output)
                .into_iter()
                .map(|(i, o, k)| (i, o, axis.kernel - 1 - k))
                .collect();
            for products in [&mut expected, &mut forward, &mut backward] {
                products.sort_unstable();
            }
            prop_assert_eq!(&forward, &expected);
            prop_assert_eq!(&backward, &expected);
        }
    }
}
