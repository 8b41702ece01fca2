//! The affine map, in one pass over its output.

use super::broadcast::{Shape, same_dtype};
use super::elementwise::combine;
use super::half::via_f32;
use super::matmul::{matmul_values, matrix};
use super::reduce::sum_axes;
use crate::autodiff::record_many;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::gemm::{Activation, Epilogue, gemm};
use crate::kernels::ops::ReluGrad;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// `activation(self · weight + bias)`, with `self` `[…, in]`, `weight` `[in, out]` and `bias` `[out]`; bias and
    /// activation are applied while the product is in registers. No operand is copied, whatever the strides of
    /// `weight`.
    ///
    /// # Errors
    /// `Shape` if they do not fit, `DType` if the dtypes differ or are not floats.
    pub fn linear(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Result<Self> {
        // Without a bias, the weight stands in for it so that the number of inputs is one.
        via_f32([self, weight, bias.unwrap_or(weight)], |[x, weight, last]| {
            let bias = bias.map(|_| last);
            linear_tensor(x, weight, bias, activation)
        })
    }
}

/// y = φ(x·W + b), g = ∂L/∂(x·W + b), which for φ = relu is ∂L/∂y where y > 0:
/// dx = g·Wᵀ, dW = xᵀ·g, db = Σ g over rows
fn linear_tensor(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    activation: Activation,
) -> Result<Tensor> {
    let value = linear_values(x.value(), weight.value(), bias.map(Tensor::value), activation)?;
    let inputs: Vec<&Tensor> = [x, weight].into_iter().chain(bias).collect();
    let output = value.clone();
    Ok(record_many("linear", &inputs, value, || {
        let needs = [x, weight].map(Tensor::is_tracked);
        let needs_bias = bias.is_some_and(Tensor::is_tracked);
        let kept_x = needs[1].then(|| x.value().clone());
        let kept_weight = needs[0].then(|| weight.value().clone());
        let kept_output = (activation == Activation::Relu).then_some(output);
        let x_shape: Shape = x.shape().into();
        move |gradient: Value, flow| {
            let gradient = match kept_output {
                Some(output) => combine(gradient, &output, ReluGrad)?,
                None => gradient,
            };
            let (rows, out) = as_rows(&gradient);
            let rows_of_gradient = gradient.reshaped(&[rows, out]);
            if let Some(weight) = kept_weight {
                let dx = matmul_values("linear", &rows_of_gradient, &weight.transposed())?;
                flow.give(0, dx.reshaped(&x_shape))?;
            }
            if let Some(x) = kept_x {
                let inner = x.shape()[x.rank() - 1];
                let x = x.reshaped(&[rows, inner]);
                flow.give(1, matmul_values("linear", &x.transposed(), &rows_of_gradient)?)?;
            }
            if needs_bias {
                flow.give(2, sum_axes("linear", &rows_of_gradient, &[0])?.reshaped(&[out]))?;
            }
            Ok(())
        }
    }))
}

fn as_rows(value: &Value) -> (usize, usize) {
    let (&cols, outer) = value.shape().split_last().expect("one axis at least");
    (outer.iter().product(), cols)
}

/// [`Tensor::linear`] of values.
pub(crate) fn linear_values(
    x: &Value,
    weight: &Value,
    bias: Option<&Value>,
    activation: Activation,
) -> Result<Value> {
    let (out, dtype) = check(x, weight, bias)?;
    let (rows, inner) = as_rows(x);
    let mut shape: Shape = x.shape().into();
    *shape.last_mut().expect("one axis at least") = out;
    let x = x.reshaped(&[rows, inner]);
    let bias = bias.map(Value::contiguous);
    dispatch_float!(dtype, T => {
        let (a, b) = (matrix::<T>("linear", &x)?, matrix::<T>("linear", weight)?);
        let bias = bias.as_ref().map(|bias| bias.as_slice::<T>().expect("contiguous"));
        Value::build_as(dtype, &shape, |y: &mut [T]| {
            gemm(rows, inner, out, a, b, y, out, false, &Epilogue { bias, activation });
        })
    }, else => Err(Error::dtype("linear", format_args!("needs floats, got {}", dtype.name()))))
}

fn check(x: &Value, weight: &Value, bias: Option<&Value>) -> Result<(usize, burnpy_buffer::DType)> {
    let dtype = same_dtype("linear", x, weight)?;
    let (&[inner, out], Some(&found)) = (weight.shape(), x.shape().last()) else {
        let (x, weight) = (x.shape(), weight.shape());
        let message =
            format_args!("needs an input with an axis and a matrix of weights, got {x:?} and {weight:?}");
        return Err(Error::shape("linear", message));
    };
    if inner != found {
        let message = format_args!("the weight maps {inner} features, the input has {found}");
        return Err(Error::shape("linear", message));
    }
    let Some(bias) = bias else { return Ok((out, dtype)) };
    same_dtype("linear", x, bias)?;
    if bias.shape() != [out] {
        let found = bias.shape();
        return Err(Error::shape("linear", format_args!("the bias must have shape [{out}], got {found:?}")));
    }
    Ok((out, dtype))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    #[test]
    fn it_is_the_product_and_the_bias_and_the_activation() {
        let x = tensor(&[1.0f32, 2.0, 3.0, -4.0], &[2, 2]);
        let weight = tensor(&[1.0f32, 0.0, -1.0, 2.0, 1.0, 0.0], &[2, 3]);
        let bias = tensor(&[0.5f32, 0.0, 0.0], &[3]);
        let y = x.linear(&weight, Some(&bias), Activation::None).unwrap();
        assert_eq!(doubles(y.value()), [5.5, 2.0, -1.0, -4.5, -4.0, -3.0]);
        let y = x.linear(&weight, Some(&bias), Activation::Relu).unwrap();
        assert_eq!(doubles(y.value()), [5.5, 2.0, 0.0, 0.0, 0.0, 0.0]);
        let vector = tensor(&[1.0f32, 2.0], &[2]).linear(&weight, None, Activation::None).unwrap();
        assert_eq!((vector.shape(), doubles(vector.value())), (&[3][..], vec![5.0, 2.0, -1.0]));
    }

    #[test]
    fn gradients_are_central_differences() {
        for shape in [&[4][..], &[3, 4], &[2, 3, 4]] {
            for activation in [Activation::None, Activation::Relu] {
                let inputs = [numbers(shape, 0), numbers(&[4, 5], 1), numbers(&[5], 2)];
                check_gradients(&inputs, |x| x[0].linear(&x[1], Some(&x[2]), activation));
                check_gradients(&inputs[..2], |x| x[0].linear(&x[1], None, activation));
            }
        }
        let column = [numbers(&[3, 4], 0), numbers(&[5, 4], 1).transposed()];
        check_gradients(&column, |x| x[0].linear(&x[1], None, Activation::None));
    }

    #[test]
    fn nan_has_the_gradient_that_it_has_in_relu() {
        let x = tensor(&[f32::NAN, 1.0, -1.0], &[3, 1]).autodiff().require_grad().unwrap();
        let one = tensor(&[1.0f32], &[1, 1]);
        let grads = x.linear(&one, None, Activation::Relu).unwrap().backward().unwrap();
        assert_eq!(doubles(x.grad(&grads).unwrap()), [1.0, 1.0, 0.0]);
    }

    #[test]
    fn half_precision_comes_back_as_it_came() {
        let half = |data: &Value| Tensor::from(data.clone()).cast(crate::DType::BF16).unwrap();
        let (x, weight) = (half(&numbers(&[2, 3], 0)), half(&numbers(&[3, 2], 1)));
        let y = x.linear(&weight, None, Activation::None).unwrap();
        assert_eq!(y.dtype(), crate::DType::BF16);
        let exact = doubles(x.matmul(&weight).unwrap().value());
        assert_close(&doubles(y.value()), &exact, 1e-2);
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_the_numbers() {
        let (x, weight) = (tensor(&[1.0f32; 6], &[2, 3]), tensor(&[1.0f32; 8], &[4, 2]));
        let message = |result: Result<Tensor>| result.unwrap_err().to_string();
        assert_eq!(
            message(x.linear(&weight, None, Activation::None)),
            "linear: the weight maps 4 features, the input has 3"
        );
        let (weight, bias) = (tensor(&[1.0f32; 6], &[3, 2]), tensor(&[1.0f32], &[1]));
        let found = message(x.linear(&weight, Some(&bias), Activation::None));
        assert_eq!(found, "linear: the bias must have shape [2], got [1]");
        let none = tensor::<f32>(&[], &[0, 3]).linear(&weight, None, Activation::Relu).unwrap();
        assert_eq!(none.shape(), [0, 2]);
    }
}
