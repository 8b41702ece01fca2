//! Operations of integers.

use super::{BinaryOp, UnaryOp};
use crate::simd::Arch;

/// `a^b`, wrapping around; for negative `b`, what is left of `1 / a^-b`. See [`IntPowBy`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntPow;

/// `x` to a whole exponent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntPowBy(pub(crate) i64);

macro_rules! powers {
    ($($integer:ty)*) => {$(
        impl UnaryOp<$integer> for IntPowBy {
            #[inline(always)]
            fn apply<A: Arch>(self, base: $integer) -> $integer {
                if self.0 >= 0 {
                    return wrapping_power(base.into(), self.0.unsigned_abs()) as $integer;
                }
                // 1 / base^n is a whole number only for 1 and -1.
                let inverse = if i128::from(base).abs() == 1 { base } else { 0 };
                if self.0 % 2 == 0 { inverse.wrapping_mul(inverse) } else { inverse }
            }
        }

        impl BinaryOp<$integer> for IntPow {
            #[inline(always)]
            fn apply<A: Arch>(self, base: $integer, exponent: $integer) -> $integer {
                match i64::try_from(exponent) {
                    Ok(exponent) => IntPowBy(exponent).apply::<A>(base),
                    Err(_) => wrapping_power(base.into(), exponent as u64) as $integer,
                }
            }
        }
    )*};
}
powers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident: $a:ident $b:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;
        bitwise!(@each $name $a $b $value; i8 i16 i32 i64 u8 u16 u32 u64);
    )*};
    (@each $name:ident $a:ident $b:ident $value:expr; $($integer:ty)*) => {$(
        impl BinaryOp<$integer> for $name {
            #[inline(always)]
            fn apply<A: Arch>(self, $a: $integer, $b: $integer) -> $integer {
                $value
            }
        }
    )*};
}

bitwise! {
    /// Bits that are set in both.
    And: a b => a & b;
    /// Bits that are set in one at least.
    Or: a b => a | b;
    /// Bits that are set in one only.
    Xor: a b => a ^ b;
    /// Bits moved up, by the amount modulo the width.
    ShiftLeft: a b => a.wrapping_shl(b as u32);
    /// Bits moved down, by the amount modulo the width; the sign of signed integers stays.
    ShiftRight: a b => a.wrapping_shr(b as u32);
}

/// The low bits of a power are those of the power of the low bits, whatever the width and the sign.
#[inline(always)]
fn wrapping_power(base: i128, mut exponent: u64) -> u64 {
    let (mut power, mut square) = (1u64, base as u64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    power
}
