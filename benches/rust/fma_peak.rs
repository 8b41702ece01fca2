//! As many fused multiply-adds as the processor can do, from registers alone: the ceiling over every matrix product.
//!
//! `benches/python/fma_peak.py` compiles this for the machine at hand and calls it. Twelve sums do not wait for each
//! other: two units with a latency of four or five cycles need ten.

use std::hint::black_box;

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
mod vector {
    pub use std::arch::x86_64::{__m256 as Vector, _mm256_fmadd_ps as fused, _mm256_set1_ps as filled};
    pub const LANES: u64 = 8;
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
mod vector {
    pub use std::arch::x86_64::{__m512 as Vector, _mm512_fmadd_ps as fused, _mm512_set1_ps as filled};
    pub const LANES: u64 = 16;
}

#[cfg(target_arch = "aarch64")]
mod vector {
    pub use std::arch::aarch64::{float32x4_t as Vector, vdupq_n_f32 as filled};
    pub const LANES: u64 = 4;

    pub unsafe fn fused(a: Vector, b: Vector, sum: Vector) -> Vector {
        unsafe { std::arch::aarch64::vfmaq_f32(sum, a, b) }
    }
}

use vector::{LANES, Vector, filled, fused};

/// Twelve sums and two factors: the sixteen registers of AVX2 hold them all.
const SUMS: usize = 12;

/// So many floating-point operations, a fused multiply-add being two.
#[unsafe(no_mangle)]
pub extern "C" fn fma(operations: u64) {
    let turns = operations.div_ceil(2 * LANES * SUMS as u64);
    // SAFETY: compiled with the features of the processor that it runs on.
    unsafe {
        let (a, b) = (filled(black_box(0.5)), filled(black_box(1.0)));
        let mut sums: [Vector; SUMS] = [filled(black_box(1.0)); SUMS];
        for _ in 0..turns {
            for sum in &mut sums {
                *sum = fused(*sum, a, b);
            }
        }
        black_box(sums);
    }
}
