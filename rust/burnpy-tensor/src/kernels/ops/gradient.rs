//! Gradients of elementary functions: `dx` from the gradient `g` of the output and the input `x` or output `y`.

use std::f64::consts::FRAC_2_SQRT_PI;

use super::UnaryOp;
use super::formula::{Float, binary_formulas, c, unary_formulas};
use crate::simd::Arch;

binary_formulas! {
    /// Of `ln(1 + x)`: `g / (1 + x)`.
    Log1pGrad: g x => g / (T::ONE + x);
    /// Of `y = √x`: `g / 2y`.
    SqrtGrad: g y => g / (y + y);
    /// Of `y = 1 / x`: `-g y²`.
    RecipGrad: g y => -g * y * y;
    /// Of `|x|`: `g sign x`, 0 at 0.
    AbsGrad: g x => g * signum(x);
    /// Of `y = tan x`: `g (1 + y²)`.
    TanGrad: g y => g * (T::ONE + y * y);
    /// Of `sinh x`: `g cosh x`.
    SinhGrad: g x => g * x.cosh();
    /// Of `cosh x`: `g sinh x`.
    CoshGrad: g x => g * x.sinh();
    /// Of `asin x`: `g / √(1 - x²)`.
    AsinGrad: g x => g / ((T::ONE - x) * (T::ONE + x)).sqrt();
    /// Of `acos x`: `-g / √(1 - x²)`.
    AcosGrad: g x => -g / ((T::ONE - x) * (T::ONE + x)).sqrt();
    /// Of `atan x`: `g / (1 + x²)`.
    AtanGrad: g x => g / (T::ONE + x * x);
    /// Of `asinh x`: `g / √(x² + 1)`.
    AsinhGrad: g x => g / (x * x + T::ONE).sqrt();
    /// Of `acosh x`: `g / √(x² - 1)`.
    AcoshGrad: g x => g / ((x - T::ONE) * (x + T::ONE)).sqrt();
    /// Of `atanh x`: `g / (1 - x²)`.
    AtanhGrad: g x => g / ((T::ONE - x) * (T::ONE + x));
    /// Of `erf x`: `g 2/√π e^(-x²)`.
    ErfGrad: g x => g * c(FRAC_2_SQRT_PI) * (-x * x).exp::<A>();
    /// Of [`Clamp`]: `g` where `x` lies within the bounds, else 0.
    ClampGrad(min, max): g x => if x < min || x > max { T::ZERO } else { g };

    /// `∂ atan2(a, b) / ∂a = b / (a² + b²)`.
    Atan2SlopeA: a b => b / (a * a + b * b);
    /// `∂ atan2(a, b) / ∂b = -a / (a² + b²)`.
    Atan2SlopeB: a b => -a / (a * a + b * b);
    /// `∂ hypot(a, b) / ∂a = a / hypot(a, b)`, 0 at the origin.
    HypotSlope: a b => {
        let length = a.hypot(b);
        if length == T::ZERO { T::ZERO } else { a / length }
    };
    /// `∂ max(a, b) / ∂a`: 1 if `a` is larger, half if both are equal.
    MaxSlope: a b => if a < b { T::ZERO } else if a == b { c(0.5) } else { T::ONE };
    /// `∂ a^b / ∂a = b a^(b-1)`, 0 for `b = 0`.
    PowSlopeBase: a b => if b == T::ZERO { T::ZERO } else { b * a.powf(b - T::ONE) };
    /// `∂ a^b / ∂b = a^b ln a`, 0 for `a = 0` and `b ≥ 0`.
    PowSlopeExponent: a b => {
        if a == T::ZERO && b >= T::ZERO { T::ZERO } else { a.powf(b) * a.log::<A>() }
    };
}

unary_formulas! {
    /// −1, 0 or 1; 0 for NaN.
    Signum: x => signum(x);
    /// `x` kept within bounds. NaN stays, and a bound of NaN gives NaN.
    Clamp(min, max): x => x.larger(min).smaller(max);
    /// `x³`.
    Cube: x => x * x * x;
    /// `1 / x²`.
    RecipSquare: x => T::ONE / (x * x);
    /// `1 / √x`.
    RecipSqrt: x => T::ONE / x.sqrt();
    /// `x^exponent`.
    PowBy(exponent): x => x.powf(exponent);
}

#[inline(always)]
fn signum<T: Float>(x: T) -> T {
    let above = if x > T::ZERO { T::ONE } else { T::ZERO };
    if x < T::ZERO { -T::ONE } else { above }
}

/// `x` rounded to multiples of `1 / scale`, or of `scale` where that is coarse. In doubles: the scale may be past what
/// single precision holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundTo {
    pub(crate) scale: f64,
    pub(crate) coarse: bool,
}

impl<T: Float> UnaryOp<T> for RoundTo {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> T {
        let (wide, scale) = (x.widen(), self.scale);
        if self.coarse {
            return T::narrow((wide / scale).round_ties_even() * scale);
        }
        let scaled = wide * scale;
        // From 2^52 on, there is nothing left to round.
        if scaled.abs() < (1u64 << 52) as f64 { T::narrow(scaled.round_ties_even() / scale) } else { x }
    }
}
