//! Transposed convolutions: the sums that the gradient of a convolution's input is made of.

use super::conv::{axis_of, check_bias, check_groups, conv_values, input_gradient, weight_gradient};
use super::half::via_f32;
use super::window::{Window, spatial};
use crate::autodiff::{Flow, record_many};
use crate::error::{Error, Result};
use crate::kernels::conv::{ConvAxis, ConvShape};
use crate::tensor::Tensor;
use crate::value::Value;

/// How a transposed kernel slides over its output, for `N` axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvTransposeOptions<const N: usize> {
    /// Elements of the output from one input to the next.
    pub stride: [usize; N],
    /// Elements cut off the output at both ends.
    pub padding: [usize; N],
    /// Elements added to the output at the end.
    pub padding_out: [usize; N],
    /// Elements from one tap of the kernel to the next.
    pub dilation: [usize; N],
    /// Groups of channels that are convolved by themselves.
    pub groups: usize,
}

impl<const N: usize> Default for ConvTransposeOptions<N> {
    fn default() -> Self {
        Self { stride: [1; N], padding: [0; N], padding_out: [0; N], dilation: [1; N], groups: 1 }
    }
}

impl Tensor {
    /// The transposed convolution of `[batch, channels, length]` with `[channels, outputs / groups, kernel]`, plus a
    /// bias for each output: `[batch, outputs, (length − 1) · stride + dilation · (kernel − 1) + 1 + padding_out −
    /// 2 · padding]`. Channels come last in memory, as in [`Tensor::conv1d`].
    ///
    /// # Errors
    /// `Shape` if the ranks, the channels or the bias do not fit, or nothing is left of the output; `Argument` if a
    /// stride, a dilation or `groups` is 0; `DType` if the dtypes differ or are no floats.
    pub fn conv_transpose1d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        options: &ConvTransposeOptions<1>,
    ) -> Result<Self> {
        transpose("conv_transpose1d", self, weight, bias, options)
    }

    /// [`Tensor::conv_transpose1d`] of `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d`].
    pub fn conv_transpose2d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        options: &ConvTransposeOptions<2>,
    ) -> Result<Self> {
        transpose("conv_transpose2d", self, weight, bias, options)
    }

    /// [`Tensor::conv_transpose1d`] of `[batch, channels, depth, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::conv_transpose1d`].
    pub fn conv_transpose3d(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        options: &ConvTransposeOptions<3>,
    ) -> Result<Self> {
        transpose("conv_transpose3d", self, weight, bias, options)
    }
}

fn transpose<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    options: &ConvTransposeOptions<N>,
) -> Result<Tensor> {
    match bias {
        Some(bias) => via_f32([x, weight, bias], |[x, weight, bias]| {
            transpose_wide(operation, x, weight, Some(bias), options)
        }),
        None => via_f32([x, weight], |[x, weight]| transpose_wide(operation, x, weight, None, options)),
    }
}

fn transpose_wide<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    options: &ConvTransposeOptions<N>,
) -> Result<Tensor> {
    let shape = shape_of(operation, x.shape(), weight.shape(), options)?;
    check_bias(operation, bias, shape.groups * shape.inputs)?;
    let bias_value = bias.map(Tensor::value);
    let value = input_gradient(operation, (x.value(), weight.value(), bias_value), &shape, N)?;
    let inputs: &[&Tensor] = match bias {
        Some(bias) => &[x, weight, bias],
        None => &[x, weight],
    };
    // With y the gradient of the input of a convolution whose output's is x: dx is the convolution of dy, dw the
    // gradient of the convolution's weights for the input dy, db[o] = Σ dy[n, o, p].
    Ok(record_many(operation, inputs, value, || {
        let [dx, dw, db] = [x.is_tracked(), weight.is_tracked(), bias.is_some_and(Tensor::is_tracked)];
        let x = dw.then(|| x.value().clone());
        let weight = dx.then(|| weight.value().clone());
        move |gradient: Value, flow: &mut Flow<'_>| {
            if let Some(weight) = weight {
                flow.give(0, conv_values(operation, (&gradient, &weight, None), &shape, N)?)?;
            }
            if let Some(x) = x {
                flow.give(1, weight_gradient(operation, (&gradient, &x), &shape, N, false)?.0)?;
            }
            if db {
                flow.give(2, super::channel::sum_of_channels(operation, &gradient)?)?;
            }
            Ok(())
        }
    }))
}

/// The sizes of the convolution that this is the transpose of: its output is our input.
fn shape_of<const N: usize>(
    operation: &'static str,
    x: &[usize],
    weight: &[usize],
    options: &ConvTransposeOptions<N>,
) -> Result<ConvShape> {
    let sizes: [usize; N] = spatial(operation, x)?;
    let kernel: [usize; N] = spatial(operation, weight)?;
    let (groups, channels) = (options.groups, x[1]);
    check_groups(operation, groups, &[("input channels", channels)])?;
    if weight[0] != channels || channels == 0 || weight[1] == 0 {
        return Err(Error::shape(
            operation,
            format_args!("a weight of shape {weight:?} does not fit an input of {channels} channels"),
        ));
    }
    let pads = options.padding.map(|pad| (pad, pad));
    let windows = Window::all(kernel, options.stride, options.dilation, pads);
    let mut axes = [ConvAxis::ONE; 3];
    for (i, window) in windows.iter().enumerate() {
        let output = transposed_size(operation, window, sizes[i], options.padding_out[i])?;
        axes[3 - N + i] = axis_of(window, output, sizes[i]);
    }
    let outputs = channels / groups;
    Ok(ConvShape { batch: x[0], groups, inputs: weight[1], outputs, axes })
}

fn transposed_size(operation: &'static str, window: &Window, size: usize, extra: usize) -> Result<usize> {
    let extent = window.extent(operation)?;
    let (stride, pad) = (window.stride, window.pad.0);
    let whole = size.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(extent));
    let whole =
        whole.and_then(|whole| whole.checked_add(extra)).filter(|&whole| whole <= isize::MAX as usize / 4);
    let Some(whole) = whole else {
        return Err(Error::argument(
            operation,
            format_args!(
                "the output of {size} elements with stride {stride} and padding_out {extra} overflows"
            ),
        ));
    };
    let left = pad.checked_mul(2).and_then(|cut| whole.checked_sub(cut)).filter(|&left| left > 0 && size > 0);
    left.ok_or_else(|| {
        Error::shape(operation, format_args!("a padding of {pad} cuts all of {whole} elements off"))
    })
}
