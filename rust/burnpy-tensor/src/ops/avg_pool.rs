//! Averages of windows.

use super::conv::no_floats;
use super::half::via_f32;
use super::max_pool::restored;
use super::resample::{along_axes, in_order, lies_last, transposed};
use super::window::{Window, spatial};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::resample::Taps;
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// How a window slides over its input, for `N` axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvgPoolOptions<const N: usize> {
    /// Elements of a window.
    pub kernel_size: [usize; N],
    /// Elements from one window to the next.
    pub stride: [usize; N],
    /// Zeros at the start and at the end of each axis.
    pub padding: [(usize, usize); N],
    /// Whether zeros of the padding count as elements of a window.
    pub count_include_pad: bool,
    /// Whether there is a window for what is left at the end.
    pub ceil_mode: bool,
}

impl<const N: usize> AvgPoolOptions<N> {
    /// Windows side by side.
    pub fn new(kernel_size: [usize; N]) -> Self {
        Self {
            kernel_size,
            stride: kernel_size,
            padding: [(0, 0); N],
            count_include_pad: true,
            ceil_mode: false,
        }
    }
}

impl Tensor {
    /// The mean of each window of `[batch, channels, length]`. With `count_include_pad` over what of the window is in
    /// the padded input, else over what is in the input itself; 0 if that is nothing.
    ///
    /// # Errors
    /// `Shape` if the rank is another, or a window does not fit in the padded input; `Argument` if a size or a stride
    /// is 0; `DType` if the tensor does not hold floats.
    pub fn avg_pool1d(&self, options: &AvgPoolOptions<1>) -> Result<Self> {
        pool("avg_pool1d", self, options)
    }

    /// [`Tensor::avg_pool1d`] of `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::avg_pool1d`].
    pub fn avg_pool2d(&self, options: &AvgPoolOptions<2>) -> Result<Self> {
        pool("avg_pool2d", self, options)
    }

    /// [`Tensor::avg_pool1d`] of `[batch, channels, depth, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::avg_pool1d`].
    pub fn avg_pool3d(&self, options: &AvgPoolOptions<3>) -> Result<Self> {
        pool("avg_pool3d", self, options)
    }

    /// The means of `output_size` windows that cover `[batch, channels, length]`: window `i` from `⌊i · length / size⌋`
    /// to `⌈(i + 1) · length / size⌉`.
    ///
    /// # Errors
    /// `Shape` if the rank is another or an axis is empty, `Argument` if a size is 0, `DType` if the tensor does not
    /// hold floats.
    pub fn adaptive_avg_pool1d(&self, output_size: [usize; 1]) -> Result<Self> {
        adaptive("adaptive_avg_pool1d", self, output_size)
    }

    /// [`Tensor::adaptive_avg_pool1d`] of `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::adaptive_avg_pool1d`].
    pub fn adaptive_avg_pool2d(&self, output_size: [usize; 2]) -> Result<Self> {
        adaptive("adaptive_avg_pool2d", self, output_size)
    }

    /// [`Tensor::adaptive_avg_pool1d`] of `[batch, channels, depth, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::adaptive_avg_pool1d`].
    pub fn adaptive_avg_pool3d(&self, output_size: [usize; 3]) -> Result<Self> {
        adaptive("adaptive_avg_pool3d", self, output_size)
    }
}

/// The windows along an axis: the inputs of each, and what their sum is divided by.
struct Means {
    taps: Taps,
    divisors: Vec<usize>,
}

fn pool<const N: usize>(operation: &'static str, x: &Tensor, options: &AvgPoolOptions<N>) -> Result<Tensor> {
    let sizes: [usize; N] = spatial(operation, x.shape())?;
    let windows = Window::all(options.kernel_size, options.stride, [1; N], options.padding);
    let mut axes = Vec::with_capacity(N);
    for (window, &size) in windows.iter().zip(&sizes) {
        let outputs = window.outputs(operation, size, options.ceil_mode)?;
        axes.push(windows_of(window, size, outputs, options.count_include_pad));
    }
    means(operation, x, axes)
}

fn windows_of(window: &Window, size: usize, outputs: usize, with_pads: bool) -> Means {
    let (start, end) = window.pad;
    // Window `o` from and to these positions of the padded axis.
    let range = |o: usize| {
        let from = o * window.stride;
        (from, (from + window.kernel).min(start + size + end))
    };
    let inside = |o: usize| {
        let (from, to) = range(o);
        let clamp = |at: usize| at.saturating_sub(start).min(size);
        clamp(from)..clamp(to)
    };
    let divisor = |o: usize| if with_pads { range(o).1 - range(o).0 } else { inside(o).len() };
    Means {
        taps: Taps::new(outputs, |o| inside(o).map(|i| (i, 1.0))),
        divisors: (0..outputs).map(|o| divisor(o).max(1)).collect(),
    }
}

fn adaptive<const N: usize>(operation: &'static str, x: &Tensor, output_size: [usize; N]) -> Result<Tensor> {
    let sizes: [usize; N] = spatial(operation, x.shape())?;
    let mut axes = Vec::with_capacity(N);
    for (&size, &outputs) in sizes.iter().zip(&output_size) {
        if outputs == 0 || outputs > isize::MAX as usize / size.max(1) {
            return Err(Error::argument(
                operation,
                format_args!("an output size of {outputs} is out of range"),
            ));
        }
        if size == 0 {
            return Err(Error::shape(operation, format_args!("there is no mean over sizes {sizes:?}")));
        }
        let range = |o: usize| o * size / outputs..((o + 1) * size).div_ceil(outputs);
        let taps = Taps::new(outputs, |o| range(o).map(|i| (i, 1.0)));
        axes.push(Means { taps, divisors: (0..outputs).map(|o| range(o).len()).collect() });
    }
    means(operation, x, axes)
}

/// The sums of windows, each divided by the product of its divisors.
fn means(operation: &'static str, x: &Tensor, axes: Vec<Means>) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let inputs = x.shape()[2..].to_vec();
        let (taps, divisors): (Vec<Taps>, Vec<Vec<usize>>) =
            axes.into_iter().map(|axis| (axis.taps, axis.divisors)).unzip();
        let sums = along_axes(operation, x.value(), &taps)?;
        let value = divided(operation, &sums, &divisors)?;
        // dx[i] = the sum of dy / divisor over the windows that i is in.
        Ok(record(operation, [x], value, |_| {
            let taps = transposed(&taps, &inputs);
            move |gradient: Value| {
                Ok([Some(along_axes(operation, &divided(operation, &gradient, &divisors)?, &taps)?)])
            }
        }))
    })
}

fn divided(operation: &'static str, value: &Value, divisors: &[Vec<usize>]) -> Result<Value> {
    let last = lies_last(value);
    let value = in_order(value, last);
    let lanes = if last { value.shape()[value.rank() - 1] } else { 1 };
    // One divisor for each pixel.
    let pixels = divisors.iter().fold(vec![1], |pixels: Vec<usize>, axis| {
        pixels.iter().flat_map(|&pixel| axis.iter().map(move |&divisor| pixel * divisor)).collect()
    });
    let quotient = dispatch_float!(value.dtype(), T => {
        let x = value.as_slice::<T>().expect("contiguous");
        let pixels: Vec<T> = pixels.into_iter().map(|divisor| divisor as T).collect();
        Value::build_as(value.dtype(), value.shape(), |out: &mut [T]| {
            let plane = pixels.len() * lanes;
            if out.is_empty() {
                return;
            }
            let planes = (64 << 10) / plane + 1;
            parallel::chunks_mut(out, planes * plane, |i, out| {
                let x = &x[i * planes * plane..];
                for (out, x) in out.chunks_exact_mut(plane).zip(x.chunks_exact(plane)) {
                    if lanes == 1 {
                        let both = out.iter_mut().zip(x);
                        both.zip(&pixels).for_each(|((out, &x), &divisor)| *out = x / divisor);
                        continue;
                    }
                    let both = out.chunks_exact_mut(lanes).zip(x.chunks_exact(lanes));
                    for ((out, x), &divisor) in both.zip(&pixels) {
                        out.iter_mut().zip(x).for_each(|(out, &x)| *out = x / divisor);
                    }
                }
            });
        })
    }, else => Err(no_floats(operation, value.dtype())))?;
    Ok(restored(&quotient, last))
}
