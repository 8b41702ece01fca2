//! Gradients of weights and biases: sums over all pixels.
//!
//! Images are cut into boxes of rows, boxes are put together to units of a few hundred pixels, and units to at most 16
//! chunks, all by the shape alone. The sums of each chunk are made by themselves, and added in order at last.

use std::ops::Range;

use super::super::gemm::Scratch;
use super::super::simd::{Run, Runs, Slide, SlideElement, Start, Sums, Target};
use super::ConvElement;
use super::depthwise::DepthWeights;
use super::pack::{Crop, Images};
use super::plan::{ConvShape, Pass};
use super::winograd;
use crate::parallel;

/// Elements of both operands that a box has at most, if it has more than one row.
const BOX: usize = 64 << 10;

/// Pixels that are added up at a time: as many gradients of 16 channels stay in the first-level cache.
const PIXELS: usize = 256;

/// Chunks that are summed by themselves.
pub(super) const CHUNKS: usize = 16;

/// Elements that all their sums have at most, if there is more than one chunk.
pub(super) const SUMS: usize = 8 << 20;

/// Inputs of so few channels are read tap by tap in one piece.
const FEW: usize = 16;

/// The gradients of weights, `[groups · outputs][inputs][taps]`, and of biases, given that of the convolution's output.
///
/// # Panics
/// If a slice has another length than the shape says.
pub fn conv_weight_gradient<T: ConvElement>(
    shape: &ConvShape,
    x: &Images<'_, T>,
    gradient: &Images<'_, T>,
    weights: &mut [T],
    biases: Option<&mut [T]>,
) {
    let outputs = shape.groups * shape.outputs;
    assert_eq!(weights.len(), outputs * shape.inputs * shape.taps(), "gradients of weights");
    if winograd::fits::<T>(shape) {
        return winograd::conv_weight_gradient(shape, x, gradient, weights, biases);
    }
    let sum = Sum::new(shape, x, gradient);
    if sum.panel_len() == 0 || sum.panels() == 0 || sum.boxes.is_empty() {
        weights.fill(T::ZERO);
        biases.into_iter().for_each(|biases| biases.fill(T::ZERO));
        return;
    }
    let mut scratch = Scratch::new::<T>(sum.chunks * sum.len());
    let sums = scratch.numbers::<T>();
    sum.make(sums);
    add_chunks(sums, sum.len());
    sum.unpack(&sums[..sum.len()], weights, biases);
}

/// Parts that the panels of a chunk are made in: several if there are few chunks.
pub(super) fn parts_of(panels: usize, chunks: usize) -> usize {
    if chunks >= 4 { 1 } else { (1..=4).rev().find(|&n| panels.is_multiple_of(n)).unwrap_or(1) }
}

/// Adds all chunks of `len` sums to the first.
pub(super) fn add_chunks<T: ConvElement>(sums: &mut [T], len: usize) {
    const PART: usize = 16 << 10;
    let (first, others) = sums.split_at_mut(len);
    parallel::chunks_mut(first, PART, |i, part| {
        for other in others.chunks_exact(len) {
            part.iter_mut().zip(&other[i * PART..]).for_each(|(sum, &other)| *sum = sum.plus(other));
        }
    });
}

/// Rows `h` of one depth of one image.
#[derive(Clone)]
struct Rows {
    image: usize,
    d: usize,
    h: Range<usize>,
}

struct Sum<'a, T: SlideElement> {
    slide: Slide<T>,
    shape: &'a ConvShape,
    x: &'a Images<'a, T>,
    gradient: &'a Images<'a, T>,
    passes: [Pass; 3],
    boxes: Vec<Rows>,
    /// Rows of the larger boxes, and how many boxes make a unit.
    rows: usize,
    unit: usize,
    chunks: usize,
}

impl<'a, T: ConvElement> Sum<'a, T> {
    fn new(shape: &'a ConvShape, x: &'a Images<'a, T>, gradient: &'a Images<'a, T>) -> Self {
        let passes = shape.axes.map(|axis| axis.forward().swap_remove(0));
        let [depth, height, width] = shape.axes.map(|axis| axis.output);
        let axis = shape.axes[2];
        let of_row =
            shape.groups * (axis.input * shape.inputs * shape.axes[1].stride + width * shape.outputs);
        let rows = (BOX / of_row.max(1)).clamp(1, height.max(1));
        let rows = height.div_ceil(height.div_ceil(rows).max(1)).max(1);
        let planes = if width == 0 { 0 } else { shape.batch * depth };
        let boxes = (0..planes).flat_map(|plane| {
            (0..height).step_by(rows).map(move |h| {
                let h = h..(h + rows).min(height);
                Rows { image: plane / depth, d: plane % depth, h }
            })
        });
        let boxes: Vec<Rows> = boxes.collect();
        let room = BOX / (of_row * rows).max(1);
        let unit = (PIXELS / (rows * width).max(1)).min(room).max(1);
        let mut sum = Self { slide: T::slide(), shape, x, gradient, passes, boxes, rows, unit, chunks: 1 };
        let by_memory = SUMS / sum.len().max(1);
        sum.chunks = sum.boxes.len().div_ceil(unit).min(CHUNKS).min(by_memory).max(1);
        sum
    }

    /// Panels of columns in a group.
    fn panels_of_group(&self) -> usize {
        self.shape.outputs.div_ceil(self.slide.cols)
    }

    fn panels(&self) -> usize {
        self.shape.groups * self.panels_of_group()
    }

    /// The sums of a panel: `[tap][input]`, and one row of ones for the biases, each of a tile's columns.
    fn panel_len(&self) -> usize {
        (self.shape.taps() * self.shape.inputs + 1) * self.slide.cols
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
        let units = self.boxes.len().div_ceil(self.unit);
        parallel::chunks_mut(sums, part * self.panel_len(), |i, sums| {
            let (chunk, first) = (i / parts, i % parts * part);
            sums.fill(T::ZERO);
            for unit in units * chunk / self.chunks..units * (chunk + 1) / self.chunks {
                let boxes = &self.boxes[unit * self.unit..];
                let unit = Unit { sum: self, boxes: &boxes[..self.unit.min(boxes.len())] };
                if self.shape.is_depthwise() {
                    unit.add_depthwise(first..first + part, sums);
                } else {
                    unit.add(first..first + part, sums);
                }
            }
        });
    }

    fn unpack(&self, sums: &[T], weights: &mut [T], biases: Option<&mut [T]>) {
        let (columns, taps, inputs) = (self.slide.cols, self.shape.taps(), self.shape.inputs);
        let panel = |output: usize| {
            let (group, output) = (output / self.shape.outputs, output % self.shape.outputs);
            let panel = group * self.panels_of_group() + output / columns;
            &sums[panel * self.panel_len() + output % columns..]
        };
        let outputs_of_task = (16 << 10) / (taps * inputs) + 1;
        parallel::chunks_mut(weights, outputs_of_task * taps * inputs, |i, weights| {
            for (j, weights) in weights.chunks_exact_mut(taps * inputs).enumerate() {
                let panel = panel(i * outputs_of_task + j);
                for (input, weights) in weights.chunks_exact_mut(taps).enumerate() {
                    for (tap, weight) in weights.iter_mut().enumerate() {
                        *weight = panel[(tap * inputs + input) * columns];
                    }
                }
            }
        });
        for (output, bias) in biases.into_iter().flatten().enumerate() {
            *bias = panel(output)[taps * inputs * columns];
        }
    }
}

/// Boxes whose pixels are added up together.
struct Unit<'a, T: SlideElement> {
    sum: &'a Sum<'a, T>,
    boxes: &'a [Rows],
}

/// A block of channels of the input: `[box][depth][height][width][lanes]`.
struct Left {
    at: usize,
    lanes: usize,
    channels: Range<usize>,
}

impl<T: ConvElement> Unit<'_, T> {
    /// What of the input a box reads; the same size for each.
    fn crop(&self, rows: &Rows) -> Crop {
        let [depth, height, width] = &self.sum.passes;
        let axis = |pass: &Pass, j: usize, count: usize| {
            let (first, span) = pass.span();
            let size = if span == 0 { 0 } else { (count - 1) * pass.source_step + span };
            ((j * pass.source_step) as isize + first, size)
        };
        let axes =
            [axis(depth, rows.d, 1), axis(height, rows.h.start, self.sum.rows), axis(width, 0, width.count)];
        Crop {
            image: rows.image,
            origin: axes.map(|axis| axis.0),
            size: axes.map(|axis| axis.1),
            bounds: self.sum.shape.axes.map(|axis| axis.input),
        }
    }

    /// The gradients of a box.
    fn gradients(&self, rows: &Rows) -> Crop {
        let bounds = self.sum.shape.axes.map(|axis| axis.output);
        let origin = [rows.d as isize, rows.h.start as isize, 0];
        Crop { image: rows.image, origin, size: [1, self.sum.rows, bounds[2]], bounds }
    }

    /// Blocks of channels of all groups, after each other.
    fn blocks(&self, merged: bool) -> Vec<Left> {
        let shape = self.sum.shape;
        let pixels = self.crop(&self.boxes[0]).len() * self.boxes.len();
        let lanes = if merged { shape.inputs } else { self.sum.slide.rows };
        let mut at = 0;
        let mut blocks = Vec::new();
        for group in 0..shape.groups {
            for first in (0..shape.inputs).step_by(lanes) {
                let end = (first + lanes).min(shape.inputs);
                let first = group * shape.inputs + first;
                blocks.push(Left { at, lanes, channels: first..group * shape.inputs + end });
                at += pixels * lanes;
            }
        }
        blocks
    }

    /// Adds the unit's products to the sums of some panels.
    fn add(&self, panels: Range<usize>, sums: &mut [T]) {
        let (sum, shape, columns) = (self.sum, self.sum.shape, self.sum.slide.cols);
        let merged = shape.inputs <= FEW && shape.axes[2].dilation == 1;
        let blocks = self.blocks(merged);
        let left = self.pack_inputs(&blocks);
        let right = self.pack_gradients(panels.clone());
        let right_len = self.boxes.len() * sum.rows * shape.axes[2].output * columns;
        let parts = self.runs(blocks[0].lanes, columns);
        for (i, panel) in panels.enumerate() {
            let group = panel / sum.panels_of_group();
            let sums = &mut sums[i * sum.panel_len()..][..sum.panel_len()];
            let right = &right.as_numbers::<T>()[i * right_len..][..right_len];
            for (runs, ones) in &parts {
                self.add_ones(ones, right, sums);
                for block in blocks.iter().filter(|block| block.channels.start / shape.inputs == group) {
                    let first = block.channels.start % shape.inputs;
                    for (at, row, taps) in self.tap_rows(block.lanes, merged) {
                        let rows = Sums {
                            rows: taps * block.channels.len(),
                            left: left.as_numbers::<T>(),
                            left_at: block.at + at,
                            row_stride: 1,
                            right,
                            runs,
                            start: Start::Output,
                            relu: false,
                        };
                        let at = (row * shape.inputs + first) * columns;
                        sum.slide.run(&rows, Target { data: sums, at, row_stride: columns, cols: columns });
                    }
                }
            }
        }
    }

    /// The sums of the gradients themselves.
    fn add_ones(&self, runs: &Runs, right: &[T], sums: &mut [T]) {
        let columns = self.sum.slide.cols;
        let (left, start) = (&[T::ONE][..], Start::Output);
        let rows = Sums { rows: 1, left, left_at: 0, row_stride: 0, right, runs, start, relu: false };
        let at = sums.len() - columns;
        self.sum.slide.run(&rows, Target { data: sums, at, row_stride: columns, cols: columns });
    }

    fn pack_inputs(&self, blocks: &[Left]) -> Scratch {
        let pixels = self.crop(&self.boxes[0]).len();
        let mut left = Scratch::new::<T>(
            blocks.iter().map(|block| block.lanes).sum::<usize>() * pixels * self.boxes.len(),
        );
        let numbers = left.numbers();
        for block in blocks {
            for (i, rows) in self.boxes.iter().enumerate() {
                let out = &mut numbers[block.at + i * pixels * block.lanes..][..pixels * block.lanes];
                self.sum.x.pack(&self.crop(rows), block.channels.clone(), block.lanes, out);
            }
        }
        left
    }

    /// `[panel][box][row][pixel][column]`.
    fn pack_gradients(&self, panels: Range<usize>) -> Scratch {
        let (shape, columns) = (self.sum.shape, self.sum.slide.cols);
        let len = self.gradients(&self.boxes[0]).len() * columns;
        let mut right = Scratch::new::<T>(panels.len() * self.boxes.len() * len);
        for (i, out) in right.numbers::<T>().chunks_exact_mut(len).enumerate() {
            let (panel, rows) = (panels.start + i / self.boxes.len(), &self.boxes[i % self.boxes.len()]);
            let (group, panel) = (panel / self.sum.panels_of_group(), panel % self.sum.panels_of_group());
            let first = group * shape.outputs + panel * columns;
            let end = (first + columns).min((group + 1) * shape.outputs);
            self.sum.gradient.pack(&self.gradients(rows), first..end, columns, out);
        }
        right
    }

    /// Runs over pixels in parts of about [`PIXELS`], and the same for a left operand of ones.
    fn runs(&self, lanes: usize, columns: usize) -> Vec<(Runs, Runs)> {
        let crop = self.crop(&self.boxes[0]);
        let [_, height, width] = &self.sum.passes;
        let lines = self.boxes.iter().enumerate().flat_map(|(i, rows)| {
            (0..rows.h.len()).map(move |row| {
                let line = i * crop.size[0] * crop.size[1] + row * height.source_step;
                let left = line * crop.size[2] * lanes;
                Run { left, right: (i * self.sum.rows + row) * width.count * columns, len: width.count }
            })
        });
        let lines: Vec<Run> = lines.collect();
        let parts = lines.chunks((PIXELS / width.count).max(1));
        let parts = parts.map(|lines| {
            let ones = lines.iter().map(|&run| Run { left: 0, ..run }).collect();
            let runs = Runs::new(lines.to_vec(), width.source_step * lanes, columns);
            (runs, Runs::new(ones, 0, columns))
        });
        parts.collect()
    }

    /// Where taps read in a block, their number, and how many follow each other.
    fn tap_rows(&self, lanes: usize, merged: bool) -> Vec<(usize, usize, usize)> {
        let size = self.crop(&self.boxes[0]).size;
        let kernel = self.sum.shape.axes.map(|axis| axis.kernel);
        let [depth, height, width] = &self.sum.passes;
        let from = |pass: &Pass, at: isize| (at - pass.span().0) as usize;
        let mut rows = Vec::new();
        for &(d, at_d) in &depth.taps {
            for &(h, at_h) in &height.taps {
                let line = (from(depth, at_d) * size[1] + from(height, at_h)) * size[2];
                let tap = (d * kernel[1] + h) * kernel[2];
                if let (true, Some(first)) = (merged, width.taps.first()) {
                    rows.push((line * lanes, tap + first.0, width.taps.len()));
                    continue;
                }
                rows.extend(
                    width.taps.iter().map(|&(w, at_w)| ((line + from(width, at_w)) * lanes, tap + w, 1)),
                );
            }
        }
        rows
    }

    fn add_depthwise(&self, channels: Range<usize>, sums: &mut [T]) {
        let (sum, columns, count) = (self.sum, self.sum.slide.cols, channels.len());
        let taps: Vec<(usize, usize)> =
            self.tap_rows(count, false).into_iter().map(|(at, tap, _)| (at, tap)).collect();
        let mut by_tap = vec![T::ZERO; (sum.shape.taps() + 1) * count];
        let (weights, biases) = by_tap.split_at_mut(sum.shape.taps() * count);
        for rows in self.boxes {
            let (crop, gradients) = (self.crop(rows), self.gradients(rows));
            let (mut x, mut gradient) =
                (Scratch::new::<T>(crop.len() * count), Scratch::new::<T>(gradients.len() * count));
            sum.x.pack(&crop, channels.clone(), count, x.numbers());
            sum.gradient.pack(&gradients, channels.clone(), count, gradient.numbers());
            let line = gradients.size[2] * count;
            for row in 0..rows.h.len() {
                let gradient = &gradient.as_numbers::<T>()[row * line..][..line];
                for gradient in gradient.chunks_exact(count) {
                    biases.iter_mut().zip(gradient).for_each(|(sum, &g)| *sum = sum.plus(g));
                }
                if taps.is_empty() {
                    continue;
                }
                crate::simd::dispatch(DepthWeights {
                    source: &x.as_numbers::<T>()[row * sum.passes[1].source_step * crop.size[2] * count..],
                    source_step: sum.passes[2].source_step * count,
                    taps: &taps,
                    gradient,
                    channels: count,
                    out: weights,
                });
            }
        }
        for (channel, sums) in sums.chunks_exact_mut(sum.panel_len()).enumerate() {
            for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
                sums[0] = sums[0].plus(by_tap[row * count + channel]);
            }
        }
    }
}
