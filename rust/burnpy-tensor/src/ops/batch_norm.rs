//! Norms of channels over a batch.

use super::broadcast::same_dtype;
use super::elementwise::in_place;
use super::half::via_f32;
use crate::autodiff::{record, record_many};
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::batch_norm::{Sizes, gradient_sums, moments, normalize, normalize_backward};
use crate::kernels::number::Real;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// `(x − mean) / √(variance + epsilon) · gamma + beta` of the channels, axis 1, with statistics that are given:
    /// the norm in inference. All four are `[channels]`.
    ///
    /// # Errors
    /// `Shape` if there is no axis 1 or it has another size, `DType` if the dtypes differ or are not floats.
    pub fn batch_norm(
        &self,
        gamma: &Self,
        beta: &Self,
        mean: &Self,
        variance: &Self,
        epsilon: f64,
    ) -> Result<Self> {
        via_f32([self, gamma, beta, mean, variance], |[x, gamma, beta, mean, variance]| {
            check("batch_norm", x, &[gamma, beta, mean, variance])?;
            dispatch_float!(x.dtype(), T => inference::<T>([x, gamma, beta, mean, variance], epsilon), else =>
                Err(no_floats("batch_norm", x)))
        })
    }

    /// [`Tensor::batch_norm`] with the statistics of this batch: the norm in training. Then the mean and the biased
    /// variance of each channel, detached. Gradients of the output go through the statistics.
    ///
    /// # Errors
    /// As [`Tensor::batch_norm`], or `Shape` if channels have no elements.
    pub fn batch_norm_train(&self, gamma: &Self, beta: &Self, epsilon: f64) -> Result<(Self, Self, Self)> {
        let mut statistics = None;
        let output = via_f32([self, gamma, beta], |[x, gamma, beta]| {
            check("batch_norm_train", x, &[gamma, beta])?;
            dispatch_float!(x.dtype(), T => {
                let (output, values) = training::<T>([x, gamma, beta], epsilon)?;
                statistics = Some(values);
                Ok(output)
            }, else => Err(no_floats("batch_norm_train", x)))
        })?;
        let [mean, variance] = statistics.expect("set with the output").map(|value| {
            let statistic = Self::from_parts(value, None, self.is_autodiff());
            statistic.cast(output.dtype())
        });
        Ok((output, mean?, variance?))
    }
}

fn no_floats(operation: &'static str, x: &Tensor) -> Error {
    Error::dtype(operation, format_args!("needs floats, got {}", x.dtype().name()))
}

fn check(operation: &'static str, x: &Tensor, channels: &[&Tensor]) -> Result<()> {
    let Some(&wanted) = x.shape().get(1) else {
        return Err(Error::shape(
            operation,
            format_args!("needs an axis of channels, got shape {:?}", x.shape()),
        ));
    };
    for of in channels {
        same_dtype(operation, x.value(), of.value())?;
        if of.shape() != [wanted] {
            let found = of.shape();
            return Err(Error::shape(
                operation,
                format_args!("needs shape [{wanted}] for each channel, got {found:?}"),
            ));
        }
    }
    Ok(())
}

/// The order of axes in which elements are taken, channels in the middle or last.
struct Order {
    axes: Vec<usize>,
    back: Vec<usize>,
    sizes: Sizes,
}

impl Order {
    /// Channels last if they lie so in memory, else as they come.
    fn of(x: &Value) -> Self {
        let rank = x.rank();
        let last: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
        let is_last = rank > 2 && !x.layout().is_contiguous() && x.layout().permuted(&last).is_contiguous();
        let axes: Vec<usize> = if is_last { last } else { (0..rank).collect() };
        let mut back = vec![0; rank];
        axes.iter().enumerate().for_each(|(to, &from)| back[from] = to);
        let inner = x.shape()[2..].iter().product();
        let (outer, channels) = (x.shape()[0], x.shape()[1]);
        let sizes = if is_last { [outer * inner, channels, 1] } else { [outer, channels, inner] };
        Self { axes, back, sizes }
    }

    /// A value in this order; in its own memory if it lies so.
    fn dense(&self, x: Value) -> Value {
        x.permuted(&self.axes).contiguous()
    }

    /// `slope (x − mean) + shift`, with `by` = `[mean, scale, slope, shift]` of each channel.
    fn normalized<T: Real + Element>(&self, x: &Value, by: &[[f64; 4]]) -> Result<Value> {
        let by = rounded::<T>(by);
        let value = Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
            normalize(slice(x), self.sizes, &by, out);
        })?;
        Ok(value.permuted(&self.back))
    }

    /// `scale dy + slope (x − mean) + shift`, in the memory of `dy` if nobody else holds it.
    fn normalized_backward<T: Real + Element>(&self, dy: Value, x: &Value, by: &[[f64; 4]]) -> Result<Value> {
        let by = rounded::<T>(by);
        let value = in_place(dy, |dy: &mut [T]| normalize_backward(slice(x), self.sizes, &by, dy))?;
        Ok(value.permuted(&self.back))
    }
}

fn rounded<T: Element>(by: &[[f64; 4]]) -> Vec<[T; 4]> {
    by.iter().map(|by| by.map(T::from_f64)).collect()
}

fn slice<T: Element>(value: &Value) -> &[T] {
    value.as_slice().expect("contiguous")
}

fn numbers<T: Element>(value: &Value) -> Vec<f64> {
    slice::<T>(&value.contiguous()).iter().map(|x| x.to_f64()).collect()
}

fn channels<T: Element>(like: &Value, numbers: impl Iterator<Item = f64>) -> Result<Value> {
    let numbers: Vec<T> = numbers.map(T::from_f64).collect();
    Value::build_as(like.dtype(), &[numbers.len()], |out: &mut [T]| out.copy_from_slice(&numbers))
}

/// What is known of a channel: its mean, r = 1/√(variance + ε), γ and β.
#[derive(Clone, Copy)]
struct Channel {
    mean: f64,
    r: f64,
    gamma: f64,
    beta: f64,
}

impl Channel {
    /// y = γ r (x − mean) + β
    fn forward(self) -> [f64; 4] {
        [self.mean, 0.0, self.gamma * self.r, self.beta]
    }
}

/// x̂ = (x − mean) r, r = 1/√(v + ε):
/// dx = γ r dy, dγ = Σ dy x̂, dβ = Σ dy, dmean = −γ r Σ dy, dv = −½ γ r² Σ dy x̂
fn inference<T: Real + Element>(inputs: [&Tensor; 5], epsilon: f64) -> Result<Tensor> {
    let [x, parameters @ ..] = inputs.map(Tensor::value);
    let order = Order::of(x);
    let dense = order.dense(x.clone());
    let [gamma, beta, mean, variance] = parameters.map(numbers::<T>);
    let known: Vec<Channel> = (0..gamma.len())
        .map(|c| Channel {
            mean: mean[c],
            r: 1.0 / (variance[c] + epsilon).sqrt(),
            gamma: gamma[c],
            beta: beta[c],
        })
        .collect();
    let by: Vec<[f64; 4]> = known.iter().map(|channel| channel.forward()).collect();
    let value = order.normalized::<T>(&dense, &by)?;
    Ok(record("batch_norm", inputs, value, |needs| {
        move |gradient: Value| {
            let dy = order.dense(gradient);
            let sums = needs[1..].contains(&true).then(|| unit_sums::<T>(&dy, &dense, &order, &known));
            let sums = sums.unwrap_or_default();
            let by: Vec<[f64; 4]> = known.iter().map(|c| [0.0, 0.0, c.gamma * c.r, 0.0]).collect();
            let dx = needs[0].then(|| order.normalized::<T>(&dy, &by)).transpose()?;
            let of = |i: usize, value: fn(Channel, [f64; 2]) -> f64| {
                let each = known.iter().zip(&sums).map(|(&channel, &sums)| value(channel, sums));
                needs[i].then(|| channels::<T>(&dense, each)).transpose()
            };
            Ok([
                dx,
                of(1, |_, [_, unit]| unit)?,
                of(2, |_, [sum, _]| sum)?,
                of(3, |c, [sum, _]| -c.gamma * c.r * sum)?,
                of(4, |c, [_, unit]| -0.5 * c.gamma * c.r * c.r * unit)?,
            ])
        }
    }))
}

/// Σ dy and Σ dy x̂ of each channel.
fn unit_sums<T: Real + Element>(dy: &Value, x: &Value, order: &Order, known: &[Channel]) -> Vec<[f64; 2]> {
    let mean: Vec<T> = known.iter().map(|channel| <T as Element>::from_f64(channel.mean)).collect();
    let sums = gradient_sums::<T>(slice(dy), slice(x), order.sizes, &mean);
    sums.iter().zip(known).map(|(&[sum, product], channel)| [sum, product * channel.r]).collect()
}

/// x̂ = (x − mean) r, r = 1/√(v + ε), mean and v those of the n elements of a channel:
/// dx = γ r (dy − Σ dy / n − x̂ Σ dy x̂ / n), dγ = Σ dy x̂, dβ = Σ dy
fn training<T: Real + Element>(inputs: [&Tensor; 3], epsilon: f64) -> Result<(Tensor, [Value; 2])> {
    let [x, parameters @ ..] = inputs.map(Tensor::value);
    let order = Order::of(x);
    let count = order.sizes[0] * order.sizes[2];
    if count == 0 && order.sizes[1] > 0 {
        let message = format_args!("no elements to take the mean of in shape {:?}", x.shape());
        return Err(Error::shape("batch_norm_train", message));
    }
    let dense = order.dense(x.clone());
    let [gamma, beta] = parameters.map(numbers::<T>);
    let statistics = moments::<T>(slice(&dense), order.sizes);
    let known: Vec<Channel> = (statistics.iter().zip(gamma.iter().zip(&beta)))
        .map(|(&[mean, variance], (&gamma, &beta))| {
            // As it is rounded for the elements, or their deviations would not sum to 0.
            Channel {
                mean: <T as Element>::from_f64(mean).to_f64(),
                r: 1.0 / (variance + epsilon).sqrt(),
                gamma,
                beta,
            }
        })
        .collect();
    let by: Vec<[f64; 4]> = known.iter().map(|channel| channel.forward()).collect();
    let value = order.normalized::<T>(&dense, &by)?;
    let statistics = [
        channels::<T>(&dense, statistics.iter().map(|[mean, _]| *mean))?,
        channels::<T>(&dense, statistics.iter().map(|[_, variance]| *variance))?,
    ];
    let output = record_many("batch_norm_train", &inputs, value, || {
        move |gradient: Value, flow| {
            let dy = order.dense(gradient);
            let sums = unit_sums::<T>(&dy, &dense, &order, &known);
            if flow.needs(0) {
                let n = count as f64;
                let each = known.iter().zip(&sums).map(|(c, [sum, unit])| {
                    let scale = c.gamma * c.r;
                    [c.mean, scale, -scale * c.r * unit / n, -scale * sum / n]
                });
                flow.give(0, order.normalized_backward::<T>(dy, &dense, &each.collect::<Vec<_>>())?)?;
            }
            flow.give(1, channels::<T>(&dense, sums.iter().map(|[_, unit]| *unit))?)?;
            flow.give(2, channels::<T>(&dense, sums.iter().map(|[sum, _]| *sum))?)
        }
    });
    Ok((output, statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::ops::cast::cast_value;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    #[test]
    fn burns_vectors() {
        let x = tensor(
            &[
                0.9601f32, 0.7277, 0.6272, 0.9034, 0.9378, 0.7230, 0.6356, 0.1362, 0.0249, 0.9509, 0.6600,
                0.5945,
            ],
            &[2, 3, 2],
        );
        let (gamma, beta) = (tensor(&[1.0f32; 3], &[3]), tensor(&[0.0f32; 3], &[3]));
        let (y, mean, variance) = x.batch_norm_train(&gamma, &beta, 1e-5).unwrap();
        let expected = [
            1.1483, 0.37521, 0.0016272, 0.75067, 1.6204, -0.045168, 0.068856, -1.5923, -1.6318, 0.87949,
            -0.53368, -1.0416,
        ];
        assert_close(&doubles(y.value()), &expected, 2e-4);
        let given = x.batch_norm(&gamma, &beta, &mean, &variance, 1e-5).unwrap();
        assert_close(&doubles(given.value()), &doubles(y.value()), 1e-6);
    }

    #[test]
    fn gradients_are_central_differences_in_every_order_of_memory() {
        let parameters = [1, 2, 3, 4].map(|seed| numbers(&[3], seed));
        let positive = Value::from_slice(&[0.5, 1.5, 2.0], &[3]).unwrap();
        let last = numbers(&[2, 2, 4, 3], 0).permuted(&[0, 3, 1, 2]);
        for x in [
            numbers(&[5, 3], 0),
            numbers(&[2, 3, 4], 0),
            numbers(&[2, 3, 8, 5], 0),
            last,
            numbers(&[3, 4, 2], 0).permuted(&[1, 0, 2]),
        ] {
            let [gamma, beta, mean, _] = parameters.clone();
            let all = [x, gamma, beta, mean, positive.clone()];
            check_gradients(&all, |x| x[0].batch_norm(&x[1], &x[2], &x[3], &x[4], 1e-2));
            check_gradients(&all[..3], |x| Ok(x[0].batch_norm_train(&x[1], &x[2], 1e-2)?.0));
        }
    }

    #[test]
    fn a_gradient_that_others_hold_too_is_left_as_it_is() {
        let inputs = [numbers(&[5, 3], 0), numbers(&[5, 3], 7), numbers(&[3], 1), numbers(&[3], 2)];
        check_gradients(&inputs, |x| {
            let one = x[0].batch_norm_train(&x[2], &x[3], 1e-2)?.0;
            one.add(&x[1].batch_norm(&x[2], &x[3], &x[2], &numbers(&[3], 3).into(), 2.0)?)?.add(&x[1])
        });
    }

    #[test]
    fn channels_last_in_memory_stay_there() {
        let cases = [(3, DType::F64, 1e-12), (21, DType::F64, 1e-12), (37, DType::F32, 1e-4)];
        for (channels, dtype, tolerance) in cases {
            let cast = |value: Value| cast_value(&value, dtype).unwrap();
            let x = cast(numbers(&[3, 7, 8, channels], 0)).permuted(&[0, 3, 1, 2]);
            let [gamma, beta] = [1, 2].map(|seed| Tensor::from(cast(numbers(&[channels], seed))));
            let weights = Tensor::from(cast(numbers(x.shape(), 3)));
            let train = |x: &Value| {
                let x = Tensor::from(x.clone()).autodiff().require_grad().unwrap();
                let (y, ..) = x.batch_norm_train(&gamma, &beta, 1e-5).unwrap();
                let grads = y.mul(&weights).unwrap().backward().unwrap();
                (y.value().clone(), x.grad(&grads).unwrap().clone())
            };
            let ((y, dx), (dense, dense_dx)) = (train(&x), train(&x.contiguous()));
            assert_eq!(y.layout().strides(), x.layout().strides());
            assert_close(&doubles(&y), &doubles(&dense), tolerance);
            assert_close(&doubles(&dx), &doubles(&dense_dx), tolerance);
        }
    }

    #[test]
    fn long_channels_and_large_offsets_keep_their_digits() {
        let data: Vec<f32> =
            (0..60_000).map(|i| 1000.0 + (i % 5) as f32 + (i / 3000 % 2) as f32 * 100.0).collect();
        let x = tensor(&data, &[10, 2, 3000]);
        let (gamma, beta) = (tensor(&[1.0f32; 2], &[2]), tensor(&[0.0f32; 2], &[2]));
        let (_, mean, variance) = x.batch_norm_train(&gamma, &beta, 1e-5).unwrap();
        assert_close(&doubles(mean.value()), &[1002.0, 1102.0], 1e-7);
        assert_close(&doubles(variance.value()), &[2.0, 2.0], 1e-6);
    }

    #[test]
    fn sizes_of_zero_and_what_does_not_fit() {
        let (gamma, beta) = (tensor(&[1.0f32; 2], &[2]), tensor(&[0.0f32; 2], &[2]));
        let none = tensor::<f32>(&[], &[0, 2, 3]);
        assert_eq!(none.batch_norm(&gamma, &beta, &beta, &gamma, 1e-5).unwrap().shape(), [0, 2, 3]);
        let message = |x: &Tensor| x.batch_norm_train(&gamma, &beta, 1e-5).unwrap_err().to_string();
        assert_eq!(message(&none), "batch_norm_train: no elements to take the mean of in shape [0, 2, 3]");
        let x = tensor(&[1.0f32; 3], &[3]);
        assert_eq!(message(&x), "batch_norm_train: needs an axis of channels, got shape [3]");
        let x = tensor(&[1.0f32; 3], &[1, 3]);
        assert_eq!(message(&x), "batch_norm_train: needs shape [3] for each channel, got [2]");
    }
}
