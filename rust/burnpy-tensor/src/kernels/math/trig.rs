//! Sine and cosine.

use crate::simd::Arch;

/// Up to here `n` and the upper part of π/2 have an exact product in a double.
const LARGE: f32 = 1_048_576.0;

/// π/2 in two parts, the upper with 33 bits.
const HALF_PI_UPPER: f64 = 1.570_796_326_734_125_6;
const HALF_PI_LOWER: f64 = 6.077_100_506_506_192e-11;
const ROUND64: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// Whether [`sin32_near`] and [`cos32_near`] do for `x`: not for large numbers, infinities and NaN.
#[inline(always)]
pub fn is_near32(x: f32) -> bool {
    x.abs() < LARGE
}

/// `sin x`, within 2 ulp.
#[inline(always)]
pub fn sin32<A: Arch>(x: f32) -> f32 {
    if is_near32(x) { sin32_near::<A>(x) } else { f64::from(x).sin() as f32 }
}

/// `cos x`, within 2 ulp.
#[inline(always)]
pub fn cos32<A: Arch>(x: f32) -> f32 {
    if is_near32(x) { cos32_near::<A>(x) } else { f64::from(x).cos() as f32 }
}

/// [`sin32`] without a branch, for `|x| < 2^20`.
#[inline(always)]
pub fn sin32_near<A: Arch>(x: f32) -> f32 {
    let (quadrant, r) = reduce::<A>(x);
    let y = wave::<A>(quadrant, r);
    if x == 0.0 { x } else { y }
}

/// [`cos32`] without a branch, for `|x| < 2^20`.
#[inline(always)]
pub fn cos32_near<A: Arch>(x: f32) -> f32 {
    let (quadrant, r) = reduce::<A>(x);
    wave::<A>(quadrant.wrapping_add(1), r)
}

/// `x = n π/2 + r`: the low bits of `n`, and `r` from −π/4 to π/4. In doubles, or `r` were wrong close to a zero.
#[inline(always)]
fn reduce<A: Arch>(x: f32) -> (u32, f32) {
    let x = f64::from(x);
    let shifted = A::fma64(x, std::f64::consts::FRAC_2_PI, ROUND64);
    let n = shifted - ROUND64;
    let r = A::fma64(n, -HALF_PI_LOWER, A::fma64(n, -HALF_PI_UPPER, x));
    (shifted.to_bits() as u32, r as f32)
}

/// `sin(quadrant π/2 + r)`.
#[inline(always)]
fn wave<A: Arch>(quadrant: u32, r: f32) -> f32 {
    let s = r * r;
    let p = A::fma32(2.832_629_4e-6, s, -1.985_306_9e-4);
    let p = A::fma32(p, s, 8.333_379e-3);
    let p = A::fma32(p, s, -1.666_666_7e-1);
    let sine = A::fma32(p * s, r, r);
    let q = A::fma32(2.443_233_8e-5, s, -1.388_731e-3);
    let q = A::fma32(q, s, 4.166_664_6e-2);
    let cosine = A::fma32(q * s, s, A::fma32(-0.5, s, 1.0));
    let y = if quadrant & 1 == 0 { sine } else { cosine };
    f32::from_bits(y.to_bits() ^ ((quadrant & 2) << 30))
}

/// `out = far(x)`, by blocks; `near`, which gives the same for near elements, in blocks that have no others.
#[inline(always)]
pub(crate) fn each32(x: &[f32], out: &mut [f32], near: impl Fn(f32) -> f32, far: impl Fn(f32) -> f32) {
    for (x, out) in x.chunks(256).zip(out.chunks_mut(256)) {
        let all_near = x.iter().fold(true, |all, &x| all & is_near32(x));
        if all_near {
            for (y, &x) in out.iter_mut().zip(x) {
                *y = near(x);
            }
        } else {
            for (y, &x) in out.iter_mut().zip(x) {
                *y = far(x);
            }
        }
    }
}
