//! Matrix products of any numbers.

use super::MatRef;
use crate::kernels::number::Number;
use crate::kernels::simd::Region;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// `out = a · b` in the numbers' own arithmetic: integers wrap around. `out` is row-major, one row each `ldc` elements.
/// For `f32` and `f64`, [`gemm`](super::gemm) is much faster.
///
/// ```
/// use burnpy_tensor::kernels::gemm::{MatRef, matmul_plain};
/// let mut out = [0u8; 1];
/// matmul_plain(1, 2, 1, MatRef::row_major(&[16, 1], 2), MatRef::row_major(&[16, 3], 1), &mut out, 1);
/// assert_eq!(out, [3]); // 256 + 3
/// ```
///
/// # Panics
/// As [`gemm`](super::gemm).
pub fn matmul_plain<T: Number>(
    m: usize,
    k: usize,
    n: usize,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    out: &mut [T],
    ldc: usize,
) {
    a.check("left", m, k);
    b.check("right", k, n);
    dispatch(Plain { k, a, b, out: Region::new(out, ldc, m, n) });
}

struct Plain<'a, T> {
    k: usize,
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
    out: Region<'a, T>,
}

impl<T: Number> Kernel for Plain<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;

    /// Row by row of the output, which takes the rows of `b` times a number each.
    #[inline(always)]
    fn run<A: Arch>(mut self) {
        for i in 0..self.out.rows() {
            let row = self.out.row(i);
            row.fill(T::ZERO);
            for p in 0..self.k {
                let factor = self.a.data[self.a.at(i, p).offset];
                add_row(factor, self.b.at(p, 0), row);
            }
        }
    }
}

#[inline(always)]
fn add_row<T: Number>(factor: T, b: MatRef<'_, T>, out: &mut [T]) {
    if b.col_stride == 1 && !out.is_empty() {
        for (sum, &number) in out.iter_mut().zip(&b.data[b.offset..]) {
            *sum = sum.plus(factor.times(number));
        }
    } else {
        for (j, sum) in out.iter_mut().enumerate() {
            *sum = sum.plus(factor.times(b.data[b.at(0, j).offset]));
        }
    }
}
