//! `ln x` and `ln(1 + x)`.
//!
//! `x = 2^e (1 + f)` with `1 + f` between `√½` and `√2`; `ln x = e ln 2 + ln(1 + f)`.

use crate::simd::Arch;

const LN2_UPPER32: f32 = 0.693_359_4;
const LN2_LOWER32: f32 = -2.121_944_4e-4;
const LN2_UPPER64: f64 = 0.693_147_180_369_123_8;
const LN2_LOWER64: f64 = 1.908_214_929_270_587_7e-10;

/// The bits of `√½`.
const ROOT_HALF32: u32 = 0x3f35_04f3;
const ROOT_HALF64: u64 = 0x3fe6_a09e_667f_3bcd;

/// `ln x`, within 1 ulp: −∞ at both zeros, NaN below.
#[inline(always)]
pub fn log32<A: Arch>(x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let (e, m) = split32(if tiny { x * 8_388_608.0 } else { x });
    let y = log_parts32::<A>(if tiny { e - 23.0 } else { e }, m - 1.0);
    edges32(x, x, y)
}

/// `ln(1 + x)`, within 2 ulp also around 0.
#[inline(always)]
pub fn log1p32<A: Arch>(x: f32) -> f32 {
    let u = 1.0 + x;
    // What the rounding of the sum has lost.
    let back = u - 1.0;
    let lost = (1.0 - (u - back)) + (x - back);
    let (e, m) = split32(u);
    // 2^-e; where that is no normal number, `lost` counts for nothing.
    let e_low = if e > 100.0 { 100.0 } else { e };
    // The low bits of the sum are the exponent's.
    let scale = f32::from_bits((127.0 - e_low + 8_388_608.0).to_bits() << 23);
    let y = log_parts32::<A>(e, (m - 1.0) + lost * scale);
    let y = edges32(u, x, y);
    if x == 0.0 { x } else { y }
}

/// [`log32`] for doubles.
#[inline(always)]
pub fn log64<A: Arch>(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, m) = split64(if tiny { x * 4_503_599_627_370_496.0 } else { x });
    let y = log_parts64::<A>(if tiny { e - 52.0 } else { e }, m - 1.0);
    edges64(x, x, y)
}

/// [`log1p32`] for doubles.
#[inline(always)]
pub fn log1p64<A: Arch>(x: f64) -> f64 {
    let u = 1.0 + x;
    let back = u - 1.0;
    let lost = (1.0 - (u - back)) + (x - back);
    let (e, m) = split64(u);
    let e_low = if e > 100.0 { 100.0 } else { e };
    let scale = f64::from_bits((1023.0 - e_low + 4_503_599_627_370_496.0).to_bits() << 52);
    let y = log_parts64::<A>(e, (m - 1.0) + lost * scale);
    let y = edges64(u, x, y);
    if x == 0.0 { x } else { y }
}

/// The value where `u`, whose logarithm `y` is, is not a positive number; `x` is what infinity and NaN come from.
#[inline(always)]
fn edges32(u: f32, x: f32, y: f32) -> f32 {
    let y = if u == 0.0 { f32::NEG_INFINITY } else { y };
    let y = if u < 0.0 { f32::NAN } else { y };
    if u < f32::INFINITY { y } else { x }
}

#[inline(always)]
fn edges64(u: f64, x: f64, y: f64) -> f64 {
    let y = if u == 0.0 { f64::NEG_INFINITY } else { y };
    let y = if u < 0.0 { f64::NAN } else { y };
    if u < f64::INFINITY { y } else { x }
}

#[inline(always)]
fn split32(x: f32) -> (f32, f32) {
    let e = (x.to_bits().wrapping_sub(ROOT_HALF32) as i32) >> 23;
    (e as f32, f32::from_bits(x.to_bits().wrapping_sub((e << 23) as u32)))
}

#[inline(always)]
fn split64(x: f64) -> (f64, f64) {
    // There is no vector conversion of 64-bit integers before AVX-512: the exponent, made positive, is planted into
    // the low bits of 2^52.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const BIAS: u64 = 2048;
    let e = (x.to_bits().wrapping_sub(ROOT_HALF64).wrapping_add(BIAS << 52)) >> 52;
    let value = f64::from_bits(TWO_52 | e) - (4_503_599_627_370_496.0 + BIAS as f64);
    // Above 4095 the bias has wrapped: only for negative `x`, whose result is not used.
    (value, f64::from_bits(x.to_bits().wrapping_sub(e.wrapping_sub(BIAS) << 52)))
}

/// `e ln 2 + ln(1 + f)`.
#[inline(always)]
fn log_parts32<A: Arch>(e: f32, f: f32) -> f32 {
    // By pairs: the chain of dependent steps, not their number, is what the loop waits for.
    let square = f * f;
    let fourth = square * square;
    let p01 = A::fma32(-2.500_001_2e-1, f, 3.333_331_3e-1);
    let p23 = A::fma32(-1.666_785_2e-1, f, 2.000_207_3e-1);
    let p45 = A::fma32(-1.240_827_74e-1, f, 1.422_023e-1);
    let p67 = A::fma32(-1.166_011e-1, f, 1.188_632_5e-1);
    let upper = A::fma32(6.731_965e-2, fourth, A::fma32(p67, square, p45));
    let p = A::fma32(upper, fourth, A::fma32(p23, square, p01));
    let small = A::fma32(-0.5, square, (square * f) * p);
    A::fma32(e, LN2_UPPER32, f + A::fma32(e, LN2_LOWER32, small))
}

/// `ln(1 + f) = 2 atanh s`, `s = f / (2 + f)`; `2 atanh s = f - (f²/2 - s (f²/2 + s² R(s²)))` keeps `f` exact.
#[inline(always)]
fn log_parts64<A: Arch>(e: f64, f: f64) -> f64 {
    const R: [f64; 7] = [
        1.323_576_543_416_466_7e-1,
        1.325_204_656_186_161e-1,
        1.538_699_297_255_811_4e-1,
        1.818_177_827_182_820_8e-1,
        2.222_222_260_784_498_5e-1,
        2.857_142_856_940_673e-1,
        4.000_000_000_000_493e-1,
    ];
    let s = f / (2.0 + f);
    let square = s * s;
    let mut r = R[0];
    for c in &R[1..] {
        r = A::fma64(r, square, *c);
    }
    r = A::fma64(r, square, 6.666_666_666_666_666e-1) * square;
    let half = 0.5 * f * f;
    let small = half - A::fma64(s, half + r, e * LN2_LOWER64);
    A::fma64(e, LN2_UPPER64, f - small)
}
