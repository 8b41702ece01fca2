//! Operands copied into the order in which the micro-kernels read them.

use super::{GemmElement, MatRef};
use crate::kernels::simd::transpose;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Packs `k` steps of as many columns of `b` as fit, `cols` of which exist: panels of `width` columns, in each step after
/// step; missing columns may be anything.
pub(super) fn pack_right<T: GemmElement>(
    b: MatRef<'_, T>,
    k: usize,
    cols: usize,
    width: usize,
    out: &mut [T],
) {
    match width {
        4 => dispatch(PackRight::<T, 4> { b, k, cols, out }),
        6 => dispatch(PackRight::<T, 6> { b, k, cols, out }),
        8 => dispatch(PackRight::<T, 8> { b, k, cols, out }),
        12 => dispatch(PackRight::<T, 12> { b, k, cols, out }),
        16 => dispatch(PackRight::<T, 16> { b, k, cols, out }),
        32 => dispatch(PackRight::<T, 32> { b, k, cols, out }),
        _ => unreachable!("no micro-kernel is {width} wide"),
    }
}

struct PackRight<'a, T, const WIDTH: usize> {
    b: MatRef<'a, T>,
    k: usize,
    cols: usize,
    out: &'a mut [T],
}

impl<T: GemmElement, const WIDTH: usize> Kernel for PackRight<'_, T, WIDTH> {
    type Output = ();
    const COPIES: Copies = T::COPIES;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { b, k, cols, out } = self;
        let (steps, _) = out.as_chunks_mut::<WIDTH>();
        let full = steps.len().checked_div(k).unwrap_or(0).min(cols / WIDTH);
        let (whole, rest) = steps.split_at_mut(full * k);
        if b.col_stride == 1 {
            pack_rows(b, k, full, whole);
        } else {
            for (panel, steps) in whole.chunks_exact_mut(k.max(1)).enumerate() {
                pack_columns(b.at(0, panel * WIDTH), k, steps);
            }
        }
        if !rest.is_empty() {
            pack_few(b.at(0, full * WIDTH), cols - full * WIDTH, rest);
        }
    }
}

/// Row by row through all panels, as the rows lie in memory.
#[inline(always)]
fn pack_rows<T: GemmElement, const WIDTH: usize>(
    b: MatRef<'_, T>,
    k: usize,
    panels: usize,
    steps: &mut [[T; WIDTH]],
) {
    for p in 0..k {
        let start = b.at(p, 0).offset;
        let (row, _) = b.data[start..start + panels * WIDTH].as_chunks::<WIDTH>();
        for (panel, numbers) in row.iter().enumerate() {
            steps[panel * k + p] = *numbers;
        }
    }
}

/// A full panel, by blocks in registers as far as columns lie together.
#[inline(always)]
fn pack_columns<T: GemmElement, const WIDTH: usize>(b: MatRef<'_, T>, k: usize, steps: &mut [[T; WIDTH]]) {
    let out = steps.as_flattened_mut();
    let done = if b.row_stride == 1 { transpose(b.data, b.offset, b.col_stride, (k, WIDTH), out) } else { 0 };
    for (p, step) in (done..k).zip(&mut steps[done..]) {
        for (j, number) in step.iter_mut().enumerate() {
            *number = b.data[b.at(p, j).offset];
        }
    }
}

/// A panel of fewer columns. Where it lies in rows, a step's other numbers are those of the next row: what comes of them
/// is not stored, and to put zeros there would take longer.
#[inline(always)]
fn pack_few<T: GemmElement, const WIDTH: usize>(b: MatRef<'_, T>, cols: usize, steps: &mut [[T; WIDTH]]) {
    for (p, step) in steps.iter_mut().enumerate() {
        let start = b.at(p, 0).offset;
        if b.col_stride == 1
            && let Some(row) = b.data[start..].first_chunk::<WIDTH>()
        {
            *step = *row;
        } else {
            *step = [T::ZERO; WIDTH];
            for (j, number) in step[..cols].iter_mut().enumerate() {
                *number = b.data[b.at(p, j).offset];
            }
        }
    }
}

/// Packs `k` steps of as many rows of `a` as fit, `rows` of which exist, into panels of `height` rows. What lies in rows
/// stays in rows, one after the other, which is a copy; anything else goes step after step. [`packed_left`] tells which.
pub(super) fn pack_left<T: GemmElement>(
    a: MatRef<'_, T>,
    rows: usize,
    k: usize,
    height: usize,
    out: &mut [T],
) {
    if a.col_stride == 1 {
        for (i, row) in out.chunks_exact_mut(k).take(rows).enumerate() {
            let start = a.at(i, 0).offset;
            row.copy_from_slice(&a.data[start..start + k]);
        }
    } else {
        pack_right(a.transposed(), k, rows, height, out);
    }
}

/// Strides of what [`pack_left`] made of `a`: from a panel, a row and a step to the next.
pub(super) fn packed_left<T>(a: MatRef<'_, T>, k: usize, height: usize) -> (isize, isize, isize) {
    let panel = (height * k) as isize;
    if a.col_stride == 1 { (panel, k as isize, 1) } else { (panel, 1, height as isize) }
}
