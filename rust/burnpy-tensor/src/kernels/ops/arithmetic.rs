//! Arithmetic of all numbers.

use super::{BinaryOp, UnaryOp};
use crate::kernels::number::{Number, Real};
use crate::simd::Arch;

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $a:ident $b:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl<T: $bound> BinaryOp<T> for $name {
            #[inline(always)]
            fn apply<A: Arch>(self, $a: T, $b: T) -> T {
                $value
            }
        }
    )*};
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $x:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl<T: $bound> UnaryOp<T> for $name {
            #[inline(always)]
            fn apply<A: Arch>(self, $x: T) -> T {
                $value
            }
        }
    )*};
}
pub(super) use {binary, unary};

binary! {
    /// `a + b`.
    Add: Number, a b => a.plus(b);
    /// `a - b`.
    Sub: Number, a b => a.minus(b);
    /// `a * b`.
    Mul: Number, a b => a.times(b);
    /// `a / b`; integers: see [`Number::over`].
    Div: Number, a b => a.over(b);
    /// `a - b ⌊a / b⌋`.
    Rem: Number, a b => a.modulo(b);
    /// The larger, or NaN.
    Max: Number, a b => a.larger(b);
    /// The smaller, or NaN.
    Min: Number, a b => a.smaller(b);
}

unary! {
    /// `-x`.
    Neg: Number, x => x.negated();
    /// `|x|`.
    Abs: Number, x => x.magnitude();
    /// `x * x`.
    Square: Number, x => x.times(x);
    /// `1 / x`.
    Recip: Real, x => T::ONE.over(x);
    /// −1, 0 or 1; zeros and NaN stay what they are.
    Sign: Number, x => sign(x);
}

#[inline(always)]
fn sign<T: Number>(x: T) -> T {
    let above = if x > T::ZERO { T::ONE } else { x };
    if x < T::ZERO { T::ZERO.minus(T::ONE) } else { above }
}
