//! Columns of a matrix copied to rows, block by block in registers.

use super::Plain;
use crate::simd::{Level, level};

/// Side of a [`turn_square`].
pub(crate) const SQUARE: usize = 8;

/// Numbers that blocks are transposed of.
pub trait Transpose: Copy + 'static {
    /// Transposes as many whole blocks as there are; what is left begins at the returned step. See [`transpose`].
    ///
    /// # Safety
    /// As checked there.
    #[doc(hidden)]
    unsafe fn blocks(from: *const Self, stride: isize, steps: usize, width: usize, to: *mut Self) -> usize;
}

/// `out[p * width + j] = data[offset + j * stride + p]` for `p` from 0 up to the returned step, all `j` below `width`; the
/// rest of `out` is left alone.
///
/// # Panics
/// If the columns are not in `data`, or `out` is not `steps` times `width` long.
#[inline]
pub(crate) fn transpose<T: Transpose>(
    data: &[T],
    offset: usize,
    stride: isize,
    (steps, width): (usize, usize),
    out: &mut [T],
) -> usize {
    if steps == 0 || width == 0 {
        return 0;
    }
    let last = offset as i128 + (width as i128 - 1) * stride as i128;
    let (low, high) = (last.min(offset as i128), last.max(offset as i128) + steps as i128);
    assert!(low >= 0 && high <= data.len() as i128, "columns from {low} to {high} in {}", data.len());
    assert_eq!(out.len(), steps * width, "room for {steps} steps of {width}");
    // SAFETY: just checked.
    unsafe { T::blocks(data.as_ptr().add(offset), stride, steps, width, out.as_mut_ptr()) }
}

/// `out[c * out_stride + r] = x[from + r * stride + c]` for r and c below [`SQUARE`].
///
/// # Panics
/// If an element is not in its slice.
#[inline(always)]
pub(crate) fn turn_square<T: Plain>(
    (x, from, stride): (&[T], usize, isize),
    out: &mut [T],
    out_stride: usize,
) {
    let last = from as isize + (SQUARE as isize - 1) * stride;
    let (low, high) = (last.min(from as isize), last.max(from as isize) + SQUARE as isize);
    assert!(low >= 0 && high <= x.len() as isize, "rows from {low} to {high} in {}", x.len());
    assert!((SQUARE - 1) * out_stride + SQUARE <= out.len(), "room for {SQUARE} rows");
    #[cfg(target_arch = "x86_64")]
    if matches!(size_of::<T>(), 4 | 8) && matches!(level(), Level::Avx2 | Level::Avx512) {
        // SAFETY: the CPU has AVX2; the rows of both are there, as just checked, of values of that size without padding.
        unsafe {
            let (x, out) = (x.as_ptr().add(from), out.as_mut_ptr());
            if size_of::<T>() == 4 {
                return block_f32(x.cast(), stride, out.cast(), out_stride);
            }
            for (r, c) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
                let x = x.offset(r as isize * stride + c as isize);
                block_f64(x.cast(), stride, out.add(c * out_stride + r).cast(), out_stride);
            }
            return;
        }
    }
    for r in 0..SQUARE {
        let row = &x[(from as isize + r as isize * stride) as usize..][..SQUARE];
        row.iter().enumerate().for_each(|(c, &x)| out[c * out_stride + r] = x);
    }
}

macro_rules! transpose {
    ($element:ty, $side:literal, $block:ident) => {
        impl Transpose for $element {
            #[inline]
            unsafe fn blocks(
                from: *const Self,
                stride: isize,
                steps: usize,
                width: usize,
                to: *mut Self,
            ) -> usize {
                #[cfg(target_arch = "x86_64")]
                if width.is_multiple_of($side) && matches!(level(), Level::Avx2 | Level::Avx512) {
                    for p in (0..steps / $side * $side).step_by($side) {
                        for j in (0..width).step_by($side) {
                            // SAFETY: the level has AVX2; columns and output have this block.
                            unsafe {
                                $block(
                                    from.offset(j as isize * stride + p as isize),
                                    stride,
                                    to.add(p * width + j),
                                    width,
                                )
                            }
                        }
                    }
                    return steps / $side * $side;
                }
                let _ = (from, stride, steps, width, to);
                0
            }
        }
    };
}
transpose!(f32, 8, block_f32);
transpose!(f64, 4, block_f64);

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// 8 runs of 8 numbers.
///
/// # Safety
/// The CPU has AVX2; 8 numbers can be read at each of 8 columns and written at each of 8 rows.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn block_f32(from: *const f32, stride: isize, to: *mut f32, width: usize) {
    // SAFETY: promised by the caller.
    let column = |j: isize| unsafe { _mm256_loadu_ps(from.offset(j * stride)) };
    // Pairs, then fours of columns, within halves; then the halves.
    let pair = |a: __m256, b: __m256| (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let four = |(a, b): (__m256, __m256), (c, d): (__m256, __m256)| {
        [
            _mm256_shuffle_ps::<0x44>(a, c),
            _mm256_shuffle_ps::<0xEE>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d),
            _mm256_shuffle_ps::<0xEE>(b, d),
        ]
    };
    let low = four(pair(column(0), column(1)), pair(column(2), column(3)));
    let high = four(pair(column(4), column(5)), pair(column(6), column(7)));
    for i in 0..4 {
        // SAFETY: promised by the caller.
        unsafe {
            _mm256_storeu_ps(to.add(i * width), _mm256_permute2f128_ps::<0x20>(low[i], high[i]));
            _mm256_storeu_ps(to.add((i + 4) * width), _mm256_permute2f128_ps::<0x31>(low[i], high[i]));
        }
    }
}

/// 4 runs of 4 numbers.
///
/// # Safety
/// As [`block_f32`], with 4 for 8.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn block_f64(from: *const f64, stride: isize, to: *mut f64, width: usize) {
    // SAFETY: promised by the caller.
    let column = |j: isize| unsafe { _mm256_loadu_pd(from.offset(j * stride)) };
    let pair = |a: __m256d, b: __m256d| [_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)];
    let (low, high) = (pair(column(0), column(1)), pair(column(2), column(3)));
    for i in 0..2 {
        // SAFETY: promised by the caller.
        unsafe {
            _mm256_storeu_pd(to.add(i * width), _mm256_permute2f128_pd::<0x20>(low[i], high[i]));
            _mm256_storeu_pd(to.add((i + 2) * width), _mm256_permute2f128_pd::<0x31>(low[i], high[i]));
        }
    }
}
