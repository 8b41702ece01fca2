//! Many products of one shape.

use super::block::{self, Product};
use super::{Epilogue, GemmElement, MatRef};
use crate::kernels::simd::Region;

/// An axis along which products are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// How many.
    pub len: usize,
    /// From one left operand to the next; 0 if it is the same for all.
    pub a_stride: isize,
    /// From one right operand to the next; 0 if it is the same for all.
    pub b_stride: isize,
    /// From one output to the next.
    pub out_stride: usize,
}

/// [`gemm`](super::gemm) for each index of the batch axes, of which there may be any number.
///
/// # Panics
/// As [`gemm`](super::gemm), or if outputs overlap.
#[allow(clippy::too_many_arguments, reason = "as gemm")]
pub fn gemm_batch<T: GemmElement>(
    batch: &[Batch],
    m: usize,
    k: usize,
    n: usize,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    out: &mut [T],
    ldc: usize,
    accumulate: bool,
    epilogue: &Epilogue<'_, T>,
) {
    let count: usize = batch.iter().map(|axis| axis.len).product();
    for index in 0..count {
        let (mut rest, mut a, mut b, mut start) = (index, a, b, 0);
        for axis in batch.iter().rev() {
            let i = rest % axis.len;
            rest /= axis.len;
            a.offset = a.offset.wrapping_add_signed(i as isize * axis.a_stride);
            b.offset = b.offset.wrapping_add_signed(i as isize * axis.b_stride);
            start += i * axis.out_stride;
        }
        a.check("left", m, k);
        b.check("right", k, n);
        let product = Product::new(k, a, b, accumulate, epilogue, n);
        block::multiply(&product, Region::new(&mut out[start..], ldc, m, n));
    }
}
