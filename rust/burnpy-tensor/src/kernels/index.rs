//! Elements picked by index, and put where an index says. Indices are checked before they get here.

use super::join::copy_run;
use crate::parallel;

/// Elements of a task.
const CHUNK: usize = 64 << 10;

/// Into how many parts rows are dealt that indices write to: each part reads all indices.
const PARTS: usize = 8;

/// `out[o, k, :] = x[o, indices[k], :]` for `x` of shape [outer, size, inner].
///
/// # Panics
/// If an index is not below `size`, or the lengths do not fit.
pub fn gather_rows<T: Copy + Send + Sync>(
    x: &[T],
    (size, inner): (usize, usize),
    indices: &[u32],
    out: &mut [T],
) {
    let block = indices.len() * inner;
    if out.is_empty() {
        return;
    }
    if inner == 1 {
        // Single elements: no call for each.
        let blocks = (CHUNK / block).max(1);
        if out.len() == block {
            return parallel::chunks_mut(out, CHUNK, |i, part| {
                let indices = &indices[i * CHUNK..];
                part.iter_mut().zip(indices).for_each(|(out, &index)| *out = x[index as usize]);
            });
        }
        return parallel::chunks_mut(out, blocks * block, |i, part| {
            for (o, part) in part.chunks_exact_mut(block).enumerate() {
                let x = &x[(i * blocks + o) * size..][..size];
                part.iter_mut().zip(indices).for_each(|(out, &index)| *out = x[index as usize]);
            }
        });
    }
    let rows = (CHUNK / inner).max(1);
    parallel::chunks_mut(out, rows * inner, |i, part| {
        let (mut o, mut k) = (i * rows / indices.len(), i * rows % indices.len());
        for row in part.chunks_exact_mut(inner) {
            copy_run(&x[(o * size + indices[k] as usize) * inner..], row);
            k += 1;
            if k == indices.len() {
                (o, k) = (o + 1, 0);
            }
        }
    });
}

/// `out[o, indices[k], :] = update(out[o, indices[k], :], values[o, k, :])` in the order of k, for `out` of shape
/// [outer, size, inner].
///
/// # Panics
/// As [`gather_rows`].
pub fn scatter_rows<T: Copy + Send + Sync>(
    out: &mut [T],
    (size, inner): (usize, usize),
    indices: &[u32],
    values: &[T],
    update: impl Fn(T, T) -> T + Sync,
) {
    let block = size * inner;
    if values.is_empty() || out.is_empty() {
        return;
    }
    // A part of the rows each, where there is one block; else some blocks each.
    let lone = out.len() == block;
    let rows = match lone {
        true if values.len() > CHUNK => size.div_ceil(PARTS),
        true => size,
        false => size * (CHUNK / block).max(1),
    };
    parallel::chunks_mut(out, rows * inner, |i, part| {
        let first = i * rows;
        let held = part.len() / inner;
        let blocks = if lone { 1 } else { held / size };
        for o in 0..blocks {
            let source = (first / size + o) * indices.len();
            for (k, &index) in indices.iter().enumerate() {
                let row = if lone { (index as usize).wrapping_sub(first) } else { o * size + index as usize };
                if row < held {
                    let values = &values[(source + k) * inner..][..inner];
                    part[row * inner..][..inner]
                        .iter_mut()
                        .zip(values)
                        .for_each(|(out, &value)| *out = update(*out, value));
                }
            }
        }
    });
}

/// `out[o, k, i] = x[o, indices[o, k, i], i]` for `x` of shape [outer, size, inner] and `out` of [outer, count, inner].
///
/// # Panics
/// As [`gather_rows`].
pub fn gather_elements<T: Copy + Send + Sync>(
    x: &[T],
    (size, count, inner): (usize, usize, usize),
    indices: &[u32],
    out: &mut [T],
) {
    if out.is_empty() {
        return;
    }
    if inner == 1 {
        let rows = (CHUNK / count).max(1);
        return parallel::chunks_mut(out, rows * count, |i, part| {
            let indices = indices[i * rows * count..].chunks_exact(count);
            for (o, (part, indices)) in part.chunks_exact_mut(count).zip(indices).enumerate() {
                let x = &x[(i * rows + o) * size..][..size];
                part.iter_mut().zip(indices).for_each(|(out, &index)| *out = x[index as usize]);
            }
        });
    }
    let rows = (CHUNK / inner).max(1);
    parallel::chunks_mut(out, rows * inner, |i, part| {
        let indices = indices[i * rows * inner..].chunks_exact(inner);
        for (r, (part, indices)) in part.chunks_exact_mut(inner).zip(indices).enumerate() {
            let x = &x[(i * rows + r) / count * size * inner..][..size * inner];
            for (at, (out, &index)) in part.iter_mut().zip(indices).enumerate() {
                *out = x[index as usize * inner + at];
            }
        }
    });
}

/// `out[o, indices[o, k, i], i] = update(out[…], values[o, k, i])` in the order of k, for `out` of shape
/// [outer, size, inner] and `values` of [outer, count, inner].
///
/// # Panics
/// As [`gather_rows`].
pub fn scatter_elements<T: Copy + Send + Sync>(
    out: &mut [T],
    (size, count, inner): (usize, usize, usize),
    indices: &[u32],
    values: &[T],
    update: impl Fn(T, T) -> T + Sync,
) {
    if values.is_empty() || out.is_empty() {
        return;
    }
    let (block, given) = (size * inner, count * inner);
    let blocks = (CHUNK / block.max(given)).max(1);
    parallel::chunks_mut(out, blocks * block, |i, part| {
        for (o, part) in part.chunks_exact_mut(block).enumerate() {
            let from = (i * blocks + o) * given;
            let pairs = indices[from..from + given].iter().zip(&values[from..from + given]);
            let mut at = 0;
            for (&index, &value) in pairs {
                let slot = &mut part[index as usize * inner + at];
                *slot = update(*slot, value);
                at = if at + 1 == inner { 0 } else { at + 1 };
            }
        }
    });
}

/// What [`scatter_rows`] and [`scatter_elements`] do one after the other, undone for gradients: in the reverse order,
/// `step(i, slot)` for the `i`-th value and the slot that it went to. A row is one of [outer, size, inner] for an
/// index of each of [outer, count, inner].
pub fn walk_updates(
    (outer, size, count, inner): (usize, usize, usize, usize),
    index: impl Fn(usize) -> u32,
    backwards: bool,
    mut step: impl FnMut(usize, usize),
) {
    let mut visit = |o: usize, k: usize| {
        for i in 0..inner {
            let value = (o * count + k) * inner + i;
            step(value, (o * size + index(value) as usize) * inner + i);
        }
    };
    for o in 0..outer {
        match backwards {
            true => (0..count).rev().for_each(|k| visit(o, k)),
            false => (0..count).for_each(|k| visit(o, k)),
        }
    }
}
