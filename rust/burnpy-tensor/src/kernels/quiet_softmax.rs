//! Softmax with one more logit of 0, whose share is dropped, over the last axis of `[rows, columns]`.

use super::number::Real;
use super::reduce::{Sum, fold_slice};
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const BLOCK: usize = 16 * 1024;

/// `y = e^x / (1 + Σ e^x)`, as `e^(x - m) / (e^-m + Σ e^(x - m))`, `m` the row's maximum and at least 0.
///
/// # Panics
/// If the lengths differ, or are no whole number of rows.
///
/// ```
/// let mut y = [1.0; 2];
/// burnpy_tensor::kernels::quiet_softmax::quiet_softmax(&[0.0f32, f32::NEG_INFINITY], 2, &mut y);
/// assert_eq!(y, [0.5, 0.0]);
/// ```
pub fn quiet_softmax<T: Real>(x: &[T], columns: usize, out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "{} elements for an output of {}", x.len(), out.len());
    if out.is_empty() {
        return;
    }
    assert!(out.len().is_multiple_of(columns), "{} elements in rows of {columns}", out.len());
    let len = (BLOCK / columns).max(1) * columns;
    parallel::chunks_mut(out, len, |i, out| {
        dispatch(Rows { x: &x[i * len..][..out.len()], columns, out });
    });
}

struct Rows<'a, T> {
    x: &'a [T],
    columns: usize,
    out: &'a mut [T],
}

impl<T: Real> Kernel for Rows<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let rows = self.x.chunks_exact(self.columns).zip(self.out.chunks_exact_mut(self.columns));
        for (x, out) in rows {
            // NaN is passed over here, and comes back with its exponential.
            let max = x.iter().fold(T::ZERO, |max, &x| if x > max { x } else { max });
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = x.minus(max).exp::<A>());
            let rest = max.negated().exp::<A>().widen();
            let scale = T::from_f64(1.0 / (rest + fold_slice::<A, T, _>(Sum, out)));
            out.iter_mut().for_each(|y| *y = y.times(scale));
        }
    }
}
