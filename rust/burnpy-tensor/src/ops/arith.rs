//! Sum, difference, product, quotient, and the rests of a division.

use super::broadcast::sum_to;
use super::elementwise::{
    FloatBinary, NumberBinary, combine, map_numbers, product, transform, zip_floats, zip_numbers, zip_scalar,
};
use super::half::via_f32;
use super::scalar::Scalar;
use crate::autodiff::record;
use crate::dispatch_int;
use crate::element::{Element, Kind};
use crate::error::{Error, Result};
use crate::kernels::ops::formula::{
    FloorQuotient, Fmod, NegatedQuotient, Over, Scale, ScaledProduct, Swapped, TruncatedQuotient,
};
use crate::kernels::ops::{Add, Div, Mul, Neg, Rem, Square, Sub};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// `self + other`, broadcast. Integers wrap around.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the dtypes differ or are booleans.
    pub fn add(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = add_values("add", a.value(), b.value())?;
            // d(a + b) = da + db
            Ok(record("add", [a, b], value, |needs| {
                let shapes = [a, b].map(|input| input.shape().to_vec());
                move |gradient: Value| {
                    let share = |i: usize| needs[i].then(|| sum_to(gradient.clone(), &shapes[i])).transpose();
                    Ok([share(0)?, share(1)?])
                }
            }))
        })
    }

    /// `self - other`, broadcast. Integers wrap around.
    ///
    /// # Errors
    /// As [`Tensor::add`].
    pub fn sub(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = zip_numbers("sub", a.value(), b.value(), Sub)?;
            // d(a - b) = da - db
            Ok(record("sub", [a, b], value, |needs| {
                let shapes = [a, b].map(|input| input.shape().to_vec());
                move |gradient: Value| {
                    let da = needs[0].then(|| sum_to(gradient.clone(), &shapes[0])).transpose()?;
                    let db = needs[1]
                        .then(|| transform(sum_to(gradient, &shapes[1])?, Scale(-1.0)))
                        .transpose()?;
                    Ok([da, db])
                }
            }))
        })
    }

    /// `self * other`, broadcast. Integers wrap around.
    ///
    /// # Errors
    /// As [`Tensor::add`].
    pub fn mul(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            let value = mul_values("mul", a.value(), b.value())?;
            // d(a · b) = b · da + a · db
            Ok(record("mul", [a, b], value, |needs| {
                let (x, y) = (a.value().clone(), b.value().clone());
                move |gradient: Value| {
                    let dx =
                        needs[0].then(|| sum_to(mul_values("mul", &gradient, &y)?, x.shape())).transpose()?;
                    let dy = needs[1].then(|| product(gradient, &x, y.shape())).transpose()?;
                    Ok([dx, dy])
                }
            }))
        })
    }

    /// `self / other`, broadcast. Integers truncate toward zero, and the lowest by -1 wraps around.
    ///
    /// # Errors
    /// As [`Tensor::add`]; `Argument` for an integer divided by 0.
    pub fn div(&self, other: &Self) -> Result<Self> {
        via_f32([self, other], |[a, b]| {
            check_divisors("div", b.value())?;
            let value = zip_numbers("div", a.value(), b.value(), Div)?;
            // d(a / b) = da / b - (a / b) / b · db
            Ok(record("div", [a, b], value.clone(), |needs| {
                let (shape, y) = (a.shape().to_vec(), b.value().clone());
                move |gradient: Value| {
                    let da = needs[0]
                        .then(|| sum_to(zip_floats("div", &gradient, &y, Div)?, &shape))
                        .transpose()?;
                    let db = needs[1].then(|| {
                        let slope = zip_floats("div", &value, &y, NegatedQuotient)?;
                        product(gradient, &slope, y.shape())
                    });
                    Ok([da, db.transpose()?])
                }
            }))
        })
    }

    /// What is left of `self / other` rounded down, with the sign of `other`: Python's `%`.
    ///
    /// # Errors
    /// As [`Tensor::div`].
    pub fn remainder(&self, other: &Self) -> Result<Self> {
        rest("remainder", self, other, Rem, FloorQuotient)
    }

    /// What is left of `self / other` rounded toward zero, with the sign of `self`: C's `fmod`.
    ///
    /// # Errors
    /// As [`Tensor::div`].
    pub fn fmod(&self, other: &Self) -> Result<Self> {
        rest("fmod", self, other, Fmod, TruncatedQuotient)
    }

    /// `-self`. Integers wrap around.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn neg(&self) -> Result<Self> {
        via_f32([self], |[x]| {
            let value = map_numbers("neg", x.value(), Neg)?;
            // dx = -dy
            Ok(record("neg", [x], value, |_| {
                move |gradient: Value| Ok([Some(transform(gradient, Scale(-1.0))?)])
            }))
        })
    }

    /// `self · self`. Integers wrap around.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn square(&self) -> Result<Self> {
        via_f32([self], |[x]| {
            let value = map_numbers("square", x.value(), Square)?;
            // dx = 2 x dy
            Ok(record("square", [x], value, |_| {
                let x = x.value().clone();
                move |gradient| Ok([Some(combine(gradient, &x, ScaledProduct(2.0))?)])
            }))
        })
    }
}

/// An operation with a number: no tensor is made of it, neither here nor on the way back.
impl Tensor {
    /// `self + number`.
    ///
    /// # Errors
    /// `DType` if the number does not go with the dtype, or for booleans.
    pub fn add_scalar(&self, number: Scalar) -> Result<Self> {
        // dx = dy
        with_scalar("add_scalar", self, number, Add, Ok)
    }

    /// `self - number`.
    ///
    /// # Errors
    /// As [`Tensor::add_scalar`].
    pub fn sub_scalar(&self, number: Scalar) -> Result<Self> {
        // dx = dy
        with_scalar("sub_scalar", self, number, Sub, Ok)
    }

    /// `self * number`.
    ///
    /// # Errors
    /// As [`Tensor::add_scalar`].
    pub fn mul_scalar(&self, number: Scalar) -> Result<Self> {
        let factor = number.beside(self.dtype()).to_f64();
        // dx = number · dy
        with_scalar("mul_scalar", self, number, Mul, move |gradient| transform(gradient, Scale(factor)))
    }

    /// `self / number`.
    ///
    /// # Errors
    /// As [`Tensor::add_scalar`]; `Argument` for integers divided by 0.
    pub fn div_scalar(&self, number: Scalar) -> Result<Self> {
        check_divisor("div_scalar", self, number)?;
        let divisor = number.beside(self.dtype()).to_f64();
        // dx = dy / number
        with_scalar("div_scalar", self, number, Div, move |gradient| transform(gradient, Over(divisor)))
    }

    /// `number - self`.
    ///
    /// # Errors
    /// As [`Tensor::add_scalar`].
    pub fn rsub_scalar(&self, number: Scalar) -> Result<Self> {
        // dx = -dy
        with_scalar("rsub_scalar", self, number, Swapped(Sub), |gradient| transform(gradient, Scale(-1.0)))
    }

    /// `number / self`.
    ///
    /// # Errors
    /// As [`Tensor::add_scalar`]; `Argument` for an integer divided by 0.
    pub fn rdiv_scalar(&self, number: Scalar) -> Result<Self> {
        check_divisors("rdiv_scalar", self.value())?;
        let number = number.beside(self.dtype());
        via_f32([self], |[x]| {
            let value = zip_scalar("rdiv_scalar", x.value(), number, Swapped(Div))?;
            // dx = -y / x · dy
            Ok(record("rdiv_scalar", [x], value.clone(), |_| {
                let x = x.value().clone();
                move |gradient: Value| {
                    let slope = zip_floats("rdiv_scalar", &value, &x, NegatedQuotient)?;
                    Ok([Some(combine(gradient, &slope, Mul)?)])
                }
            }))
        })
    }

    /// [`Tensor::remainder`] by a number.
    ///
    /// # Errors
    /// As [`Tensor::div_scalar`].
    pub fn remainder_scalar(&self, number: Scalar) -> Result<Self> {
        check_divisor("remainder_scalar", self, number)?;
        // dx = dy
        with_scalar("remainder_scalar", self, number, Rem, Ok)
    }

    /// [`Tensor::fmod`] by a number. By an infinite one: `self`, NaN where that is infinite.
    ///
    /// # Errors
    /// As [`Tensor::div_scalar`].
    pub fn fmod_scalar(&self, number: Scalar) -> Result<Self> {
        check_divisor("fmod_scalar", self, number)?;
        // dx = dy
        with_scalar("fmod_scalar", self, number, Fmod, Ok)
    }
}

fn with_scalar(
    operation: &'static str,
    x: &Tensor,
    number: Scalar,
    op: impl NumberBinary,
    backward: impl FnOnce(Value) -> Result<Value> + Send + 'static,
) -> Result<Tensor> {
    let number = number.beside(x.dtype());
    via_f32([x], |[x]| {
        let value = zip_scalar(operation, x.value(), number, op)?;
        Ok(record(operation, [x], value, |_| move |gradient: Value| Ok([Some(backward(gradient)?)])))
    })
}

/// A rest `a - b q`, where `q` is a whole number.
fn rest(
    operation: &'static str,
    a: &Tensor,
    b: &Tensor,
    op: impl NumberBinary,
    quotient: impl FloatBinary,
) -> Result<Tensor> {
    via_f32([a, b], |[a, b]| {
        check_divisors(operation, b.value())?;
        let value = zip_numbers(operation, a.value(), b.value(), op)?;
        // d(a - b q) = da - q db
        Ok(record(operation, [a, b], value, |needs| {
            let (x, y) = (a.value().clone(), b.value().clone());
            move |gradient: Value| {
                let da = needs[0].then(|| sum_to(gradient.clone(), x.shape())).transpose()?;
                let db = needs[1].then(|| {
                    let slope = transform(zip_floats(operation, &x, &y, quotient)?, Scale(-1.0))?;
                    product(gradient, &slope, y.shape())
                });
                Ok([da, db.transpose()?])
            }
        }))
    })
}

/// The sum of two values, broadcast.
pub(crate) fn add_values(operation: &'static str, a: &Value, b: &Value) -> Result<Value> {
    zip_numbers(operation, a, b, Add)
}

/// The product of two values, broadcast.
pub(crate) fn mul_values(operation: &'static str, a: &Value, b: &Value) -> Result<Value> {
    zip_numbers(operation, a, b, Mul)
}

/// No integer is divided by 0.
fn check_divisors(operation: &'static str, divisors: &Value) -> Result<()> {
    let zero = dispatch_int!(divisors.dtype(), T => {
        let dense = divisors.contiguous();
        dense.as_slice::<T>().expect("contiguous").contains(&T::ZERO)
    }, else => false);
    if zero { Err(Error::argument(operation, "division by zero")) } else { Ok(()) }
}

fn check_divisor(operation: &'static str, x: &Tensor, number: Scalar) -> Result<()> {
    if x.kind() == Kind::Int && number.to_f64() == 0.0 {
        return Err(Error::argument(operation, "division by zero"));
    }
    Ok(())
}
