//! Outputs, and gradients of inputs.

use std::ops::Range;

use super::super::gemm::Scratch;
use super::super::simd::{Run, Runs, Slide, SlideElement, Start, Sums, Target};
use super::ConvElement;
use super::depthwise::{ByTap, DepthRow};
use super::pack::{Crop, Images, Panels};
use super::plan::{ConvShape, Pass};
use super::winograd;
use crate::parallel;

/// Steps that are added at a time: a panel of weights of so many stays in the first-level cache.
const STEPS: usize = 256;

/// Elements of the source that a task brings together: a quarter of a second-level cache of 512 KiB, which also holds
/// outputs and weights.
const CROP: usize = 32 << 10;

/// Products that a task makes at least.
const WORK: usize = 128 << 10;

/// `out = relu?(bias + x ∗ weights)`: weights `[groups · outputs][inputs][taps]`, `out` channels last,
/// `[batch][depth][height][width][groups · outputs]`.
///
/// # Panics
/// If a slice has another length than the shape says.
pub fn conv<T: ConvElement>(
    shape: &ConvShape,
    x: &Images<'_, T>,
    weights: &[T],
    bias: Option<&[T]>,
    relu: bool,
    out: &mut [T],
) {
    if winograd::fits::<T>(shape) {
        return winograd::conv(shape, x, weights, bias, relu, out);
    }
    let slide = T::slide();
    let walk = Walk {
        source: x,
        bounds: shape.axes.map(|axis| axis.input),
        sizes: shape.axes.map(|axis| axis.output),
        kernel: shape.axes.map(|axis| axis.kernel),
        passes: shape.axes.map(|axis| axis.forward()),
        groups: shape.groups,
        ins: shape.inputs,
        outs: shape.outputs,
        packed: Packed::new(&slide, shape, weights, bias, false),
        slide,
        relu,
    };
    walk.run(shape, out);
}

/// `out = bias + gradient of x`, given that of the convolution of `x` with `weights`; `out` channels last,
/// `[batch][depth][height][width][groups · inputs]`. With a bias it is the transposed convolution.
///
/// # Panics
/// As [`conv`].
pub fn conv_input_gradient<T: ConvElement>(
    shape: &ConvShape,
    gradient: &Images<'_, T>,
    weights: &[T],
    bias: Option<&[T]>,
    out: &mut [T],
) {
    if winograd::fits::<T>(shape) {
        return winograd::conv_input_gradient(shape, gradient, weights, bias, out);
    }
    let slide = T::slide();
    let walk = Walk {
        source: gradient,
        bounds: shape.axes.map(|axis| axis.output),
        sizes: shape.axes.map(|axis| axis.input),
        kernel: shape.axes.map(|axis| axis.kernel),
        passes: shape.axes.map(|axis| axis.backward()),
        groups: shape.groups,
        ins: shape.outputs,
        outs: shape.inputs,
        packed: Packed::new(&slide, shape, weights, bias, true),
        slide,
        relu: false,
    };
    walk.run(shape, out);
}

/// Weights in the order in which they are read.
enum Packed<T> {
    Panels(Panels<T>),
    /// One channel in each group, more than one group.
    Depthwise(ByTap<T>),
}

impl<T: ConvElement> Packed<T> {
    fn new(slide: &Slide<T>, shape: &ConvShape, weights: &[T], bias: Option<&[T]>, backward: bool) -> Self {
        assert_eq!(weights.len(), shape.groups * shape.outputs * shape.inputs * shape.taps(), "weights");
        if shape.is_depthwise() {
            return Self::Depthwise(ByTap::new(weights, bias, shape.groups, backward));
        }
        Self::Panels(Panels::new(slide, shape, weights, bias, backward))
    }
}

struct Walk<'a, T: SlideElement> {
    slide: Slide<T>,
    source: &'a Images<'a, T>,
    /// Depth, height and width of the source, of the result, and of the kernel.
    bounds: [usize; 3],
    sizes: [usize; 3],
    kernel: [usize; 3],
    passes: [Vec<Pass>; 3],
    groups: usize,
    /// Channels of a group, in the source and in the result.
    ins: usize,
    outs: usize,
    packed: Packed<T>,
    relu: bool,
}

impl<T: ConvElement> Walk<'_, T> {
    fn run(&self, shape: &ConvShape, out: &mut [T]) {
        let [depth, height, width] = self.sizes;
        let row_len = width * self.groups * self.outs;
        let rows = shape.batch * depth * height;
        assert_eq!(out.len(), rows * row_len, "an output of {rows} rows of {row_len}");
        if out.is_empty() {
            return;
        }
        let taps: usize = self.kernel.iter().product();
        let task = self.rows_of_task(rows, row_len * self.ins * taps);
        parallel::chunks_mut(out, task * row_len, |i, part| {
            let (mut row, mut part) = (i * task, part);
            while !part.is_empty() {
                let (plane, h) = (row / height, row % height);
                let count = (height - h).min(part.len() / row_len);
                let (now, later) = part.split_at_mut(count * row_len);
                self.rows((plane / depth, plane % depth), h..h + count, now);
                (row, part) = (row + count, later);
            }
        });
    }

    /// Rows of a task: by its memory, by its work, and by how many tasks there are. Not by the number of threads.
    fn rows_of_task(&self, rows: usize, products_of_row: usize) -> usize {
        let height = self.sizes[1];
        let by_cache = CROP / (self.bounds[2] * self.groups * self.ins).max(1);
        let by_work = WORK.div_ceil(products_of_row.max(1));
        let wanted = by_cache.min(rows.div_ceil(8)).max(by_work).max(1);
        if wanted >= height {
            return wanted / height * height;
        }
        height.div_ceil(height.div_ceil(wanted))
    }

    /// Rows `h` of one depth of one image.
    fn rows(&self, (image, d): (usize, usize), h: Range<usize>, out: &mut [T]) {
        let depths = self.passes[0].iter().filter(|pass| !pass.within(d, d + 1).is_empty());
        for depth in depths {
            let j = depth.within(d, d + 1).start;
            for height in &self.passes[1] {
                let rows = height.within(h.start, h.end);
                for width in self.passes[2].iter().filter(|_| !rows.is_empty()) {
                    Block {
                        walk: self,
                        image,
                        first_row: h.start,
                        depth,
                        j,
                        height,
                        rows: rows.clone(),
                        width,
                    }
                    .run(out);
                }
            }
        }
    }
}

/// Rows that are made with one pass along each axis.
struct Block<'a, T: SlideElement> {
    walk: &'a Walk<'a, T>,
    image: usize,
    /// The row that the output begins with.
    first_row: usize,
    depth: &'a Pass,
    j: usize,
    height: &'a Pass,
    rows: Range<usize>,
    width: &'a Pass,
}

/// Channels-last elements of the source, and the distances in it.
struct Source<'a, T> {
    data: &'a [T],
    at: usize,
    strides: [usize; 3],
}

impl<T: ConvElement> Block<'_, T> {
    fn run(&self, out: &mut [T]) {
        let channels = self.walk.groups * self.walk.ins;
        let crop = self.crop();
        if let Some(at) = self.walk.source.view(&crop, channels) {
            let strides = std::array::from_fn(|i| self.walk.source.strides[i + 2].unsigned_abs());
            return self.add_up(&Source { data: self.walk.source.data, at, strides }, out);
        }
        let mut scratch = Scratch::new::<T>(crop.len() * channels);
        self.walk.source.pack(&crop, 0..channels, channels, scratch.numbers());
        let row = crop.size[2] * channels;
        let strides = [crop.size[1] * row, row, channels];
        self.add_up(&Source { data: scratch.as_numbers(), at: 0, strides }, out);
    }

    /// What of the source is read.
    fn crop(&self) -> Crop {
        let axis = |pass: &Pass, j: usize, count: usize| {
            let (first, span) = pass.span();
            let size = if span == 0 { 0 } else { (count - 1) * pass.source_step + span };
            ((j * pass.source_step) as isize + first, size)
        };
        let axes = [
            axis(self.depth, self.j, 1),
            axis(self.height, self.rows.start, self.rows.len()),
            axis(self.width, 0, self.width.count),
        ];
        Crop {
            image: self.image,
            origin: axes.map(|axis| axis.0),
            size: axes.map(|axis| axis.1),
            bounds: self.walk.bounds,
        }
    }

    fn add_up(&self, source: &Source<'_, T>, out: &mut [T]) {
        let walk = self.walk;
        let panels = match &walk.packed {
            Packed::Panels(panels) => panels,
            Packed::Depthwise(weights) => return self.add_depthwise(weights, source, out),
        };
        let columns = walk.slide.cols;
        let parts = split(self.runs(source, columns), columns);
        for (group, panel) in (0..walk.groups).flat_map(|g| (0..panels.count).map(move |p| (g, p))) {
            let cols = columns.min(walk.outs - panel * columns);
            let channel = group * walk.outs + panel * columns;
            for (i, runs) in parts.iter().enumerate() {
                let biases = Start::Columns(panels.biases(group, panel));
                for row in self.rows.clone() {
                    let sums = Sums {
                        rows: self.width.count,
                        left: source.data,
                        left_at: source.at + self.source_row(row, source) + group * walk.ins,
                        row_stride: self.width.source_step * source.strides[2],
                        right: panels.weights(group, panel),
                        runs,
                        start: if i == 0 { biases } else { Start::Output },
                        relu: walk.relu && i + 1 == parts.len(),
                    };
                    let row_stride = self.width.step * walk.groups * walk.outs;
                    let at = self.output_at(row) + channel;
                    walk.slide.run(&sums, Target { data: out, at, row_stride, cols });
                }
            }
        }
    }

    /// Where a row of the pass begins in the source.
    fn source_row(&self, row: usize, source: &Source<'_, T>) -> usize {
        (row - self.rows.start) * self.height.source_step * source.strides[1]
    }

    /// Where the first pixel of a row of the pass is in the output.
    fn output_at(&self, row: usize) -> usize {
        let h = self.height.first + row * self.height.step - self.first_row;
        (h * self.walk.sizes[2] + self.width.first) * self.walk.groups * self.walk.outs
    }

    /// Taps as (where they read, their number).
    fn taps(&self, source: &Source<'_, T>) -> Vec<(usize, usize)> {
        let [_, kh, kw] = self.walk.kernel;
        let [sd, sh, sw] = source.strides;
        let from = |pass: &Pass, at: isize| (at - pass.span().0) as usize;
        let mut taps = Vec::new();
        for &(d, at_d) in &self.depth.taps {
            for &(h, at_h) in &self.height.taps {
                for &(w, at_w) in &self.width.taps {
                    let at = from(self.depth, at_d) * sd + from(self.height, at_h) * sh;
                    taps.push((at + from(self.width, at_w) * sw, (d * kh + h) * kw + w));
                }
            }
        }
        taps
    }

    /// The products of a pixel: over the channels of each tap, taps joined where they follow each other.
    fn runs(&self, source: &Source<'_, T>, columns: usize) -> Vec<Run> {
        let ins = self.walk.ins;
        let mut runs: Vec<Run> = Vec::new();
        for (left, tap) in self.taps(source) {
            let right = tap * ins * columns;
            match runs.last_mut() {
                Some(last) if left == last.left + last.len && right == last.right + last.len * columns => {
                    last.len += ins;
                }
                _ => runs.push(Run { left, right, len: ins }),
            }
        }
        runs
    }

    fn add_depthwise(&self, packed: &ByTap<T>, source: &Source<'_, T>, out: &mut [T]) {
        let taps = self.taps(source);
        for row in self.rows.clone() {
            let at = self.output_at(row);
            crate::simd::dispatch(DepthRow {
                // Without taps there is no source.
                source: source.data.get(source.at + self.source_row(row, source)..).unwrap_or_default(),
                source_step: self.width.source_step * source.strides[2],
                taps: &taps,
                weights: &packed.weights,
                biases: &packed.biases,
                out: &mut out[at..],
                out_step: self.width.step * self.walk.groups,
                pixels: self.width.count,
                relu: self.walk.relu,
            });
        }
    }
}

/// Runs in parts of about [`STEPS`] steps, one at least.
fn split(runs: Vec<Run>, columns: usize) -> Vec<Runs> {
    let total: usize = runs.iter().map(|run| run.len).sum();
    let steps = total.div_ceil(total.div_ceil(STEPS).max(1)).max(1);
    let (mut parts, mut part, mut room) = (Vec::new(), Vec::new(), steps);
    for mut run in runs {
        while run.len > 0 {
            let len = run.len.min(room);
            part.push(Run { len, ..run });
            run = Run { left: run.left + len, right: run.right + len * columns, len: run.len - len };
            room -= len;
            if room == 0 {
                parts.push(Runs::new(std::mem::take(&mut part), 1, columns));
                room = steps;
            }
        }
    }
    if !part.is_empty() || parts.is_empty() {
        parts.push(Runs::new(part, 1, columns));
    }
    parts
}
