//! Matrix multiplication with AVX-512: 28 of the 32 registers hold sums.

use std::arch::x86_64::*;

use super::micro::{Call, run};
use super::vector::{Vector, x86_vector};

/// Rows of a tile, and registers a row: 14 × 32 in `f32`, 14 × 16 in `f64`.
pub(super) const ROWS: usize = 14;
pub(super) const REGISTERS: usize = 2;

/// # Safety
/// As [`run`], and the CPU has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn run_f32(call: &Call<f32>) {
    // SAFETY: promised by the caller.
    unsafe { run::<__m512, ROWS, REGISTERS>(call) }
}

/// # Safety
/// As [`run`], and the CPU has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn run_f64(call: &Call<f64>) {
    // SAFETY: promised by the caller.
    unsafe { run::<__m512d, ROWS, REGISTERS>(call) }
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
