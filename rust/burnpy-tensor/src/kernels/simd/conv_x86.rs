//! Convolutions with the registers of x86: the same tiles as for matrix multiplication.

/// AVX2 and FMA.
pub(super) mod avx2 {
    use std::arch::x86_64::{__m256, __m256d};

    use super::super::conv::{Call, run};
    use super::super::gemm_avx2::{REGISTERS, TILES_F32};

    pub(in super::super) const ROWS: usize = TILES_F32.len();

    /// # Safety
    /// As [`run`], and the CPU has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) unsafe fn run_f32(call: &Call<'_, f32>) {
        // SAFETY: promised by the caller.
        unsafe { run::<__m256, ROWS, REGISTERS>(call) }
    }

    /// # Safety
    /// As [`run`], and the CPU has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) unsafe fn run_f64(call: &Call<'_, f64>) {
        // SAFETY: promised by the caller.
        unsafe { run::<__m256d, ROWS, REGISTERS>(call) }
    }
}

/// AVX-512.
pub(super) mod avx512 {
    use std::arch::x86_64::{__m512, __m512d};

    use super::super::conv::{Call, run};
    use super::super::gemm_avx512::{REGISTERS, TILES_F32};

    pub(in super::super) const ROWS: usize = TILES_F32.len();

    /// # Safety
    /// As [`run`], and the CPU has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(in super::super) unsafe fn run_f32(call: &Call<'_, f32>) {
        // SAFETY: promised by the caller.
        unsafe { run::<__m512, ROWS, REGISTERS>(call) }
    }

    /// # Safety
    /// As [`run`], and the CPU has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(in super::super) unsafe fn run_f64(call: &Call<'_, f64>) {
        // SAFETY: promised by the caller.
        unsafe { run::<__m512d, ROWS, REGISTERS>(call) }
    }
}
