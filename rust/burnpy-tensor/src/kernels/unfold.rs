//! Windows of images as columns of matrices, and back.

use super::conv::ConvAxis;
use super::number::Number;
use crate::parallel;

/// Taps of a kernel in row-major order: where each reads along both axes.
fn taps(axes: [ConvAxis; 2]) -> impl Iterator<Item = [isize; 2]> {
    let at = |axis: &ConvAxis, k: usize| (k * axis.dilation) as isize - axis.pad as isize;
    (0..axes[0].kernel)
        .flat_map(move |h| (0..axes[1].kernel).map(move |w| [at(&axes[0], h), at(&axes[1], w)]))
}

/// The outputs that read inside of the axis with a tap at `at`, and what the first of them reads.
fn inside(axis: &ConvAxis, at: isize) -> (std::ops::Range<usize>, usize) {
    let first = (at.min(0).unsigned_abs()).div_ceil(axis.stride);
    let end = (axis.input as isize - at).max(0).unsigned_abs().div_ceil(axis.stride).min(axis.output);
    let first = first.min(end);
    (first..end, ((first * axis.stride) as isize + at).max(0).unsigned_abs())
}

/// For each plane `[height][width]` of `x` a row of `out` for each tap, with what it reads for each window.
///
/// # Panics
/// If a slice has another length than the sizes say.
pub fn unfold<T: Number>(axes: [ConvAxis; 2], x: &[T], out: &mut [T]) {
    let (inputs, windows) = (axes[0].input * axes[1].input, axes[0].output * axes[1].output);
    let rows = axes[0].kernel * axes[1].kernel;
    if out.is_empty() {
        return;
    }
    parallel::chunks_mut(out, rows * windows, |plane, out| {
        let x = &x[plane * inputs..][..inputs];
        for (out, [at_h, at_w]) in out.chunks_exact_mut(windows).zip(taps(axes)) {
            out.fill(T::ZERO);
            let ((heights, h), (widths, w)) = (inside(&axes[0], at_h), inside(&axes[1], at_w));
            if widths.is_empty() {
                continue;
            }
            for (i, o) in heights.enumerate() {
                let x = x[(h + i * axes[0].stride) * axes[1].input + w..].iter().step_by(axes[1].stride);
                let out = &mut out[o * axes[1].output..][widths.clone()];
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = x);
            }
        }
    });
}

/// The transpose of [`unfold`]: each plane of `out` is the sum of what its rows of `columns` say about its elements.
///
/// # Panics
/// As [`unfold`].
pub fn fold<T: Number>(axes: [ConvAxis; 2], columns: &[T], out: &mut [T]) {
    let (outputs, windows) = (axes[0].input * axes[1].input, axes[0].output * axes[1].output);
    let rows = axes[0].kernel * axes[1].kernel;
    if out.is_empty() {
        return;
    }
    parallel::chunks_mut(out, outputs, |plane, out| {
        let columns = &columns[plane * rows * windows..][..rows * windows];
        out.fill(T::ZERO);
        for (columns, [at_h, at_w]) in columns.chunks_exact(windows.max(1)).zip(taps(axes)) {
            let ((heights, h), (widths, w)) = (inside(&axes[0], at_h), inside(&axes[1], at_w));
            if widths.is_empty() {
                continue;
            }
            for (i, o) in heights.enumerate() {
                let from = (h + i * axes[0].stride) * axes[1].input + w;
                let out = out[from..].iter_mut().step_by(axes[1].stride);
                let columns = &columns[o * axes[1].output..][widths.clone()];
                out.zip(columns).for_each(|(out, &x)| *out = out.plus(x));
            }
        }
    });
}
