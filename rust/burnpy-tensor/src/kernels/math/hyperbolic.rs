//! The hyperbolic tangent and the logistic function.

use super::exp::{exp32, exp64, expm1_32, expm1_64};
use crate::simd::Arch;

/// `tanh x`, within 3 ulp: with `t = e^{2|x|} - 1`, `tanh |x| = t / (t + 2)`.
#[inline(always)]
pub fn tanh32<A: Arch>(x: f32) -> f32 {
    // From about 9 on the quotient is 1; further on it would be ∞/∞.
    let a = if x.abs() > 20.0 { 20.0 } else { x.abs() };
    let t = expm1_32::<A>(2.0 * a);
    (t / (t + 2.0)).copysign(x)
}

/// [`tanh32`] for doubles.
#[inline(always)]
pub fn tanh64<A: Arch>(x: f64) -> f64 {
    let a = if x.abs() > 30.0 { 30.0 } else { x.abs() };
    let t = expm1_64::<A>(2.0 * a);
    (t / (t + 2.0)).copysign(x)
}

/// `1 / (1 + e^-x)`, within 3 ulp also where it is tiny.
#[inline(always)]
pub fn sigmoid32<A: Arch>(x: f32) -> f32 {
    let e = exp32::<A>(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// [`sigmoid32`] for doubles.
#[inline(always)]
pub fn sigmoid64<A: Arch>(x: f64) -> f64 {
    let e = exp64::<A>(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}
