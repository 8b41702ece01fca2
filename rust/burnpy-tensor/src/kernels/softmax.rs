//! Softmax and its logarithm over the last axis of `[rows, columns]`. A row with NaN, +∞ or nothing but −∞ is NaN.

use super::lanes::{self, ExpFrom, Itself, Product};
use super::number::Real;
use super::simd::{STREAM_BYTES, Tiles};
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const BLOCK: usize = 16 * 1024;

/// `y = e^(x - m) / Σ e^(x - m)`, `m` the row's maximum.
///
/// # Panics
/// If the lengths differ, or are no whole number of rows.
///
/// ```
/// let mut y = [0.0; 4];
/// burnpy_tensor::kernels::softmax::softmax(&[1000.0f32, 1000.0, 0.0, f32::NEG_INFINITY], 2, &mut y);
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Real>(x: &[T], columns: usize, out: &mut [T]) {
    by_rows(x, x, columns, out, Softmax);
}

/// `dx = y (dy - Σ dy y)`, `y` the output.
///
/// # Panics
/// As [`softmax`].
pub fn softmax_backward<T: Real>(dy: &[T], y: &[T], columns: usize, out: &mut [T]) {
    by_rows(dy, y, columns, out, SoftmaxBackward);
}

/// `y = (x - m) - ln Σ e^(x - m)`.
///
/// # Panics
/// As [`softmax`].
pub fn log_softmax<T: Real>(x: &[T], columns: usize, out: &mut [T]) {
    by_rows(x, x, columns, out, LogSoftmax);
}

/// `dx = dy - e^y Σ dy`, `y` the output.
///
/// # Panics
/// As [`softmax`].
pub fn log_softmax_backward<T: Real>(dy: &[T], y: &[T], columns: usize, out: &mut [T]) {
    by_rows(dy, y, columns, out, LogSoftmaxBackward);
}

/// Of a row: its maximum `m`, and `Σ e^(x - m)`.
#[inline(always)]
pub(super) fn max_and_sum<A: Arch, T: Real>(x: &[T]) -> (T, f64) {
    let max = lanes::max(x);
    (max, lanes::sum::<A, T>(x, ExpFrom(max)))
}

/// One row of two inputs to one of the output.
trait RowOp: Copy + Sync {
    fn row<A: Arch, T: Real>(a: &[T], b: &[T], out: &mut [T]);
}

#[derive(Clone, Copy)]
struct Softmax;
impl RowOp for Softmax {
    #[inline(always)]
    fn row<A: Arch, T: Real>(x: &[T], _: &[T], out: &mut [T]) {
        let max = lanes::max(x);
        let sum = lanes::map_sum::<A, T>(x, out, ExpFrom(max));
        let scale = T::from_f64(1.0 / sum);
        out.iter_mut().for_each(|y| *y = y.times(scale));
    }
}

#[derive(Clone, Copy)]
struct SoftmaxBackward;
impl RowOp for SoftmaxBackward {
    #[inline(always)]
    fn row<A: Arch, T: Real>(dy: &[T], y: &[T], out: &mut [T]) {
        let dot = T::from_f64(lanes::sum2::<A, T>(dy, y, Product));
        for ((dx, &dy), &y) in out.iter_mut().zip(dy).zip(y) {
            *dx = y.times(dy.minus(dot));
        }
    }
}

#[derive(Clone, Copy)]
struct LogSoftmax;
impl RowOp for LogSoftmax {
    #[inline(always)]
    fn row<A: Arch, T: Real>(x: &[T], _: &[T], out: &mut [T]) {
        let (max, sum) = max_and_sum::<A, T>(x);
        let log = T::from_f64(sum.ln());
        out.iter_mut().zip(x).for_each(|(y, &x)| *y = x.minus(max).minus(log));
    }
}

#[derive(Clone, Copy)]
struct LogSoftmaxBackward;
impl RowOp for LogSoftmaxBackward {
    #[inline(always)]
    fn row<A: Arch, T: Real>(dy: &[T], y: &[T], out: &mut [T]) {
        let sum = T::from_f64(lanes::sum::<A, T>(dy, Itself)).negated();
        for ((dx, &dy), &y) in out.iter_mut().zip(dy).zip(y) {
            *dx = y.exp::<A>().fma::<A>(sum, dy);
        }
    }
}

fn by_rows<T: Real, O: RowOp>(a: &[T], b: &[T], columns: usize, out: &mut [T], op: O) {
    assert!(
        a.len() == out.len() && b.len() == out.len(),
        "{} and {} elements for an output of {}",
        a.len(),
        b.len(),
        out.len()
    );
    if out.is_empty() {
        return;
    }
    assert!(out.len().is_multiple_of(columns), "{} elements in rows of {columns}", out.len());
    let len = (BLOCK / columns).max(1) * columns;
    let streams = size_of_val(out) >= STREAM_BYTES;
    parallel::chunks_mut(out, len, |i, out| {
        let (a, b) = (&a[i * len..][..out.len()], &b[i * len..][..out.len()]);
        dispatch(Rows { op, a, b, columns, out, streams });
    });
}

struct Rows<'a, T, O> {
    op: O,
    a: &'a [T],
    b: &'a [T],
    columns: usize,
    out: &'a mut [T],
    streams: bool,
}

impl<T: Real, O: RowOp> Kernel for Rows<'_, T, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let _ = self.op;
        let n = self.columns;
        let mut rows = Tiles::rows(self.out, n, self.streams);
        while let Some((from, out)) = rows.next_tile() {
            O::row::<A, T>(&self.a[from..][..n], &self.b[from..][..n], out);
        }
    }
}
