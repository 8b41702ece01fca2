//! Operands copied into the order in which the micro-kernels read them.

use super::MatRef;

/// Packs `k` steps of at most `width` columns of `b`: step after step, missing columns as zeros.
pub(super) fn pack_right<T: Copy + Default>(
    b: MatRef<'_, T>,
    k: usize,
    cols: usize,
    width: usize,
    out: &mut [T],
) {
    match width {
        4 => pack_panel::<T, 4>(b, k, cols, out),
        6 => pack_panel::<T, 6>(b, k, cols, out),
        8 => pack_panel::<T, 8>(b, k, cols, out),
        12 => pack_panel::<T, 12>(b, k, cols, out),
        16 => pack_panel::<T, 16>(b, k, cols, out),
        32 => pack_panel::<T, 32>(b, k, cols, out),
        _ => unreachable!("no micro-kernel is {width} wide"),
    }
}

fn pack_panel<T: Copy + Default, const WIDTH: usize>(b: MatRef<'_, T>, k: usize, cols: usize, out: &mut [T]) {
    let (steps, _) = out[..k * WIDTH].as_chunks_mut::<WIDTH>();
    if b.col_stride == 1 && cols == WIDTH {
        for (p, step) in steps.iter_mut().enumerate() {
            let start = b.at(p, 0).offset;
            step.copy_from_slice(&b.data[start..start + WIDTH]);
        }
        return;
    }
    for (p, step) in steps.iter_mut().enumerate() {
        *step = [T::default(); WIDTH];
        for (j, number) in step[..cols].iter_mut().enumerate() {
            *number = b.data[b.at(p, j).offset];
        }
    }
}

/// Packs `rows` rows and `k` steps of `a` into panels of `height` rows. What lies in rows stays in rows, one after the
/// other, which is a copy; anything else goes step after step. `packed_left` tells which.
pub(super) fn pack_left<T: Copy>(a: MatRef<'_, T>, rows: usize, k: usize, height: usize, out: &mut [T]) {
    for (tile, panel) in out.chunks_mut(height * k).enumerate() {
        let first = tile * height;
        if first >= rows {
            break;
        }
        let rows = height.min(rows - first);
        if a.col_stride == 1 {
            for (i, row) in panel.chunks_exact_mut(k).take(rows).enumerate() {
                let start = a.at(first + i, 0).offset;
                row.copy_from_slice(&a.data[start..start + k]);
            }
        } else {
            for (p, step) in panel.chunks_exact_mut(height).enumerate() {
                for (i, number) in step[..rows].iter_mut().enumerate() {
                    *number = a.data[a.at(first + i, p).offset];
                }
            }
        }
    }
}

/// Strides of what [`pack_left`] made of `a`: from a panel, a row and a step to the next.
pub(super) fn packed_left<T>(a: MatRef<'_, T>, k: usize, height: usize) -> (isize, isize, isize) {
    let panel = (height * k) as isize;
    if a.col_stride == 1 { (panel, k as isize, 1) } else { (panel, 1, height as isize) }
}
