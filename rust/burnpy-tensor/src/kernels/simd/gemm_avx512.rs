//! Matrix multiplication with AVX-512: 24 of the 32 registers hold sums (with 28, the compiler spills two).

use std::arch::x86_64::*;

use super::micro::{self, Call, DOTS, Dots, MicroElement, Tile, tiles};
use super::vector::{Vector, x86_vector};

/// Registers in a row of a tile. A tile is 12 × 32 in `f32`, 12 × 16 in `f64`.
pub(super) const REGISTERS: usize = 2;

pub(super) const TILES_F32: &[[Tile<f32>; 2]] = tiles!(tile, __m512, REGISTERS, 1 2 3 4 5 6 7 8 9 10 11 12);
pub(super) const TILES_F64: &[[Tile<f64>; 2]] = tiles!(tile, __m512d, REGISTERS, 1 2 3 4 5 6 7 8 9 10 11 12);

/// # Safety
/// As [`Tile`]; the CPU has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
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

pub(super) const DOTS_F32: Dots<f32> = dots::<__m512>;
pub(super) const DOTS_F64: Dots<f64> = dots::<__m512d>;

/// # Safety
/// As [`Dots`]; the CPU has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
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
    __m512,
    f32,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps,
    _mm512_max_ps
);
x86_vector!(
    __m512d,
    f64,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_fmadd_pd,
    _mm512_add_pd,
    _mm512_max_pd
);
