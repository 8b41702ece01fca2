//! Elements that do not lie in order.

use burnpy_buffer::Layout;

use crate::parallel;

/// Elements a task copies.
const CHUNK: usize = 64 << 10;

/// Writes the elements of a layout in row-major order.
///
/// # Panics
/// If `out` does not have as many elements, or the block is too short.
pub fn copy_strided<T: Copy + Send + Sync>(block: &[T], layout: &Layout, out: &mut [T]) {
    assert_eq!(out.len(), layout.num_elements());
    let axes = layout.merged();
    let (outer, (inner, stride)) = match axes.split_last() {
        Some((&last, outer)) => (outer, last),
        None => (&[][..], (1, 1)),
    };
    if out.is_empty() {
        return;
    }
    let rows = (CHUNK / inner).max(1);
    parallel::chunks_mut(out, rows * inner, |i, part| {
        let mut row = Odometer::new(outer, layout.offset(), i * rows);
        for part in part.chunks_exact_mut(inner) {
            copy_row(block, row.position(), stride, part);
            row.advance();
        }
    });
}

#[inline(always)]
fn copy_row<T: Copy>(block: &[T], from: usize, stride: isize, out: &mut [T]) {
    match stride {
        1 => out.copy_from_slice(&block[from..from + out.len()]),
        0 => out.fill(block[from]),
        _ => {
            let mut at = from as isize;
            for slot in out {
                *slot = block[at as usize];
                at += stride;
            }
        }
    }
}

/// Walks the positions of a strided array in row-major order.
pub struct Odometer<'a> {
    axes: &'a [(usize, isize)],
    index: Vec<usize>,
    position: isize,
}

impl<'a> Odometer<'a> {
    /// At the `start`-th position of axes (size, stride) that begin at `offset`.
    pub fn new(axes: &'a [(usize, isize)], offset: usize, start: usize) -> Self {
        let mut index = vec![0; axes.len()];
        let (mut left, mut position) = (start, offset as isize);
        for (i, &(size, stride)) in index.iter_mut().zip(axes).rev() {
            *i = left % size.max(1);
            left /= size.max(1);
            position += *i as isize * stride;
        }
        Self { axes, index, position }
    }

    /// The element of the block.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.position as usize
    }

    /// Goes to the next one; from the last to the first.
    #[inline(always)]
    pub fn advance(&mut self) {
        for (i, &(size, stride)) in self.index.iter_mut().zip(self.axes).rev() {
            *i += 1;
            self.position += stride;
            if *i < size {
                return;
            }
            self.position -= stride * size as isize;
            *i = 0;
        }
    }
}
