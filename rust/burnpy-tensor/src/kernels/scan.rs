//! Running results along an axis.

use crate::parallel;

/// Elements of a task.
const CHUNK: usize = 64 << 10;

/// Along the middle axis of [outer, len, inner]: `out[k] = last(acc)` with `acc = step(acc, k's index in x)`, which
/// begins at `start`; from the end if `backwards`. Blocks of an outer index are independent.
///
/// # Panics
/// If the length of `out` is no multiple of `len · inner`.
pub fn scan<T: Send, A: Copy + Send + Sync>(
    (len, inner): (usize, usize),
    backwards: bool,
    start: A,
    step: impl Fn(A, usize) -> A + Sync,
    last: impl Fn(A) -> T + Sync,
    out: &mut [T],
) {
    let block = len * inner;
    if out.is_empty() {
        return;
    }
    let blocks = (CHUNK / block).max(1);
    parallel::chunks_mut(out, blocks * block, |i, part| {
        // One accumulator for each column.
        let mut accumulators = vec![start; if inner == 1 { 0 } else { inner }];
        for (o, part) in part.chunks_exact_mut(block).enumerate() {
            let from = (i * blocks + o) * block;
            if inner == 1 {
                let mut accumulator = start;
                for j in 0..len {
                    let k = if backwards { len - 1 - j } else { j };
                    accumulator = step(accumulator, from + k);
                    part[k] = last(accumulator);
                }
                continue;
            }
            accumulators.fill(start);
            for j in 0..len {
                let k = if backwards { len - 1 - j } else { j };
                let row = &mut part[k * inner..][..inner];
                for (at, (out, accumulator)) in row.iter_mut().zip(&mut accumulators).enumerate() {
                    *accumulator = step(*accumulator, from + k * inner + at);
                    *out = last(*accumulator);
                }
            }
        }
    });
}
