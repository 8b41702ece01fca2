//! Two strided arrays of one shape, element by element.

use burnpy_buffer::Layout;
use smallvec::SmallVec;

use super::ops::BinaryOp;
use super::simd::{Plain, STREAM_BYTES, Tiles};
use super::strided::Odometer;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const CHUNK: usize = 16 << 10;

/// A closure as an operation; it cannot ask for the instructions that it is compiled for.
#[derive(Clone, Copy)]
pub struct Closure<F>(pub F);

impl<T: Plain, R: Plain, F: Fn(T, T) -> R + Copy + Send + Sync> BinaryOp<T, R> for Closure<F> {
    #[inline(always)]
    fn apply<A: Arch>(self, a: T, b: T) -> R {
        (self.0)(a, b)
    }
}

/// `out[i] = op(a[i], b[i])` for the elements of two layouts of one shape, in row-major order. A stride of 0 repeats.
///
/// # Panics
/// If the shapes are not those of `out`.
pub fn zip_strided<T: Plain, R: Plain>(
    (a, a_layout): (&[T], &Layout),
    (b, b_layout): (&[T], &Layout),
    out: &mut [R],
    op: impl BinaryOp<T, R>,
) {
    assert_eq!(a_layout.shape(), b_layout.shape());
    assert_eq!(out.len(), a_layout.num_elements());
    if out.is_empty() {
        return;
    }
    let streams = size_of_val(out) >= STREAM_BYTES;
    let (a_axes, b_axes) = merged_pair(a_layout, b_layout);
    let (&(inner, a_stride), a_axes) = a_axes.split_last().expect("one axis at least");
    let (&(_, b_stride), b_axes) = b_axes.split_last().expect("one axis at least");
    let strides = (a_stride, b_stride);
    if a_axes.is_empty() {
        // One row: cut it itself.
        return parallel::chunks_mut(out, CHUNK, |i, out| {
            let from = |layout: &Layout, stride| moved(layout.offset(), i * CHUNK, stride);
            let at = (from(a_layout, a_stride), from(b_layout, b_stride));
            dispatch(OneRow { row: Row { a, b, at, strides }, out, op, streams });
        });
    }
    let rows = (CHUNK / inner).max(1);
    parallel::chunks_mut(out, rows * inner, |i, out| {
        let a_rows = Odometer::new(a_axes, a_layout.offset(), i * rows);
        let b_rows = Odometer::new(b_axes, b_layout.offset(), i * rows);
        dispatch(Rows { a: (a, a_rows), b: (b, b_rows), strides, inner, out, op });
    });
}

fn moved(offset: usize, by: usize, stride: isize) -> usize {
    (offset as isize + by as isize * stride) as usize
}

type Axes = SmallVec<[(usize, isize); 5]>;

/// Axes of both layouts, joined where both can be; one of size 1 if there are none.
fn merged_pair(a: &Layout, b: &Layout) -> (Axes, Axes) {
    let (mut x, mut y): (Axes, Axes) = (Axes::new(), Axes::new());
    for (i, &size) in a.shape().iter().enumerate().filter(|&(_, &size)| size != 1) {
        let (sx, sy) = (a.strides()[i], b.strides()[i]);
        match (x.last_mut(), y.last_mut()) {
            (Some(ox), Some(oy)) if ox.1 == sx * size as isize && oy.1 == sy * size as isize => {
                (*ox, *oy) = ((ox.0 * size, sx), (oy.0 * size, sy));
            }
            _ => {
                x.push((size, sx));
                y.push((size, sy));
            }
        }
    }
    if x.is_empty() {
        x.push((1, 0));
        y.push((1, 0));
    }
    (x, y)
}

#[derive(Clone, Copy)]
struct Row<'a, T> {
    a: &'a [T],
    b: &'a [T],
    at: (usize, usize),
    strides: (isize, isize),
}

impl<T: Plain> Row<'_, T> {
    #[inline(always)]
    fn fill<A: Arch, R: Plain>(self, op: impl BinaryOp<T, R>, out: &mut [R]) {
        let Self { a, b, at: (x, y), strides } = self;
        let n = out.len();
        match strides {
            (1, 1) => op.apply_slices::<A>(&a[x..x + n], &b[y..y + n], out),
            (1, 0) => {
                let b = b[y];
                for (out, &a) in out.iter_mut().zip(&a[x..x + n]) {
                    *out = op.apply::<A>(a, b);
                }
            }
            (0, 1) => {
                let a = a[x];
                for (out, &b) in out.iter_mut().zip(&b[y..y + n]) {
                    *out = op.apply::<A>(a, b);
                }
            }
            (a_stride, b_stride) => {
                let (mut i, mut j) = (x as isize, y as isize);
                for out in out {
                    *out = op.apply::<A>(a[i as usize], b[j as usize]);
                    (i, j) = (i + a_stride, j + b_stride);
                }
            }
        }
    }
}

struct OneRow<'a, T, R, O> {
    row: Row<'a, T>,
    out: &'a mut [R],
    op: O,
    streams: bool,
}

impl<T: Plain, R: Plain, O: BinaryOp<T, R>> Kernel for OneRow<'_, T, R, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { row, out, op, streams } = self;
        let (x, y) = row.at;
        // Other strides do not meet outputs of this size.
        let streams = streams && row.strides.0 == 1 && (0..=1).contains(&row.strides.1);
        let mut tiles = Tiles::new(out, streams);
        while let Some((from, tile)) = tiles.next_tile() {
            let at = (moved(x, from, row.strides.0), moved(y, from, row.strides.1));
            Row { at, ..row }.fill::<A, R>(op, tile);
        }
    }
}

struct Rows<'a, T, R, O> {
    a: (&'a [T], Odometer<'a>),
    b: (&'a [T], Odometer<'a>),
    strides: (isize, isize),
    inner: usize,
    out: &'a mut [R],
    op: O,
}

impl<T: Plain, R: Plain, O: BinaryOp<T, R>> Kernel for Rows<'_, T, R, O> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { a: (a, mut a_rows), b: (b, mut b_rows), strides, inner, out, op } = self;
        for out in out.chunks_exact_mut(inner) {
            Row { a, b, at: (a_rows.position(), b_rows.position()), strides }.fill::<A, R>(op, out);
            a_rows.advance();
            b_rows.advance();
        }
    }
}
