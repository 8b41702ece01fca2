//! Comparisons, as booleans are stored: bytes, 0 or 1. NaN differs from everything and is neither less nor greater.

use super::{BinaryOp, UnaryOp};
use crate::kernels::number::Number;
use crate::simd::Arch;

macro_rules! comparison {
    ($($(#[$doc:meta])* $name:ident, $a:ident $b:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl<T: Number> BinaryOp<T, u8> for $name {
            #[inline(always)]
            fn apply<A: Arch>(self, $a: T, $b: T) -> u8 {
                u8::from($value)
            }
        }
    )*};
}

comparison! {
    /// `a == b`.
    Equal, a b => a == b;
    /// `a != b`.
    NotEqual, a b => a != b;
    /// `a < b`.
    Less, a b => a < b;
    /// `a <= b`.
    LessEqual, a b => a <= b;
    /// `a > b`.
    Greater, a b => a > b;
    /// `a >= b`.
    GreaterEqual, a b => a >= b;
}

/// Whether `x` is NaN.
#[derive(Debug, Clone, Copy)]
pub struct IsNan;

impl<T: Number> UnaryOp<T, u8> for IsNan {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> u8 {
        u8::from(x.is_nan())
    }
}
