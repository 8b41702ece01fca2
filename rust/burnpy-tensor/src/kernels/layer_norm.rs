//! Layer norm and root-mean-square norm over the last axis of `[rows, columns]`.
//!
//! `x̂ = (x - mean) rstd`, `y = x̂ gamma + beta`, `rstd = 1 / √(mean((x - mean)²) + epsilon)`; the mean of the second is 0.

use super::lanes::{self, Itself, SquareFrom, Term2};
use super::number::Real;
use super::reduce::{Sum, fold_slice};
use super::simd::{STREAM_BYTES, Tiles};
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const BLOCK: usize = 16 * 1024;

/// Rows whose gradients are summed in the elements' own type.
const SHORT_SUM: usize = 64;

/// Scale and shift of each column; none is 1 and 0.
#[derive(Debug, Clone, Copy)]
pub struct Affine<'a, T> {
    /// The scale.
    pub gamma: Option<&'a [T]>,
    /// The shift.
    pub beta: Option<&'a [T]>,
}

/// What is subtracted from a row and what it is then multiplied with: `[mean, rstd]`.
pub type RowStats<T> = [T; 2];

/// Whether a norm subtracts the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centre {
    /// Layer norm.
    Mean,
    /// Root-mean-square norm.
    Zero,
}

/// The norm of each row; `stats`, one a row, is what the gradient needs.
///
/// # Panics
/// If the lengths differ, or are no whole number of rows.
///
/// ```
/// use burnpy_tensor::kernels::layer_norm::{Affine, Centre, norm};
/// let (mut y, mut stats) = ([0.0f32; 2], [[0.0; 2]]);
/// norm(Centre::Mean, &[1.0, 3.0], 2, Affine { gamma: None, beta: None }, 0.0, &mut y, &mut stats);
/// assert_eq!((y, stats), ([-1.0, 1.0], [[2.0, 1.0]]));
/// ```
pub fn norm<T: Real>(
    centre: Centre,
    x: &[T],
    columns: usize,
    affine: Affine<'_, T>,
    epsilon: f64,
    out: &mut [T],
    stats: &mut [RowStats<T>],
) {
    check(x, columns, out, stats);
    if out.is_empty() {
        return;
    }
    let rows = (BLOCK / columns).max(1);
    let streams = size_of_val(out) >= STREAM_BYTES;
    parallel::chunks_mut2((out, rows * columns), (stats, rows), |i, out, stats| {
        let x = &x[i * rows * columns..][..out.len()];
        dispatch(Forward { centre, x, columns, affine, epsilon, out, stats, streams });
    });
}

/// Gradients of gamma and beta, written if wanted.
#[derive(Debug, Default)]
pub struct AffineGradients<'a, T> {
    /// `Σ dy x̂` over the rows.
    pub gamma: Option<&'a mut [T]>,
    /// `Σ dy` over the rows.
    pub beta: Option<&'a mut [T]>,
}

/// With `h = dy gamma`: `dx = rstd (h - mean(h) - x̂ mean(h x̂))`; without `mean(h)` for [`Centre::Zero`].
///
/// # Panics
/// As [`norm`].
#[allow(clippy::too_many_arguments, reason = "what forward saw, and its output's gradient")]
pub fn norm_backward<T: Real>(
    centre: Centre,
    dy: &[T],
    x: &[T],
    columns: usize,
    stats: &[RowStats<T>],
    gamma: Option<&[T]>,
    out: &mut [T],
    gradients: AffineGradients<'_, T>,
) {
    check(x, columns, out, stats);
    assert_eq!(dy.len(), x.len(), "{} gradients of {} elements", dy.len(), x.len());
    // At most 128 partial sums, of at least a task's worth of rows.
    let rows = (BLOCK / columns.max(1)).max(stats.len().div_ceil(128)).max(1);
    let sums_len = if gradients.gamma.is_some() || gradients.beta.is_some() { 2 * columns } else { 1 };
    let mut sums = vec![0.0; stats.len().div_ceil(rows) * sums_len];
    if !out.is_empty() {
        parallel::chunks_mut2((out, rows * columns), (&mut sums, sums_len), |i, out, sums| {
            let from = i * rows * columns;
            let (dy, x) = (&dy[from..][..out.len()], &x[from..][..out.len()]);
            let stats = &stats[i * rows..];
            let sums = if sums.len() < 2 { &mut [][..] } else { sums };
            dispatch(Backward { centre, dy, x, columns, stats, gamma, out, sums });
        });
    }
    let mut total = vec![0.0; sums_len];
    for sums in sums.chunks_exact(sums_len) {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    for (out, from) in [(gradients.gamma, 0), (gradients.beta, columns)] {
        let Some(out) = out else { continue };
        out.iter_mut().zip(&total[from..]).for_each(|(y, &sum)| *y = T::from_f64(sum));
    }
}

fn check<T: Real>(x: &[T], columns: usize, out: &[T], stats: &[RowStats<T>]) {
    assert_eq!(x.len(), out.len(), "{} elements for an output of {}", x.len(), out.len());
    assert_eq!(x.len(), stats.len() * columns, "{} elements in {} rows of {columns}", x.len(), stats.len());
}

struct Forward<'a, T> {
    centre: Centre,
    x: &'a [T],
    columns: usize,
    affine: Affine<'a, T>,
    epsilon: f64,
    out: &'a mut [T],
    stats: &'a mut [RowStats<T>],
    streams: bool,
}

impl<T: Real> Kernel for Forward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { centre, x, columns, affine, epsilon, out, stats, streams } = self;
        let mut rows = Tiles::rows(out, columns, streams);
        for stats in stats {
            let Some((from, out)) = rows.next_tile() else { break };
            let x = &x[from..][..columns];
            *stats = row_stats::<A, T>(centre, x, epsilon);
            normalise(x, *stats, affine, out);
        }
        // Stores the last one.
        rows.next_tile();
    }
}

#[inline(always)]
fn row_stats<A: Arch, T: Real>(centre: Centre, x: &[T], epsilon: f64) -> RowStats<T> {
    let count = x.len() as f64;
    let mean = match centre {
        Centre::Mean => T::from_f64(fold_slice::<A, T, _>(Sum, x) / count),
        Centre::Zero => T::ZERO,
    };
    let squares = lanes::sum::<A, T>(x, SquareFrom(mean));
    [mean, T::from_f64(1.0 / (squares / count + epsilon).sqrt())]
}

#[inline(always)]
fn normalise<T: Real>(x: &[T], [mean, rstd]: RowStats<T>, affine: Affine<'_, T>, out: &mut [T]) {
    let unit = |x: T| x.minus(mean).times(rstd);
    match (affine.gamma, affine.beta) {
        (Some(gamma), Some(beta)) => {
            for (((y, &x), &gamma), &beta) in out.iter_mut().zip(x).zip(gamma).zip(beta) {
                *y = unit(x).times(gamma).plus(beta);
            }
        }
        (Some(gamma), None) => {
            for ((y, &x), &gamma) in out.iter_mut().zip(x).zip(gamma) {
                *y = unit(x).times(gamma);
            }
        }
        (None, beta) => {
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = unit(x));
            for (y, &beta) in out.iter_mut().zip(beta.unwrap_or_default()) {
                *y = y.plus(beta);
            }
        }
    }
}

struct Backward<'a, T> {
    centre: Centre,
    dy: &'a [T],
    x: &'a [T],
    columns: usize,
    stats: &'a [RowStats<T>],
    gamma: Option<&'a [T]>,
    out: &'a mut [T],
    /// Those of gamma, then those of beta; or nothing.
    sums: &'a mut [f64],
}

impl<T: Real> Kernel for Backward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { centre, dy, x, columns, stats, gamma, out, sums } = self;
        let ones = if gamma.is_none() { vec![T::ONE; columns] } else { Vec::new() };
        let gamma = gamma.unwrap_or(&ones);
        let mut short = vec![T::ZERO; sums.len()];
        for (i, out) in out.chunks_exact_mut(columns).enumerate() {
            let (dy, x) = (&dy[i * columns..][..columns], &x[i * columns..][..columns]);
            row_gradient::<A, T>(centre, dy, x, stats[i], gamma, out);
            if !short.is_empty() {
                add_row::<A, T>(dy, x, stats[i], &mut short);
                if i % SHORT_SUM == SHORT_SUM - 1 {
                    flush(&mut short, sums);
                }
            }
        }
        flush(&mut short, sums);
    }
}

/// `h x̂`.
#[derive(Clone, Copy)]
struct TimesUnit<T>(RowStats<T>);

impl<T: Real> Term2<T> for TimesUnit<T> {
    #[inline(always)]
    fn of<A: Arch>(self, h: T, x: T) -> T {
        let [mean, rstd] = self.0;
        h.times(x.minus(mean).times(rstd))
    }
}

#[inline(always)]
fn row_gradient<A: Arch, T: Real>(
    centre: Centre,
    dy: &[T],
    x: &[T],
    [mean, rstd]: RowStats<T>,
    gamma: &[T],
    out: &mut [T],
) {
    // `out` holds h = dy gamma meanwhile.
    out.iter_mut().zip(dy).zip(gamma).for_each(|((h, &dy), &gamma)| *h = dy.times(gamma));
    let count = x.len() as f64;
    let level = match centre {
        Centre::Mean => lanes::sum::<A, T>(out, Itself) / count,
        Centre::Zero => 0.0,
    };
    let tilt = lanes::sum2::<A, T>(out, x, TimesUnit([mean, rstd])) / count;
    let (level, tilt) = (T::from_f64(level), T::from_f64(-tilt));
    for (dx, &x) in out.iter_mut().zip(x) {
        let unit = x.minus(mean).times(rstd);
        *dx = rstd.times(unit.fma::<A>(tilt, dx.minus(level)));
    }
}

#[inline(always)]
fn add_row<A: Arch, T: Real>(dy: &[T], x: &[T], [mean, rstd]: RowStats<T>, sums: &mut [T]) {
    let (gamma, beta) = sums.split_at_mut(dy.len());
    for (((gamma, beta), &dy), &x) in gamma.iter_mut().zip(beta).zip(dy).zip(x) {
        *gamma = dy.fma::<A>(x.minus(mean).times(rstd), *gamma);
        *beta = beta.plus(dy);
    }
}

#[inline(always)]
fn flush<T: Real>(short: &mut [T], sums: &mut [f64]) {
    for (sum, short) in sums.iter_mut().zip(short) {
        *sum += short.widen();
        *short = T::ZERO;
    }
}
