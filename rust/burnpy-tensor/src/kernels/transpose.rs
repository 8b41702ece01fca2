//! Copies in which another axis than the last one lies together in memory.

use super::simd::{Plain, SQUARE as SIDE, turn_square};
use super::strided::Odometer;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const CHUNK: usize = 64 << 10;

/// Side of a tile: its lines, of input and output, stay in the first cache.
const TILE: usize = 32;

type Axis = (usize, isize);

/// Axes of an output in order: `lead`, then one of `across` elements that lie together in the input, then `mid`, then
/// the last one, of `along` elements `stride` apart.
pub(super) struct Transposed<'a> {
    offset: usize,
    lead: &'a [Axis],
    across: usize,
    mid: &'a [Axis],
    along: usize,
    stride: isize,
}

impl<'a> Transposed<'a> {
    /// The axes seen so; `None` if rows are better copied as they are.
    pub(super) fn of(axes: &'a [Axis], offset: usize) -> Option<Self> {
        let (&(along, stride), outer) = axes.split_last()?;
        let at = outer.iter().position(|&(_, stride)| stride == 1)?;
        let across = outer[at].0;
        let worth = stride.unsigned_abs() > 1 && across >= SIDE / 2 && along >= SIDE / 2;
        worth.then(|| Self { offset, lead: &outer[..at], across, mid: &outer[at + 1..], along, stride })
    }

    /// Writes the elements in order.
    pub(super) fn copy<T: Plain>(&self, block: &[T], out: &mut [T]) {
        let count = |axes: &[Axis]| axes.iter().map(|&(size, _)| size).product::<usize>();
        let (leads, mids) = (count(self.lead), count(self.mid));
        let row = mids * self.along;
        let matrix = self.across * row;
        if leads > 1 {
            let each = (CHUNK / matrix).max(1);
            return parallel::chunks_mut(out, each * matrix, |i, part| {
                let mut lead = Odometer::new(self.lead, self.offset, i * each);
                for part in part.chunks_exact_mut(matrix) {
                    self.turn(block, lead.position(), self.across, part);
                    lead.advance();
                }
            });
        }
        let rows = (CHUNK / row).next_multiple_of(TILE).max(TILE);
        parallel::chunks_mut(out, rows * row, |i, part| {
            self.turn(block, self.offset + i * rows, part.len() / row, part);
        });
    }

    /// `across` elements from `from` on, and all that belongs to them.
    fn turn<T: Plain>(&self, block: &[T], from: usize, across: usize, out: &mut [T]) {
        let mids = out.len() / (across * self.along);
        let mut mid = Odometer::new(self.mid, from, 0);
        for m in 0..mids {
            dispatch(Matrix {
                x: block,
                from: mid.position(),
                x_stride: self.stride,
                out: &mut out[m * self.along..],
                out_stride: mids * self.along,
                shape: (self.along, across),
            });
            mid.advance();
        }
    }
}

/// Element (r, c) of a matrix becomes element (c, r) of the output.
struct Matrix<'a, T> {
    x: &'a [T],
    from: usize,
    x_stride: isize,
    out: &'a mut [T],
    out_stride: usize,
    shape: (usize, usize),
}

impl<T: Plain> Kernel for Matrix<'_, T> {
    type Output = ();
    const COPIES: Copies = Copies::Two;

    #[inline(always)]
    fn run<A: Arch>(mut self) {
        let (rows, cols) = self.shape;
        for c in (0..cols).step_by(TILE) {
            for r in (0..rows).step_by(TILE) {
                self.tile((r, (r + TILE).min(rows)), (c, (c + TILE).min(cols)));
            }
        }
    }
}

impl<T: Plain> Matrix<'_, T> {
    #[inline(always)]
    fn at(&self, r: usize, c: usize) -> usize {
        (self.from as isize + r as isize * self.x_stride) as usize + c
    }

    #[inline(always)]
    fn tile(&mut self, (r, r_end): (usize, usize), (c, c_end): (usize, usize)) {
        let (r_full, c_full) = (r + (r_end - r) / SIDE * SIDE, c + (c_end - c) / SIDE * SIDE);
        for r in (r..r_full).step_by(SIDE) {
            for c in (c..c_full).step_by(SIDE) {
                self.square(r, c);
            }
        }
        self.rest((r, r_full), (c_full, c_end));
        self.rest((r_full, r_end), (c, c_end));
    }

    #[inline(always)]
    fn square(&mut self, r: usize, c: usize) {
        let from = self.at(r, c);
        turn_square((self.x, from, self.x_stride), &mut self.out[c * self.out_stride + r..], self.out_stride);
    }

    #[inline(always)]
    fn rest(&mut self, (r, r_end): (usize, usize), (c, c_end): (usize, usize)) {
        for c in c..c_end {
            for r in r..r_end {
                self.out[c * self.out_stride + r] = self.x[self.at(r, c)];
            }
        }
    }
}
