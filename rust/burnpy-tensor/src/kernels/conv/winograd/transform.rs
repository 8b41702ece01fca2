//! Tiles to the elements of the sixteen matrices, and back.

use super::super::super::number::Number;
use super::super::ConvElement;
use super::{PLACES, Pixels, Tile};
use crate::simd::{Arch, Copies, Kernel};

/// Channels that are turned at a time.
pub(super) const LANES: usize = 8;

type Lanes<T> = [T; LANES];

#[inline(always)]
fn plus<T: Number>(mut a: Lanes<T>, b: Lanes<T>) -> Lanes<T> {
    for i in 0..LANES {
        a[i] = a[i].plus(b[i]);
    }
    a
}

#[inline(always)]
fn minus<T: Number>(mut a: Lanes<T>, b: Lanes<T>) -> Lanes<T> {
    for i in 0..LANES {
        a[i] = a[i].minus(b[i]);
    }
    a
}

/// `Bᵀ d`.
#[inline(always)]
fn input<T: Number>([a, b, c, d]: [Lanes<T>; 4]) -> [Lanes<T>; 4] {
    [minus(a, c), plus(b, c), minus(c, b), minus(b, d)]
}

/// `Aᵀ m`.
#[inline(always)]
fn output<T: Number>([a, b, c, d]: [Lanes<T>; 4]) -> [Lanes<T>; 2] {
    [plus(plus(a, b), c), minus(minus(b, c), d)]
}

/// `A y`.
#[inline(always)]
fn gradient<T: Number>([a, b]: [Lanes<T>; 2]) -> [Lanes<T>; 4] {
    [a, plus(a, b), minus(a, b), minus([T::ZERO; LANES], b)]
}

#[inline(always)]
fn half<T: Number>(mut a: Lanes<T>) -> Lanes<T> {
    let half = T::ONE.over(T::ONE.plus(T::ONE));
    for lane in &mut a {
        *lane = lane.times(half);
    }
    a
}

/// `G w`.
#[inline(always)]
fn weight<T: Number>([a, b, c]: [Lanes<T>; 3]) -> [Lanes<T>; 4] {
    let ends = plus(a, c);
    [a, half(plus(ends, b)), half(minus(ends, b)), c]
}

/// `Gᵀ s`.
#[inline(always)]
fn weight_gradient<T: Number>([a, b, c, d]: [Lanes<T>; 4]) -> [Lanes<T>; 3] {
    let middle = half(plus(b, c));
    [plus(a, middle), half(minus(b, c)), plus(middle, d)]
}

/// Columns as rows. No loop, here and below: what one indexes would go through memory.
#[inline(always)]
fn turned<T: Number>([a, b, c, d]: [[Lanes<T>; 4]; 4]) -> [[Lanes<T>; 4]; 4] {
    [[a[0], b[0], c[0], d[0]], [a[1], b[1], c[1], d[1]], [a[2], b[2], c[2], d[2]], [a[3], b[3], c[3], d[3]]]
}

/// Four elements of a tile, of neighbouring matrices.
#[inline(always)]
fn store_row<T: Number>(out: &mut [Lanes<T>], at: usize, place: usize, row: [Lanes<T>; 4]) {
    out[at] = row[0];
    out[at + place] = row[1];
    out[at + 2 * place] = row[2];
    out[at + 3 * place] = row[3];
}

/// `G w Gᵀ`, `[place][channel][column]`, a panel of columns.
pub(super) struct Weights<'a, T> {
    /// Nine taps of each pair of channels.
    pub(super) weights: &'a [T],
    pub(super) channels: usize,
    pub(super) channel_stride: usize,
    /// Columns that there are, in [`LANES`]; the others are left alone.
    pub(super) lanes: usize,
    pub(super) column_stride: usize,
    /// Whether taps come in reverse.
    pub(super) backward: bool,
    pub(super) out: &'a mut [T],
    pub(super) columns: usize,
}

#[allow(clippy::needless_range_loop, reason = "indices are those of several arrays at once")]
impl<T: ConvElement> Kernel for Weights<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let place = self.channels * self.columns;
        for channel in 0..self.channels {
            for lane in 0..self.lanes {
                let mut taps = [[T::ZERO; LANES]; 9];
                for column in 0..LANES {
                    let at = (lane * LANES + column) * self.column_stride + channel * self.channel_stride;
                    let weights = &self.weights[at..][..9];
                    for tap in 0..9 {
                        taps[tap][column] = weights[if self.backward { 8 - tap } else { tap }];
                    }
                }
                let mut rows = [[[T::ZERO; LANES]; 3]; 4];
                for w in 0..3 {
                    let column = weight([taps[w], taps[3 + w], taps[6 + w]]);
                    for h in 0..4 {
                        rows[h][w] = column[h];
                    }
                }
                for h in 0..4 {
                    let row = weight(rows[h]);
                    for w in 0..4 {
                        let at = (4 * h + w) * place + channel * self.columns + lane * LANES;
                        self.out[at..][..LANES].copy_from_slice(&row[w]);
                    }
                }
            }
        }
    }
}

/// `Gᵀ s G` of a panel `[place][channel][column]`, nine taps of each pair of channels.
pub(super) struct WeightGradients<'a, T> {
    pub(super) sums: &'a [T],
    pub(super) columns: usize,
    pub(super) channels: usize,
    /// `[column][channel][tap]`.
    pub(super) out: &'a mut [T],
}

#[allow(clippy::needless_range_loop, reason = "as above")]
impl<T: ConvElement> Kernel for WeightGradients<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (place, out_stride) = (self.channels * self.columns, self.channels * 9);
        for channel in 0..self.channels {
            for lane in 0..self.out.len() / out_stride / LANES {
                let mut rows = [[[T::ZERO; LANES]; 3]; 4];
                for h in 0..4 {
                    let mut row = [[T::ZERO; LANES]; 4];
                    for w in 0..4 {
                        let at = (4 * h + w) * place + channel * self.columns + lane * LANES;
                        row[w].copy_from_slice(&self.sums[at..][..LANES]);
                    }
                    rows[h] = weight_gradient(row);
                }
                for w in 0..3 {
                    let taps = weight_gradient([rows[0][w], rows[1][w], rows[2][w], rows[3][w]]);
                    for h in 0..3 {
                        for column in 0..LANES {
                            let at = (lane * LANES + column) * out_stride + channel * 9 + 3 * h + w;
                            self.out[at] = taps[h][column];
                        }
                    }
                }
            }
        }
    }
}

/// `Bᵀ d B` of tiles: element `i` of tile `t` is at `i · place + t · channels`; `place` is whole [`LANES`].
pub(super) struct Inputs<'a, T> {
    pub(super) source: &'a Pixels<'a, T>,
    pub(super) tiles: &'a [Tile],
    /// From a tile's first output to its first input.
    pub(super) pads: [isize; 2],
    pub(super) out: &'a mut [T],
    pub(super) place: usize,
}

#[allow(clippy::needless_range_loop, reason = "as above")]
impl<T: ConvElement> Kernel for Inputs<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let channels = self.source.channels;
        let (out, place) = (self.out.as_chunks_mut::<LANES>().0, self.place / LANES);
        for (slot, tile) in self.tiles.iter().enumerate() {
            let [h, w] = [tile.h as isize - self.pads[0], tile.w as isize - self.pads[1]];
            let mut pixels: [&[Lanes<T>]; PLACES] = [&[]; PLACES];
            for (i, pixel) in pixels.iter_mut().enumerate() {
                *pixel = self.source.pixel(tile.image, h + (i / 4) as isize, w + (i % 4) as isize);
            }
            for lane in 0..channels / LANES {
                let column = |j: usize| {
                    input([pixels[j][lane], pixels[4 + j][lane], pixels[8 + j][lane], pixels[12 + j][lane]])
                };
                let rows = turned([column(0), column(1), column(2), column(3)]);
                let at = slot * (channels / LANES) + lane;
                store_row(out, at, place, input(rows[0]));
                store_row(out, at + 4 * place, place, input(rows[1]));
                store_row(out, at + 8 * place, place, input(rows[2]));
                store_row(out, at + 12 * place, place, input(rows[3]));
            }
        }
    }
}

/// `Aᵀ m A` of tiles, plus biases, to pixels of some channels: element `i` of tile `t` is at `i · place + t · width`.
pub(super) struct Outputs<'a, T> {
    pub(super) sums: &'a [T],
    pub(super) place: usize,
    /// Channels of a tile in `sums`; as many as there are biases are written.
    pub(super) width: usize,
    pub(super) tiles: &'a [Tile],
    pub(super) biases: &'a [T],
    pub(super) relu: bool,
    /// From the first of the channels of the first pixel on.
    pub(super) out: &'a mut [T],
    /// The pixel that it begins with, and the sizes of the images.
    pub(super) first: usize,
    pub(super) size: [usize; 2],
    pub(super) channels: usize,
}

impl<T: ConvElement> Kernel for Outputs<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let [height, width] = self.size;
        let (sums, place) = (self.sums.as_chunks::<LANES>().0, self.place / LANES);
        let (out, channels) = (self.out.as_chunks_mut::<LANES>().0, self.channels / LANES);
        for (slot, tile) in self.tiles.iter().enumerate() {
            let pixel = (tile.image * height + tile.h) * width + tile.w - self.first;
            for (lane, &bias) in self.biases.as_chunks::<LANES>().0.iter().enumerate() {
                let at = slot * (self.width / LANES) + lane;
                let column = |j: usize| {
                    let at = at + j * place;
                    output([sums[at], sums[at + 4 * place], sums[at + 8 * place], sums[at + 12 * place]])
                };
                let [a, b, c, d] = [column(0), column(1), column(2), column(3)];
                let upper = output([a[0], b[0], c[0], d[0]]);
                let lower = output([a[1], b[1], c[1], d[1]]);
                let at = pixel * channels + lane;
                let rows = [(0, upper), (width * channels, lower)];
                for (row, [left, right]) in rows.into_iter().take(tile.height) {
                    out[at + row] = Self::finished(self.relu, left, bias);
                    if tile.width > 1 {
                        out[at + row + channels] = Self::finished(self.relu, right, bias);
                    }
                }
            }
        }
    }
}

impl<T: ConvElement> Outputs<'_, T> {
    #[inline(always)]
    fn finished(relu: bool, sums: Lanes<T>, bias: Lanes<T>) -> Lanes<T> {
        let mut lanes = plus(sums, bias);
        if relu {
            for lane in &mut lanes {
                *lane = if *lane < T::ZERO { T::ZERO } else { *lane };
            }
        }
        lanes
    }
}

/// `A y Aᵀ` of tiles of some channels: element `i` of tile `t` is at `i · place + t · width`.
pub(super) struct Gradients<'a, T> {
    pub(super) source: &'a Pixels<'a, T>,
    pub(super) tiles: &'a [Tile],
    /// The first of the channels, in [`LANES`], and how many of them.
    pub(super) lanes: std::ops::Range<usize>,
    pub(super) out: &'a mut [T],
    pub(super) place: usize,
    pub(super) width: usize,
}

impl<T: ConvElement> Kernel for Gradients<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (out, place) = (self.out.as_chunks_mut::<LANES>().0, self.place / LANES);
        for (slot, tile) in self.tiles.iter().enumerate() {
            let mut pixels: [&[Lanes<T>]; 4] = [self.source.zeros.as_chunks().0; 4];
            for i in 0..tile.height {
                for j in 0..tile.width {
                    let (h, w) = ((tile.h + i) as isize, (tile.w + j) as isize);
                    pixels[2 * i + j] = self.source.pixel(tile.image, h, w);
                }
            }
            for lane in self.lanes.clone() {
                let left = gradient([pixels[0][lane], pixels[2][lane]]);
                let right = gradient([pixels[1][lane], pixels[3][lane]]);
                let at = slot * (self.width / LANES) + lane - self.lanes.start;
                store_row(out, at, place, gradient([left[0], right[0]]));
                store_row(out, at + 4 * place, place, gradient([left[1], right[1]]));
                store_row(out, at + 8 * place, place, gradient([left[2], right[2]]));
                store_row(out, at + 12 * place, place, gradient([left[3], right[3]]));
            }
        }
    }
}
