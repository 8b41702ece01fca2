//! `e^x` and `e^x - 1`.
//!
//! `x = n ln 2 + r` with `|r| <= ln 2 / 2`; `e^r - 1 = r + r² P(r)`, P the polynomial of least largest relative error.

use crate::simd::Arch;

/// Adding it leaves a number's nearest integer in the low bits of the sum.
const ROUND32: f32 = 12_582_912.0; // 1.5 · 2^23
const ROUND64: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// ln 2 in two parts. The upper one has few bits, so that its product with an exponent is exact without FMA too.
const LN2_UPPER32: f32 = 0.693_359_4;
const LN2_LOWER32: f32 = -2.121_944_4e-4;
const LN2_UPPER64: f64 = 0.693_147_180_369_123_8;
const LN2_LOWER64: f64 = 1.908_214_929_270_587_7e-10;

/// `e^x`, within 1 ulp; denormal results are rounded once.
#[inline(always)]
pub fn exp32<A: Arch>(x: f32) -> f32 {
    let (n, r) = reduce32::<A>(clamp32(x, -104.0, 89.0));
    // 2^n alone may be out of range while the result is not.
    let half = n >> 1;
    let scale = power_of_two32(half);
    A::fma32(expm1_reduced32::<A>(r), scale, scale) * power_of_two32(n.wrapping_sub(half))
}

/// `e^x - 1`, within 2 ulp also around 0.
#[inline(always)]
pub fn expm1_32<A: Arch>(x: f32) -> f32 {
    let (n, r) = reduce32::<A>(clamp32(x, -20.0, 89.0));
    let half_scale = power_of_two32(n.wrapping_sub(1));
    let y = 2.0 * A::fma32(half_scale, expm1_reduced32::<A>(r), half_scale - 0.5);
    if x == 0.0 { x } else { y }
}

/// [`exp32`] for doubles.
#[inline(always)]
pub fn exp64<A: Arch>(x: f64) -> f64 {
    let (n, r) = reduce64::<A>(clamp64(x, -746.0, 710.0));
    let half = n >> 1;
    let scale = power_of_two64(half);
    A::fma64(expm1_reduced64::<A>(r), scale, scale) * power_of_two64(n.wrapping_sub(half))
}

/// [`expm1_32`] for doubles.
#[inline(always)]
pub fn expm1_64<A: Arch>(x: f64) -> f64 {
    let (n, r) = reduce64::<A>(clamp64(x, -40.0, 710.0));
    let half_scale = power_of_two64(n.wrapping_sub(1));
    let y = 2.0 * A::fma64(half_scale, expm1_reduced64::<A>(r), half_scale - 0.5);
    if x == 0.0 { x } else { y }
}

/// NaN stays NaN, which `f32::clamp` promises too, but with branches.
#[inline(always)]
fn clamp32(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

#[inline(always)]
fn clamp64(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

#[inline(always)]
fn reduce32<A: Arch>(x: f32) -> (i32, f32) {
    let shifted = A::fma32(x, std::f32::consts::LOG2_E, ROUND32);
    let n = shifted - ROUND32;
    let r = A::fma32(n, -LN2_LOWER32, A::fma32(n, -LN2_UPPER32, x));
    (shifted.to_bits().wrapping_sub(ROUND32.to_bits()) as i32, r)
}

#[inline(always)]
fn reduce64<A: Arch>(x: f64) -> (i64, f64) {
    let shifted = A::fma64(x, std::f64::consts::LOG2_E, ROUND64);
    let n = shifted - ROUND64;
    let r = A::fma64(n, -LN2_LOWER64, A::fma64(n, -LN2_UPPER64, x));
    (shifted.to_bits().wrapping_sub(ROUND64.to_bits()) as i64, r)
}

#[inline(always)]
fn power_of_two32(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
}

#[inline(always)]
fn power_of_two64(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) << 52) as u64)
}

#[inline(always)]
fn expm1_reduced32<A: Arch>(r: f32) -> f32 {
    // By pairs: the chain of dependent steps, not their number, is what the loop waits for.
    let square = r * r;
    let lower = A::fma32(1.666_654_3e-1, r, 4.999_999_7e-1);
    let upper = A::fma32(8.366_541e-3, r, 4.166_754e-2);
    let upper = A::fma32(1.386_111_7e-3, square, upper);
    A::fma32(A::fma32(upper, square, lower), square, r)
}

#[inline(always)]
fn expm1_reduced64<A: Arch>(r: f64) -> f64 {
    const P: [f64; 10] = [
        2.089_539_266_255_335_2e-9,
        2.510_915_112_694_617_3e-8,
        2.755_733_322_607_062_5e-7,
        2.755_724_385_849_13e-6,
        2.480_158_726_108_311_8e-5,
        1.984_126_988_650_956_5e-4,
        1.388_888_888_891_194_8e-3,
        8.333_333_333_321_457e-3,
        4.166_666_666_666_663e-2,
        1.666_666_666_666_667_7e-1,
    ];
    let mut p = P[0];
    for c in &P[1..] {
        p = A::fma64(p, r, *c);
    }
    p = A::fma64(p, r, 0.5);
    A::fma64(p * r, r, r)
}
