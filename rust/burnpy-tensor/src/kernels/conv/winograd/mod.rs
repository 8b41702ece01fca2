//! Kernels of 3 × 3 with a stride of 1, by Winograd's F(2 × 2, 3 × 3): 16 products give the 4 outputs of a tile for each
//! pair of channels, where the definition has 36 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
//! 2016).
//!
//! `Y = Aᵀ [(G w Gᵀ) ⊙ (Bᵀ d B)] A`, with `d` the 4 × 4 elements that the 2 × 2 outputs `Y` read. The products are 16
//! products of matrices, tiles × channels and channels × channels, one for each element of the 4 × 4. Gradients of
//! inputs are such a convolution too, and those of weights `Gᵀ [Σ (A dY Aᵀ) ⊙ (Bᵀ d B)] G`.
//!
//! Rounding errors are of the size of the definition's: smaller for outputs, whose sums are shorter, and up to twice as
//! large for gradients of weights. What is not finite reaches the same outputs as by the definition, but infinities may
//! become NaN there; of gradients of weights it also reaches those that a pixel at the edge has no part in.

mod sums;
mod transform;
mod weights;

use std::ops::Range;

pub(super) use sums::{conv, conv_input_gradient};
pub(super) use weights::conv_weight_gradient;

use super::super::gemm::Scratch;
use super::super::simd::Slide;
use super::ConvElement;
use super::pack::{Crop, Images};
use super::plan::{ConvAxis, ConvShape};
use crate::parallel;
use transform::LANES;

/// Elements of a tile's input, and so matrices.
const PLACES: usize = 16;

/// Outputs times inputs to outputs plus inputs, at least: below, the way of inputs and outputs to the matrices and back
/// costs more than it saves.
const LEAST_RATIO: usize = 14;

/// Tiles of an image, at least: below, the way of the weights costs more.
const LEAST_TILES: usize = 16;

/// What lies between two matrices beside their elements: with none, the elements of one tile would all fall into the
/// same few lines of a cache.
const GAP: usize = 16;

/// Whether a convolution, and its gradients, are made like that: a question of its shape alone, and not of its batch.
pub(super) fn fits<T: ConvElement>(shape: &ConvShape) -> bool {
    let [depth, height, width] = shape.axes;
    let is_plain = |axis: ConvAxis| axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
    let (ins, outs) = (shape.inputs, shape.outputs);
    let pays = |[height, width]: [usize; 2]| {
        let tiles = height.div_ceil(2) * width.div_ceil(2);
        // At least three products of the definition for two.
        tiles >= LEAST_TILES && 9 * height * width * 2 >= PLACES * tiles * 3
    };
    T::TILED
        && depth == ConvAxis::ONE
        && is_plain(height)
        && is_plain(width)
        && shape.groups == 1
        && ins.is_multiple_of(LANES)
        && outs.is_multiple_of(LANES)
        && ins * outs >= LEAST_RATIO * (ins + outs)
        && pays([height.input, width.input])
        && pays([height.output, width.output])
}

/// A tile of 2 × 2 pixels: its first one, and how many of its rows and columns there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    image: usize,
    h: usize,
    w: usize,
    height: usize,
    width: usize,
}

/// The tiles of some rows, which are counted over all images of a size.
fn tiles(rows: Range<usize>, [height, width]: [usize; 2]) -> Vec<Tile> {
    let (mut tiles, mut row) = (Vec::new(), rows.start);
    while row < rows.end {
        let (image, h) = (row / height, row % height);
        let rows = 2.min(height - h).min(rows.end - row);
        tiles.extend((0..width).step_by(2).map(|w| Tile {
            image,
            h,
            w,
            height: rows,
            width: 2.min(width - w),
        }));
        row += rows;
    }
    tiles
}

/// Images whose channels are neighbours.
struct Pixels<'a, T> {
    images: Images<'a, T>,
    size: [usize; 2],
    channels: usize,
    /// A pixel outside of the image.
    zeros: &'a [T],
}

impl<'a, T: ConvElement> Pixels<'a, T> {
    /// Runs `run` with images as they are, or with a copy of all of them whose channels are neighbours.
    fn with<R>(
        images: &Images<'_, T>,
        (batch, channels, size): (usize, usize, [usize; 2]),
        run: impl FnOnce(&Pixels<'_, T>) -> R,
    ) -> R {
        let zeros = vec![T::ZERO; channels];
        if images.strides[1] == 1 {
            return run(&Pixels { images: *images, size, channels, zeros: &zeros });
        }
        let image_len = size[0] * size[1] * channels;
        let mut copy = Scratch::new::<T>(batch * image_len);
        parallel::chunks_mut(copy.numbers(), image_len, |image, out| {
            let size = [1, size[0], size[1]];
            images.pack(&Crop { image, origin: [0; 3], size, bounds: size }, 0..channels, channels, out);
        });
        let [row, pixel] = [size[1] * channels, channels].map(|stride| stride as isize);
        let strides = [image_len as isize, 1, image_len as isize, row, pixel];
        let images = Images { data: copy.as_numbers(), offset: 0, strides };
        run(&Pixels { images, size, channels, zeros: &zeros })
    }

    /// The channels of a pixel; zeros outside of the image.
    #[inline(always)]
    fn pixel(&self, image: usize, h: isize, w: isize) -> &[[T; LANES]] {
        let inside = |at: isize, axis: usize| at >= 0 && (at as usize) < self.size[axis];
        let channels = if inside(h, 0) && inside(w, 1) {
            let at = self.images.position([image as isize, 0, 0, h, w]);
            &self.images.data[at..at + self.channels]
        } else {
            self.zeros
        };
        channels.as_chunks().0
    }
}

/// Sixteen matrices, one for each element of a tile, of the rows of some tiles.
struct Matrices {
    numbers: Scratch,
    /// From one to the next.
    place: usize,
}

impl Matrices {
    fn new<T: ConvElement>(tiles: usize, columns: usize) -> Self {
        let place = tiles * columns + GAP;
        Self { numbers: Scratch::new::<T>(PLACES * place), place }
    }

    fn matrix<T: ConvElement>(&self, i: usize) -> &[T] {
        &self.numbers.as_numbers()[i * self.place..][..self.place]
    }
}

/// Columns of a panel: whole tiles of the kernel and whole [`LANES`].
fn columns_of<T>(slide: &Slide<T>) -> usize {
    (1..).map(|n| n * slide.cols).find(|columns| columns.is_multiple_of(LANES)).expect("one in eight is")
}

/// Parts of equal size, of at most `most`, that `len` divides into.
fn even(len: usize, most: usize) -> usize {
    len.div_ceil(len.div_ceil(most).max(1)).max(1)
}
