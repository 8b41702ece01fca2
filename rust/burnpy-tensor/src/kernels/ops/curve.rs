//! The less common activations, and their gradients `dx` from the gradient `g` of the output and the input `x`.

use super::formula::{Float, binary_formulas, c, unary_formulas};
use crate::simd::Arch;

/// α and γ of SELU (Klambauer et al. 2017), with which mean 0 and variance 1 are a fixed point.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

unary_formulas! {
    /// `x` where `x > 0`, else `α (e^x - 1)`.
    Elu(alpha): x => if x > T::ZERO { x } else { alpha * x.expm1::<A>() };
    /// `x` where `x > 0`, else `α (e^(x/α) - 1)`.
    Celu(alpha): x => if x > T::ZERO { x } else { alpha * (x / alpha).expm1::<A>() };
    /// `γ x` where `x ≥ 0`, else `γ α (e^x - 1)`.
    Selu: x => {
        if x >= T::ZERO { c::<T>(SELU_SCALE) * x } else { c::<T>(SELU_SCALE * SELU_ALPHA) * x.expm1::<A>() }
    };
    /// `x tanh(ln(1 + e^x))`.
    Mish: x => x * MishParts::new::<A>(x).tanh;
    /// `min(x, 0) - ln(1 + e^-|x|)`.
    LogSigmoid: x => x.smaller(T::ZERO) - (-x.magnitude()).exp::<A>().log1p::<A>();
    /// `α x + β`, kept between 0 and 1.
    HardSigmoid(alpha, beta): x => (alpha * x + beta).larger(T::ZERO).smaller(T::ONE);
    /// `x` times `x / 6 + 1/2` kept between 0 and 1.
    HardSwish: x => x * (x / c(6.0) + c(0.5)).larger(T::ZERO).smaller(T::ONE);
    /// `x / (1 + |x|)`.
    Softsign: x => x / (T::ONE + x.magnitude());
    /// `x - tanh x`.
    Tanhshrink: x => x - x.tanh::<A>();
    /// `x - bias` above λ, `x + bias` below -λ, else 0.
    Shrink(lambda, bias): x => {
        let near = if x.is_nan() { x } else { T::ZERO };
        if x > lambda { x - bias } else if x < -lambda { x + bias } else { near }
    };
    /// `x` above the threshold, else the value.
    Threshold(threshold, value): x => if x <= threshold { value } else { x };
}

binary_formulas! {
    /// Of [`Elu`]: `g`, and `g α e^x` where `x ≤ 0`.
    EluGrad(alpha): g x => if x > T::ZERO { g } else { g * alpha * x.exp::<A>() };
    /// Of [`Celu`]: `g`, and `g e^(x/α)` where `x ≤ 0`.
    CeluGrad(alpha): g x => if x > T::ZERO { g } else { g * (x / alpha).exp::<A>() };
    /// Of [`Selu`]: `g γ`, and `g γ α e^x` where `x < 0`.
    SeluGrad: g x => {
        if x >= T::ZERO { c::<T>(SELU_SCALE) * g } else { c::<T>(SELU_SCALE * SELU_ALPHA) * g * x.exp::<A>() }
    };
    /// Of [`Mish`]: `g (t + x (1 - t²) σ(x))` with `t = tanh(ln(1 + e^x))`.
    MishGrad: g x => {
        let parts = MishParts::new::<A>(x);
        g * (parts.tanh + x * parts.bend * parts.sigmoid)
    };
    /// Of [`LogSigmoid`]: `g σ(-x)`.
    LogSigmoidGrad: g x => g * (-x).sigmoid::<A>();
    /// Of [`HardSigmoid`]: `g α` where the line is within the bounds.
    HardSigmoidGrad(alpha, beta): g x => {
        let line = alpha * x + beta;
        if line < T::ZERO || line > T::ONE { T::ZERO } else { g * alpha }
    };
    /// Of [`HardSwish`]: 0 below -3, `g` above 3, else `g (x / 3 + 1/2)`.
    HardSwishGrad: g x => {
        if x < c(-3.0) { T::ZERO } else if x > c(3.0) { g } else { g * (x / c(3.0) + c(0.5)) }
    };
    /// Of [`Softsign`]: `g / (1 + |x|)²`.
    SoftsignGrad: g x => {
        let below = T::ONE + x.magnitude();
        g / (below * below)
    };
    /// Of [`Tanhshrink`]: `g tanh² x`.
    TanhshrinkGrad: g x => {
        let t = x.tanh::<A>();
        g * t * t
    };
    /// Of [`Shrink`]: `g` where `|x| > λ`, else 0.
    ShrinkGrad(lambda): g x => if x > lambda || x < -lambda || x.is_nan() { g } else { T::ZERO };
    /// Of [`Threshold`]: `g` where `x` is above the threshold, else 0.
    ThresholdGrad(threshold): g x => if x <= threshold { T::ZERO } else { g };

    /// `x` where `x ≥ 0`, else `slope x`: PReLU, of pairs.
    Prelu: x slope => if x >= T::ZERO { x } else { slope * x };
    /// `∂ prelu / ∂x`.
    PreluSlopeInput: x slope => if x >= T::ZERO { T::ONE } else { slope };
    /// `∂ prelu / ∂slope`.
    PreluSlopeAlpha: x slope => {
        let _ = slope;
        if x >= T::ZERO { T::ZERO } else { x }
    };
    /// `a σ(b)`: GLU.
    Gate: a b => a * b.sigmoid::<A>();
    /// `∂ a σ(b) / ∂b = a σ(b) (1 - σ(b))`.
    GateSlope: a b => {
        let s = b.sigmoid::<A>();
        a * s * (T::ONE - s)
    };
    /// `g σ(b)`, the part of the gradient of [`Gate`] for `a`.
    GateOther: g b => g * b.sigmoid::<A>();
}

/// What Mish and its gradient are made of, with one exponential.
struct MishParts<T> {
    /// `t = tanh(ln(1 + e^x))`.
    tanh: T,
    /// `1 - t²`.
    bend: T,
    sigmoid: T,
}

impl<T: Float> MishParts<T> {
    #[inline(always)]
    fn new<A: Arch>(x: T) -> Self {
        // From 20 on, the tangent is 1 in doubles too; from 44 on, e^2x would overflow in single precision.
        let e = x.smaller(c(40.0)).exp::<A>();
        let w = e * (e + c(2.0));
        let inverse = T::ONE / (w + c(2.0));
        let tanh = w * inverse;
        Self { tanh, bend: c::<T>(2.0) * inverse * (T::ONE + tanh), sigmoid: e / (T::ONE + e) }
    }
}
