//! Elements that rules compute with, each operation rounded to their width.

use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};

use crate::element::Element;
use crate::kernels::simd::Plain;

/// A float with rounded arithmetic: half precision goes through f32 and back after every operation.
pub(super) trait Number:
    Element
    + Plain
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The square root.
    fn sqrt(self) -> Self;

    /// A scalar, rounded once.
    #[inline(always)]
    fn scalar(value: f64) -> Self {
        Self::from_f64(value)
    }

    /// 1, 0 or −1; 0 for NaN.
    #[inline(always)]
    fn sign(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else if self < Self::ZERO {
            -Self::ONE
        } else {
            Self::ZERO
        }
    }
}

impl Number for f32 {
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Number for f64 {
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Number for f16 {
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::from_f32(self.to_f32().sqrt())
    }
}

impl Number for bf16 {
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::from_f32(self.to_f32().sqrt())
    }
}

/// `base^exponent` by repeated squaring in f32, as Burn's bias corrections are computed.
pub(super) fn power(base: f32, exponent: u64) -> f32 {
    let (mut result, mut square, mut left) = (1.0f32, base, exponent);
    loop {
        if left & 1 == 1 {
            result *= square;
        }
        left >>= 1;
        if left == 0 {
            return result;
        }
        square *= square;
    }
}
