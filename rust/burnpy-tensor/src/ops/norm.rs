//! Norms of rows: layer norm and root-mean-square norm.

use super::broadcast::same_dtype;
use super::half::via_f32;
use crate::autodiff::record_many;
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::layer_norm::{Affine, AffineGradients, Centre, RowStats, norm, norm_backward};
use crate::kernels::number::Real;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// `(x − mean) / √(variance + epsilon) · gamma + beta` of the last axis, with the biased variance. Half precision
    /// is computed in f32.
    ///
    /// # Errors
    /// `Shape` if gamma or beta is not of the last axis' size, `DType` if the dtypes differ or are not floats.
    pub fn layer_norm(&self, gamma: &Self, beta: Option<&Self>, epsilon: f64) -> Result<Self> {
        rows("layer_norm", Centre::Mean, self, gamma, beta, epsilon)
    }

    /// `x / √(mean(x²) + epsilon) · gamma` of the last axis.
    ///
    /// # Errors
    /// As [`Tensor::layer_norm`].
    pub fn rms_norm(&self, gamma: &Self, epsilon: f64) -> Result<Self> {
        rows("rms_norm", Centre::Zero, self, gamma, None, epsilon)
    }
}

/// x̂ = (x − mean) r, r = 1/√(variance + ε), h = dy·γ:
/// dx = r (h − mean(h) − x̂ mean(h x̂)), dγ = Σ dy x̂, dβ = Σ dy over the rows; without means for the root mean square
fn rows(
    operation: &'static str,
    centre: Centre,
    x: &Tensor,
    gamma: &Tensor,
    beta: Option<&Tensor>,
    epsilon: f64,
) -> Result<Tensor> {
    via_f32([x, gamma, beta.unwrap_or(gamma)], |[x, gamma, last]| {
        let beta = beta.map(|_| last);
        let columns = check(operation, x, gamma, beta)?;
        let inputs: Vec<&Tensor> = [x, gamma].into_iter().chain(beta).collect();
        dispatch_float!(x.dtype(), T => {
            let (dense, gamma) = (x.value().contiguous(), gamma.value().contiguous());
            let beta = beta.map(|beta| beta.value().contiguous());
            let mut stats = vec![[T::default(); 2]; dense.num_elements() / columns.max(1)];
            let affine = Affine {
                gamma: gamma.as_slice::<T>(),
                beta: beta.as_ref().and_then(|beta| beta.as_slice::<T>()),
            };
            let value = Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
                if !out.is_empty() {
                    norm(centre, dense.as_slice().expect("contiguous"), columns, affine, epsilon, out, &mut stats);
                }
            })?;
            Ok(record_many(operation, &inputs, value, || {
                let gamma = gamma.as_slice::<T>().expect("contiguous").to_vec();
                let wanted = [1, 2].map(|i| inputs.get(i).is_some_and(|input| input.is_tracked()));
                move |gradient: Value, flow| {
                    let (dx, [dgamma, dbeta]) = gradients::<T>(centre, &gradient, &dense, &stats, &gamma, wanted)?;
                    flow.give(0, dx)?;
                    dgamma.map_or(Ok(()), |dgamma| flow.give(1, dgamma))?;
                    dbeta.map_or(Ok(()), |dbeta| flow.give(2, dbeta))
                }
            }))
        }, else => Err(Error::dtype(operation, format_args!("needs floats, got {}", x.dtype().name()))))
    })
}

/// The size of the last axis, which gamma and beta must have.
fn check(operation: &'static str, x: &Tensor, gamma: &Tensor, beta: Option<&Tensor>) -> Result<usize> {
    let Some(&columns) = x.shape().last() else {
        return Err(Error::shape(operation, "needs an axis, got a tensor of rank 0"));
    };
    for (name, of) in [("gamma", Some(gamma)), ("beta", beta)] {
        let Some(of) = of else { continue };
        same_dtype(operation, x.value(), of.value())?;
        if of.shape() != [columns] {
            let found = of.shape();
            return Err(Error::shape(
                operation,
                format_args!("{name} must have shape [{columns}], got {found:?}"),
            ));
        }
    }
    Ok(columns)
}

fn gradients<T: Real + Element>(
    centre: Centre,
    gradient: &Value,
    x: &Value,
    stats: &[RowStats<T>],
    gamma: &[T],
    wanted: [bool; 2],
) -> Result<(Value, [Option<Value>; 2])> {
    let columns = gamma.len();
    let gradient = gradient.contiguous();
    let [mut dgamma, mut dbeta] = wanted.map(|wanted| wanted.then(|| vec![T::default(); columns]));
    let dx = Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
        if out.is_empty() {
            return;
        }
        let (dy, x) = (gradient.as_slice().expect("contiguous"), x.as_slice().expect("contiguous"));
        let sums = AffineGradients { gamma: dgamma.as_deref_mut(), beta: dbeta.as_deref_mut() };
        norm_backward(centre, dy, x, columns, stats, Some(gamma), out, sums);
    })?;
    let value = |sums: Option<Vec<T>>| {
        let fill =
            |sums: Vec<T>| Value::build_as(x.dtype(), &[columns], |out: &mut [T]| out.copy_from_slice(&sums));
        sums.map(fill).transpose()
    };
    Ok((dx, [value(dgamma)?, value(dbeta)?]))
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    #[test]
    fn burns_vectors() {
        let x = tensor(
            &[-0.6897f32, -2.7106, 2.2222, -1.0330, -0.8933, 1.1765, 0.0601, 1.5252, -0.3630, 0.6728],
            &[1, 10],
        );
        let (gamma, beta) = (tensor(&[1.0f32; 10], &[10]), tensor(&[0.0f32; 10], &[10]));
        let y = x.layer_norm(&gamma, Some(&beta), 1e-5).unwrap();
        let expected = [-0.4990, -1.9680, 1.6178, -0.7486, -0.6470, 0.8576, 0.0461, 1.1111, -0.2614, 0.4915];
        assert_close(&doubles(y.value()), &expected, 1e-4);
        let rows: Vec<f32> = (0..9).map(|i| i as f32).collect();
        let y = tensor(&rows, &[3, 3]).rms_norm(&tensor(&[1.0f32; 3], &[3]), 1e-5).unwrap();
        let expected = [0.0, 0.7746, 1.5492, 0.7348, 0.9798, 1.2247, 0.8514, 0.9933, 1.1352];
        assert_close(&doubles(y.value()), &expected, 1e-4);
    }

    #[test]
    fn gradients_are_central_differences() {
        for x in [numbers(&[2, 3, 5], 0), numbers(&[5, 4], 0).transposed(), numbers(&[5], 0)] {
            let inputs = [x, numbers(&[5], 1), numbers(&[5], 2)];
            check_gradients(&inputs, |x| x[0].layer_norm(&x[1], Some(&x[2]), 1e-2));
            check_gradients(&inputs[..2], |x| x[0].layer_norm(&x[1], None, 1e-2));
            check_gradients(&inputs[..2], |x| x[0].rms_norm(&x[1], 1e-2));
        }
    }

    #[test]
    fn sizes_of_zero_and_what_does_not_fit() {
        let gamma = tensor(&[1.0f32; 3], &[3]);
        assert_eq!(tensor::<f32>(&[], &[0, 3]).layer_norm(&gamma, None, 1e-5).unwrap().shape(), [0, 3]);
        let none = tensor::<f32>(&[], &[0]);
        let empty = tensor::<f32>(&[], &[2, 0]).autodiff().require_grad().unwrap();
        assert!(empty.layer_norm(&none, Some(&none), 1e-5).unwrap().backward().is_ok());
        let message = tensor(&[1.0f32; 4], &[2, 2]).rms_norm(&gamma, 1e-5).unwrap_err().to_string();
        assert_eq!(message, "rms_norm: gamma must have shape [2], got [3]");
    }
}
