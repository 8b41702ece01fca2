//! Maxima of windows, in planes or with channels last.
//!
//! With channels last, channels of a window are worked on together; in planes, windows of a row.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::number::Number;
use super::resample::Taps;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, Level, dispatch};

/// Taps of a window along an axis of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolAxis {
    /// Elements of the input.
    pub input: usize,
    /// Elements of the output.
    pub output: usize,
    /// Taps.
    pub kernel: usize,
    /// Inputs from one output to the next.
    pub stride: usize,
    /// Inputs from one tap to the next.
    pub dilation: usize,
    /// Elements before the input.
    pub pad: usize,
}

impl PoolAxis {
    /// The inputs that each window reads.
    fn reads(&self) -> Taps {
        Taps::new(self.output, |o| {
            let at = |k: usize| (o * self.stride + k * self.dilation).checked_sub(self.pad);
            (0..self.kernel)
                .filter_map(at)
                .filter(|&at| at < self.input)
                .map(|at| (at, 1.0))
                .collect::<Vec<_>>()
        })
    }

    /// The outputs of whose windows all taps are in the input.
    fn inner(&self) -> Range<usize> {
        let last = (self.kernel - 1) * self.dilation;
        let end = (self.input + self.pad).saturating_sub(last).div_ceil(self.stride);
        let start = self.pad.div_ceil(self.stride).min(self.output);
        start..end.clamp(start, self.output)
    }
}

/// The index of a window that reads no input.
pub const NONE: i32 = -1;

/// Maxima of `planes` planes `[height][width][lanes]`, each with the index of its pixel in the plane. The first of equal
/// ones wins, but of NaNs the last. A window of padding alone is −∞, at [`NONE`].
///
/// # Panics
/// If a slice has another length than the sizes say.
pub fn max_pool<T: Number>(axes: [PoolAxis; 2], lanes: usize, x: &[T], out: &mut [T], indices: &mut [i32]) {
    let of_row = axes[1].output * lanes;
    if out.is_empty() {
        return;
    }
    let rows = rows_of_task(of_row * axes[0].kernel * axes[1].kernel);
    let reads = &axes.map(|axis| axis.reads());
    let len = rows * of_row;
    let stride = if lanes > 1 { 0 } else { axes[1].stride as i32 };
    let offsets = &std::array::from_fn(|i| (i as i32).wrapping_mul(stride));
    parallel::chunks_mut2((out, len), (indices, len), |i, out, indices| {
        dispatch(Forward { axes, reads, lanes, offsets, x, first: i * rows, out, indices });
    });
}

/// The gradient of the input of [`max_pool`]: an output's goes to the input that won.
///
/// # Panics
/// As [`max_pool`].
pub fn max_pool_backward<T: Number>(
    axes: [PoolAxis; 2],
    lanes: usize,
    gradient: &[T],
    indices: &[i32],
    out: &mut [T],
) {
    let of_row = axes[1].input * lanes;
    if out.is_empty() {
        return;
    }
    if lanes == 1 {
        return scatter(axes, gradient, indices, out);
    }
    let rows = rows_of_task(of_row);
    let windows = &axes.map(|axis| axis.reads().transposed(axis.input));
    parallel::chunks_mut(out, rows * of_row, |i, out| {
        dispatch(Backward { axes, windows, lanes, gradient, indices, first: i * rows, out });
    });
}

/// Plane by plane, in the order of outputs, as above.
fn scatter<T: Number>(axes: [PoolAxis; 2], gradient: &[T], indices: &[i32], out: &mut [T]) {
    let (of_input, of_output) = (axes[0].input * axes[1].input, axes[0].output * axes[1].output);
    let planes = rows_of_task(of_input);
    parallel::chunks_mut(out, planes * of_input, |i, out| {
        out.fill(T::ZERO);
        for (plane, out) in (i * planes..).zip(out.chunks_exact_mut(of_input)) {
            let from = plane * of_output..(plane + 1) * of_output;
            for (&gradient, &index) in gradient[from.clone()].iter().zip(&indices[from]) {
                // Not for NONE, which is no index.
                if let Some(out) = out.get_mut(index as usize) {
                    *out = out.plus(gradient);
                }
            }
        }
    });
}

fn rows_of_task(work: usize) -> usize {
    (64 << 10) / work.max(1) + 1
}

/// Maxima that are kept in registers together, and those where there are fewer: one that goes to memory between two
/// taps is stored under a mask, which costs some CPUs 20 cycles a vector.
const MANY: usize = 16;
const FEW: usize = 4;

/// Whether so many fit into registers. Elsewhere code for them would be long, and no faster.
const fn are_many<A: Arch>(count: usize) -> bool {
    count >= MANY && !matches!(A::LEVEL, Level::Portable)
}

/// The starts of groups of `n` that cover a range of no fewer; the last may overlap the one before.
#[inline(always)]
fn groups(range: Range<usize>, n: usize) -> impl Iterator<Item = usize> {
    let last = range.end - n;
    range.step_by(n).map(move |start| start.min(last))
}

/// Rows of outputs.
struct Forward<'a, T> {
    axes: [PoolAxis; 2],
    reads: &'a [Taps; 2],
    lanes: usize,
    /// From the pixel of the first of several maxima to those of the others.
    offsets: &'a [i32; MANY],
    x: &'a [T],
    /// The number of the first row.
    first: usize,
    out: &'a mut [T],
    indices: &'a mut [i32],
}

impl<T: Number> Kernel for Forward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { axes: [height, width], reads: [heights, widths], lanes, offsets, x, first, out, indices } =
            self;
        let (of_input, of_row) = (height.input * width.input * lanes, width.output * lanes);
        let inner = width.inner();
        let rows = out.chunks_exact_mut(of_row).zip(indices.chunks_exact_mut(of_row));
        for (row, (out, indices)) in (first..).zip(rows) {
            let x = &x[row / height.output * of_input..][..of_input];
            let heights = heights.of(row % height.output);
            if heights.is_empty() {
                out.fill(T::LOWEST);
                indices.fill(NONE);
                continue;
            }
            let mut row = Row { x, width, lanes, heights, widths, offsets, out, indices };
            let (windows, all, inner) =
                if lanes == 1 { (1, width.output, inner.clone()) } else { (width.output, lanes, 0..lanes) };
            for o in 0..windows {
                row.put_all::<A>(o, all, inner.clone());
            }
        }
    }
}

/// A row of outputs.
struct Row<'a, T> {
    /// The plane that it is made of.
    x: &'a [T],
    width: PoolAxis,
    lanes: usize,
    /// The rows and columns that are read.
    heights: &'a [(usize, f64)],
    widths: &'a Taps,
    offsets: &'a [i32; MANY],
    out: &'a mut [T],
    indices: &'a mut [i32],
}

impl<T: Number> Row<'_, T> {
    /// All lanes of a window, or with one lane all windows, those together that read no padding beside their row.
    #[inline(always)]
    fn put_all<A: Arch>(&mut self, o: usize, all: usize, mut inner: Range<usize>) {
        let lanes = self.lanes;
        let place = |i: usize| if lanes > 1 { (o, i) } else { (i, 0) };
        if are_many::<A>(inner.len()) {
            for (o, lane) in groups(inner.clone(), MANY).map(place) {
                self.put::<MANY>(o, lane);
            }
        } else if inner.len() >= FEW {
            for (o, lane) in groups(inner.clone(), FEW).map(place) {
                self.put::<FEW>(o, lane);
            }
        } else {
            inner.end = inner.start;
        }
        for (o, lane) in (0..inner.start).chain(inner.end..all).map(place) {
            self.put::<1>(o, lane);
        }
    }

    /// `N` maxima, of lanes of a window or of windows, from one on.
    #[inline(always)]
    fn put<const N: usize>(&mut self, o: usize, lane: usize) {
        let (widths, lanes) = (self.widths.of(o), self.lanes);
        let step = if lanes > 1 { 1 } else { self.width.stride };
        let (mut best, mut best_at) = ([T::LOWEST; N], [NONE; N]);
        if let (Some(&(h, _)), Some(&(w, _))) = (self.heights.first(), widths.first()) {
            best_at = [(h * self.width.input + w) as i32; N];
        }
        for &(h, _) in self.heights {
            for &(w, _) in widths {
                let pixel = h * self.width.input + w;
                let from = &self.x[pixel * lanes + lane..];
                let mut x = [T::ZERO; N];
                if step == 1 {
                    x.copy_from_slice(&from[..N]);
                } else {
                    for i in 0..N {
                        x[i] = from[i * step];
                    }
                }
                for i in 0..N {
                    let wins = (x[i] > best[i]) | x[i].is_nan();
                    best[i] = select_unpredictable(wins, x[i], best[i]);
                    best_at[i] = select_unpredictable(wins, pixel as i32, best_at[i]);
                }
            }
        }
        for (at, offset) in best_at.iter_mut().zip(self.offsets) {
            *at += offset;
        }
        let to = o * lanes + lane;
        self.out[to..][..N].copy_from_slice(&best);
        self.indices[to..][..N].copy_from_slice(&best_at);
    }
}

/// Rows of gradients of inputs, channels last.
struct Backward<'a, T> {
    axes: [PoolAxis; 2],
    /// The windows that read an input.
    windows: &'a [Taps; 2],
    lanes: usize,
    gradient: &'a [T],
    indices: &'a [i32],
    /// The number of the first row.
    first: usize,
    out: &'a mut [T],
}

impl<T: Number> Kernel for Backward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { axes: [height, width], windows: [heights, widths], lanes, gradient, indices, first, out } =
            self;
        for (row, out) in (first..).zip(out.chunks_exact_mut(width.input * lanes)) {
            let (plane, h) = (row / height.input, row % height.input);
            let (first, heights) = (plane * height.output, heights.of(h));
            for (w, out) in out.chunks_exact_mut(lanes).enumerate() {
                let (at, widths) = ((h * width.input + w) as i32, widths.of(w));
                let readers =
                    Readers { width: width.output, lanes, first, heights, widths, at, gradient, indices };
                if are_many::<A>(lanes) {
                    for lane in groups(0..lanes, MANY) {
                        readers.put::<MANY>(lane, out);
                    }
                } else if lanes >= FEW {
                    for lane in groups(0..lanes, FEW) {
                        readers.put::<FEW>(lane, out);
                    }
                } else {
                    for lane in 0..lanes {
                        readers.put::<1>(lane, out);
                    }
                }
            }
        }
    }
}

/// The windows that read a pixel.
struct Readers<'a, T> {
    width: usize,
    lanes: usize,
    /// The first row of outputs of the plane.
    first: usize,
    heights: &'a [(usize, f64)],
    widths: &'a [(usize, f64)],
    /// The pixel.
    at: i32,
    gradient: &'a [T],
    indices: &'a [i32],
}

impl<T: Number> Readers<'_, T> {
    /// `N` sums, of the lanes from `lane` on.
    #[inline(always)]
    fn put<const N: usize>(&self, lane: usize, out: &mut [T]) {
        let mut sums = [T::ZERO; N];
        for &(h, _) in self.heights {
            for &(w, _) in self.widths {
                let from = ((self.first + h) * self.width + w) * self.lanes + lane;
                let (mut gradient, mut indices) = ([T::ZERO; N], [NONE; N]);
                gradient.copy_from_slice(&self.gradient[from..][..N]);
                indices.copy_from_slice(&self.indices[from..][..N]);
                for i in 0..N {
                    sums[i] = sums[i].plus(select_unpredictable(indices[i] == self.at, gradient[i], T::ZERO));
                }
            }
        }
        out[lane..][..N].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ties, NaNs and infinities among them.
    fn numbers(len: usize) -> Vec<f32> {
        let number = |i: usize| match i * i % 37 {
            0 => f32::NAN,
            1..8 => f32::NEG_INFINITY,
            n => (n % 5) as f32 - 2.0,
        };
        (0..len).map(number).collect()
    }

    /// Maximum and index of a window, tap by tap.
    fn naive([height, width]: [PoolAxis; 2], lanes: usize, x: &[f32], [h, w]: [usize; 2]) -> (f32, i32) {
        let (mut best, mut at) = (f32::NEG_INFINITY, NONE);
        let reads = width.reads();
        for &(h, _) in height.reads().of(h) {
            for &(w, _) in reads.of(w) {
                let pixel = h * width.input + w;
                let x = x[pixel * lanes];
                if at == NONE || x > best || x.is_nan() {
                    (best, at) = (x, pixel as i32);
                }
            }
        }
        (best, at)
    }

    #[test]
    fn any_number_of_lanes_and_of_windows_is_as_tap_by_tap() {
        let axis = |input: usize, [kernel, stride, dilation, pad]: [usize; 4]| {
            let output = (input + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
            PoolAxis { input, output, kernel, stride, dilation, pad }
        };
        let windows = [[2, 2, 1, 0], [3, 1, 1, 1], [3, 2, 2, 2], [1, 3, 1, 0], [2, 1, 1, 3]];
        for (lanes, input, window) in [1, 2, 3, 4, 7, 16, 37]
            .into_iter()
            .flat_map(|lanes| [5, 9, 40].into_iter().map(move |input| (lanes, input)))
            .flat_map(|(lanes, input)| windows.map(|window| (lanes, input, window)))
        {
            let axes = [axis(5, window), axis(input, window)];
            let (planes, of_input) = (2, 5 * input * lanes);
            let x = numbers(planes * of_input);
            let of_output = axes[0].output * axes[1].output * lanes;
            let (mut out, mut indices) = (vec![7.0; planes * of_output], vec![7; planes * of_output]);
            max_pool(axes, lanes, &x, &mut out, &mut indices);
            let gradient: Vec<f32> = (0..out.len()).map(|i| (i % 11) as f32 - 5.0).collect();
            let (mut dx, mut expected_dx) = (vec![7.0; x.len()], vec![0.0; x.len()]);
            max_pool_backward(axes, lanes, &gradient, &indices, &mut dx);
            for i in 0..out.len() {
                let (plane, lane, o) = (i / of_output, i % lanes, i % of_output / lanes);
                let x = &x[plane * of_input + lane..(plane + 1) * of_input];
                let (best, at) = naive(axes, lanes, x, [o / axes[1].output, o % axes[1].output]);
                assert_eq!((out[i].to_bits(), indices[i]), (best.to_bits(), at), "{i} of {lanes} {axes:?}");
                if at != NONE {
                    expected_dx[plane * of_input + at as usize * lanes + lane] += gradient[i];
                }
            }
            assert_eq!(dx, expected_dx, "{lanes} {axes:?}");
        }
    }
}
