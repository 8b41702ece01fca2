//! Maxima of windows, in planes or with channels last.
//!
//! With channels last, all channels of a pixel are worked on at once; in planes, one tap of all windows of a row.

use std::hint::select_unpredictable;

use super::number::Number;
use super::resample::Taps;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

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

    /// The first output whose tap `k` is in the input, and the one after the last.
    fn outputs_of(&self, k: usize) -> (usize, usize) {
        let tap = k * self.dilation;
        let first = self.pad.saturating_sub(tap).div_ceil(self.stride);
        let end = (self.input + self.pad).saturating_sub(tap).div_ceil(self.stride).min(self.output);
        (first, end)
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
    let (of_input, of_row) = (axes[0].input * axes[1].input * lanes, axes[1].output * lanes);
    if out.is_empty() {
        return;
    }
    let rows = rows_of_task(of_row * axes[0].kernel * axes[1].kernel);
    let reads = &axes.map(|axis| axis.reads());
    let len = rows * of_row;
    parallel::chunks_mut2((out, len), (indices, len), |i, out, indices| {
        let both = out.chunks_exact_mut(of_row).zip(indices.chunks_exact_mut(of_row));
        for (row, (out, indices)) in (i * rows..).zip(both) {
            let (plane, o) = (row / axes[0].output, row % axes[0].output);
            let x = &x[plane * of_input..][..of_input];
            out.fill(T::LOWEST);
            indices.fill(NONE);
            if lanes > 1 {
                dispatch(ByChannel { width: axes[1].input, reads, lanes, x, o, out, indices });
            } else {
                dispatch(ByTap { axis: axes[1], heights: reads[0].of(o), x, out, indices });
            }
        }
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
    let (of_output, of_row) = (axes[0].output * axes[1].output * lanes, axes[1].input * lanes);
    if out.is_empty() {
        return;
    }
    if lanes == 1 {
        return scatter(axes, gradient, indices, out);
    }
    let rows = rows_of_task(of_row);
    let windows = &axes.map(|axis| axis.reads().transposed(axis.input));
    parallel::chunks_mut(out, rows * of_row, |i, out| {
        for (row, out) in (i * rows..).zip(out.chunks_exact_mut(of_row)) {
            let (plane, h) = (row / axes[0].input, row % axes[0].input);
            let from = plane * of_output..(plane + 1) * of_output;
            let (gradient, indices) = (&gradient[from.clone()], &indices[from]);
            dispatch(Backward { axes, windows, lanes, gradient, indices, h, out });
        }
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

/// Whether `x` replaces `best`.
#[inline(always)]
fn wins<T: Number>(x: T, best: T, index: i32) -> bool {
    (x > best) | x.is_nan() | (index == NONE)
}

/// A row of outputs, `lanes` channels at a time.
struct ByChannel<'a, T> {
    width: usize,
    reads: &'a [Taps; 2],
    lanes: usize,
    x: &'a [T],
    o: usize,
    out: &'a mut [T],
    indices: &'a mut [i32],
}

impl<T: Number> Kernel for ByChannel<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { width, reads: [heights, widths], lanes, x, o, out, indices } = self;
        for &(h, _) in heights.of(o) {
            let both = out.chunks_exact_mut(lanes).zip(indices.chunks_exact_mut(lanes));
            for (o, (out, indices)) in both.enumerate() {
                for &(w, _) in widths.of(o) {
                    let at = h * width + w;
                    let x = &x[at * lanes..][..lanes];
                    for ((out, index), &x) in out.iter_mut().zip(indices.iter_mut()).zip(x) {
                        let wins = wins(x, *out, *index);
                        *out = if wins { x } else { *out };
                        *index = if wins { at as i32 } else { *index };
                    }
                }
            }
        }
    }
}

/// A row of outputs, a tap of all of them after the other.
struct ByTap<'a, T> {
    axis: PoolAxis,
    /// The rows that are read.
    heights: &'a [(usize, f64)],
    x: &'a [T],
    out: &'a mut [T],
    indices: &'a mut [i32],
}

/// Outputs that a tap is brought together for.
const BLOCK: usize = 64;

impl<T: Number> Kernel for ByTap<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { axis, heights, x, out, indices } = self;
        let mut taps = [T::ZERO; BLOCK];
        for &(h, _) in heights {
            let row = &x[h * axis.input..][..axis.input];
            for k in 0..axis.kernel {
                let (first, end) = axis.outputs_of(k);
                for from in (first..end).step_by(BLOCK) {
                    let to = (from + BLOCK).min(end);
                    let taps = &mut taps[..to - from];
                    let start = from * axis.stride + k * axis.dilation - axis.pad;
                    let mut at = start;
                    for tap in &mut *taps {
                        *tap = row[at];
                        at += axis.stride;
                    }
                    let both = out[from..to].iter_mut().zip(&mut indices[from..to]);
                    let (start, stride) = ((h * axis.input + start) as i32, axis.stride as i32);
                    for (i, ((out, index), &x)) in both.zip(&*taps).enumerate() {
                        let (best, best_at) = (*out, *index);
                        let wins = wins(x, best, best_at);
                        *out = select_unpredictable(wins, x, best);
                        *index = select_unpredictable(
                            wins,
                            start.wrapping_add(stride.wrapping_mul(i as i32)),
                            best_at,
                        );
                    }
                }
            }
        }
    }
}

/// A row of gradients of inputs.
struct Backward<'a, T> {
    axes: [PoolAxis; 2],
    /// The windows that read an input.
    windows: &'a [Taps; 2],
    lanes: usize,
    gradient: &'a [T],
    indices: &'a [i32],
    h: usize,
    out: &'a mut [T],
}

impl<T: Number> Kernel for Backward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { axes: [_, width], windows: [heights, widths], lanes, gradient, indices, h, out } = self;
        for (w, out) in out.chunks_exact_mut(lanes).enumerate() {
            out.fill(T::ZERO);
            let at = (h * width.input + w) as i32;
            for &(o_h, _) in heights.of(h) {
                for &(o_w, _) in widths.of(w) {
                    let from = (o_h * width.output + o_w) * lanes;
                    let both = gradient[from..][..lanes].iter().zip(&indices[from..][..lanes]);
                    for (out, (&gradient, &index)) in out.iter_mut().zip(both) {
                        *out = out.plus(if index == at { gradient } else { T::ZERO });
                    }
                }
            }
        }
    }
}
