//! Sums over pixels.

use super::ConvElement;
use super::pack::Images;
use crate::parallel;

/// The sum of each channel over `sizes` (batch, channels, depth, height, width): of each image by itself, then of all
/// in order.
///
/// # Panics
/// If `out` has another length than there are channels, or the elements are not all in the slice.
pub fn channel_sums<T: ConvElement>(x: &Images<'_, T>, sizes: [usize; 5], out: &mut [T]) {
    let [batch, channels, depth, height, width] = sizes;
    assert_eq!(out.len(), channels, "sums of {channels} channels");
    let mut sums = vec![T::ZERO; batch * channels];
    if !sums.is_empty() {
        parallel::chunks_mut(&mut sums, channels, |image, sums| {
            for d in 0..depth {
                for h in 0..height {
                    add_row(x, x.position([image as isize, 0, d as isize, h as isize, 0]), width, sums);
                }
            }
        });
    }
    out.fill(T::ZERO);
    for sums in sums.chunks_exact(channels.max(1)) {
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = out.plus(sum));
    }
}

fn add_row<T: ConvElement>(x: &Images<'_, T>, from: usize, width: usize, sums: &mut [T]) {
    let [_, c, _, _, w] = x.strides;
    let at = |from: usize, i: usize, stride: isize| from.wrapping_add_signed(i as isize * stride);
    if c == 1 {
        // By rows, as below: the bits are those of any layout.
        let mut row = vec![T::ZERO; sums.len()];
        for i in 0..width {
            let from = at(from, i, w);
            row.iter_mut().zip(&x.data[from..]).for_each(|(sum, &x)| *sum = sum.plus(x));
        }
        sums.iter_mut().zip(row).for_each(|(sum, row)| *sum = sum.plus(row));
        return;
    }
    for (channel, sum) in sums.iter_mut().enumerate() {
        let from = at(from, channel, c);
        let row = (0..width).map(|i| x.data[at(from, i, w)]);
        *sum = sum.plus(row.fold(T::ZERO, T::plus));
    }
}
