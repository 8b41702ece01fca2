//! Elementary functions.

use super::arithmetic::{binary, unary};
use super::{BinaryOp, UnaryOp};
use crate::kernels::number::Real;
use crate::simd::Arch;

unary! {
    /// `√x`.
    Sqrt: Real, x => x.sqrt();
    /// `e^x`.
    Exp: Real, x => x.exp::<A>();
    /// `e^x - 1`.
    Expm1: Real, x => x.expm1::<A>();
    /// `ln x`.
    Log: Real, x => x.log::<A>();
    /// `ln(1 + x)`.
    Log1p: Real, x => x.log1p::<A>();
    /// `erf x`.
    Erf: Real, x => x.erf::<A>();
    /// `tan x`.
    Tan: Real, x => x.tan();
    /// `asin x`.
    Asin: Real, x => x.asin();
    /// `acos x`.
    Acos: Real, x => x.acos();
    /// `atan x`.
    Atan: Real, x => x.atan();
    /// `sinh x`.
    Sinh: Real, x => x.sinh();
    /// `cosh x`.
    Cosh: Real, x => x.cosh();
    /// `asinh x`.
    Asinh: Real, x => x.asinh();
    /// `acosh x`.
    Acosh: Real, x => x.acosh();
    /// `atanh x`.
    Atanh: Real, x => x.atanh();
    /// `⌊x⌋`.
    Floor: Real, x => x.floor();
    /// `⌈x⌉`.
    Ceil: Real, x => x.ceil();
    /// `x` without its fraction.
    Trunc: Real, x => x.trunc();
    /// The nearest integer; of two, the even one.
    Round: Real, x => x.round_ties_even();
}

binary! {
    /// The angle of the point `(b, a)`.
    Atan2: Real, a b => a.atan2(b);
    /// `a^b`.
    Pow: Real, a b => a.powf(b);
    /// `√(a² + b²)`.
    Hypot: Real, a b => a.hypot(b);
}

/// `sin x`.
#[derive(Debug, Clone, Copy)]
pub struct Sin;

impl<T: Real> UnaryOp<T> for Sin {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> T {
        x.sin::<A>()
    }

    #[inline(always)]
    fn apply_slice<A: Arch>(self, x: &[T], out: &mut [T]) {
        T::sin_slice::<A>(x, out);
    }
}

/// `cos x`.
#[derive(Debug, Clone, Copy)]
pub struct Cos;

impl<T: Real> UnaryOp<T> for Cos {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> T {
        x.cos::<A>()
    }

    #[inline(always)]
    fn apply_slice<A: Arch>(self, x: &[T], out: &mut [T]) {
        T::cos_slice::<A>(x, out);
    }
}
