//! The error function.

use super::exp::exp32;
use crate::simd::Arch;

/// `erf x`, within 2 ulp: `x + x P(x²)` below 0.9, above `1 - e^{R(|x|)}`, until it rounds to 1.
#[inline(always)]
pub fn erf32<A: Arch>(x: f32) -> f32 {
    let a = if x.abs() > 4.0 { 4.0 } else { x.abs() };
    let y = if a < 0.9 { small32::<A>(a) } else { 1.0 - exp32::<A>(log_erfc32::<A>(a)) };
    y.copysign(x)
}

/// `erf x`, within 1 ulp.
#[inline(always)]
pub fn erf64<A: Arch>(x: f64) -> f64 {
    libm::erf(x)
}

// Polynomials by pairs: the chain of dependent steps, not their number, is what the loop waits for.

#[inline(always)]
fn small32<A: Arch>(a: f32) -> f32 {
    let s = a * a;
    let square = s * s;
    let p01 = A::fma32(-3.761_251_6e-1, s, 1.283_791_5e-1);
    let p23 = A::fma32(-2.677_735_9e-2, s, 1.128_208_6e-1);
    let p45 = A::fma32(-6.081_778_6e-4, s, 5.010_047_5e-3);
    let p = A::fma32(A::fma32(p45, square, p23), square, p01);
    A::fma32(p, a, a)
}

/// `ln(1 - erf a)` for `a` from 0.9 to 4.
#[inline(always)]
fn log_erfc32<A: Arch>(a: f32) -> f32 {
    let square = a * a;
    let p01 = A::fma32(-1.127_797_5, a, -1.664_002_2e-4);
    let p23 = A::fma32(-1.041_142_05e-1, a, -6.369_756e-1);
    let p45 = A::fma32(-3.065_579_6e-3, a, 2.231_551_5e-2);
    let p456 = A::fma32(1.982_302_6e-4, square, p45);
    A::fma32(A::fma32(p456, square, p23), square, p01)
}
