//! Means and variances.

use super::BLOCK;
use super::fold::{Fold, Sum, fold_slice};
use super::rows::all_wide;
use crate::kernels::number::Real;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Of each row of `[rows, columns]` the mean, and the mean square of the deviations from it (divided by `columns`).
///
/// Two passes, in doubles: `Σx² - (Σx)²` would lose all digits where the mean is large.
///
/// # Panics
/// If the lengths differ.
pub fn moments_rows<T: Real>(x: &[T], columns: usize, mean: &mut [T], variance: &mut [T]) {
    assert_eq!(x.len(), mean.len() * columns, "{} elements in {} rows of {columns}", x.len(), mean.len());
    let per_task = (BLOCK / columns.max(1)).max(1);
    parallel::chunks_mut2((mean, per_task), (variance, per_task), |i, mean, variance| {
        for (j, (mean, variance)) in mean.iter_mut().zip(variance).enumerate() {
            let x = &x[(i * per_task + j) * columns..][..columns];
            let (m, v) = moments(x);
            (*mean, *variance) = (T::from_f64(m), T::from_f64(v));
        }
    });
}

/// The mean and the mean square of the deviations from it; NaN of no elements.
fn moments<T: Real>(x: &[T]) -> (f64, f64) {
    if x.len() > BLOCK {
        let mean = all_wide(Sum, x) / x.len() as f64;
        return (mean, all_wide(SquaredDeviation(mean), x) / x.len() as f64);
    }
    dispatch(Moments { x })
}

/// `Σ (x - mean)²`.
#[derive(Debug, Clone, Copy)]
struct SquaredDeviation(f64);

impl<T: Real> Fold<T> for SquaredDeviation {
    type Wide = f64;
    const START: f64 = 0.0;

    #[inline(always)]
    fn step(self, wide: f64, x: T) -> f64 {
        let deviation = x.widen() - self.0;
        wide + deviation * deviation
    }
    #[inline(always)]
    fn join(self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn finish(self, wide: f64) -> T {
        T::from_f64(wide)
    }
}

struct Moments<'a, T> {
    x: &'a [T],
}

impl<T: Real> Kernel for Moments<'_, T> {
    type Output = (f64, f64);
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) -> (f64, f64) {
        let count = self.x.len() as f64;
        let mean = fold_slice::<A, T, _>(Sum, self.x) / count;
        (mean, fold_slice::<A, T, _>(SquaredDeviation(mean), self.x) / count)
    }
}
