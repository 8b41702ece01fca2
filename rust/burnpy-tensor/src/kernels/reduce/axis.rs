//! Reductions over an axis that is not the last one: columns side by side.

use super::BLOCK;
use super::fold::Fold;
use super::rows::rows;
use crate::kernels::number::Number;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Columns whose partial results stay in the first cache.
const TILE: usize = 512;

/// The middle axis of `[outer, axis, inner]` into one: `out` is `[outer, inner]`.
///
/// # Panics
/// If the lengths are not those of the shape.
///
/// ```
/// use burnpy_tensor::kernels::reduce::{self, Sum};
/// let mut sums = [0; 3];
/// reduce::axis(Sum, &[1, 2, 3, 10, 20, 30], [1, 2, 3], &mut sums);
/// assert_eq!(sums, [11, 22, 33]);
/// ```
pub fn axis<T: Number, F: Fold<T>>(fold: F, x: &[T], [outer, axis, inner]: [usize; 3], out: &mut [T]) {
    assert_eq!(x.len(), outer * axis * inner, "{} elements for {outer} × {axis} × {inner}", x.len());
    assert_eq!(out.len(), outer * inner, "an output of {} for {outer} × {inner}", out.len());
    if inner == 1 {
        return rows(fold, x, axis, out);
    }
    // Long columns are cut: their parts are joined in order.
    let part = (BLOCK / inner.clamp(1, TILE)).max(1);
    let shape = Columns { axis, inner, part, parts: axis.div_ceil(part).max(1) };
    if shape.parts == 1 {
        return run(fold, x, shape, out, |wide| fold.finish(wide));
    }
    let mut partial = vec![F::START; outer * shape.parts * inner];
    run(fold, x, shape, &mut partial, std::convert::identity);
    for (out, partial) in out.chunks_exact_mut(inner).zip(partial.chunks_exact_mut(shape.parts * inner)) {
        let (total, others) = partial.split_at_mut(inner);
        for other in others.chunks_exact(inner) {
            total.iter_mut().zip(other).for_each(|(a, &b)| *a = fold.join(*a, b));
        }
        out.iter_mut().zip(total).for_each(|(y, wide)| *y = fold.finish(*wide));
    }
}

/// `[outer, axis, inner]` with the axis cut into `parts` of `part` rows: results are `[outer, parts, inner]`.
#[derive(Clone, Copy)]
struct Columns {
    axis: usize,
    inner: usize,
    part: usize,
    parts: usize,
}

fn run<T: Number, U: Send, F: Fold<T>>(
    fold: F,
    x: &[T],
    shape: Columns,
    out: &mut [U],
    finish: impl Fn(F::Wide) -> U + Copy + Sync,
) {
    // Any cut of the columns gives the same bits.
    let len = (BLOCK / shape.part.min(shape.axis).max(1)).max(64);
    parallel::chunks_mut(out, len, |i, out| {
        let (mut at, mut out) = (i * len, out);
        while !out.is_empty() {
            let (row, column) = (at / shape.inner, at % shape.inner);
            let width = (shape.inner - column).min(TILE).min(out.len());
            let (now, later) = out.split_at_mut(width);
            let first = row % shape.parts * shape.part;
            let height = shape.part.min(shape.axis - first);
            let from = (row / shape.parts * shape.axis + first) * shape.inner + column;
            dispatch(Tile {
                fold,
                x: x.get(from..).unwrap_or_default(),
                stride: shape.inner,
                height,
                out: now,
                finish,
            });
            (at, out) = (at + width, later);
        }
    });
}

/// `height` rows, `stride` apart, into one as wide as `out`, at most [`TILE`].
struct Tile<'a, T, U, F, G> {
    fold: F,
    x: &'a [T],
    stride: usize,
    height: usize,
    out: &'a mut [U],
    finish: G,
}

impl<T: Number, U, F: Fold<T>, G: Fn(F::Wide) -> U> Kernel for Tile<'_, T, U, F, G> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, x, stride, height, out, finish } = self;
        let width = out.len();
        let mut wide = [F::START; TILE];
        let wide = &mut wide[..width];
        let row = |i: usize| &x[i * stride..][..width];
        let mut i = 0;
        while i + 4 <= height {
            // Four at once: the partial results are read and written for each fourth row only.
            let (a, b, c, d) = (row(i), row(i + 1), row(i + 2), row(i + 3));
            for j in 0..width {
                wide[j] = fold.step(fold.step(fold.step(fold.step(wide[j], a[j]), b[j]), c[j]), d[j]);
            }
            i += 4;
        }
        while i < height {
            wide.iter_mut().zip(row(i)).for_each(|(wide, &x)| *wide = fold.step(*wide, x));
            i += 1;
        }
        out.iter_mut().zip(wide).for_each(|(y, wide)| *y = finish(*wide));
    }
}
