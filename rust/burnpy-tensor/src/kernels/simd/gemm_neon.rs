//! Matrix multiplication with NEON: 24 of the 32 registers hold sums.

use std::arch::aarch64::*;

use super::micro::{Dots, Tile, dots, tile, tiles};
use super::vector::Vector;

/// Registers in a row of a tile. A tile is 8 × 12 in `f32`, 8 × 6 in `f64`.
pub(super) const REGISTERS: usize = 3;

pub(super) const TILES_F32: &[[Tile<f32>; 2]] = tiles!(tile, float32x4_t, REGISTERS, 1 2 3 4 5 6 7 8);
pub(super) const TILES_F64: &[[Tile<f64>; 2]] = tiles!(tile, float64x2_t, REGISTERS, 1 2 3 4 5 6 7 8);

pub(super) const DOTS_F32: Dots<f32> = dots::<float32x4_t>;
pub(super) const DOTS_F64: Dots<f64> = dots::<float64x2_t>;

impl Vector for float32x4_t {
    type Element = f32;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: every AArch64 CPU has the instruction; so below.
        unsafe { vdupq_n_f32(0.0) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const f32) -> Self {
        // SAFETY: the caller vouches for the pointer; so below.
        unsafe { vld1q_dup_f32(from) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: as above.
        unsafe { vld1q_f32(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe { vst1q_f32(to, self) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
        // SAFETY: as above.
        unsafe { vfmaq_f32(sum, self, factor) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { vaddq_f32(self, other) }
    }

    #[inline(always)]
    unsafe fn relu(self) -> Self {
        // NaN if either is.
        // SAFETY: as above.
        unsafe { vmaxq_f32(self, Self::zero()) }
    }
}

impl Vector for float64x2_t {
    type Element = f64;
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: every AArch64 CPU has the instruction; so below.
        unsafe { vdupq_n_f64(0.0) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const f64) -> Self {
        // SAFETY: the caller vouches for the pointer; so below.
        unsafe { vld1q_dup_f64(from) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: as above.
        unsafe { vld1q_f64(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: as above.
        unsafe { vst1q_f64(to, self) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
        // SAFETY: as above.
        unsafe { vfmaq_f64(sum, self, factor) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { vaddq_f64(self, other) }
    }

    #[inline(always)]
    unsafe fn relu(self) -> Self {
        // NaN if either is.
        // SAFETY: as above.
        unsafe { vmaxq_f64(self, Self::zero()) }
    }
}
