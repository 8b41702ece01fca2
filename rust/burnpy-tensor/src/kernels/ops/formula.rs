//! Operations that are formulas of floats: with the usual signs, and with parameters, that are doubles for any width.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{BinaryOp, UnaryOp};
use crate::kernels::number::Real;
use crate::kernels::simd::Plain;
use crate::simd::Arch;

/// A float whose formulas are written with the usual signs.
pub(crate) trait Float:
    Real + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
}
impl Float for f32 {}
impl Float for f64 {}

/// A constant.
#[inline(always)]
pub(crate) fn c<T: Float>(number: f64) -> T {
    T::from_f64(number)
}

/// `unary_formulas! { Name(parameters): x => formula; }`: types of operations of one float.
macro_rules! unary_formulas {
    ($($(#[$doc:meta])* $name:ident $(($($parameter:ident),*))?: $x:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name $(($(pub(crate) unary_formulas!(@f64 $parameter)),*))?;
        impl<T: $crate::kernels::ops::formula::Float> $crate::kernels::ops::UnaryOp<T> for $name {
            #[inline(always)]
            fn apply<A: $crate::simd::Arch>(self, $x: T) -> T {
                $(let Self($($parameter),*) = self;
                $(let $parameter = T::from_f64($parameter);)*)?
                $value
            }
        }
    )*};
    (@f64 $parameter:ident) => { f64 };
}

/// `binary_formulas! { Name(parameters): a b => formula; }`: types of operations of two floats.
macro_rules! binary_formulas {
    ($($(#[$doc:meta])* $name:ident $(($($parameter:ident),*))?: $a:ident $b:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name $(($(pub(crate) binary_formulas!(@f64 $parameter)),*))?;
        impl<T: $crate::kernels::ops::formula::Float> $crate::kernels::ops::BinaryOp<T> for $name {
            #[inline(always)]
            fn apply<A: $crate::simd::Arch>(self, $a: T, $b: T) -> T {
                $(let Self($($parameter),*) = self;
                $(let $parameter = T::from_f64($parameter);)*)?
                $value
            }
        }
    )*};
    (@f64 $parameter:ident) => { f64 };
}
pub(crate) use {binary_formulas, unary_formulas};

unary_formulas! {
    /// `factor x`.
    Scale(factor): x => factor * x;
    /// `x / divisor`.
    Over(divisor): x => x / divisor;
}

binary_formulas! {
    /// `factor a b`.
    ScaledProduct(factor): a b => factor * a * b;
    /// `-a / b`.
    NegatedQuotient: a b => -(a / b);
    /// `⌊a / b⌋`, as [`super::Rem`] has it.
    FloorQuotient: a b => ((a - a.modulo(b)) / b).round_ties_even();
    /// `a / b` without its fraction, as [`Fmod`] has it.
    TruncatedQuotient: a b => (a / b).trunc();
}

/// What is left of a division rounded toward zero; of integers by 0: 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fmod;

macro_rules! fmod {
    ($($integer:ty)*) => {$(
        impl BinaryOp<$integer> for Fmod {
            #[inline(always)]
            fn apply<A: Arch>(self, a: $integer, b: $integer) -> $integer {
                if b == 0 { 0 } else { a.wrapping_rem(b) }
            }
        }
    )*};
}
fmod!(i8 i16 i32 i64 u8 u16 u32 u64);

impl BinaryOp<f32> for Fmod {
    #[inline(always)]
    fn apply<A: Arch>(self, a: f32, b: f32) -> f32 {
        a % b
    }
}

impl BinaryOp<f64> for Fmod {
    #[inline(always)]
    fn apply<A: Arch>(self, a: f64, b: f64) -> f64 {
        a % b
    }
}

/// An operation with its operands swapped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Swapped<O>(pub(crate) O);

impl<T: Plain, U: Plain, O: BinaryOp<T, U>> BinaryOp<T, U> for Swapped<O> {
    #[inline(always)]
    fn apply<A: Arch>(self, a: T, b: T) -> U {
        self.0.apply::<A>(b, a)
    }
}

macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident: $x:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;
        impl<T: Float> UnaryOp<T, u8> for $name {
            #[inline(always)]
            fn apply<A: Arch>(self, $x: T) -> u8 {
                u8::from($value)
            }
        }
    )*};
}

tests! {
    /// Whether it is ∞ or −∞.
    IsInfinite: x => x.magnitude() == T::HIGHEST;
    /// Whether it is neither infinite nor NaN.
    IsFinite: x => x.magnitude() < T::HIGHEST;
}

/// `|a - b| <= atol + rtol |b|` of finite numbers; infinities are close to themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IsClose {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
}

impl<T: Float> BinaryOp<T, u8> for IsClose {
    #[inline(always)]
    fn apply<A: Arch>(self, a: T, b: T) -> u8 {
        let (a, b) = (a.widen(), b.widen());
        let distance = (a - b).abs();
        let within = distance <= self.atol + self.rtol * b.abs() && distance < f64::INFINITY;
        u8::from(a == b || within)
    }
}
