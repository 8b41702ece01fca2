//! Windows of images as columns of a matrix, and back.

use super::conv::{axis_of, no_floats};
use super::half::via_f32;
use super::window::{Window, spatial};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::conv::ConvAxis;
use crate::kernels::unfold;
use crate::tensor::Tensor;
use crate::value::Value;

/// How windows slide over an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnfoldOptions {
    /// Elements from one window to the next.
    pub stride: [usize; 2],
    /// Elements from one tap of the window to the next.
    pub dilation: [usize; 2],
    /// Zeros at both ends of each axis.
    pub padding: [usize; 2],
}

impl Default for UnfoldOptions {
    fn default() -> Self {
        Self { stride: [1; 2], dilation: [1; 2], padding: [0; 2] }
    }
}

impl Tensor {
    /// `[batch, channels, height, width]` as `[batch, channels · kernel height · kernel width, windows]`.
    ///
    /// # Errors
    /// `Shape` if the rank is not 4, or a window does not fit in the padded image; `Argument` if a size, a stride or a
    /// dilation is 0; `DType` if the tensor does not hold floats.
    pub fn unfold4d(&self, kernel_size: [usize; 2], options: &UnfoldOptions) -> Result<Self> {
        const OPERATION: &str = "unfold4d";
        let axes = axes(OPERATION, spatial(OPERATION, self.shape())?, kernel_size, options)?;
        via_f32([self], |[x]| {
            let [batch, channels] = [x.shape()[0], x.shape()[1]];
            // dx = the fold of dy.
            Ok(record(OPERATION, [x], unfolded(OPERATION, x.value(), axes)?, |_| {
                move |gradient: Value| Ok([Some(folded(OPERATION, &gradient, [batch, channels], axes)?)])
            }))
        })
    }

    /// The sums of the windows in `[batch, channels · kernel height · kernel width, windows]` where they lie in images
    /// of `output_size`: `[batch, channels, height, width]`.
    ///
    /// # Errors
    /// `Shape` if the rank is not 3, or the numbers of rows or of windows are not those of such images; else as
    /// [`Tensor::unfold4d`].
    pub fn fold4d(
        &self,
        output_size: [usize; 2],
        kernel_size: [usize; 2],
        options: &UnfoldOptions,
    ) -> Result<Self> {
        const OPERATION: &str = "fold4d";
        let axes = axes(OPERATION, output_size, kernel_size, options)?;
        let [_] = spatial(OPERATION, self.shape())?;
        let (rows, columns) = (self.shape()[1], self.shape()[2]);
        let (taps, windows) = (product(OPERATION, kernel_size)?, axes[0].output * axes[1].output);
        if rows % taps != 0 || columns != windows {
            return Err(Error::shape(
                OPERATION,
                format_args!(
                    "{rows} rows and {columns} columns are no windows of {taps} elements at {windows} places"
                ),
            ));
        }
        via_f32([self], |[x]| {
            let value = folded(OPERATION, x.value(), [x.shape()[0], rows / taps], axes)?;
            // dx = the windows of dy.
            Ok(record(OPERATION, [x], value, |_| {
                move |gradient: Value| Ok([Some(unfolded(OPERATION, &gradient, axes)?)])
            }))
        })
    }
}

fn axes(
    operation: &'static str,
    sizes: [usize; 2],
    kernel: [usize; 2],
    options: &UnfoldOptions,
) -> Result<[ConvAxis; 2]> {
    let pads = options.padding.map(|pad| (pad, pad));
    let windows = Window::all(kernel, options.stride, options.dilation, pads);
    let mut axes = [ConvAxis::ONE; 2];
    for (i, window) in windows.iter().enumerate() {
        axes[i] = axis_of(window, sizes[i], window.outputs(operation, sizes[i], false)?);
    }
    product(operation, kernel)?;
    product(operation, [axes[0].output, axes[1].output])?;
    Ok(axes)
}

fn product(operation: &'static str, [a, b]: [usize; 2]) -> Result<usize> {
    a.checked_mul(b).ok_or_else(|| Error::argument(operation, format_args!("{a} · {b} elements overflow")))
}

fn unfolded(operation: &'static str, x: &Value, axes: [ConvAxis; 2]) -> Result<Value> {
    let taps = axes[0].kernel * axes[1].kernel;
    let rows = product(operation, [x.shape()[1], taps])?;
    let shape = [x.shape()[0], rows, axes[0].output * axes[1].output];
    let x = x.contiguous();
    dispatch_float!(x.dtype(), T => {
        let numbers = x.as_slice::<T>().expect("contiguous");
        Value::build_as(x.dtype(), &shape, |out: &mut [T]| unfold::unfold(axes, numbers, out))
    }, else => Err(no_floats(operation, x.dtype())))
}

fn folded(
    operation: &'static str,
    columns: &Value,
    [batch, channels]: [usize; 2],
    axes: [ConvAxis; 2],
) -> Result<Value> {
    let columns = columns.contiguous();
    let shape = [batch, channels, axes[0].input, axes[1].input];
    dispatch_float!(columns.dtype(), T => {
        let numbers = columns.as_slice::<T>().expect("contiguous");
        Value::build_as(columns.dtype(), &shape, |out: &mut [T]| unfold::fold(axes, numbers, out))
    }, else => Err(no_floats(operation, columns.dtype())))
}
