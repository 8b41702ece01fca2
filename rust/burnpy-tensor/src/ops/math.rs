//! Elementary functions of one float, and rounding.

use super::elementwise::{
    FloatUnary, Save, combine, float_step, float_unary, map_floats, map_numbers, zip_scalar,
};
use super::half::via_f32;
use super::scalar::Scalar;
use crate::autodiff::record;
use crate::element::Kind;
use crate::error::Result;
use crate::kernels::ops::gradient as grad;
use crate::kernels::ops::{self, formula::ScaledProduct};
use crate::tensor::Tensor;
use crate::value::Value;

/// Functions as lines: name, function, what the way back reads, gradient.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $forward:expr, $save:ident $backward:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// `DType` if the tensor is not of floats.
            pub fn $name(&self) -> Result<Self> {
                float_unary(stringify!($name), self, $forward, Save::$save, $backward)
            }
        )*}
    };
}

functions! {
    /// `y = e^x`; `dx = y dy`.
    exp = ops::Exp, Output ops::Mul;
    /// `y = ln x`; `dx = dy / x`.
    log = ops::Log, Input ops::Div;
    /// `y = ln(1 + x)`, accurate near 0; `dx = dy / (1 + x)`.
    log1p = ops::Log1p, Input grad::Log1pGrad;
    /// `y = √x`; `dx = dy / 2y`.
    sqrt = ops::Sqrt, Output grad::SqrtGrad;
    /// `y = 1 / x`; `dx = -y² dy`.
    recip = ops::Recip, Output grad::RecipGrad;
    /// `y = tan x`; `dx = (1 + y²) dy`.
    tan = ops::Tan, Output grad::TanGrad;
    /// `y = sinh x`; `dx = cosh x dy`.
    sinh = ops::Sinh, Input grad::SinhGrad;
    /// `y = cosh x`; `dx = sinh x dy`.
    cosh = ops::Cosh, Input grad::CoshGrad;
    /// `y = tanh x`; `dx = (1 - y²) dy`.
    tanh = ops::Tanh, Output ops::TanhGrad;
    /// `y = asin x`; `dx = dy / √(1 - x²)`.
    asin = ops::Asin, Input grad::AsinGrad;
    /// `y = acos x`; `dx = -dy / √(1 - x²)`.
    acos = ops::Acos, Input grad::AcosGrad;
    /// `y = atan x`; `dx = dy / (1 + x²)`.
    atan = ops::Atan, Input grad::AtanGrad;
    /// `y = asinh x`; `dx = dy / √(x² + 1)`.
    asinh = ops::Asinh, Input grad::AsinhGrad;
    /// `y = acosh x`; `dx = dy / √(x² - 1)`.
    acosh = ops::Acosh, Input grad::AcoshGrad;
    /// `y = atanh x`; `dx = dy / (1 - x²)`.
    atanh = ops::Atanh, Input grad::AtanhGrad;
    /// `y = erf x`; `dx = 2/√π e^(-x²) dy`.
    erf = ops::Erf, Input grad::ErfGrad;
}

/// Functions that are constant but where they jump.
macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident = $forward:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// The gradient is 0.
            ///
            /// # Errors
            /// `DType` if the tensor is not of floats.
            pub fn $name(&self) -> Result<Self> {
                float_step(stringify!($name), self, $forward)
            }
        )*}
    };
}

steps! {
    /// The nearest whole number, of two the even one.
    round = ops::Round;
    /// The largest whole number that is not above.
    floor = ops::Floor;
    /// The smallest whole number that is not below.
    ceil = ops::Ceil;
    /// Without the fraction.
    trunc = ops::Trunc;
}

impl Tensor {
    /// `y = sin x`; `dx = cos x dy`.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn sin(&self) -> Result<Self> {
        // In two passes: the loop over a slice is faster than element by element.
        wave("sin", self, ops::Sin, ops::Cos, 1.0)
    }

    /// `y = cos x`; `dx = -sin x dy`.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn cos(&self) -> Result<Self> {
        wave("cos", self, ops::Cos, ops::Sin, -1.0)
    }

    /// `y = |x|`; `dx = sign x dy`, 0 at 0. The lowest integer stays what it is.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn abs(&self) -> Result<Self> {
        via_f32([self], |[x]| {
            let value = map_numbers("abs", x.value(), ops::Abs)?;
            Ok(record("abs", [x], value, |_| {
                let x = x.value().clone();
                move |gradient| Ok([Some(combine(gradient, &x, grad::AbsGrad)?)])
            }))
        })
    }

    /// −1, 0 or 1; 0 for NaN too. The gradient is 0.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn sign(&self) -> Result<Self> {
        if self.kind() == Kind::Int {
            let value = map_numbers("sign", self.value(), ops::Sign)?;
            return Ok(Self::from_parts(value, None, self.is_autodiff()));
        }
        float_step("sign", self, grad::Signum)
    }

    /// Rounded to a number of decimals, halves to the even digit; a negative number rounds left of the point. The
    /// gradient is 0.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn round_to(&self, decimals: i32) -> Result<Self> {
        let scale = 10f64.powi(decimals.saturating_abs().min(308));
        float_step("round_to", self, grad::RoundTo { scale, coarse: decimals < 0 })
    }

    /// `x` kept between two bounds. NaN stays NaN, and a bound of NaN gives NaN everywhere; `max` wins over `min`.
    /// `dx = dy` within the bounds and on them, else 0.
    ///
    /// # Errors
    /// `DType` if a bound does not go with the dtype, or for booleans.
    pub fn clamp(&self, min: Scalar, max: Scalar) -> Result<Self> {
        clamped("clamp", self, Some(min), Some(max))
    }

    /// [`Tensor::clamp`] with a lower bound only.
    ///
    /// # Errors
    /// As [`Tensor::clamp`].
    pub fn clamp_min(&self, min: Scalar) -> Result<Self> {
        clamped("clamp_min", self, Some(min), None)
    }

    /// [`Tensor::clamp`] with an upper bound only.
    ///
    /// # Errors
    /// As [`Tensor::clamp`].
    pub fn clamp_max(&self, max: Scalar) -> Result<Self> {
        clamped("clamp_max", self, None, Some(max))
    }

    /// Whether there is a NaN: a boolean of shape `[1]`.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn contains_nan(&self) -> Result<Self> {
        let flags = self.is_nan()?;
        let found = flags.value().contiguous().as_slice::<u8>().expect("contiguous").contains(&1);
        Ok(Self::from_parts(Value::build_bool(&[1], |out| out.fill(found.into()))?, None, self.is_autodiff()))
    }
}

fn wave(
    operation: &'static str,
    x: &Tensor,
    forward: impl FloatUnary,
    slope: impl FloatUnary,
    sign: f64,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let value = map_floats(operation, x.value(), forward)?;
        Ok(record(operation, [x], value, |_| {
            let x = x.value().clone();
            move |gradient| {
                let slope = map_floats(operation, &x, slope)?;
                Ok([Some(combine(gradient, &slope, ScaledProduct(sign))?)])
            }
        }))
    })
}

fn clamped(operation: &'static str, x: &Tensor, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
    if x.kind() == Kind::Float {
        let bound = |bound: Scalar| bound.beside(x.dtype()).to_f64();
        let (low, high) = (min.map_or(f64::NEG_INFINITY, bound), max.map_or(f64::INFINITY, bound));
        return float_unary(operation, x, grad::Clamp(low, high), Save::Input, grad::ClampGrad(low, high));
    }
    let mut value = x.value().clone();
    if let Some(min) = min {
        value = zip_scalar(operation, &value, min, ops::Max)?;
    }
    if let Some(max) = max {
        value = zip_scalar(operation, &value, max, ops::Min)?;
    }
    Ok(Tensor::from_parts(value, None, x.is_autodiff()))
}

#[cfg(test)]
mod tests {
    use burnpy_buffer::DType;

    use super::*;
    use crate::ops::gradient_check::{check, float, floats};

    /// Name, function, its formula, where it is tried.
    type Case<'a> = (&'a str, fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64, &'a [f64]);

    #[test]
    fn functions_and_gradients_are_those_of_the_formulas() {
        let any = [-1.5, -0.3, 0.2, 0.9, 1.7, 2.5];
        let small = [-0.9, -0.4, -0.01, 0.3, 0.5, 0.8];
        let positive = [0.05, 0.4, 1.0, 1.3, 2.0, 7.5];
        let above_one = [1.1, 1.4, 2.0, 3.0, 10.0, 1.01];
        let cases: &[Case<'_>] = &[
            ("exp", Tensor::exp, f64::exp, &any),
            ("log", Tensor::log, f64::ln, &positive),
            ("log1p", Tensor::log1p, f64::ln_1p, &small),
            ("sqrt", Tensor::sqrt, f64::sqrt, &positive),
            ("recip", Tensor::recip, f64::recip, &any),
            ("abs", Tensor::abs, f64::abs, &any),
            ("neg", Tensor::neg, |x| -x, &any),
            ("square", Tensor::square, |x| x * x, &any),
            ("sin", Tensor::sin, f64::sin, &any),
            ("cos", Tensor::cos, f64::cos, &any),
            ("tan", Tensor::tan, f64::tan, &small),
            ("sinh", Tensor::sinh, f64::sinh, &any),
            ("cosh", Tensor::cosh, f64::cosh, &any),
            ("tanh", Tensor::tanh, f64::tanh, &any),
            ("asin", Tensor::asin, f64::asin, &small),
            ("acos", Tensor::acos, f64::acos, &small),
            ("atan", Tensor::atan, f64::atan, &any),
            ("asinh", Tensor::asinh, f64::asinh, &any),
            ("acosh", Tensor::acosh, f64::acosh, &above_one),
            ("atanh", Tensor::atanh, f64::atanh, &small),
            ("erf", Tensor::erf, libm::erf, &any),
            ("floor", Tensor::floor, f64::floor, &any),
            ("ceil", Tensor::ceil, f64::ceil, &any),
            ("trunc", Tensor::trunc, f64::trunc, &any),
            ("sign", Tensor::sign, f64::signum, &any),
        ];
        for &(name, function, reference, x) in cases {
            check(name, |inputs| function(&inputs[0]), |x| reference(x[0]), &[(x, &[2, 3])]);
        }
    }

    #[test]
    fn rounding_goes_to_the_even_of_two() {
        let x = float(&[1.5, 2.5, -0.5, 2.675, 1234.0], &[5]);
        assert_eq!(floats(&x.round().unwrap()), [2.0, 2.0, -0.0, 3.0, 1234.0]);
        assert_eq!(floats(&x.round_to(1).unwrap()), [1.5, 2.5, -0.5, 2.7, 1234.0]);
        assert_eq!(floats(&x.round_to(-2).unwrap()), [0.0, 0.0, -0.0, 0.0, 1200.0]);
        assert_eq!(floats(&x.round_to(400).unwrap()), floats(&x));
    }

    #[test]
    fn inverse_hyperbolic_functions_keep_their_digits_beside_1() {
        let near = |found: Tensor, expected: f64, unit: f64| {
            let found = floats(&found)[0];
            assert!((found / expected - 1.0).abs() < 2.0 * unit, "{found}, expected {expected}");
        };
        // Computed with 50 digits.
        let above = 2f64.powi(-12);
        for (dtype, unit) in [(DType::F64, f64::EPSILON), (DType::F32, f64::from(f32::EPSILON))] {
            let at = |x: f64| float(&[x], &[1]).cast(dtype).unwrap();
            near(at(1.0 + above).acosh().unwrap(), 0.022_096_637_370_389_12, unit);
            near(at(above - 1.0).atanh().unwrap(), -4.505_395_634_757_801, unit);
        }
    }

    #[test]
    fn at_the_edges_signs_and_slopes_are_0() {
        let x = float(&[0.0, -0.0, f64::NAN], &[3]);
        assert_eq!(floats(&x.sign().unwrap()), [0.0; 3]);
        let x = float(&[0.0, -2.0], &[2]).autodiff().require_grad().unwrap();
        let grads = x.abs().unwrap().backward().unwrap();
        assert_eq!(x.grad(&grads).unwrap().as_slice::<f64>(), Some(&[0.0, -1.0][..]));
    }

    #[test]
    fn clamping_keeps_nan_and_takes_nan_bounds() {
        let x = float(&[-3.0, 0.5, f64::NAN, f64::INFINITY], &[4]);
        let [low, high, nan] = [-1.0, 2.0, f64::NAN].map(Scalar::Float);
        let y = floats(&x.clamp(low, high).unwrap());
        assert!(y[2].is_nan() && [y[0], y[1], y[3]] == [-1.0, 0.5, 2.0]);
        for bounded in [x.clamp(nan, high), x.clamp(low, nan), x.clamp_min(nan), x.clamp_max(nan)] {
            assert!(floats(&bounded.unwrap()).iter().all(|y| y.is_nan()));
        }
        let x: Tensor = Value::from_slice(&[-3i8, 5, 100], &[3]).unwrap().into();
        let y = x.clamp(Scalar::Int(0), Scalar::Int(7)).unwrap();
        assert_eq!(y.value().as_slice::<i8>(), Some(&[0, 5, 7][..]));
        assert!(x.clamp_min(Scalar::Float(0.5)).is_err() && x.exp().is_err());
        let bound = |x: f64| x.clamp(-1.0, 2.0);
        check("clamp", |x| x[0].clamp(low, high), |x| bound(x[0]), &[(&[-3.0, 0.5, 1.9, 2.5], &[4])]);
    }
}
