//! Matrix multiplication with what every CPU has: arrays of 16 bytes, which the compiler keeps in registers.

use super::micro::{Dots, Tile, dots, tile, tiles};
use super::vector::Vector;

/// Registers in a row of a tile. A tile is 4 × 8 in `f32`, 4 × 4 in `f64`.
pub(super) const REGISTERS: usize = 2;

pub(super) const TILES_F32: &[[Tile<f32>; 2]] = tiles!(tile, Lanes<f32, 4>, REGISTERS, 1 2 3 4);
pub(super) const TILES_F64: &[[Tile<f64>; 2]] = tiles!(tile, Lanes<f64, 2>, REGISTERS, 1 2 3 4);

pub(super) const DOTS_F32: Dots<f32> = dots::<Lanes<f32, 4>>;
pub(super) const DOTS_F64: Dots<f64> = dots::<Lanes<f64, 2>>;

/// `N` numbers.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Lanes<T, const N: usize>([T; N]);

macro_rules! lanes {
    ($element:ty, $lanes:literal) => {
        impl Vector for Lanes<$element, $lanes> {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                Self([0.0; $lanes])
            }

            #[inline(always)]
            unsafe fn splat(from: *const $element) -> Self {
                // SAFETY: the caller vouches for the pointer; so below.
                Self([unsafe { *from }; $lanes])
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: as above.
                Self(unsafe { from.cast::<[$element; $lanes]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { to.cast::<[$element; $lanes]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
                // Rounded twice: without the instruction, `f32::mul_add` is a call of the C library.
                Self(std::array::from_fn(|i| self.0[i] * factor.0[i] + sum.0[i]))
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                Self(self.0.map(|number| if number < 0.0 { 0.0 } else { number }))
            }
        }
    };
}
lanes!(f32, 4);
lanes!(f64, 2);
