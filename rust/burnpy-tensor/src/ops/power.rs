//! Powers, and functions of two floats.

use super::broadcast::{same_dtype, zip};
use super::elementwise::{
    FloatBinary, combine, map_floats, only_floats, only_integers, product, zip_floats, zip_integers,
    zip_numbers,
};
use super::half::via_f32;
use crate::autodiff::record;
use crate::dispatch_int;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};
use crate::kernels::map;
use crate::kernels::ops::formula::{ScaledProduct, Swapped};
use crate::kernels::ops::gradient as grad;
use crate::kernels::ops::integer::{IntPow, IntPowBy};
use crate::kernels::ops::{self};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// `self^exponent`, broadcast; NaN for a negative base and an exponent that is not whole, 1 for `0^0`.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the tensors are not of floats of one dtype.
    pub fn powf(&self, exponent: &Self) -> Result<Self> {
        via_f32([self, exponent], |[a, b]| {
            let value = zip_floats("powf", a.value(), b.value(), ops::Pow)?;
            // d(a^b) = b a^(b-1) da + a^b ln a db
            Ok(with_slopes("powf", [a, b], value, grad::PowSlopeBase, grad::PowSlopeExponent))
        })
    }

    /// `self^exponent` of floats.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn powf_scalar(&self, exponent: f64) -> Result<Self> {
        power("powf_scalar", self, exponent)
    }

    /// `self^exponent` with an exponent of integers, broadcast. Integers wrap around; of a negative exponent, what
    /// remains of `1 / base` is 0 but for bases 1 and -1.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast; `DType` for an exponent of floats, or integers of two dtypes;
    /// `Argument` for the integer 0 to a negative exponent.
    pub fn powi(&self, exponent: &Self) -> Result<Self> {
        if exponent.kind() != Kind::Int {
            return Err(only_integers("powi", exponent.dtype()));
        }
        if self.kind() == Kind::Int {
            let value = int_power(self.value(), exponent.value())?;
            return Ok(Self::from_parts(value, None, self.is_autodiff()));
        }
        via_f32([self], |[x]| x.powf(&exponent.inner().cast(x.dtype())?))
    }

    /// `self^exponent` with a whole exponent; see [`Tensor::powi`]. The gradient for exponent 0 is 0.
    ///
    /// # Errors
    /// `DType` for booleans, `Argument` for the integer 0 to a negative exponent.
    pub fn powi_scalar(&self, exponent: i64) -> Result<Self> {
        if self.kind() != Kind::Int {
            return power("powi_scalar", self, exponent as f64);
        }
        let (dtype, dense) = (self.dtype(), self.value().contiguous());
        let value = dispatch_int!(dtype, T => {
            let x = dense.as_slice::<T>().expect("contiguous");
            if exponent < 0 && x.contains(&T::ZERO) {
                return Err(zero_base("powi_scalar"));
            }
            Value::build(dense.shape(), |out: &mut [T]| map::unary(IntPowBy(exponent), x, out))
        }, else => Err(only_integers("powi_scalar", dtype)))?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }

    /// The angle of the point `(other, self)`, broadcast.
    ///
    /// # Errors
    /// As [`Tensor::powf`].
    pub fn atan2(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = zip_floats("atan2", a.value(), b.value(), ops::Atan2)?;
            // d atan2(a, b) = (b da - a db) / (a² + b²)
            Ok(with_slopes("atan2", [a, b], value, grad::Atan2SlopeA, grad::Atan2SlopeB))
        })
    }

    /// `√(self² + other²)` without overflow, broadcast. The gradient at the origin is 0.
    ///
    /// # Errors
    /// As [`Tensor::powf`].
    pub fn hypot(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = zip_floats("hypot", a.value(), b.value(), ops::Hypot)?;
            // d hypot(a, b) = (a da + b db) / hypot(a, b)
            Ok(with_slopes("hypot", [a, b], value, grad::HypotSlope, Swapped(grad::HypotSlope)))
        })
    }

    /// The larger of two elements, broadcast; NaN if one is. The gradient goes to the larger one, in halves to equals.
    ///
    /// # Errors
    /// As [`Tensor::add`].
    pub fn max_pair(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = zip_numbers("max_pair", a.value(), b.value(), ops::Max)?;
            Ok(with_slopes("max_pair", [a, b], value, grad::MaxSlope, Swapped(grad::MaxSlope)))
        })
    }

    /// The smaller of two elements; see [`Tensor::max_pair`].
    ///
    /// # Errors
    /// As [`Tensor::add`].
    pub fn min_pair(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = zip_numbers("min_pair", a.value(), b.value(), ops::Min)?;
            Ok(with_slopes("min_pair", [a, b], value, Swapped(grad::MaxSlope), grad::MaxSlope))
        })
    }
}

/// A step whose gradients are those of the output times slopes, which are functions of both inputs.
pub(crate) fn with_slopes(
    operation: &'static str,
    [a, b]: [&Tensor; 2],
    value: Value,
    slope_a: impl FloatBinary,
    slope_b: impl FloatBinary,
) -> Tensor {
    record(operation, [a, b], value, |needs| {
        let (x, y) = (a.value().clone(), b.value().clone());
        move |gradient: Value| {
            let da = needs[0].then(|| {
                let slope = zip_floats(operation, &x, &y, slope_a)?;
                product(gradient.clone(), &slope, x.shape())
            });
            let db = needs[1].then(|| {
                let slope = zip_floats(operation, &x, &y, slope_b)?;
                product(gradient.clone(), &slope, y.shape())
            });
            Ok([da.transpose()?, db.transpose()?])
        }
    })
}

fn power(operation: &'static str, x: &Tensor, exponent: f64) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let value = float_power(operation, x.value(), exponent)?;
        // dx = e x^(e-1) dy
        Ok(record(operation, [x], value, |_| {
            let x = x.value().clone();
            move |gradient: Value| {
                if exponent == 0.0 {
                    return Ok([Some(Value::zeros(gradient.shape(), gradient.dtype())?)]);
                }
                let slope = float_power(operation, &x, exponent - 1.0)?;
                Ok([Some(combine(gradient, &slope, ScaledProduct(exponent))?)])
            }
        }))
    })
}

/// `x^exponent`: what comes most is a few multiplications.
fn float_power(operation: &'static str, x: &Value, exponent: f64) -> Result<Value> {
    if Kind::of(x.dtype()) != Kind::Float {
        return Err(only_floats(operation, x.dtype()));
    }
    match exponent {
        0.0 => Value::full(x.shape(), 1.0, x.dtype()),
        1.0 => Ok(x.clone()),
        2.0 => map_floats(operation, x, ops::Square),
        3.0 => map_floats(operation, x, grad::Cube),
        0.5 => map_floats(operation, x, ops::Sqrt),
        -0.5 => map_floats(operation, x, grad::RecipSqrt),
        -1.0 => map_floats(operation, x, ops::Recip),
        -2.0 => map_floats(operation, x, grad::RecipSquare),
        _ => map_floats(operation, x, grad::PowBy(exponent)),
    }
}

fn int_power(base: &Value, exponent: &Value) -> Result<Value> {
    let dtype = same_dtype("powi", base, exponent)?;
    let impossible = dispatch_int!(dtype, T => {
        let (base, exponent) = (base.contiguous(), exponent.contiguous());
        // Looking at pairs costs a pass, and hardly ever both are there.
        any(&exponent, is_negative::<T>) && any(&base, |x: T| x == T::ZERO) && {
            let bad = |base: T, exponent: T| u8::from(base == T::ZERO && is_negative(exponent));
            let flags = zip("powi", (&base, &exponent), BOOL, bad)?;
            any(&flags, |flag: u8| flag != 0)
        }
    }, else => false);
    if impossible {
        return Err(zero_base("powi"));
    }
    zip_integers("powi", base, exponent, IntPow)
}

fn is_negative<T: Element>(x: T) -> bool {
    x < T::ZERO
}

fn any<T: Element>(value: &Value, test: impl Fn(T) -> bool) -> bool {
    value.as_slice::<T>().is_some_and(|elements| elements.iter().any(|&x| test(x)))
}

#[cold]
fn zero_base(operation: &'static str) -> Error {
    Error::argument(operation, "division by zero: the integer 0 to a negative exponent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{check, check_gradients, float, floats};

    const A: [f64; 6] = [0.3, 1.7, 2.0, 0.9, 1.1, 3.0];
    const B: [f64; 6] = [-1.5, 0.4, 3.0, -0.2, 2.5, 1.2];

    #[test]
    fn functions_of_two_floats_are_those_of_the_formulas() {
        let inputs: [(&[f64], &[usize]); 2] = [(&A, &[2, 3]), (&B, &[2, 3])];
        check("powf", |x| x[0].powf(&x[1]), |x| x[0].powf(x[1]), &inputs);
        check("atan2", |x| x[1].atan2(&x[0]), |x| x[1].atan2(x[0]), &inputs);
        check("hypot", |x| x[0].hypot(&x[1]), |x| x[0].hypot(x[1]), &inputs);
        check("max_pair", |x| x[0].max_pair(&x[1]), |x| x[0].max(x[1]), &inputs);
        check("min_pair", |x| x[0].min_pair(&x[1]), |x| x[0].min(x[1]), &inputs);
        for exponent in [0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 2.5, -1.5, 7.0] {
            check("powf_scalar", |x| x[0].powf_scalar(exponent), |x| x[0].powf(exponent), &inputs[..1]);
        }
        for exponent in [0, 1, 2, 3, 4, -1, -2, -3] {
            check(
                "powi_scalar",
                |x| x[0].powi_scalar(exponent),
                |x| x[0].powi(exponent as i32),
                &[inputs[1]],
            );
        }
    }

    #[test]
    fn gradients_of_broadcast_inputs_are_summed() {
        let (a, b) = (float(&A, &[2, 3]), float(&B[..3], &[3]));
        check_gradients("powf", &|x| x[0].powf(&x[1]), &[a.clone(), b.clone()]);
        check_gradients("max_pair", &|x| x[1].max_pair(&x[0]), &[a, b]);
    }

    #[test]
    fn equals_share_the_gradient_and_a_power_of_0_has_none() {
        let leaf = |data: &[f64]| float(data, &[data.len()]).autodiff().require_grad().unwrap();
        let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[1.0, 3.0]));
        let grads = a.max_pair(&b).unwrap().backward().unwrap();
        assert_eq!(a.grad(&grads).unwrap().as_slice::<f64>(), Some(&[0.5, 0.0][..]));
        assert_eq!(b.grad(&grads).unwrap().as_slice::<f64>(), Some(&[0.5, 1.0][..]));
        let x = leaf(&[0.0, -2.0]);
        let y = x.powi_scalar(0).unwrap();
        assert_eq!(floats(&y), [1.0, 1.0]);
        let grads = y.backward().unwrap();
        assert_eq!(x.grad(&grads).unwrap().as_slice::<f64>(), Some(&[0.0, 0.0][..]));
    }

    #[test]
    fn integers_wrap_around_and_zero_has_no_inverse() {
        let ints = |data: &[i32]| Tensor::from(Value::from_slice(data, &[data.len()]).unwrap());
        let power = ints(&[2, -3, 0, -1, 10, 7]).powi(&ints(&[10, 3, 0, -3, -1, 40])).unwrap();
        assert_eq!(power.value().as_slice::<i32>(), Some(&[1024, -27, 1, -1, 0, 7i32.wrapping_pow(40)][..]));
        assert!(ints(&[1, 0]).powi(&ints(&[0, -1])).is_err());
        assert_eq!(ints(&[1, 0]).powi(&ints(&[-1, 0])).unwrap().value().as_slice::<i32>(), Some(&[1, 1][..]));
        assert!(ints(&[0]).powi_scalar(-1).is_err() && ints(&[1]).powf_scalar(0.5).is_err());
        let floats_to_ints = float(&[-2.0, 4.0], &[2]).powi(&ints(&[3, -1])).unwrap();
        assert_eq!(floats(&floats_to_ints), [-8.0, 0.25]);
    }
}
