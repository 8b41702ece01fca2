//! Reductions of contiguous elements.

use super::BLOCK;
use super::fold::{Fold, fold_slice};
use crate::kernels::number::Number;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// All elements into one.
///
/// ```
/// use burnpy_tensor::kernels::reduce::{self, Max, Prod, Sum};
/// assert_eq!(reduce::all(Sum, &[0.1f32; 1_000_000]), 100_000.0); // in f32 one by one: 100,958
/// assert_eq!(reduce::all(Prod, &[2i8; 7]), -128);
/// assert!(reduce::all(Max, &[1.0, f64::NAN, 3.0]).is_nan());
/// assert_eq!(reduce::all(Sum, &[0.0f32; 0]), 0.0);
/// ```
pub fn all<T: Number, F: Fold<T>>(fold: F, x: &[T]) -> T {
    fold.finish(all_wide(fold, x))
}

/// [`all`] before it is rounded to the elements' type.
pub fn all_wide<T: Number, F: Fold<T>>(fold: F, x: &[T]) -> F::Wide {
    if x.len() <= BLOCK {
        return dispatch(Slice { fold, x });
    }
    let blocks = x.len().div_ceil(BLOCK);
    let partial = parallel::map(blocks, |i| {
        let from = i * BLOCK;
        dispatch(Slice { fold, x: &x[from..x.len().min(from + BLOCK)] })
    });
    partial.into_iter().fold(F::START, |a, b| fold.join(a, b))
}

/// Each row of `[rows, columns]` into one element of `out`.
///
/// # Panics
/// If `x` is not as many rows as `out` has elements.
pub fn rows<T: Number, F: Fold<T>>(fold: F, x: &[T], columns: usize, out: &mut [T]) {
    assert_eq!(x.len(), out.len() * columns, "{} elements in {} rows of {columns}", x.len(), out.len());
    if columns == 0 {
        return out.fill(fold.finish(F::START));
    }
    if columns > BLOCK {
        return out.iter_mut().zip(x.chunks_exact(columns)).for_each(|(y, x)| *y = all(fold, x));
    }
    let per_task = BLOCK / columns;
    parallel::chunks_mut(out, per_task, |i, out| {
        let x = &x[i * per_task * columns..][..out.len() * columns];
        dispatch(Rows { fold, x, columns, out });
    });
}

struct Slice<'a, T, F> {
    fold: F,
    x: &'a [T],
}

impl<T: Number, F: Fold<T>> Kernel for Slice<'_, T, F> {
    type Output = F::Wide;
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) -> F::Wide {
        fold_slice::<A, T, F>(self.fold, self.x)
    }
}

struct Rows<'a, T, F> {
    fold: F,
    x: &'a [T],
    columns: usize,
    out: &'a mut [T],
}

impl<T: Number, F: Fold<T>> Kernel for Rows<'_, T, F> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        for (y, x) in self.out.iter_mut().zip(self.x.chunks_exact(self.columns)) {
            *y = self.fold.finish(fold_slice::<A, T, F>(self.fold, x));
        }
    }
}
