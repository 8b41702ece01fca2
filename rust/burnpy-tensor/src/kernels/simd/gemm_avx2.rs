//! Matrix multiplication with AVX2 and FMA: 12 of the 16 registers hold sums.

use std::arch::x86_64::*;

use super::micro::{self, Call, DOTS, Dots, MicroElement, Tile, tiles};
use super::vector::{Vector, x86_vector};

/// Registers in a row of a tile. A tile is 6 × 16 in `f32`, 6 × 8 in `f64`.
pub(super) const REGISTERS: usize = 2;

pub(super) const TILES_F32: &[[Tile<f32>; 2]] = tiles!(tile, __m256, REGISTERS, 1 2 3 4 5 6);
pub(super) const TILES_F64: &[[Tile<f64>; 2]] = tiles!(tile, __m256d, REGISTERS, 1 2 3 4 5 6);

/// # Safety
/// As [`Tile`]; the CPU has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
unsafe fn tile<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    a: *const V::Element,
    out: *mut V::Element,
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: promised by the caller.
    unsafe { micro::tile::<V, ROWS, REGISTERS>(call, a, out) }
}

pub(super) const DOTS_F32: Dots<f32> = dots::<__m256>;
pub(super) const DOTS_F64: Dots<f64> = dots::<__m256d>;

/// # Safety
/// As [`Dots`]; the CPU has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
unsafe fn dots<V>(
    a: *const V::Element,
    row_stride: isize,
    b: *const V::Element,
    k: usize,
    out: &mut [V::Element; DOTS],
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: promised by the caller.
    unsafe { micro::dots::<V>(a, row_stride, b, k, out) }
}

x86_vector!(
    __m256,
    f32,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps,
    _mm256_max_ps
);
x86_vector!(
    __m256d,
    f64,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_fmadd_pd,
    _mm256_add_pd,
    _mm256_max_pd
);
