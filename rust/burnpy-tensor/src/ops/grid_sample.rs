//! Images at the positions of a grid.

use burnpy_buffer::DType;

use super::conv::no_floats;
use super::half::via_f32;
use super::max_pool::{channels_last, restored};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::conv::ConvElement;
use crate::kernels::sample::{Along, Lanes, sample, sample_backward};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// What lies outside of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridPadding {
    /// Zeros.
    #[default]
    Zeros,
    /// The pixel at the edge.
    Border,
    /// The image, mirrored as often as it takes.
    Reflection,
}

/// Which pixels an output is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridMode {
    /// The two next to the position along each axis.
    #[default]
    Bilinear,
    /// The nearest; halves go to the even one. The grid has no gradient.
    Nearest,
    /// Four along each axis, with the kernel of Keys for a = −0.75.
    Bicubic,
}

/// What [`Tensor::grid_sample_2d`] makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GridSampleOptions {
    /// Which pixels an output is made of.
    pub mode: GridMode,
    /// What lies outside of the image.
    pub padding: GridPadding,
    /// Whether −1 and 1 are the centres of the first and the last pixel; else they are the edges of the image.
    pub align_corners: bool,
}

impl Tensor {
    /// `[batch, channels, height, width]` at the positions `(x, y)` of a grid `[batch, rows, columns, 2]`, in which the
    /// image goes from −1 to 1: `[batch, channels, rows, columns]`.
    ///
    /// # Errors
    /// `Shape` if the ranks or the batches do not fit, or the image has no pixels; `DType` if the dtypes differ or are
    /// no floats.
    pub fn grid_sample_2d(&self, grid: &Self, options: &GridSampleOptions) -> Result<Self> {
        const OPERATION: &str = "grid_sample_2d";
        let options = *options;
        via_f32([self, grid], |[x, grid]| {
            check(OPERATION, x, grid)?;
            let value = forward(OPERATION, x.value(), grid.value(), options)?;
            // dx = dy · weights at the pixels, d position = Σ dy · x · slopes of the weights.
            Ok(record(OPERATION, [x, grid], value, |_| {
                let (x, grid) = (x.value().clone(), grid.value().clone());
                move |gradient: Value| {
                    let [dx, dgrid] = backward(OPERATION, &x, &grid, &gradient, options)?;
                    Ok([Some(dx), Some(dgrid)])
                }
            }))
        })
    }
}

fn check(operation: &'static str, x: &Tensor, grid: &Tensor) -> Result<()> {
    super::broadcast::same_dtype(operation, x.value(), grid.value())?;
    let fits = match (x.shape(), grid.shape()) {
        (&[batch, _, height, width], &[grids, _, _, 2]) => batch == grids && height > 0 && width > 0,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let (x, grid) = (x.shape(), grid.shape());
    Err(Error::shape(operation, format_args!("a grid of shape {grid:?} does not fit images of shape {x:?}")))
}

/// Images and grid, channels last.
struct Sizes {
    pixels: usize,
    points: usize,
    size: [usize; 2],
    lanes: Lanes,
}

impl Sizes {
    fn new(x: &[usize], grid: &[usize]) -> Self {
        let (channels, height, width) = (x[1], x[2], x[3]);
        let lanes = Lanes { width, channels, first: 0, count: channels };
        Self { pixels: height * width, points: grid[1] * grid[2], size: [height, width], lanes }
    }
}

fn forward(operation: &'static str, x: &Value, grid: &Value, options: GridSampleOptions) -> Result<Value> {
    let sizes = Sizes::new(x.shape(), grid.shape());
    let channels = sizes.lanes.channels;
    let shape = [x.shape()[0], grid.shape()[1], grid.shape()[2], channels];
    let (x, grid) = (channels_last(x).contiguous(), grid.contiguous());
    let value = dispatch_float!(x.dtype(), T => {
        let (images, grid) = (x.as_slice::<T>().expect("contiguous"), grid.as_slice::<T>().expect("contiguous"));
        Value::build_as(x.dtype(), &shape, |out: &mut [T]| {
            if out.is_empty() {
                return;
            }
            let row = shape[2] * channels;
            parallel::chunks_mut(out, row, |i, out| {
                let image = i / shape[1] * sizes.pixels * channels;
                let positions = grid[i * shape[2] * 2..].chunks_exact(2);
                for (out, position) in out.chunks_exact_mut(channels).zip(positions) {
                    let [y, x] = axes(position, sizes.size, options);
                    let image = &images[image..][..sizes.pixels * channels];
                    sample(sizes.lanes, image, [&y, &x], 1.0, <T as Element>::from_f64, out);
                }
            });
        })
    }, else => Err(no_floats(operation, x.dtype())))?;
    Ok(restored(&value, true))
}

fn backward(
    operation: &'static str,
    x: &Value,
    grid: &Value,
    gradient: &Value,
    options: GridSampleOptions,
) -> Result<[Value; 2]> {
    let sizes = Sizes::new(x.shape(), grid.shape());
    let (x, grid) = (channels_last(x).contiguous(), grid.contiguous());
    let gradient = channels_last(gradient).contiguous();
    let dtype: DType = x.dtype();
    dispatch_float!(dtype, T => {
        let numbers = |value: &Value| value.as_slice::<T>().expect("contiguous").to_vec();
        let (images, positions, gradients) = (numbers(&x), numbers(&grid), numbers(&gradient));
        let mut dx = vec![T::default(); images.len()];
        let dgrid = Value::build_as(dtype, grid.shape(), |dgrid: &mut [T]| {
            dgrid.fill(0.0);
            if dx.is_empty() || dgrid.is_empty() {
                return;
            }
            let channels = sizes.lanes.channels;
            let (image, points) = (sizes.pixels * channels, sizes.points);
            parallel::chunks_mut2((&mut dx, image), (dgrid, points * 2), |n, dx, dgrid| {
                let images = &images[n * image..][..image];
                for (point, dgrid) in dgrid.chunks_exact_mut(2).enumerate() {
                    let point = n * points + point;
                    let [y, x] = axes(&positions[point * 2..][..2], sizes.size, options);
                    let gradient = &gradients[point * channels..][..channels];
                    let cast = <T as Element>::from_f64;
                    let [dy, d_x, _] =
                        sample_backward(sizes.lanes, images, [&y, &x], 1.0, cast, gradient, dx);
                    (dgrid[0], dgrid[1]) = (cast(d_x), cast(dy));
                }
            });
        })?;
        let dx = Value::build_as(dtype, x.shape(), |out: &mut [T]| out.copy_from_slice(&dx))?;
        Ok([restored(&dx, true), dgrid])
    }, else => Err(no_floats(operation, dtype)))
}

/// The pixels along y and x for a position `(x, y)`.
fn axes<T: ConvElement + Into<f64>>(
    position: &[T],
    [height, width]: [usize; 2],
    options: GridSampleOptions,
) -> [Along; 2] {
    [along(position[1].into(), height, options), along(position[0].into(), width, options)]
}

fn along(position: f64, size: usize, options: GridSampleOptions) -> Along {
    let extent = size as f64;
    let (at, slope) = if options.align_corners {
        ((position + 1.0) / 2.0 * (extent - 1.0), (extent - 1.0) / 2.0)
    } else {
        (((position + 1.0) * extent - 1.0) / 2.0, extent / 2.0)
    };
    match options.mode {
        GridMode::Bicubic => cubic(at, slope, size, options),
        mode => {
            let (at, factor) = padded(at, size, options);
            let mut along = if mode == GridMode::Nearest {
                let mut along = Along::default();
                let nearest = at.round_ties_even();
                if nearest >= 0.0 && nearest < extent {
                    along.push(nearest as usize, 1.0, 0.0);
                }
                along
            } else {
                Along::linear(at, size)
            };
            along.scale_slopes(slope * factor);
            along
        }
    }
}

/// Where a position is read, and by how much that changes with it.
fn padded(at: f64, size: usize, options: GridSampleOptions) -> (f64, f64) {
    let last = size as f64 - 1.0;
    let clamped = |at: f64, slope: f64| {
        let inside = at > 0.0 && at < last;
        (if at.is_nan() { 0.0 } else { at.clamp(0.0, last) }, if inside { slope } else { 0.0 })
    };
    match options.padding {
        GridPadding::Zeros => (at, 1.0),
        GridPadding::Border => clamped(at, 1.0),
        GridPadding::Reflection => {
            let (low, span) = if options.align_corners { (0.0, last) } else { (-0.5, size as f64) };
            if span <= 0.0 {
                return (0.0, 0.0);
            }
            let from = at - low;
            let (offset, sign) = (from.abs() % span, if from < 0.0 { -1.0 } else { 1.0 });
            let turned = (from.abs() / span).floor() % 2.0 != 0.0;
            let (at, slope) = if turned { (span - offset + low, -sign) } else { (offset + low, sign) };
            clamped(at, slope)
        }
    }
}

/// Here the padding is that of each pixel.
fn cubic(at: f64, slope: f64, size: usize, options: GridSampleOptions) -> Along {
    const A: f64 = -0.75;
    let near =
        |x: f64| (((A + 2.0) * x - (A + 3.0)) * x * x + 1.0, (3.0 * (A + 2.0) * x - 2.0 * (A + 3.0)) * x);
    let far =
        |x: f64| (((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A, (3.0 * A * x - 10.0 * A) * x + 8.0 * A);
    let (low, part) = (at.floor(), at - at.floor());
    let negated = |(weight, slope): (f64, f64)| (weight, -slope);
    let weights = [far(1.0 + part), near(part), negated(near(1.0 - part)), negated(far(2.0 - part))];
    let mut along = Along::default();
    for (i, (weight, change)) in weights.into_iter().enumerate() {
        let (at, _) = padded(low - 1.0 + i as f64, size, options);
        if at >= 0.0 && at < size as f64 {
            along.push(at as usize, weight, change * slope);
        }
    }
    along
}
