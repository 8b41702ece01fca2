//! Gradients of weights and biases: sums over all tiles.
//!
//! Tiles are cut into at most 16 chunks by the shape alone; the sums of each are made by themselves, and added in order
//! at last.

use std::ops::Range;

use super::super::super::gemm::Scratch;
use super::super::super::simd::{Run, Runs, Slide, Start, Sums, Target};
use super::super::ConvElement;
use super::super::pack::Images;
use super::super::plan::ConvShape;
use super::super::weights::{CHUNKS, SUMS, add_chunks, parts_of};
use super::transform::{Gradients, Inputs, LANES, WeightGradients};
use super::{Matrices, PLACES, Pixels, columns_of, even, tiles};
use crate::parallel;

/// Tiles that are added up at a time, at most.
const BLOCK: usize = 96;

/// Tiles of a chunk, about: its sums are written and read once more for so many products each.
const TILES_OF_CHUNK: usize = 256;

/// The element of a tile's gradients that is the sum of all four: row 1, column 1.
const SUM: usize = 5;

/// See [`conv_weight_gradient`](super::super::conv_weight_gradient).
pub(in super::super) fn conv_weight_gradient<T: ConvElement>(
    shape: &ConvShape,
    x: &Images<'_, T>,
    gradient: &Images<'_, T>,
    weights: &mut [T],
    biases: Option<&mut [T]>,
) {
    let [height, width] = [shape.axes[1], shape.axes[2]];
    let [input, output] = [[height.input, width.input], [height.output, width.output]];
    Pixels::with(x, (shape.batch, shape.inputs, input), |x| {
        Pixels::with(gradient, (shape.batch, shape.outputs, output), |gradient| {
            let sum = Sum::new(shape, x, gradient);
            let mut scratch = Scratch::new::<T>(sum.chunks * sum.len());
            let sums = scratch.numbers();
            sum.make(sums);
            add_chunks(sums, sum.len());
            sum.turn(&sums[..sum.len()], weights, biases);
        });
    });
}

struct Sum<'a, T> {
    slide: Slide<T>,
    x: &'a Pixels<'a, T>,
    gradient: &'a Pixels<'a, T>,
    pads: [isize; 2],
    columns: usize,
    /// Rows of all images' outputs.
    rows: usize,
    chunks: usize,
}

impl<'a, T: ConvElement> Sum<'a, T> {
    fn new(shape: &ConvShape, x: &'a Pixels<'a, T>, gradient: &'a Pixels<'a, T>) -> Self {
        let [height, width] = gradient.size;
        let pads = [shape.axes[1].pad as isize, shape.axes[2].pad as isize];
        let rows = shape.batch * height;
        let slide = T::slide();
        let columns = columns_of(&slide);
        let mut sum = Self { slide, x, gradient, pads, columns, rows, chunks: 1 };
        let tiles = shape.batch * height.div_ceil(2) * width.div_ceil(2);
        sum.chunks = (tiles / TILES_OF_CHUNK).min(CHUNKS).min(SUMS / sum.len()).max(1);
        sum
    }

    fn panels(&self) -> usize {
        self.gradient.channels.div_ceil(self.columns)
    }

    /// The sums of a panel: `[place][input][column]`, and those of the gradients themselves.
    fn panel_len(&self) -> usize {
        (PLACES * self.x.channels + 1) * self.columns
    }

    /// The sums of a chunk.
    fn len(&self) -> usize {
        self.panels() * self.panel_len()
    }

    /// The sums of all chunks, each by itself; panels are shared out too if there are few chunks.
    fn make(&self, sums: &mut [T]) {
        let panels = self.panels();
        let parts = parts_of(panels, self.chunks);
        let part = panels / parts;
        parallel::chunks_mut(sums, part * self.panel_len(), |i, sums| {
            let (chunk, first) = (i / parts, i % parts * part);
            sums.fill(T::ZERO);
            self.add(self.start(chunk)..self.start(chunk + 1), first..first + part, sums);
        });
    }

    /// The row that a chunk begins with: one that a row of tiles does.
    fn start(&self, chunk: usize) -> usize {
        let row = self.rows * chunk / self.chunks;
        row - row % self.gradient.size[0] % 2
    }

    /// Adds the products of some rows to the sums of some panels.
    fn add(&self, rows: Range<usize>, panels: Range<usize>, sums: &mut [T]) {
        let (ins, columns) = (self.x.channels, self.columns);
        let tiles = tiles(rows, self.gradient.size);
        let block = even(tiles.len(), BLOCK);
        let (mut left, mut right) = (Matrices::new::<T>(block, ins), Matrices::new::<T>(block, columns));
        for tiles in tiles.chunks(block) {
            crate::simd::dispatch(Inputs {
                source: self.x,
                tiles,
                pads: self.pads,
                place: left.place,
                out: left.numbers.numbers(),
            });
            for (panel, sums) in panels.clone().zip(sums.chunks_exact_mut(self.panel_len())) {
                let first = panel * columns;
                let end = (first + columns).min(self.gradient.channels);
                if end < first + columns {
                    right.numbers.numbers::<T>().fill(T::ZERO);
                }
                crate::simd::dispatch(Gradients {
                    source: self.gradient,
                    tiles,
                    lanes: first / LANES..end / LANES,
                    place: right.place,
                    out: right.numbers.numbers(),
                    width: columns,
                });
                self.add_panel(tiles.len(), &left, &right, sums);
            }
        }
    }

    fn add_panel(&self, tiles: usize, left: &Matrices, right: &Matrices, sums: &mut [T]) {
        let (ins, columns, cols) = (self.x.channels, self.columns, self.slide.cols);
        let runs = |left_step| Runs::new(vec![Run { left: 0, right: 0, len: tiles }], left_step, columns);
        let (products, ones) = (runs(ins), runs(0));
        let (sums, totals) = sums.split_at_mut(PLACES * ins * columns);
        for at in (0..columns).step_by(cols) {
            for (place, data) in sums.chunks_exact_mut(ins * columns).enumerate() {
                let products = Sums {
                    rows: ins,
                    left: left.matrix(place),
                    left_at: 0,
                    row_stride: 1,
                    right: &right.matrix(place)[at..],
                    runs: &products,
                    start: Start::Output,
                    relu: false,
                };
                self.slide.run(&products, Target { data, at, row_stride: columns, cols });
            }
            let ones = Sums {
                rows: 1,
                left: &[T::ONE],
                left_at: 0,
                row_stride: 0,
                right: &right.matrix(SUM)[at..],
                runs: &ones,
                start: Start::Output,
                relu: false,
            };
            self.slide.run(&ones, Target { data: totals, at, row_stride: columns, cols });
        }
    }

    /// `Gᵀ s G`, and the biases.
    fn turn(&self, sums: &[T], weights: &mut [T], biases: Option<&mut [T]>) {
        let (ins, columns) = (self.x.channels, self.columns);
        let panel = |panel: usize| &sums[panel * self.panel_len()..][..self.panel_len()];
        parallel::chunks_mut(weights, columns * ins * 9, |i, out| {
            crate::simd::dispatch(WeightGradients { sums: panel(i), columns, channels: ins, out });
        });
        for (output, bias) in biases.into_iter().flatten().enumerate() {
            *bias = panel(output / columns)[PLACES * ins * columns + output % columns];
        }
    }
}
