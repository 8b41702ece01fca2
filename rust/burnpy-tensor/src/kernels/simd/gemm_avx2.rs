//! Matrix multiplication with AVX2 and FMA: 12 of the 16 registers hold sums.

use std::arch::x86_64::*;

use super::micro::{Call, run};
use super::vector::{Vector, x86_vector};

/// Rows of a tile, and registers a row: 6 × 16 in `f32`, 6 × 8 in `f64`.
pub(super) const ROWS: usize = 6;
pub(super) const REGISTERS: usize = 2;

/// # Safety
/// As [`run`], and the CPU has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run_f32(call: &Call<f32>) {
    // SAFETY: promised by the caller.
    unsafe { run::<__m256, ROWS, REGISTERS>(call) }
}

/// # Safety
/// As [`run`], and the CPU has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run_f64(call: &Call<f64>) {
    // SAFETY: promised by the caller.
    unsafe { run::<__m256d, ROWS, REGISTERS>(call) }
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
