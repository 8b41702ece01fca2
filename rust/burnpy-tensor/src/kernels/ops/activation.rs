//! Activations, and their gradients as operations on (gradient of the output, what was saved).

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use super::arithmetic::{binary, unary};
use super::{BinaryOp, UnaryOp};
use crate::kernels::number::{Number, Real};
use crate::simd::Arch;

unary! {
    /// `max(x, 0)`; NaN stays NaN.
    Relu: Number, x => if x < T::ZERO { T::ZERO } else { x };
    /// `tanh x`.
    Tanh: Real, x => x.tanh::<A>();
    /// `1 / (1 + e^-x)`.
    Sigmoid: Real, x => x.sigmoid::<A>();
    /// `x σ(x)`.
    Silu: Real, x => x.times(x.sigmoid::<A>());
    /// `x Φ(x)`, Φ the normal distribution.
    Gelu: Real, x => x.times(normal_cdf::<A, T>(x));
    /// `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.
    GeluTanh: Real, x => T::from_f64(0.5).times(x).times(T::ONE.plus(gelu_inner(x).tanh::<A>()));
}

binary! {
    /// `dx = dy` where the output `y > 0` or is NaN, else 0.
    ReluGrad: Number, dy y => if y <= T::ZERO { T::ZERO } else { dy };
    /// `dx = dy (1 - y²)`, `y` the output.
    TanhGrad: Real, dy y => dy.times(y.negated().fma::<A>(y, T::ONE));
    /// `dx = dy y (1 - y)`, `y` the output.
    SigmoidGrad: Real, dy y => dy.times(y).times(T::ONE.minus(y));
    /// `dx = dy σ (1 + x (1 - σ))`, `x` the input.
    SiluGrad: Real, dy x => {
        let s = x.sigmoid::<A>();
        dy.times(s).times(x.fma::<A>(T::ONE.minus(s), T::ONE))
    };
    /// `dx = dy (Φ(x) + x φ(x))`, `x` the input, `φ(x) = e^(-x²/2) / √(2π)`.
    GeluGrad: Real, dy x => {
        let half_root = T::from_f64(FRAC_1_SQRT_2 * FRAC_2_SQRT_PI * 0.5);
        let density = T::from_f64(-0.5).times(x).times(x).exp::<A>().times(half_root);
        // x² overflows before the density's 0 is met.
        let slope = if density == T::ZERO { T::ZERO } else { x.times(density) };
        dy.times(normal_cdf::<A, T>(x).plus(slope))
    };
    /// `dx = dy ((1 + t) / 2 + x (1 - t²) u' / 2)` with `t = tanh u`, `x` the input.
    GeluTanhGrad: Real, dy x => {
        let t = gelu_inner(x).tanh::<A>();
        let du = (x.times(x)).fma::<A>(T::from_f64(3.0 * GELU_CUBE * GELU_SCALE), T::from_f64(GELU_SCALE));
        let bend = t.negated().fma::<A>(t, T::ONE);
        let slope = if bend == T::ZERO { T::ZERO } else { x.times(bend).times(du) };
        T::from_f64(0.5).times(dy).times(T::ONE.plus(t).plus(slope))
    };
}

const GELU_SCALE: f64 = 0.797_884_560_802_865_4; // √(2/π)
const GELU_CUBE: f64 = 0.044715;

#[inline(always)]
fn normal_cdf<A: Arch, T: Real>(x: T) -> T {
    let e = x.times(T::from_f64(FRAC_1_SQRT_2)).erf::<A>();
    T::from_f64(0.5).fma::<A>(e, T::from_f64(0.5))
}

#[inline(always)]
fn gelu_inner<T: Real>(x: T) -> T {
    let cube = T::from_f64(GELU_CUBE * GELU_SCALE).times(x.times(x));
    x.times(cube.plus(T::from_f64(GELU_SCALE)))
}

/// `x` where `x >= 0`, else `slope x`. Slopes and the like are doubles for any width.
#[derive(Debug, Clone, Copy)]
pub struct LeakyRelu(pub f64);

impl<T: Real> UnaryOp<T> for LeakyRelu {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> T {
        if x < T::ZERO { T::from_f64(self.0).times(x) } else { x }
    }
}

/// `dx = dy` where the input `x >= 0`, else `slope dy`.
#[derive(Debug, Clone, Copy)]
pub struct LeakyReluGrad(pub f64);

impl<T: Real> BinaryOp<T> for LeakyReluGrad {
    #[inline(always)]
    fn apply<A: Arch>(self, dy: T, x: T) -> T {
        if x < T::ZERO { T::from_f64(self.0).times(dy) } else { dy }
    }
}

/// `ln(1 + e^(beta x)) / beta`, and `x` itself where `beta x > threshold`.
#[derive(Debug, Clone, Copy)]
pub struct Softplus {
    /// How sharp the bend is.
    pub beta: f64,
    /// From where on it is the identity. Any: the exponential is that of a negative number.
    pub threshold: f64,
}

impl<T: Real> UnaryOp<T> for Softplus {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> T {
        let (beta, threshold) = (T::from_f64(self.beta), T::from_f64(self.threshold));
        let z = beta.times(x);
        let bend = z.magnitude().negated().exp::<A>().log1p::<A>();
        let above = if z > T::ZERO { z } else { T::ZERO };
        let y = above.plus(bend).over(beta);
        if z > threshold { x } else { y }
    }
}

/// `dx = dy σ(beta x)`, and `dy` where `beta x > threshold`; `x` the input.
#[derive(Debug, Clone, Copy)]
pub struct SoftplusGrad {
    /// As in [`Softplus`].
    pub beta: f64,
    /// As in [`Softplus`].
    pub threshold: f64,
}

impl<T: Real> BinaryOp<T> for SoftplusGrad {
    #[inline(always)]
    fn apply<A: Arch>(self, dy: T, x: T) -> T {
        let z = T::from_f64(self.beta).times(x);
        let slope = z.sigmoid::<A>();
        if z > T::from_f64(self.threshold) { dy } else { dy.times(slope) }
    }
}
