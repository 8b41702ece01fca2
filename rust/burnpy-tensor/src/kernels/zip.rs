//! Two strided arrays of one shape, element by element.

use burnpy_buffer::Layout;

use super::strided::Odometer;
use crate::parallel;
use crate::simd::{Arch, Kernel, dispatch};

/// Elements of a task.
const CHUNK: usize = 32 << 10;

/// `out[i] = f(a[i], b[i])` for the elements of two layouts of one shape, in row-major order. A stride of 0 repeats.
///
/// # Panics
/// If the shapes are not those of `out`.
pub fn zip_strided<T, R, F>(
    (a, a_layout): (&[T], &Layout),
    (b, b_layout): (&[T], &Layout),
    out: &mut [R],
    f: F,
) where
    T: Copy + Send + Sync,
    R: Copy + Send + Sync,
    F: Fn(T, T) -> R + Copy + Send + Sync,
{
    assert_eq!(a_layout.shape(), b_layout.shape());
    assert_eq!(out.len(), a_layout.num_elements());
    if out.is_empty() {
        return;
    }
    let (a_axes, b_axes) = merged_pair(a_layout, b_layout);
    let (&(inner, a_stride), a_axes) = a_axes.split_last().expect("one axis at least");
    let (&(_, b_stride), b_axes) = b_axes.split_last().expect("one axis at least");
    if a_axes.is_empty() {
        // One row: cut it itself.
        return parallel::chunks_mut(out, CHUNK, |i, part| {
            let from = |layout: &Layout, stride| moved(layout.offset(), i * CHUNK, stride);
            let (x, y) = (from(a_layout, a_stride), from(b_layout, b_stride));
            dispatch(Row { a: (a, x, a_stride), b: (b, y, b_stride), out: part, f });
        });
    }
    let rows = (CHUNK / inner).max(1);
    parallel::chunks_mut(out, rows * inner, |i, part| {
        let mut x = Odometer::new(a_axes, a_layout.offset(), i * rows);
        let mut y = Odometer::new(b_axes, b_layout.offset(), i * rows);
        for part in part.chunks_exact_mut(inner) {
            dispatch(Row { a: (a, x.position(), a_stride), b: (b, y.position(), b_stride), out: part, f });
            x.advance();
            y.advance();
        }
    });
}

fn moved(offset: usize, by: usize, stride: isize) -> usize {
    (offset as isize + by as isize * stride) as usize
}

type Axes = Vec<(usize, isize)>;

/// Axes of both layouts, joined where both can be; one of size 1 if there are none.
fn merged_pair(a: &Layout, b: &Layout) -> (Axes, Axes) {
    let (mut x, mut y): (Axes, Axes) = (Vec::new(), Vec::new());
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
        (x, y) = (vec![(1, 0)], vec![(1, 0)]);
    }
    (x, y)
}

struct Row<'a, T, R, F> {
    a: (&'a [T], usize, isize),
    b: (&'a [T], usize, isize),
    out: &'a mut [R],
    f: F,
}

impl<T: Copy, R: Copy, F: Fn(T, T) -> R> Kernel for Row<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { a: (a, x, a_stride), b: (b, y, b_stride), out, f } = self;
        let n = out.len();
        match (a_stride, b_stride) {
            (1, 1) => {
                let (a, b) = (&a[x..x + n], &b[y..y + n]);
                for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    *out = f(a, b);
                }
            }
            (1, 0) => {
                let b = b[y];
                out.iter_mut().zip(&a[x..x + n]).for_each(|(out, &a)| *out = f(a, b));
            }
            (0, 1) => {
                let a = a[x];
                out.iter_mut().zip(&b[y..y + n]).for_each(|(out, &b)| *out = f(a, b));
            }
            _ => {
                let (mut i, mut j) = (x as isize, y as isize);
                for out in out {
                    *out = f(a[i as usize], b[j as usize]);
                    (i, j) = (i + a_stride, j + b_stride);
                }
            }
        }
    }
}
