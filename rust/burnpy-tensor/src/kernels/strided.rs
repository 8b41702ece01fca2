//! Elements that do not lie in order.

use burnpy_buffer::Layout;

use super::join::copy_run;
use super::simd::Plain;
use super::transpose::Transposed;
use crate::parallel;

/// Elements a task copies.
const CHUNK: usize = 64 << 10;

/// Writes the elements of a layout in row-major order: by runs where they lie together, by tiles where another axis
/// than the last one does.
///
/// # Panics
/// If `out` does not have as many elements, or the block is too short.
pub fn copy_strided<T: Plain>(block: &[T], layout: &Layout, out: &mut [T]) {
    assert_eq!(out.len(), layout.num_elements());
    let axes = layout.merged();
    if out.is_empty() {
        return;
    }
    if let Some(turned) = Transposed::of(&axes, layout.offset()) {
        return turned.copy(block, out);
    }
    let (outer, (inner, stride)) = match axes.split_last() {
        Some((&last, outer)) => (outer, last),
        None => (&[][..], (1, 1)),
    };
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
        1 => copy_run(&block[from..], out),
        0 => out.fill(block[from]),
        -1 => {
            let run = &block[from + 1 - out.len()..=from];
            out.iter_mut().zip(run.iter().rev()).for_each(|(slot, &x)| *slot = x);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permuted_axes_are_copied_in_order() {
        let shapes: [&[usize]; 8] = [
            &[1, 7],
            &[33, 70],
            &[2, 40, 41],
            &[5, 9, 17],
            &[3, 4, 8, 16],
            &[2, 3, 64, 33],
            &[300, 257],
            &[70, 3, 90],
        ];
        for shape in shapes {
            let x: Vec<u32> = (0..shape.iter().product::<usize>() as u32).collect();
            for turn in 0..shape.len() {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                order.rotate_left(turn);
                for swap in 1..shape.len() {
                    order.swap(0, swap);
                    let layout = Layout::contiguous(shape).unwrap().permuted(&order).flipped(0);
                    let mut out = vec![0; x.len()];
                    copy_strided(&x, &layout, &mut out);
                    let axes: Vec<_> =
                        layout.shape().iter().copied().zip(layout.strides().iter().copied()).collect();
                    let mut place = Odometer::new(&axes, layout.offset(), 0);
                    for &found in &out {
                        assert_eq!(found, x[place.position()], "{shape:?} {order:?}");
                        place.advance();
                    }
                }
            }
        }
    }

    #[test]
    fn any_element_is_turned_and_reversed() {
        fn check<T: Plain + PartialEq + std::fmt::Debug>(number: impl Fn(u8) -> T) {
            let x: Vec<T> = (0..20 * 37).map(|i| number((i % 251) as u8)).collect();
            let layout = Layout::contiguous([20, 37]).unwrap();
            let (mut turned, mut back) = (x.clone(), x.clone());
            copy_strided(&x, &layout.permuted(&[1, 0]), &mut turned);
            copy_strided(&x, &layout.flipped(1), &mut back);
            for (i, &x) in x.iter().enumerate() {
                let (r, c) = (i / 37, i % 37);
                assert_eq!((turned[c * 20 + r], back[r * 37 + 36 - c]), (x, x));
            }
        }
        check(|i| i);
        check(u16::from);
        check(u32::from);
        check(f32::from);
        check(u64::from);
    }

    #[test]
    fn rows_are_copied_to_any_distance() {
        let x: Vec<u8> = (0..40_000usize).map(|i| (i % 251) as u8).collect();
        for len in [1, 9, 31, 256, 257, 4000] {
            for from in [0, 1, 3, 100, 255, 256] {
                for to in [0, 1, 4, 4095, 4096, 4097] {
                    let mut out = vec![0; 10_000];
                    crate::kernels::join::copy_run(&x[from..], &mut out[to..to + len]);
                    assert_eq!(out[to..to + len], x[from..from + len]);
                    assert!(out[..to].iter().chain(&out[to + len..]).all(|&byte| byte == 0));
                }
            }
        }
    }
}
