//! Rows made of pieces.

use crate::parallel;

use super::strided::Odometer;

/// Elements of a task.
const CHUNK: usize = 64 << 10;

/// What one input gives to each row of the output: `len` elements that lie together, in rows that begin where its
/// outer axes (size, stride) lead from `offset`.
pub struct Piece<'a, T> {
    /// Its block.
    pub block: &'a [T],
    /// Where its first row begins.
    pub offset: usize,
    /// Axes of rows.
    pub rows: Vec<(usize, isize)>,
    /// Elements of a row.
    pub len: usize,
}

/// Joins pieces along rows: each row of `out` is a row of the first piece, then one of the second, …
///
/// # Panics
/// If a piece has other rows than `out`, or leaves its block.
pub fn join_rows<T: Copy + Send + Sync>(pieces: &[Piece<'_, T>], out: &mut [T]) {
    let width: usize = pieces.iter().map(|piece| piece.len).sum();
    if out.is_empty() {
        return;
    }
    if out.len() == width {
        let mut rest = out;
        for piece in pieces {
            let (part, after) = rest.split_at_mut(piece.len);
            copy_parallel(&piece.block[piece.offset..piece.offset + piece.len], part);
            rest = after;
        }
        return;
    }
    let rows = (CHUNK / width).max(1);
    parallel::chunks_mut(out, rows * width, |i, part| {
        let mut places: Vec<_> =
            pieces.iter().map(|piece| Odometer::new(&piece.rows, piece.offset, i * rows)).collect();
        for mut row in part.chunks_exact_mut(width) {
            for (piece, place) in pieces.iter().zip(&mut places) {
                let (head, rest) = row.split_at_mut(piece.len);
                copy_run(&piece.block[place.position()..], head);
                place.advance();
                row = rest;
            }
        }
    });
}

/// Copies, on all threads if there is much.
pub fn copy_parallel<T: Copy + Send + Sync>(from: &[T], to: &mut [T]) {
    parallel::chunks_mut(to, CHUNK, |i, part| copy_run(&from[i * CHUNK..], part));
}

/// Copies as many elements as there is room for: a loop for few, a call for many.
#[inline(always)]
pub(crate) fn copy_run<T: Copy>(from: &[T], to: &mut [T]) {
    let from = &from[..to.len()];
    if to.len() <= 8 {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
    } else if stalls(from, to) {
        copy_backwards(from, to);
    } else {
        to.copy_from_slice(from);
    }
}

/// Whether the output lies a little behind the input within a page. Then the low bits of addresses that are read next
/// are those of what was just written, which the processor takes for the same place and waits for: eight times slower.
#[inline(always)]
fn stalls<T>(from: &[T], to: &[T]) -> bool {
    let behind = (to.as_ptr() as usize).wrapping_sub(from.as_ptr() as usize) % 4096;
    size_of_val(to) >= 256 && (1..256).contains(&behind)
}

fn copy_backwards<T: Copy>(from: &[T], to: &mut [T]) {
    let len = 32 / size_of::<T>().clamp(1, 32);
    let pieces = to.rchunks_mut(len).zip(from.rchunks(len));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}
