//! What kernels may ask of an element.

use super::math::{erf, exp, hyperbolic, log, trig};
use super::simd::Plain;
use crate::simd::Arch;

/// A number that tensors hold. Integers wrap around; of floats, NaN wins every comparison for an extremum.
pub trait Number: Plain + PartialOrd {
    /// What sums and products are made in: doubles for floats.
    type Wide: Number;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// What no number is below: −∞ for floats.
    const LOWEST: Self;
    /// What no number is above.
    const HIGHEST: Self;

    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self - other`.
    fn minus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
    /// `self / other`; integers: towards zero, and 0 if `other` is 0.
    fn over(self, other: Self) -> Self;
    /// What is left of [`Number::over`] rounded down, with the sign of `other`; integers: 0 if `other` is 0.
    fn modulo(self, other: Self) -> Self;
    /// `-self`.
    fn negated(self) -> Self;
    /// `|self|`.
    fn magnitude(self) -> Self;
    /// Only floats can be.
    fn is_nan(self) -> bool;
    /// As [`Number::Wide`], exactly.
    fn widen(self) -> Self::Wide;
    /// From [`Number::Wide`], rounded.
    fn narrow(wide: Self::Wide) -> Self;

    /// The larger, or NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other || self.is_nan() { self } else { other }
    }

    /// The smaller, or NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if self < other || self.is_nan() { self } else { other }
    }
}

macro_rules! integer {
    ($signed:literal: $($t:ident)*) => {$(
        impl Number for $t {
            type Wide = Self;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn modulo(self, other: Self) -> Self {
                let rest = if other == 0 { 0 } else { self.wrapping_rem(other) };
                let other_sign = $signed && rest != 0 && (rest ^ other) >> (Self::BITS - 1) != 0;
                if other_sign { rest.wrapping_add(other) } else { rest }
            }
            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                if self < Self::ZERO { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn widen(self) -> Self {
                self
            }
            #[inline(always)]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
    )*};
}
integer!(true: i8 i16 i32 i64);
#[allow(unused_comparisons, reason = "the macro serves both kinds of integers")]
mod unsigned {
    use super::Number;
    integer!(false: u8 u16 u32 u64);
}

macro_rules! float {
    ($($t:ident)*) => {$(
        impl Number for $t {
            type Wide = f64;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn modulo(self, other: Self) -> Self {
                let rest = self % other;
                let other_sign = rest != 0.0 && (rest < 0.0) != (other < 0.0);
                if other_sign { rest + other } else { rest.copysign(if rest == 0.0 { other } else { rest }) }
            }
            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn narrow(wide: f64) -> Self {
                wide as $t
            }
        }
    )*};
}
float!(f32 f64);

/// A float with its elementary functions. Those of one argument are in `math`; what is missing there comes from `std`.
pub trait Real: Number<Wide = f64> {
    /// The number, rounded.
    fn from_f64(x: f64) -> Self;
    /// `self * factor + addend`, rounded once where the CPU can.
    fn fma<A: Arch>(self, factor: Self, addend: Self) -> Self;
    /// `√self`.
    fn sqrt(self) -> Self;
    /// `e^self`.
    fn exp<A: Arch>(self) -> Self;
    /// `e^self - 1`.
    fn expm1<A: Arch>(self) -> Self;
    /// `ln self`.
    fn log<A: Arch>(self) -> Self;
    /// `ln(1 + self)`.
    fn log1p<A: Arch>(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh<A: Arch>(self) -> Self;
    /// `1 / (1 + e^-self)`.
    fn sigmoid<A: Arch>(self) -> Self;
    /// The error function.
    fn erf<A: Arch>(self) -> Self;
    /// The sine.
    fn sin<A: Arch>(self) -> Self;
    /// The cosine.
    fn cos<A: Arch>(self) -> Self;
    /// `out = sin x`, element by element the same as [`Real::sin`].
    fn sin_slice<A: Arch>(x: &[Self], out: &mut [Self]);
    /// `out = cos x`.
    fn cos_slice<A: Arch>(x: &[Self], out: &mut [Self]);
    /// Rounded to an integer; halves to the even one.
    fn round_ties_even(self) -> Self;
    /// The largest integer that is not above.
    fn floor(self) -> Self;
    /// The smallest integer that is not below.
    fn ceil(self) -> Self;
    /// Without its fraction.
    fn trunc(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The inverse of the sine.
    fn asin(self) -> Self;
    /// The inverse of the cosine.
    fn acos(self) -> Self;
    /// The inverse of the tangent.
    fn atan(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The inverse of the hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse of the hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse of the hyperbolic tangent.
    fn atanh(self) -> Self;
    /// The angle of the point `(other, self)`.
    fn atan2(self, other: Self) -> Self;
    /// `self^other`.
    fn powf(self, other: Self) -> Self;
    /// `√(self² + other²)` without overflow.
    fn hypot(self, other: Self) -> Self;
}

/// The functions that `std` has under the same name.
macro_rules! std_functions {
    ($($name:ident)*; $($name2:ident)*) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            self.$name()
        })*
        $(#[inline(always)]
        fn $name2(self, other: Self) -> Self {
            self.$name2(other)
        })*
        // std's ln(x + √(x² - 1)) loses the digits of what is near 1.
        #[inline(always)]
        fn acosh(self) -> Self {
            let above = self - 1.0;
            (above + above.sqrt() * (self + 1.0).sqrt()).ln_1p()
        }
        // std's ln(1 + 2x / (1 - x)) / 2 loses the digits of what is near -1.
        #[inline(always)]
        fn atanh(self) -> Self {
            self.abs().atanh().copysign(self)
        }
    };
}

macro_rules! own_functions {
    ($($name:ident = $function:path;)*) => {
        $(#[inline(always)]
        fn $name<A: Arch>(self) -> Self {
            $function(self)
        })*
    };
}

impl Real for f32 {
    std_functions!(sqrt round_ties_even floor ceil trunc tan asin acos atan sinh cosh asinh; atan2 powf hypot);
    own_functions! {
        exp = exp::exp32::<A>;
        expm1 = exp::expm1_32::<A>;
        log = log::log32::<A>;
        log1p = log::log1p32::<A>;
        tanh = hyperbolic::tanh32::<A>;
        sigmoid = hyperbolic::sigmoid32::<A>;
        erf = erf::erf32::<A>;
        sin = trig::sin32::<A>;
        cos = trig::cos32::<A>;
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, addend: Self) -> Self {
        A::fma32(self, factor, addend)
    }
    #[inline(always)]
    fn sin_slice<A: Arch>(x: &[Self], out: &mut [Self]) {
        trig::each32(x, out, trig::sin32_near::<A>, trig::sin32::<A>);
    }
    #[inline(always)]
    fn cos_slice<A: Arch>(x: &[Self], out: &mut [Self]) {
        trig::each32(x, out, trig::cos32_near::<A>, trig::cos32::<A>);
    }
}

impl Real for f64 {
    std_functions!(sqrt round_ties_even floor ceil trunc tan asin acos atan sinh cosh asinh; atan2 powf hypot);
    own_functions! {
        exp = exp::exp64::<A>;
        expm1 = exp::expm1_64::<A>;
        log = log::log64::<A>;
        log1p = log::log1p64::<A>;
        tanh = hyperbolic::tanh64::<A>;
        sigmoid = hyperbolic::sigmoid64::<A>;
        erf = erf::erf64::<A>;
        sin = f64::sin;
        cos = f64::cos;
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn fma<A: Arch>(self, factor: Self, addend: Self) -> Self {
        A::fma64(self, factor, addend)
    }
    #[inline(always)]
    fn sin_slice<A: Arch>(x: &[Self], out: &mut [Self]) {
        out.iter_mut().zip(x).for_each(|(y, &x)| *y = x.sin());
    }
    #[inline(always)]
    fn cos_slice<A: Arch>(x: &[Self], out: &mut [Self]) {
        out.iter_mut().zip(x).for_each(|(y, &x)| *y = x.cos());
    }
}
