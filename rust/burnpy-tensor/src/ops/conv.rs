//! Convolutions (cross-correlations: the kernel is not flipped).

use burnpy_buffer::DType;

use super::broadcast::same_dtype;
use super::channel::sum_of_channels;
use super::half::via_f32;
use super::window::{Window, spatial};
use crate::autodiff::{Flow, record_many};
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::conv::{self, ConvAxis, ConvElement, ConvShape, Images};
use crate::tensor::Tensor;
use crate::value::Value;

/// How a kernel slides over its input, for `N` axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvOptions<const N: usize> {
    /// Elements from one window to the next.
    pub stride: [usize; N],
    /// Zeros at the start and at the end of each axis; see [`Padding::resolve`](super::Padding::resolve).
    pub padding: [(usize, usize); N],
    /// Elements from one tap of the kernel to the next.
    pub dilation: [usize; N],
    /// Groups of channels that are convolved by themselves.
    pub groups: usize,
}

impl<const N: usize> Default for ConvOptions<N> {
    fn default() -> Self {
        Self { stride: [1; N], padding: [(0, 0); N], dilation: [1; N], groups: 1 }
    }
}

impl Tensor {
    /// The convolution of `[batch, channels, length]` with `[outputs, channels / groups, kernel]`, plus a bias for each
    /// output: `[batch, outputs, ⌊(length + pads − dilation · (kernel − 1) − 1) / stride⌋ + 1]`. Channels come last in
    /// memory, so that what follows need not bring them there.
    ///
    /// # Errors
    /// `Shape` if the ranks, the channels or the bias do not fit, or the kernel does not fit in the padded input;
    /// `Argument` if a stride, a dilation or `groups` is 0; `DType` if the dtypes differ or are no floats.
    pub fn conv1d(&self, weight: &Self, bias: Option<&Self>, options: &ConvOptions<1>) -> Result<Self> {
        convolve("conv1d", self, weight, bias, options)
    }

    /// [`Tensor::conv1d`] of `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::conv1d`].
    pub fn conv2d(&self, weight: &Self, bias: Option<&Self>, options: &ConvOptions<2>) -> Result<Self> {
        convolve("conv2d", self, weight, bias, options)
    }

    /// [`Tensor::conv1d`] of `[batch, channels, depth, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::conv1d`].
    pub fn conv3d(&self, weight: &Self, bias: Option<&Self>, options: &ConvOptions<3>) -> Result<Self> {
        convolve("conv3d", self, weight, bias, options)
    }
}

fn convolve<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    options: &ConvOptions<N>,
) -> Result<Tensor> {
    match bias {
        Some(bias) => via_f32([x, weight, bias], |[x, weight, bias]| {
            convolve_wide(operation, x, weight, Some(bias), options)
        }),
        None => via_f32([x, weight], |[x, weight]| convolve_wide(operation, x, weight, None, options)),
    }
}

/// y[n, o, p] = b[o] + Σ x[n, i, p · stride + k · dilation − pad] · w[o, i, k], over i and k.
fn convolve_wide<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    options: &ConvOptions<N>,
) -> Result<Tensor> {
    let shape = shape_of(operation, x.shape(), weight.shape(), options)?;
    check_bias(operation, bias, shape.groups * shape.outputs)?;
    let bias_value = bias.map(Tensor::value);
    let value = conv_values(operation, (x.value(), weight.value(), bias_value), &shape, N)?;
    let inputs: &[&Tensor] = match bias {
        Some(bias) => &[x, weight, bias],
        None => &[x, weight],
    };
    // dx is the sum that the transposed convolution makes of dy, dw[o, i, k] = Σ x[n, i, …] · dy[n, o, p] over n and p,
    // db[o] = Σ dy[n, o, p].
    Ok(record_many(operation, inputs, value, || {
        let [dx, dw, db] = [x.is_tracked(), weight.is_tracked(), bias.is_some_and(Tensor::is_tracked)];
        let x = dw.then(|| x.value().clone());
        let weight = dx.then(|| weight.value().clone());
        move |gradient: Value, flow: &mut Flow<'_>| {
            if let Some(weight) = weight {
                flow.give(0, input_gradient(operation, (&gradient, &weight, None), &shape, N)?)?;
            }
            let db_value = match x {
                Some(x) => {
                    let (dw, db) = weight_gradient(operation, (&x, &gradient), &shape, N, db)?;
                    flow.give(1, dw)?;
                    db
                }
                None => db.then(|| sum_of_channels(operation, &gradient)).transpose()?,
            };
            db_value.map_or(Ok(()), |db| flow.give(2, db))
        }
    }))
}

/// The sizes of a convolution.
fn shape_of<const N: usize>(
    operation: &'static str,
    x: &[usize],
    weight: &[usize],
    options: &ConvOptions<N>,
) -> Result<ConvShape> {
    let sizes: [usize; N] = spatial(operation, x)?;
    let kernel: [usize; N] = spatial(operation, weight)?;
    let (groups, channels, outputs, inputs) = (options.groups, x[1], weight[0], weight[1]);
    check_groups(operation, groups, &[("input channels", channels), ("output channels", outputs)])?;
    if inputs.checked_mul(groups) != Some(channels) || channels == 0 {
        return Err(Error::shape(
            operation,
            format_args!(
                "a weight of shape {weight:?} in {groups} groups does not fit an input of {channels} channels"
            ),
        ));
    }
    let windows = Window::all(kernel, options.stride, options.dilation, options.padding);
    let mut axes = [ConvAxis::ONE; 3];
    for (i, window) in windows.iter().enumerate() {
        let output = window.outputs(operation, sizes[i], false)?;
        axes[3 - N + i] = axis_of(window, sizes[i], output);
    }
    Ok(ConvShape { batch: x[0], groups, inputs, outputs: outputs / groups, axes })
}

pub(super) fn axis_of(window: &Window, input: usize, output: usize) -> ConvAxis {
    let Window { kernel, stride, dilation, pad } = *window;
    ConvAxis { input, output, kernel, stride, dilation, pad: pad.0 }
}

/// # Errors
/// `Argument` if there are no groups, `Shape` if they do not divide a number of channels.
pub(super) fn check_groups(
    operation: &'static str,
    groups: usize,
    channels: &[(&'static str, usize)],
) -> Result<()> {
    if groups == 0 {
        return Err(Error::argument(operation, "groups must be at least 1, got 0"));
    }
    match channels.iter().find(|(_, channels)| channels % groups != 0) {
        Some((what, channels)) => {
            Err(Error::shape(operation, format_args!("{channels} {what} do not divide into {groups} groups")))
        }
        None => Ok(()),
    }
}

/// # Errors
/// `Shape` if the bias is not one number for each output.
pub(super) fn check_bias(operation: &'static str, bias: Option<&Tensor>, outputs: usize) -> Result<()> {
    match bias.filter(|bias| bias.shape() != [outputs]) {
        Some(bias) => {
            let found = bias.shape();
            Err(Error::shape(operation, format_args!("expected a bias of shape [{outputs}], got {found:?}")))
        }
        None => Ok(()),
    }
}

/// The convolution of values, `rank` spatial axes of which are real.
pub(super) fn conv_values(
    operation: &'static str,
    (x, weight, bias): (&Value, &Value, Option<&Value>),
    shape: &ConvShape,
    rank: usize,
) -> Result<Value> {
    let dtype = common_dtype(operation, x, weight, bias)?;
    let (weight, bias) = (weight.contiguous(), bias.map(Value::contiguous));
    dispatch_float!(dtype, T => {
        let (weight, bias) = (slice::<T>(&weight), bias.as_ref().map(slice::<T>));
        let sizes = shape.axes.map(|axis| axis.output);
        channels_last(dtype, shape.batch, shape.groups * shape.outputs, &sizes[3 - rank..], |out: &mut [T]| {
            conv::conv(shape, &images(x), weight, bias, false, out);
        })
    }, else => Err(no_floats(operation, dtype)))
}

/// The gradient of the input, given that of the output, plus a bias: the transposed convolution.
pub(super) fn input_gradient(
    operation: &'static str,
    (gradient, weight, bias): (&Value, &Value, Option<&Value>),
    shape: &ConvShape,
    rank: usize,
) -> Result<Value> {
    let dtype = common_dtype(operation, gradient, weight, bias)?;
    let (weight, bias) = (weight.contiguous(), bias.map(Value::contiguous));
    dispatch_float!(dtype, T => {
        let (weight, bias) = (slice::<T>(&weight), bias.as_ref().map(slice::<T>));
        let sizes = shape.axes.map(|axis| axis.input);
        channels_last(dtype, shape.batch, shape.groups * shape.inputs, &sizes[3 - rank..], |out: &mut [T]| {
            conv::conv_input_gradient(shape, &images(gradient), weight, bias, out);
        })
    }, else => Err(no_floats(operation, dtype)))
}

/// The gradients of the weights, and of a bias if there is one, given the input and the gradient of the output.
pub(super) fn weight_gradient(
    operation: &'static str,
    (x, gradient): (&Value, &Value),
    shape: &ConvShape,
    rank: usize,
    bias: bool,
) -> Result<(Value, Option<Value>)> {
    let dtype = same_dtype(operation, x, gradient)?;
    let outputs = shape.groups * shape.outputs;
    let mut weight_shape = vec![outputs, shape.inputs];
    weight_shape.extend(shape.axes[3 - rank..].iter().map(|axis| axis.kernel));
    dispatch_float!(dtype, T => {
        let mut bias = bias.then(|| vec![T::default(); outputs]);
        let weight = Value::build_as(dtype, &weight_shape, |out: &mut [T]| {
            conv::conv_weight_gradient(shape, &images(x), &images(gradient), out, bias.as_deref_mut());
        })?;
        let bias = bias.map(|bias| Value::build_as(dtype, &[outputs], |out: &mut [T]| out.copy_from_slice(&bias)));
        Ok((weight, bias.transpose()?))
    }, else => Err(no_floats(operation, dtype)))
}

/// A value of shape `[batch, channels, sizes…]`, filled as `[batch, sizes…, channels]`.
pub(super) fn channels_last<T: burnpy_buffer::Pod>(
    dtype: DType,
    batch: usize,
    channels: usize,
    sizes: &[usize],
    fill: impl FnOnce(&mut [T]),
) -> Result<Value> {
    let mut shape = vec![batch];
    shape.extend(sizes);
    shape.push(channels);
    let value = Value::build_as(dtype, &shape, fill)?;
    let mut order = vec![0, sizes.len() + 1];
    order.extend(1..=sizes.len());
    Ok(value.permuted(&order))
}

/// Images as kernels see them: the axes that there are not come first.
pub(super) fn images<T: ConvElement>(value: &Value) -> Images<'_, T> {
    let layout = value.layout();
    let mut strides = [0; 5];
    strides[..2].copy_from_slice(&layout.strides()[..2]);
    strides[7 - layout.rank()..].copy_from_slice(&layout.strides()[2..]);
    Images { data: value.block().expect("the dtype is dispatched on"), offset: layout.offset(), strides }
}

fn slice<T: burnpy_buffer::Pod>(value: &Value) -> &[T] {
    value.as_slice().expect("contiguous, of this dtype")
}

fn common_dtype(operation: &'static str, x: &Value, weight: &Value, bias: Option<&Value>) -> Result<DType> {
    bias.map_or(Ok(x.dtype()), |bias| same_dtype(operation, x, bias))?;
    same_dtype(operation, x, weight)
}

pub(super) fn no_floats(operation: &'static str, dtype: DType) -> Error {
    Error::dtype(operation, format_args!("expected floats, got {}", dtype.name()))
}
