//! Matrix products of integers.

use super::MatRef;
use crate::kernels::simd::Region;
use crate::simd::{Arch, Kernel, dispatch};

/// Integers, which are added and multiplied without a look at overflow.
pub trait PlainElement: Copy + Default + Send + Sync + 'static {
    /// `self + a * b`, modulo the type's range.
    #[must_use]
    fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! plain {
    ($($integer:ty)*) => {$(
        impl PlainElement for $integer {
            #[inline(always)]
            fn add_product(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }
        }
    )*};
}
plain!(i8 i16 i32 i64 u8 u16 u32 u64);

/// `out = a · b` of integers, modulo their range; `out` is row-major, one row each `ldc` elements.
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
pub fn matmul_plain<T: PlainElement>(
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

impl<T: PlainElement> Kernel for Plain<'_, T> {
    type Output = ();

    /// Row by row of the output, which takes the rows of `b` times a number each.
    #[inline(always)]
    fn run<A: Arch>(mut self) {
        for i in 0..self.out.rows() {
            let row = self.out.row(i);
            row.fill(T::default());
            for p in 0..self.k {
                let factor = self.a.data[self.a.at(i, p).offset];
                add_row(factor, self.b.at(p, 0), row);
            }
        }
    }
}

#[inline(always)]
fn add_row<T: PlainElement>(factor: T, b: MatRef<'_, T>, out: &mut [T]) {
    if b.col_stride == 1 && !out.is_empty() {
        for (sum, &number) in out.iter_mut().zip(&b.data[b.offset..]) {
            *sum = sum.add_product(factor, number);
        }
    } else {
        for (j, sum) in out.iter_mut().enumerate() {
            *sum = sum.add_product(factor, b.data[b.at(0, j).offset]);
        }
    }
}
