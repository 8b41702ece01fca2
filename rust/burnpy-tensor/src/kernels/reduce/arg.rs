//! Where the extremum is. Of equal elements the first counts; a NaN is before all numbers.

use super::BLOCK;
use super::fold::{Fold, LANES, Max, Min, fold_slice};
use crate::kernels::number::Number;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Which extremum.
pub trait Extremum<T: Number>: Copy + Send + Sync {
    /// The reduction that gives its value.
    type Value: Fold<T, Wide = T>;
    /// That reduction.
    const VALUE: Self::Value;
    /// Whether `x` comes before `best`, neither being NaN.
    fn beats(x: T, best: T) -> bool;
}

/// The largest element.
#[derive(Debug, Clone, Copy)]
pub struct Largest;

/// The smallest element.
#[derive(Debug, Clone, Copy)]
pub struct Smallest;

impl<T: Number> Extremum<T> for Largest {
    type Value = Max;
    const VALUE: Max = Max;
    #[inline(always)]
    fn beats(x: T, best: T) -> bool {
        x > best
    }
}

impl<T: Number> Extremum<T> for Smallest {
    type Value = Min;
    const VALUE: Min = Min;
    #[inline(always)]
    fn beats(x: T, best: T) -> bool {
        x < best
    }
}

/// The column of each row's extremum.
///
/// # Panics
/// If `x` is not as many rows as `out` has elements, or rows are empty.
///
/// ```
/// use burnpy_tensor::kernels::reduce::{Largest, arg_rows};
/// let mut at = [0; 2];
/// arg_rows(Largest, &[1.0, 3.0, 3.0, 5.0, f32::NAN, f32::NAN], 3, &mut at);
/// assert_eq!(at, [1, 1]);
/// ```
pub fn arg_rows<T: Number, E: Extremum<T>>(extremum: E, x: &[T], columns: usize, out: &mut [i64]) {
    assert!(columns > 0, "the extremum of no elements");
    assert_eq!(x.len(), out.len() * columns, "{} elements in {} rows of {columns}", x.len(), out.len());
    let per_task = (BLOCK / columns).max(1);
    parallel::chunks_mut(out, per_task, |i, out| {
        let x = &x[i * per_task * columns..][..out.len() * columns];
        dispatch(ArgRows { extremum, x, columns, out });
    });
}

/// The index along the middle axis of `[outer, axis, inner]` of each extremum: `out` is `[outer, inner]`.
///
/// # Panics
/// If the lengths are not those of the shape, or the axis is empty.
pub fn arg_axis<T: Number, E: Extremum<T>>(
    extremum: E,
    x: &[T],
    [outer, axis, inner]: [usize; 3],
    out: &mut [i64],
) {
    assert!(axis > 0, "the extremum of no elements");
    assert_eq!(x.len(), outer * axis * inner, "{} elements for {outer} × {axis} × {inner}", x.len());
    assert_eq!(out.len(), outer * inner, "an output of {} for {outer} × {inner}", out.len());
    if inner == 1 {
        return arg_rows(extremum, x, axis, out);
    }
    let per_task = (BLOCK / (axis * inner).max(1)).max(1);
    parallel::chunks_mut(out, per_task * inner.max(1), |i, out| {
        for (j, out) in out.chunks_exact_mut(inner).enumerate() {
            let x = &x[(i * per_task + j) * axis * inner..][..axis * inner];
            dispatch(ArgColumns { extremum, x, out });
        }
    });
}

struct ArgRows<'a, T, E> {
    extremum: E,
    x: &'a [T],
    columns: usize,
    out: &'a mut [i64],
}

impl<T: Number, E: Extremum<T>> Kernel for ArgRows<'_, T, E> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let _ = self.extremum;
        for (at, x) in self.out.iter_mut().zip(self.x.chunks_exact(self.columns)) {
            let best = fold_slice::<A, T, E::Value>(E::VALUE, x);
            *at = position(x, best) as i64;
        }
    }
}

/// Where `value` is, or the first NaN if it is one; whole blocks are passed over.
#[inline(always)]
fn position<T: Number>(x: &[T], value: T) -> usize {
    let wanted = value.is_nan();
    let is_it = |x: T| (x == value) | (wanted & x.is_nan());
    let has_it = |block: &[T; LANES]| block.iter().fold(false, |any, &x| any | is_it(x));
    let blocks = x.as_chunks::<LANES>().0;
    let from = LANES * blocks.iter().position(has_it).unwrap_or(blocks.len());
    from + x[from..].iter().position(|&x| is_it(x)).expect("the extremum is one of the elements")
}

struct ArgColumns<'a, T, E> {
    extremum: E,
    x: &'a [T],
    out: &'a mut [i64],
}

impl<T: Number, E: Extremum<T>> Kernel for ArgColumns<'_, T, E> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let _ = self.extremum;
        let inner = self.out.len();
        let mut best = self.x[..inner].to_vec();
        self.out.fill(0);
        for (i, row) in self.x.chunks_exact(inner).enumerate().skip(1) {
            for ((best, at), &x) in best.iter_mut().zip(&mut *self.out).zip(row) {
                let wins = (E::beats(x, *best) | x.is_nan()) & !best.is_nan();
                *best = if wins { x } else { *best };
                *at = if wins { i as i64 } else { *at };
            }
        }
    }
}
