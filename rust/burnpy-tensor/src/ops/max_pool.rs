//! Maxima of windows.

use burnpy_buffer::DType;

use super::axis::INT;
use super::conv::no_floats;
use super::half::via_f32;
use super::window::{Window, spatial};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::pool::{self, PoolAxis};
use crate::tensor::Tensor;
use crate::value::Value;

/// How a window slides over its input, for `N` axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxPoolOptions<const N: usize> {
    /// Elements of a window.
    pub kernel_size: [usize; N],
    /// Elements from one window to the next.
    pub stride: [usize; N],
    /// Elements at the start and at the end of each axis that never win.
    pub padding: [(usize, usize); N],
    /// Elements from one tap of the window to the next.
    pub dilation: [usize; N],
    /// Whether there is a window for what is left at the end.
    pub ceil_mode: bool,
}

impl<const N: usize> MaxPoolOptions<N> {
    /// Windows side by side.
    pub fn new(kernel_size: [usize; N]) -> Self {
        Self { kernel_size, stride: kernel_size, padding: [(0, 0); N], dilation: [1; N], ceil_mode: false }
    }
}

impl Tensor {
    /// The largest element of each window of `[batch, channels, length]`; NaN is larger than all others.
    ///
    /// # Errors
    /// `Shape` if the rank is another, or a window does not fit in the padded input; `Argument` if a size, a stride or
    /// a dilation is 0; `DType` if the tensor does not hold floats.
    pub fn max_pool1d(&self, options: &MaxPoolOptions<1>) -> Result<Self> {
        Ok(pool("max_pool1d", self, options)?.0)
    }

    /// [`Tensor::max_pool1d`], and where in the length each was: the first of equal ones, of NaNs the last; −1 for a
    /// window of padding alone.
    ///
    /// # Errors
    /// As [`Tensor::max_pool1d`].
    pub fn max_pool1d_with_indices(&self, options: &MaxPoolOptions<1>) -> Result<(Self, Self)> {
        pool("max_pool1d_with_indices", self, options)
    }

    /// [`Tensor::max_pool1d`] of `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// As [`Tensor::max_pool1d`].
    pub fn max_pool2d(&self, options: &MaxPoolOptions<2>) -> Result<Self> {
        Ok(pool("max_pool2d", self, options)?.0)
    }

    /// [`Tensor::max_pool2d`], and where each was, as `row · width + column`.
    ///
    /// # Errors
    /// As [`Tensor::max_pool1d`].
    pub fn max_pool2d_with_indices(&self, options: &MaxPoolOptions<2>) -> Result<(Self, Self)> {
        pool("max_pool2d_with_indices", self, options)
    }

    /// [`Tensor::max_pool1d`] of `[batch, channels, depth, height, width]`: of each plane, then along the depth.
    ///
    /// # Errors
    /// As [`Tensor::max_pool1d`].
    pub fn max_pool3d(&self, options: &MaxPoolOptions<3>) -> Result<Self> {
        const OPERATION: &str = "max_pool3d";
        let [depth, ..] = spatial::<3>(OPERATION, self.shape())?;
        let (batch, channels) = (self.shape()[0], self.shape()[1]);
        let in_plane = MaxPoolOptions {
            kernel_size: last_two(options.kernel_size),
            stride: last_two(options.stride),
            padding: last_two(options.padding),
            dilation: last_two(options.dilation),
            ceil_mode: options.ceil_mode,
        };
        let along_depth = MaxPoolOptions {
            kernel_size: [options.kernel_size[0], 1],
            stride: [options.stride[0], 1],
            padding: [options.padding[0], (0, 0)],
            dilation: [options.dilation[0], 1],
            ceil_mode: options.ceil_mode,
        };
        let (planes, _) = pool(OPERATION, &self.flatten(1, 2)?, &in_plane)?;
        let (height, width) = (planes.shape()[2], planes.shape()[3]);
        let columns = planes.with_shape(OPERATION, &[batch, channels, depth, height * width])?;
        let (output, _) = pool(OPERATION, &columns, &along_depth)?;
        output.with_shape(OPERATION, &[batch, channels, output.shape()[2], height, width])
    }
}

fn last_two<T: Copy>([_, a, b]: [T; 3]) -> [T; 2] {
    [a, b]
}

fn pool<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    options: &MaxPoolOptions<N>,
) -> Result<(Tensor, Tensor)> {
    let mut indices = None;
    let output = via_f32([x], |[x]| {
        let (output, at) = pool_wide(operation, x, options)?;
        indices = Some(at);
        Ok(output)
    })?;
    Ok((output, indices.expect("set by the closure, which has run")))
}

fn pool_wide<const N: usize>(
    operation: &'static str,
    x: &Tensor,
    options: &MaxPoolOptions<N>,
) -> Result<(Tensor, Tensor)> {
    let axes = axes_of(operation, x.shape(), options)?;
    let planes = Planes::new(x.value(), x.shape());
    let (dtype, shape) = (x.dtype(), planes.shape(N, [axes[0].output, axes[1].output]));
    let mut value = None;
    let indices = Value::build_as(INT, &shape, |indices: &mut [i32]| {
        value = Some(dispatch_float!(dtype, T => {
            let x = planes.value.as_slice::<T>().expect("contiguous");
            Value::build_as(dtype, &shape, |out: &mut [T]| pool::max_pool(axes, planes.lanes, x, out, indices))
        }, else => Err(no_floats(operation, dtype))));
    })?;
    let value = value.expect("set by the closure, which has run")?;
    let input = planes.shape(N, [axes[0].input, axes[1].input]);
    let (lanes, last) = (planes.lanes, planes.is_last());
    // dx[i] = the sum of dy over the windows that i won.
    let output = record(operation, [x], restored(&value, last), |_| {
        let indices = indices.clone();
        move |gradient: Value| {
            let gradient = if last { channels_last(&gradient) } else { gradient }.contiguous();
            let dx = backward(axes, lanes, &gradient, &indices, (dtype, &input))?;
            Ok([Some(restored(&dx, last))])
        }
    });
    Ok((output, Tensor::from_parts(restored(&indices, last), None, x.is_autodiff())))
}

fn backward(
    axes: [PoolAxis; 2],
    lanes: usize,
    gradient: &Value,
    indices: &Value,
    (dtype, shape): (DType, &[usize]),
) -> Result<Value> {
    let indices = indices.as_slice::<i32>().expect("contiguous");
    dispatch_float!(dtype, T => {
        let gradient = gradient.as_slice::<T>().expect("contiguous");
        Value::build_as(dtype, shape, |out: &mut [T]| pool::max_pool_backward(axes, lanes, gradient, indices, out))
    }, else => Err(no_floats("max_pool", dtype)))
}

/// The windows of height and width; a height of 1 for one axis.
fn axes_of<const N: usize>(
    operation: &'static str,
    shape: &[usize],
    options: &MaxPoolOptions<N>,
) -> Result<[PoolAxis; 2]> {
    let sizes: [usize; N] = spatial(operation, shape)?;
    let windows = Window::all(options.kernel_size, options.stride, options.dilation, options.padding);
    let mut axes = [PoolAxis { input: 1, output: 1, kernel: 1, stride: 1, dilation: 1, pad: 0 }; 2];
    for (i, window) in windows.iter().enumerate() {
        let output = window.outputs(operation, sizes[i], options.ceil_mode)?;
        let Window { kernel, stride, dilation, pad } = *window;
        axes[2 - N + i] = PoolAxis { input: sizes[i], output, kernel, stride, dilation, pad: pad.0 };
    }
    if axes[0].input.checked_mul(axes[1].input).is_none_or(|pixels| i32::try_from(pixels).is_err()) {
        return Err(Error::shape(
            operation,
            format_args!("indices into {sizes:?} elements do not fit in 32 bits"),
        ));
    }
    Ok(axes)
}

/// An input in the order in which it is worked on.
pub(super) struct Planes {
    /// Contiguous: `[batch, channels, sizes…]`, or `[batch, sizes…, channels]`.
    pub(super) value: Value,
    /// Channels if they come last, else 1.
    pub(super) lanes: usize,
    batch: usize,
    channels: usize,
}

impl Planes {
    /// Of `[batch, channels, sizes…]`: as it lies in memory, if it is dense.
    pub(super) fn new(value: &Value, shape: &[usize]) -> Self {
        let (batch, channels) = (shape[0], shape[1]);
        let moved = channels_last(value);
        if channels > 1 && !value.layout().is_contiguous() && moved.layout().is_contiguous() {
            return Self { value: moved, lanes: channels, batch, channels };
        }
        Self { value: value.contiguous(), lanes: 1, batch, channels }
    }

    pub(super) fn is_last(&self) -> bool {
        self.lanes > 1
    }

    /// The shape with other sizes of the last `rank` of two axes.
    fn shape(&self, rank: usize, sizes: [usize; 2]) -> Vec<usize> {
        let mut shape = vec![self.batch];
        if !self.is_last() {
            shape.push(self.channels);
        }
        shape.extend(&sizes[2 - rank..]);
        if self.is_last() {
            shape.push(self.channels);
        }
        shape
    }
}

/// `[batch, channels, sizes…]` as `[batch, sizes…, channels]`; no copy.
pub(super) fn channels_last(value: &Value) -> Value {
    let mut order: Vec<usize> = (0..value.rank()).collect();
    order[1..].rotate_left(1);
    value.permuted(&order)
}

/// The order of [`channels_last`] undone, if it is `last`.
pub(super) fn restored(value: &Value, last: bool) -> Value {
    let mut order: Vec<usize> = (0..value.rank()).collect();
    if last {
        order[1..].rotate_right(1);
    }
    value.permuted(&order)
}
