//! Convolutions whose taps read where they are told to.

use super::broadcast::same_dtype;
use super::channel::sum_of_channels;
use super::conv::{check_bias, check_groups, conv_values, input_gradient, no_floats, weight_gradient};
use super::half::via_f32;
use super::max_pool::{channels_last, restored};
use super::window::{Window, spatial};
use crate::autodiff::{Flow, record_many};
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::conv::{ConvAxis, ConvElement, ConvShape};
use crate::kernels::sample::{Along, Lanes, sample, sample_backward};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// How a kernel slides over its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeformConvOptions {
    /// Elements from one window to the next.
    pub stride: [usize; 2],
    /// Zeros at both ends of each axis.
    pub padding: [usize; 2],
    /// Elements from one tap of the kernel to the next.
    pub dilation: [usize; 2],
    /// Groups of channels that are convolved by themselves.
    pub weight_groups: usize,
    /// Groups of channels that have offsets of their own.
    pub offset_groups: usize,
}

impl Default for DeformConvOptions {
    fn default() -> Self {
        Self { stride: [1; 2], padding: [0; 2], dilation: [1; 2], weight_groups: 1, offset_groups: 1 }
    }
}

impl Tensor {
    /// [`Tensor::conv2d`] whose taps read at `offset` from where they would: `[batch, 2 · offset groups · taps, height,
    /// width]` of the output, y before x for each tap; between pixels, the four around are mixed, zeros outside. With a
    /// `mask` `[batch, offset groups · taps, height, width]`, what each reads is scaled.
    ///
    /// # Errors
    /// `Shape` if shapes do not fit, `Argument` if a stride, a dilation or a number of groups is 0, `DType` if the
    /// dtypes differ or are no floats.
    pub fn deform_conv2d(
        &self,
        offset: &Self,
        weight: &Self,
        mask: Option<&Self>,
        bias: Option<&Self>,
        options: &DeformConvOptions,
    ) -> Result<Self> {
        match (mask, bias) {
            (None, None) => via_f32([self, offset, weight], |[x, o, w]| deform(x, o, w, None, None, options)),
            (Some(mask), None) => via_f32([self, offset, weight, mask], |[x, o, w, mask]| {
                deform(x, o, w, Some(mask), None, options)
            }),
            (None, Some(bias)) => via_f32([self, offset, weight, bias], |[x, o, w, bias]| {
                deform(x, o, w, None, Some(bias), options)
            }),
            (Some(mask), Some(bias)) => {
                via_f32([self, offset, weight, mask, bias], |[x, o, w, mask, bias]| {
                    deform(x, o, w, Some(mask), Some(bias), options)
                })
            }
        }
    }
}

const OPERATION: &str = "deform_conv2d";

/// The sizes of such a convolution.
#[derive(Debug, Clone, Copy)]
struct Deform {
    channels: usize,
    taps: usize,
    axes: [ConvAxis; 2],
    weight_groups: usize,
    offset_groups: usize,
    /// The convolution of what was read, with a kernel of one tap.
    dense: ConvShape,
}

impl Deform {
    fn new(x: &[usize], weight: &[usize], options: &DeformConvOptions) -> Result<Self> {
        let sizes: [usize; 2] = spatial(OPERATION, x)?;
        let kernel: [usize; 2] = spatial(OPERATION, weight)?;
        let (groups, offset_groups, channels) = (options.weight_groups, options.offset_groups, x[1]);
        check_groups(OPERATION, groups, &[("input channels", channels), ("output channels", weight[0])])?;
        check_groups(OPERATION, offset_groups, &[("input channels", channels)])?;
        if weight[1].checked_mul(groups) != Some(channels) || channels == 0 {
            return Err(Error::shape(
                OPERATION,
                format_args!(
                    "a weight of shape {weight:?} in {groups} groups does not fit {channels} channels"
                ),
            ));
        }
        let pads = options.padding.map(|pad| (pad, pad));
        let windows = Window::all(kernel, options.stride, options.dilation, pads);
        let mut axes = [ConvAxis::ONE; 2];
        for (i, window) in windows.iter().enumerate() {
            axes[i] = super::conv::axis_of(window, sizes[i], window.outputs(OPERATION, sizes[i], false)?);
        }
        let taps = kernel[0].checked_mul(kernel[1]).filter(|taps| taps.checked_mul(channels * 2).is_some());
        let taps =
            taps.ok_or_else(|| Error::argument(OPERATION, format_args!("{kernel:?} taps overflow")))?;
        let one = |axis: ConvAxis| ConvAxis { input: axis.output, output: axis.output, ..ConvAxis::ONE };
        let dense = ConvShape {
            batch: x[0],
            groups,
            inputs: weight[1] * taps,
            outputs: weight[0] / groups,
            axes: [ConvAxis::ONE, one(axes[0]), one(axes[1])],
        };
        Ok(Self { channels, taps, axes, weight_groups: groups, offset_groups, dense })
    }

    fn check(&self, what: &str, tensor: &Tensor, per_tap: usize) -> Result<()> {
        let channels = per_tap * self.offset_groups * self.taps;
        let wanted = [self.dense.batch, channels, self.axes[0].output, self.axes[1].output];
        if tensor.shape() == wanted {
            return Ok(());
        }
        let found = tensor.shape();
        Err(Error::shape(OPERATION, format_args!("expected {what} of shape {wanted:?}, got {found:?}")))
    }

    fn pixels(&self) -> usize {
        self.axes[0].input * self.axes[1].input
    }

    fn points(&self) -> usize {
        self.axes[0].output * self.axes[1].output
    }

    /// The channels that are read together: in one group of weights, and in one of offsets. `(channels, offset group,
    /// where the first goes in a row of columns, for tap 0, and from one tap to the next)`.
    fn pieces(&self) -> Vec<(Lanes, usize, usize, usize)> {
        let of_weight = self.channels / self.weight_groups;
        let of_offset = self.channels / self.offset_groups;
        let mut pieces = Vec::new();
        let mut first = 0;
        while first < self.channels {
            let group = first / of_weight;
            let end = ((group + 1) * of_weight).min((first / of_offset + 1) * of_offset);
            let lanes =
                Lanes { width: self.axes[1].input, channels: self.channels, first, count: end - first };
            let to = group * self.taps * of_weight + first % of_weight;
            pieces.push((lanes, first / of_offset, to, of_weight));
            first = end;
        }
        pieces
    }

    /// Where a tap of a window reads.
    fn position<T: Into<f64> + Copy>(&self, point: usize, tap: usize, offset: &[T]) -> [Along; 2] {
        let [height, width] = self.axes;
        let at = |axis: ConvAxis, o: usize, k: usize, offset: T| {
            let base = (o * axis.stride + k * axis.dilation) as f64 - axis.pad as f64;
            Along::linear(base + offset.into(), axis.input)
        };
        let (o_h, o_w) = (point / width.output, point % width.output);
        let (k_h, k_w) = (tap / width.kernel, tap % width.kernel);
        [at(height, o_h, k_h, offset[0]), at(width, o_w, k_w, offset[1])]
    }
}

fn deform(
    x: &Tensor,
    offset: &Tensor,
    weight: &Tensor,
    mask: Option<&Tensor>,
    bias: Option<&Tensor>,
    options: &DeformConvOptions,
) -> Result<Tensor> {
    let sizes = Deform::new(x.shape(), weight.shape(), options)?;
    sizes.check("offsets", offset, 2)?;
    mask.map_or(Ok(()), |mask| sizes.check("a mask", mask, 1))?;
    check_bias(OPERATION, bias, sizes.dense.groups * sizes.dense.outputs)?;
    for other in [Some(offset), mask].into_iter().flatten() {
        same_dtype(OPERATION, x.value(), other.value())?;
    }
    let dense = dense_weight(weight.value(), sizes.taps);
    let columns = columns(&sizes, x.value(), offset.value(), mask.map(Tensor::value))?;
    let value = conv_values(OPERATION, (&columns, &dense, bias.map(Tensor::value)), &sizes.dense, 2)?;
    let mut inputs = vec![x, offset, weight];
    inputs.extend(mask);
    inputs.extend(bias);
    // The columns are those of a convolution with one tap; dx, d offset and d mask come of what each of them reads.
    Ok(record_many(OPERATION, &inputs, value, || {
        let (dw, db) = (weight.is_tracked(), bias.is_some_and(Tensor::is_tracked));
        let reads = x.is_tracked() || offset.is_tracked() || mask.is_some_and(Tensor::is_tracked);
        let [x, offset] = [x, offset].map(|tensor| tensor.value().clone());
        let mask = mask.map(|mask| mask.value().clone());
        let weight_shape = weight.shape().to_vec();
        move |gradient: Value, flow: &mut Flow<'_>| {
            if reads {
                let d_columns = input_gradient(OPERATION, (&gradient, &dense, None), &sizes.dense, 2)?;
                let given = read_gradients(&sizes, &x, &offset, mask.as_ref(), &d_columns)?;
                for (i, gradient) in
                    [0, 1, 3].into_iter().zip(given.into_iter().take(2 + usize::from(mask.is_some())))
                {
                    flow.give(i, gradient)?;
                }
            }
            if dw {
                let columns = self::columns(&sizes, &x, &offset, mask.as_ref())?;
                let dw = weight_gradient(OPERATION, (&columns, &gradient), &sizes.dense, 2, false)?.0;
                flow.give(2, sparse_weight(&dw, &weight_shape, sizes.taps))?;
            }
            if db {
                flow.give(3 + usize::from(mask.is_some()), sum_of_channels(OPERATION, &gradient)?)?;
            }
            Ok(())
        }
    }))
}

/// `[outputs, inputs, kernel…]` as `[outputs, taps · inputs, 1, 1]`.
fn dense_weight(weight: &Value, taps: usize) -> Value {
    let (outputs, inputs) = (weight.shape()[0], weight.shape()[1]);
    let by_tap = weight.reshaped(&[outputs, inputs, taps]).permuted(&[0, 2, 1]);
    by_tap.reshaped(&[outputs, taps * inputs, 1, 1]).contiguous()
}

/// [`dense_weight`] undone.
fn sparse_weight(weight: &Value, shape: &[usize], taps: usize) -> Value {
    weight.reshaped(&[shape[0], taps, shape[1]]).permuted(&[0, 2, 1]).reshaped(shape).contiguous()
}

/// What each tap of each window reads: `[batch, group · tap · channel, height, width]`, channels last in memory.
fn columns(sizes: &Deform, x: &Value, offset: &Value, mask: Option<&Value>) -> Result<Value> {
    let dtype = x.dtype();
    let row = sizes.channels * sizes.taps;
    let [x, offset] = [x, offset].map(|value| channels_last(value).contiguous());
    let mask = mask.map(|mask| channels_last(mask).contiguous());
    let shape = [sizes.dense.batch, sizes.axes[0].output, sizes.axes[1].output, row];
    let value = dispatch_float!(dtype, T => {
        let [x, offset] = [&x, &offset].map(|value| value.as_slice::<T>().expect("contiguous"));
        let mask = mask.as_ref().map(|mask| mask.as_slice::<T>().expect("contiguous"));
        Value::build_as(dtype, &shape, |out: &mut [T]| {
            let (pieces, image) = (sizes.pieces(), sizes.pixels() * sizes.channels);
            if out.is_empty() {
                return;
            }
            parallel::chunks_mut(out, row, |i, out| {
                let image = &x[i / sizes.points() * image..][..image];
                for &(lanes, group, to, step) in &pieces {
                    for tap in 0..sizes.taps {
                        let at = (i * sizes.offset_groups + group) * sizes.taps + tap;
                        let [y, x] = sizes.position(i % sizes.points(), tap, &offset[at * 2..][..2]);
                        let scale = mask.map_or(1.0, |mask| mask[at].to_f64());
                        let out = &mut out[to + tap * step..][..lanes.count];
                        sample(lanes, image, [&y, &x], scale, <T as Element>::from_f64, out);
                    }
                }
            });
        })
    }, else => Err(no_floats(OPERATION, dtype)))?;
    Ok(restored(&value, true))
}

/// The gradients of input, offsets and mask, given those of the columns.
fn read_gradients(
    sizes: &Deform,
    x: &Value,
    offset: &Value,
    mask: Option<&Value>,
    gradient: &Value,
) -> Result<[Value; 3]> {
    let dtype = x.dtype();
    let [x, offset, gradient] = [x, offset, gradient].map(|value| channels_last(value).contiguous());
    let mask = mask.map(|mask| channels_last(mask).contiguous());
    dispatch_float!(dtype, T => {
        let slice = |value: &Value| value.as_slice::<T>().expect("contiguous").to_vec();
        let reads = Reads {
            sizes,
            x: slice(&x),
            offset: slice(&offset),
            mask: mask.as_ref().map(slice),
            gradient: slice(&gradient),
        };
        let (dx, d_offset) = reads.run(<T as Element>::from_f64);
        let d_mask: Vec<T> = d_offset.chunks_exact(3).map(|d| d[2]).collect();
        let d_offset: Vec<T> = d_offset.chunks_exact(3).flat_map(|d| [d[0], d[1]]).collect();
        let mask_shape: Vec<usize> =
            offset.shape().iter().enumerate().map(|(i, &size)| if i == 3 { size / 2 } else { size }).collect();
        let build = |numbers: Vec<T>, shape: &[usize]| {
            let value = Value::build_as(dtype, shape, |out: &mut [T]| out.copy_from_slice(&numbers))?;
            Ok(restored(&value, true))
        };
        Ok([build(dx, x.shape())?, build(d_offset, offset.shape())?, build(d_mask, &mask_shape)?])
    }, else => Err(no_floats(OPERATION, dtype)))
}

struct Reads<'a, T> {
    sizes: &'a Deform,
    x: Vec<T>,
    offset: Vec<T>,
    mask: Option<Vec<T>>,
    gradient: Vec<T>,
}

impl<T: ConvElement + Into<f64>> Reads<'_, T> {
    /// The gradient of the input, and (y, x, mask) for each tap of each window; image by image, as windows overlap.
    fn run(&self, cast: impl Fn(f64) -> T + Copy + Sync) -> (Vec<T>, Vec<T>) {
        let sizes = self.sizes;
        let (image, points) = (sizes.pixels() * sizes.channels, sizes.points());
        let of_image = points * sizes.offset_groups * sizes.taps * 3;
        let mut dx = vec![T::ZERO; self.x.len()];
        let mut d_reads = vec![T::ZERO; sizes.dense.batch * of_image];
        if dx.is_empty() || d_reads.is_empty() {
            return (dx, d_reads);
        }
        let pieces = sizes.pieces();
        let row = sizes.channels * sizes.taps;
        parallel::chunks_mut2((&mut dx, image), (&mut d_reads, of_image), |n, dx, d_reads| {
            for point in 0..points {
                let gradient = &self.gradient[(n * points + point) * row..][..row];
                for &(lanes, group, to, step) in &pieces {
                    for tap in 0..sizes.taps {
                        let local = (point * sizes.offset_groups + group) * sizes.taps + tap;
                        let at = n * of_image / 3 + local;
                        let [y, x] = sizes.position(point, tap, &self.offset[at * 2..][..2]);
                        let scale = self.mask.as_ref().map_or(1.0, |mask| mask[at].into());
                        let gradient = &gradient[to + tap * step..][..lanes.count];
                        let image = &self.x[n * image..][..image];
                        let sums = sample_backward(lanes, image, [&y, &x], scale, cast, gradient, dx);
                        for (d, sum) in d_reads[local * 3..].iter_mut().zip(sums) {
                            *d = d.plus(cast(sum));
                        }
                    }
                }
            }
        });
        (dx, d_reads)
    }
}
