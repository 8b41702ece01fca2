//! Many products of one shape.

use super::block::Product;
use super::{Epilogue, GemmElement, MatRef, multiply};
use crate::kernels::simd::for_each_matrix;

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

/// [`gemm`](super::gemm) for each index of the batch axes, of which there may be any number: outputs may lie in any order
/// and between each other, as the heads of an attention do.
///
/// ```
/// use burnpy_tensor::kernels::gemm::{Batch, Epilogue, MatRef, gemm_batch};
/// // Two rows of a times the same b.
/// let (a, b) = ([1.0f32, 2.0, 3.0, 4.0], [10.0, 100.0]);
/// let axis = Batch { len: 2, a_stride: 2, b_stride: 0, out_stride: 1 };
/// let mut out = [0.0; 2];
/// let (left, right) = (MatRef::row_major(&a, 2), MatRef::row_major(&b, 1));
/// gemm_batch(&[axis], 1, 2, 1, left, right, &mut out, 1, false, &Epilogue::default());
/// assert_eq!(out, [210.0, 430.0]);
/// ```
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
    let axes: Vec<_> = batch.iter().map(|axis| (axis.len, axis.out_stride)).collect();
    // A large product is shared by the threads itself.
    let size = m.saturating_mul(n).saturating_mul(k.max(1));
    let count: usize = batch.iter().map(|axis| axis.len).product();
    let is_small = count > 1 && size <= SHARED_WHOLE && size.saturating_mul(count) >= TASK;
    let per_task = is_small.then(|| TASK.div_ceil(size.max(1)));
    for_each_matrix(out, &axes, (m, n, ldc), per_task, |index, out| {
        let (a, b) = operands(batch, index, a, b);
        a.check("left", m, k);
        b.check("right", k, n);
        multiply(&Product::new(k, a, b, accumulate, epilogue, n), out);
    });
}

/// Multiplications in a task.
const TASK: usize = 64 << 10;

/// Up to this many, each product is computed by one thread.
const SHARED_WHOLE: usize = 4 << 20;

/// The operands of the product at an index of all axes, counted as the axes are nested.
fn operands<'a, T>(
    batch: &[Batch],
    index: usize,
    mut a: MatRef<'a, T>,
    mut b: MatRef<'a, T>,
) -> (MatRef<'a, T>, MatRef<'a, T>) {
    let mut rest = index;
    for axis in batch.iter().rev() {
        let i = (rest % axis.len) as isize;
        rest /= axis.len;
        a.offset = a.offset.wrapping_add_signed(i * axis.a_stride);
        b.offset = b.offset.wrapping_add_signed(i * axis.b_stride);
    }
    (a, b)
}
