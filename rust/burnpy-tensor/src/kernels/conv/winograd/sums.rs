//! Outputs, and gradients of inputs.

use super::super::super::gemm::Scratch;
use super::super::super::simd::{Run, Runs, Slide, Start, Sums, Target};
use super::super::ConvElement;
use super::super::pack::Images;
use super::super::plan::ConvShape;
use super::transform::{Inputs, LANES, Outputs, Weights};
use super::{Matrices, PLACES, Pixels, Tile, columns_of, even, tiles};
use crate::parallel;

/// Elements of turned inputs that are made at a time, which stay in a second-level cache.
const TURNED: usize = 32 << 10;

/// Tiles that are turned at a time, at least and at most: weights are read once for so many.
const BLOCK: [usize; 2] = [24, 96];

/// Tasks that there are at most, by the shape alone.
const TASKS: usize = 32;

/// See [`conv`](super::super::conv).
pub(in super::super) fn conv<T: ConvElement>(
    shape: &ConvShape,
    x: &Images<'_, T>,
    weights: &[T],
    bias: Option<&[T]>,
    relu: bool,
    out: &mut [T],
) {
    let [height, width] = [shape.axes[1], shape.axes[2]];
    Pixels::with(x, (shape.batch, shape.inputs, [height.input, width.input]), |source| {
        let weights = Turned::new(shape, weights, false);
        let pads = [height.pad as isize, width.pad as isize];
        let size = [height.output, width.output];
        Walk::new(source, &weights, bias, relu, pads, size).run(shape.batch, out);
    });
}

/// See [`conv_input_gradient`](super::super::conv_input_gradient).
pub(in super::super) fn conv_input_gradient<T: ConvElement>(
    shape: &ConvShape,
    gradient: &Images<'_, T>,
    weights: &[T],
    bias: Option<&[T]>,
    out: &mut [T],
) {
    let [height, width] = [shape.axes[1], shape.axes[2]];
    Pixels::with(gradient, (shape.batch, shape.outputs, [height.output, width.output]), |source| {
        let weights = Turned::new(shape, weights, true);
        let pads = [2 - height.pad as isize, 2 - width.pad as isize];
        Walk::new(source, &weights, bias, false, pads, [height.input, width.input]).run(shape.batch, out);
    });
}

/// `G w Gᵀ`, `[panel][place][channel of the source][column]`.
struct Turned<T> {
    slide: Slide<T>,
    numbers: Scratch,
    ins: usize,
    outs: usize,
    columns: usize,
}

impl<T: ConvElement> Turned<T> {
    /// Of weights `[outputs][inputs][9]`. For the way back, channels change roles and taps their order.
    fn new(shape: &ConvShape, weights: &[T], backward: bool) -> Self {
        assert_eq!(weights.len(), shape.outputs * shape.inputs * 9, "weights");
        let slide = T::slide();
        let columns = columns_of(&slide);
        let (o_stride, i_stride) = (shape.inputs * 9, 9);
        let (outs, ins, out_stride, in_stride) = if backward {
            (shape.inputs, shape.outputs, i_stride, o_stride)
        } else {
            (shape.outputs, shape.inputs, o_stride, i_stride)
        };
        let panel_len = PLACES * ins * columns;
        let mut numbers = Scratch::new::<T>(outs.div_ceil(columns) * panel_len);
        parallel::chunks_mut(numbers.numbers::<T>(), panel_len, |panel, out| {
            let first = panel * columns;
            if first + columns > outs {
                out.fill(T::ZERO);
            }
            crate::simd::dispatch(Weights {
                weights: &weights[first * out_stride..],
                channels: ins,
                channel_stride: in_stride,
                lanes: columns.min(outs - first) / LANES,
                column_stride: out_stride,
                backward,
                out,
                columns,
            });
        });
        Self { slide, numbers, ins, outs, columns }
    }

    /// Those of one element of the tiles.
    fn matrix(&self, panel: usize, place: usize) -> &[T] {
        let len = self.ins * self.columns;
        &self.numbers.as_numbers()[(panel * PLACES + place) * len..][..len]
    }
}

struct Walk<'a, T> {
    source: &'a Pixels<'a, T>,
    weights: &'a Turned<T>,
    biases: Vec<T>,
    relu: bool,
    pads: [isize; 2],
    /// Height and width of the result.
    size: [usize; 2],
    runs: Runs,
}

impl<'a, T: ConvElement> Walk<'a, T> {
    fn new(
        source: &'a Pixels<'a, T>,
        weights: &'a Turned<T>,
        bias: Option<&[T]>,
        relu: bool,
        pads: [isize; 2],
        size: [usize; 2],
    ) -> Self {
        assert!(bias.is_none_or(|bias| bias.len() == weights.outs), "not as many biases as channels");
        let biases = bias.map_or_else(|| vec![T::ZERO; weights.outs], <[T]>::to_vec);
        let run = Run { left: 0, right: 0, len: weights.ins };
        let runs = Runs::new(vec![run], 1, weights.columns);
        Self { source, weights, biases, relu, pads, size, runs }
    }

    fn run(&self, batch: usize, out: &mut [T]) {
        let [height, width] = self.size;
        let row_len = width * self.weights.outs;
        let rows = batch * height;
        assert_eq!(out.len(), rows * row_len, "an output of {rows} rows of {row_len}");
        if out.is_empty() {
            return;
        }
        let block = (TURNED / (PLACES * self.weights.ins)).clamp(BLOCK[0], BLOCK[1]);
        let task = self.rows_of_task(rows, block);
        if task >= height {
            return parallel::chunks_mut(out, task * row_len, |i, out| self.rows(i * task, block, out));
        }
        // Tiles of an image begin with its first row, wherever it is in the batch.
        for (image, out) in out.chunks_exact_mut(height * row_len).enumerate() {
            parallel::chunks_mut(out, task * row_len, |i, out| {
                self.rows(image * height + i * task, block, out)
            });
        }
    }

    /// Some rows from one on, whose tiles are worked on in blocks.
    fn rows(&self, first: usize, block: usize, out: &mut [T]) {
        let width = self.size[1];
        let row_len = width * self.weights.outs;
        let tiles = tiles(first..first + out.len() / row_len, self.size);
        let block = even(tiles.len(), block);
        let mut turned = Matrices::new::<T>(block, self.weights.ins);
        let mut sums = Matrices::new::<T>(block, self.weights.columns);
        for tiles in tiles.chunks(block) {
            crate::simd::dispatch(Inputs {
                source: self.source,
                tiles,
                pads: self.pads,
                place: turned.place,
                out: turned.numbers.numbers(),
            });
            self.add_up(tiles, &turned, &mut sums, first * width, out);
        }
    }

    /// Rows of a task, some of an image or some images: one block at least. Not by the number of threads.
    fn rows_of_task(&self, rows: usize, block: usize) -> usize {
        let [height, width] = self.size;
        let of_block = 2 * block.div_ceil(width.div_ceil(2));
        let wanted = rows.div_ceil(TASKS).max(of_block);
        if wanted >= height {
            return wanted.div_ceil(height) * height;
        }
        height.div_ceil(TASKS).max(of_block).next_multiple_of(2)
    }

    /// Writes the pixels of some tiles to rows that begin with pixel `first`.
    fn add_up(&self, tiles: &[Tile], turned: &Matrices, sums: &mut Matrices, first: usize, out: &mut [T]) {
        let Turned { slide, ins, outs, columns, .. } = self.weights;
        let zeros = vec![T::ZERO; slide.cols];
        for panel in 0..outs.div_ceil(*columns) {
            for (place, data) in sums.numbers.numbers::<T>().chunks_exact_mut(sums.place).enumerate() {
                for at in (0..*columns).step_by(slide.cols) {
                    let products = Sums {
                        rows: tiles.len(),
                        left: turned.matrix(place),
                        left_at: 0,
                        row_stride: *ins,
                        right: &self.weights.matrix(panel, place)[at..],
                        runs: &self.runs,
                        start: Start::Columns(&zeros),
                        relu: false,
                    };
                    slide.run(&products, Target { data, at, row_stride: *columns, cols: slide.cols });
                }
            }
            let channel = panel * columns;
            crate::simd::dispatch(Outputs {
                sums: sums.numbers.as_numbers(),
                place: sums.place,
                width: *columns,
                tiles,
                biases: &self.biases[channel..(channel + columns).min(*outs)],
                relu: self.relu,
                out: &mut out[channel..],
                first,
                size: self.size,
                channels: *outs,
            });
        }
    }
}
