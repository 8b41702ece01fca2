//! Element by element: one operation over whole slices, on all threads.

use super::ops::{BinaryOp, UnaryOp, WithLeft, WithRight};
use super::simd::{Plain, STREAM_BYTES, Tiles};
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
pub const CHUNK: usize = 16 * 1024;

/// `out[i] = op(x[i])`.
///
/// # Panics
/// If the lengths differ.
///
/// ```
/// use burnpy_tensor::kernels::{map, ops};
/// let mut y = [0.0; 3];
/// map::unary(ops::Exp, &[0.0f32, f32::NEG_INFINITY, 100.0], &mut y);
/// assert_eq!(y, [1.0, 0.0, f32::INFINITY]);
/// ```
pub fn unary<T: Plain, U: Plain>(op: impl UnaryOp<T, U>, x: &[T], out: &mut [U]) {
    assert_eq!(x.len(), out.len(), "{} elements for an output of {}", x.len(), out.len());
    let streams = size_of_val(out) >= STREAM_BYTES;
    parallel::chunks_mut(out, CHUNK, |i, out| {
        let x = &x[i * CHUNK..][..out.len()];
        dispatch(Unary { op, x, out, streams });
    });
}

/// `out[i] = op(a[i], b[i])`.
///
/// # Panics
/// If the lengths differ.
pub fn binary<T: Plain, U: Plain>(op: impl BinaryOp<T, U>, a: &[T], b: &[T], out: &mut [U]) {
    assert!(
        a.len() == out.len() && b.len() == out.len(),
        "{} and {} elements for an output of {}",
        a.len(),
        b.len(),
        out.len()
    );
    let streams = size_of_val(out) >= STREAM_BYTES;
    parallel::chunks_mut(out, CHUNK, |i, out| {
        let (a, b) = (&a[i * CHUNK..][..out.len()], &b[i * CHUNK..][..out.len()]);
        dispatch(Binary { op, a, b, out, streams });
    });
}

/// `out[i] = op(a[i], b)`.
///
/// # Panics
/// If the lengths differ.
pub fn binary_scalar<T: Plain, U: Plain>(op: impl BinaryOp<T, U>, a: &[T], b: T, out: &mut [U]) {
    unary(WithRight(op, b), a, out);
}

/// `out[i] = op(a, b[i])`.
///
/// # Panics
/// If the lengths differ.
pub fn scalar_binary<T: Plain, U: Plain>(op: impl BinaryOp<T, U>, a: T, b: &[T], out: &mut [U]) {
    unary(WithLeft(op, a), b, out);
}

/// `x[i] = op(x[i])`.
pub fn unary_assign<T: Plain>(op: impl UnaryOp<T>, x: &mut [T]) {
    parallel::chunks_mut(x, CHUNK, |_, x| dispatch(UnaryAssign { op, x }));
}

/// `a[i] = op(a[i], b[i])`.
///
/// # Panics
/// If the lengths differ.
pub fn binary_assign<T: Plain>(op: impl BinaryOp<T>, a: &mut [T], b: &[T]) {
    assert_eq!(a.len(), b.len(), "{} elements for an output of {}", b.len(), a.len());
    parallel::chunks_mut(a, CHUNK, |i, a| {
        let b = &b[i * CHUNK..][..a.len()];
        dispatch(BinaryAssign { op, a, b });
    });
}

struct Unary<'a, T, U, O> {
    op: O,
    x: &'a [T],
    out: &'a mut [U],
    streams: bool,
}

impl<T: Plain, U: Plain, O: UnaryOp<T, U>> Kernel for Unary<'_, T, U, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut tiles = Tiles::new(self.out, self.streams);
        while let Some((from, tile)) = tiles.next_tile() {
            self.op.apply_slice::<A>(&self.x[from..][..tile.len()], tile);
        }
    }
}

struct Binary<'a, T, U, O> {
    op: O,
    a: &'a [T],
    b: &'a [T],
    out: &'a mut [U],
    streams: bool,
}

impl<T: Plain, U: Plain, O: BinaryOp<T, U>> Kernel for Binary<'_, T, U, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut tiles = Tiles::new(self.out, self.streams);
        while let Some((from, tile)) = tiles.next_tile() {
            let n = tile.len();
            self.op.apply_slices::<A>(&self.a[from..][..n], &self.b[from..][..n], tile);
        }
    }
}

struct UnaryAssign<'a, T, O> {
    op: O,
    x: &'a mut [T],
}

impl<T: Plain, O: UnaryOp<T>> Kernel for UnaryAssign<'_, T, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        for x in self.x {
            *x = self.op.apply::<A>(*x);
        }
    }
}

/// Elements that are computed beside their old values. In place, `if b { 0 } else { a }` becomes a store under a mask,
/// which costs some CPUs 20 cycles a vector.
const TILE: usize = 256;

struct BinaryAssign<'a, T, O> {
    op: O,
    a: &'a mut [T],
    b: &'a [T],
}

impl<T: Plain, O: BinaryOp<T>> Kernel for BinaryAssign<'_, T, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut tile = [T::default(); TILE];
        for (a, b) in self.a.chunks_mut(TILE).zip(self.b.chunks(TILE)) {
            let tile = &mut tile[..a.len()];
            self.op.apply_slices::<A>(a, b, tile);
            a.copy_from_slice(tile);
        }
    }
}
