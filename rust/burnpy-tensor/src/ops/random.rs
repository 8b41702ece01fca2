//! Random tensors, and dropout.

use burnpy_buffer::DType;

use super::axis::INT;
use super::cast::cast_value;
use super::elementwise::only_floats;
use super::half::{number_dtype, via_f32};
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::{BOOL, Kind};
use crate::error::{Error, Result};
use crate::kernels::random::{
    Bernoulli, Integers, Normal, Uniform, blocks, drop_below, drop_below_assign, fill,
};
use crate::parallel;
use crate::random::{self, Draw};
use crate::tensor::Tensor;
use crate::value::Value;

/// How random elements are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Floats in [0, 1), integers in 0..255, booleans evenly.
    Default,
    /// Evenly in `[low, high)`; integers too.
    Uniform(f64, f64),
    /// Around a mean, with a standard deviation; integers are cut off towards 0.
    Normal(f64, f64),
    /// 1 with a probability, else 0.
    Bernoulli(f64),
}

impl Distribution {
    fn check(self) -> Result<()> {
        let fail = |message: std::fmt::Arguments<'_>| Err(Error::argument("random", message));
        match self {
            Self::Default => Ok(()),
            Self::Uniform(low, high) if low <= high && (high - low).is_finite() => Ok(()),
            Self::Uniform(low, high) => fail(format_args!(
                "a uniform distribution needs finite bounds, low <= high, got {low} and {high}"
            )),
            Self::Normal(mean, std) if mean.is_finite() && std.is_finite() && std >= 0.0 => Ok(()),
            Self::Normal(mean, std) => fail(format_args!(
                "a normal distribution needs a finite mean and std >= 0, got {mean} and {std}"
            )),
            Self::Bernoulli(p) if (0.0..=1.0).contains(&p) => Ok(()),
            Self::Bernoulli(p) => fail(format_args!("a probability must lie in [0, 1], got {p}")),
        }
    }
}

impl Tensor {
    /// Random elements from the generator. The same state gives the same elements, with any number of threads.
    ///
    /// # Errors
    /// `Argument` for parameters that no distribution has, `DType` for a quantized dtype, or booleans that are not
    /// drawn by a probability.
    ///
    /// ```
    /// use burnpy_tensor::{DType, Tensor, ops::Distribution, random};
    /// random::seed(1);
    /// let x = Tensor::random(&[2, 3], Distribution::Default, DType::F32)?;
    /// random::seed(1);
    /// let y = Tensor::random(&[2, 3], Distribution::Default, DType::F32)?;
    /// assert_eq!(x.value().as_slice::<f32>(), y.value().as_slice::<f32>());
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn random(shape: &[usize], distribution: Distribution, dtype: DType) -> Result<Self> {
        let count = burnpy_buffer::Layout::contiguous(shape).map_or(0, |layout| layout.num_elements());
        // Two words are enough for each element of any kind.
        Self::random_from(random::draw(blocks(count, 2)), shape, distribution, dtype)
    }

    /// [`Tensor::random`] with the shape and dtype of this tensor.
    ///
    /// # Errors
    /// As [`Tensor::random`].
    pub fn random_like(&self, distribution: Distribution) -> Result<Self> {
        let drawn = Self::random(self.shape(), distribution, self.dtype())?;
        Ok(Self::from_parts(drawn.into_value(), None, self.is_autodiff()))
    }

    /// Random elements from a draw: element `i`, in row-major order, depends on the draw and on `i` alone.
    ///
    /// # Errors
    /// As [`Tensor::random`].
    pub fn random_from(
        draw: Draw,
        shape: &[usize],
        distribution: Distribution,
        dtype: DType,
    ) -> Result<Self> {
        distribution.check()?;
        match (Kind::of(dtype), distribution) {
            (Kind::Bool, Distribution::Default) => flags(draw, shape, 0.5),
            (_, Distribution::Bernoulli(p)) => cast_value(&flags(draw, shape, p)?, dtype),
            (Kind::Bool, _) => Err(Error::dtype("random", "booleans are drawn by Default or Bernoulli only")),
            (Kind::Float, _) => floats(draw, shape, distribution, dtype),
            (Kind::Int, _) => integers(draw, shape, distribution, dtype),
        }
        .map(Self::from)
    }

    /// Classes drawn by weights, `num_samples` for each row of the last axis: `[…, num_samples]` of `[…, classes]`. A
    /// class comes as often as its weight is a part of the row's sum. The same state gives the same classes, with any
    /// number of threads.
    ///
    /// Unlike Burn: rows that have no such parts are refused, and a class of weight 0 never comes.
    ///
    /// # Errors
    /// `DType` if the weights are not floats, `Shape` without an axis, `Argument` for no samples, no classes, or a row
    /// whose weights are not finite and at least 0, with a sum above 0.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value};
    /// let weights = Tensor::from(Value::from_slice(&[0f32, 5., 0., 0., 0., 2.], &[2, 3])?);
    /// let drawn = weights.categorical(2)?;
    /// assert_eq!((drawn.shape(), drawn.value().as_slice::<i32>()), (&[2, 2][..], Some(&[1, 1, 2, 2][..])));
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn categorical(&self, num_samples: usize) -> Result<Self> {
        let Some((&classes, rows)) = self.shape().split_last() else {
            return Err(Error::shape("categorical", "needs an axis of classes, got a tensor of rank 0"));
        };
        if self.kind() != Kind::Float {
            return Err(only_floats("categorical", self.dtype()));
        }
        if num_samples == 0 || classes == 0 {
            let message =
                format_args!("{num_samples} samples of {classes} classes; needs one of each at least");
            return Err(Error::argument("categorical", message));
        }
        let sums = running_sums(self.value(), classes)?;
        let drawn = Self::random(&[rows, &[num_samples]].concat(), Distribution::Default, DType::F64)?;
        let places = drawn.value().as_slice::<f64>().expect("new memory");
        let value = Value::build_as(INT, drawn.shape(), |out: &mut [i32]| {
            parallel::chunks_mut(out, SAMPLES, |i, out| {
                for (at, out) in (i * SAMPLES..).zip(out) {
                    let sums = &sums[at / num_samples * classes..][..classes];
                    *out = class_at(places[at], sums) as i32;
                }
            });
        })?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }

    /// Each element 0 with probability `prob`, else scaled by `1 / (1 - prob)`, as the generator draws.
    ///
    /// # Errors
    /// `Argument` if `prob` is not in [0, 1], `DType` if the tensor is not of floats.
    pub fn dropout(&self, prob: f64) -> Result<Self> {
        self.dropout_from(random::draw(blocks(self.num_elements(), 1)), 0, prob)
    }

    /// [`Tensor::dropout`] from a draw, whose element `first` is the first of this tensor: parts of a batch drop what
    /// the whole would.
    ///
    /// # Errors
    /// As [`Tensor::dropout`].
    pub fn dropout_from(&self, draw: Draw, first: u64, prob: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&prob) {
            return Err(Error::argument("dropout", format_args!("prob must lie in [0, 1], got {prob}")));
        }
        if self.kind() != Kind::Float {
            return Err(only_floats("dropout", self.dtype()));
        }
        if prob == 0.0 {
            return self.cast(number_dtype(self.dtype()));
        }
        let mask = Mask {
            draw,
            first,
            threshold: threshold(prob),
            scale: if prob < 1.0 { 1.0 / (1.0 - prob) } else { 0.0 },
        };
        via_f32([self], |[x]| {
            let value = mask.apply(x.value().clone())?;
            // dx = dy / (1 - prob) where kept, else 0. The mask is drawn again, which takes no memory.
            Ok(record("dropout", [x], value, |_| move |gradient| Ok([Some(mask.apply(gradient)?)])))
        })
    }
}

/// Samples of a task.
const SAMPLES: usize = 4 << 10;

/// The sums of each row's weights so far, in double precision.
fn running_sums(weights: &Value, classes: usize) -> Result<Vec<f64>> {
    let wide = cast_value(weights, DType::F64)?.contiguous();
    let mut sums = wide.as_slice::<f64>().expect("contiguous").to_vec();
    for (row, sums) in sums.chunks_exact_mut(classes).enumerate() {
        let mut sum = 0.0;
        for (class, at) in sums.iter_mut().enumerate() {
            if !(*at >= 0.0 && at.is_finite()) {
                let message = format_args!(
                    "class {class} of row {row} has the weight {at}, not a finite one of at least 0"
                );
                return Err(Error::argument("categorical", message));
            }
            sum += *at;
            *at = sum;
        }
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(Error::argument(
                "categorical",
                format_args!("the weights of row {row} add up to {sum}"),
            ));
        }
    }
    Ok(sums)
}

/// The class whose part of the sum a place in [0, 1) lies in.
fn class_at(place: f64, sums: &[f64]) -> usize {
    let total = sums[sums.len() - 1];
    // A product that rounds up is still below the sum.
    let place = (place * total).min(total.next_down());
    sums.partition_point(|&sum| sum <= place)
}

#[derive(Clone, Copy)]
struct Mask {
    draw: Draw,
    first: u64,
    threshold: u64,
    scale: f64,
}

impl Mask {
    /// In the memory of the value if nobody else holds it.
    fn apply(self, mut value: Value) -> Result<Value> {
        let Self { draw, first, threshold, scale } = self;
        let dtype = value.dtype();
        dispatch_float!(dtype, T => {
            if let Some(elements) = value.try_mut::<T>() {
                drop_below_assign(draw, first, threshold, scale as T, elements);
                return Ok(value);
            }
            let dense = value.contiguous();
            let x = dense.as_slice::<T>().expect("contiguous");
            Value::build_as(dtype, dense.shape(), |out: &mut [T]| {
                drop_below(draw, first, threshold, scale as T, x, out);
            })
        }, else => Err(only_floats("dropout", dtype)))
    }
}

/// Of 2^32 words, how many come with a probability.
fn threshold(probability: f64) -> u64 {
    (probability * 2f64.powi(32)).round_ties_even() as u64
}

fn flags(draw: Draw, shape: &[usize], p: f64) -> Result<Value> {
    Value::build_as(BOOL, shape, |out: &mut [u8]| fill(draw, 0, out, Bernoulli { threshold: threshold(p) }))
}

fn floats(draw: Draw, shape: &[usize], distribution: Distribution, dtype: DType) -> Result<Value> {
    let wide = match dtype {
        DType::F64 => DType::F64,
        DType::QFloat(_) => return Err(Error::dtype("random", "not for qfloat tensors")),
        _ => DType::F32,
    };
    // No more bits than the dtype has, else what is just below the bound would round up to it.
    let bits = match dtype {
        DType::BF16 => 8,
        DType::F16 => 11,
        _ => 24,
    };
    let value = dispatch_float!(wide, T => Value::build(shape, |out: &mut [T]| match distribution {
        Distribution::Normal(mean, std) => fill(draw, 0, out, Normal { mean: mean as T, std: std as T }),
        Distribution::Uniform(low, high) => fill(draw, 0, out, Uniform { low: low as T, high: high as T, bits }),
        _ => fill(draw, 0, out, Uniform { low: 0.0 as T, high: 1.0, bits }),
    }), else => unreachable!("one of both"))?;
    cast_value(&value, dtype)
}

fn integers(draw: Draw, shape: &[usize], distribution: Distribution, dtype: DType) -> Result<Value> {
    let (low, high) = match distribution {
        Distribution::Normal(..) => {
            return cast_value(&floats(draw, shape, distribution, DType::F64)?, dtype);
        }
        Distribution::Uniform(low, high) => (low.ceil() as i64, high.ceil() as i64),
        _ => (0, 255),
    };
    // Of an empty range, the lowest.
    let count = high.wrapping_sub(low).max(1) as u64;
    let wide = Value::build(shape, |out: &mut [i64]| fill(draw, 0, out, Integers { low, count }))?;
    cast_value(&wide, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{column_major, floats as all};

    const DRAW: Draw = Draw { seed: 11, stream: 2, offset: 0 };

    fn moments(distribution: Distribution, dtype: DType) -> (Vec<f64>, f64, f64) {
        let x = all(&Tensor::random_from(DRAW, &[200, 500], distribution, dtype).unwrap());
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        (x, mean, variance)
    }

    #[test]
    fn distributions_have_their_moments_and_bounds() {
        for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
            let (x, mean, variance) = moments(Distribution::Default, dtype);
            assert!((mean - 0.5).abs() < 5e-3 && (variance - 1.0 / 12.0).abs() < 2e-3, "{dtype:?}");
            assert!(x.iter().all(|x| (0.0..1.0).contains(x)), "{dtype:?}");
            let (_, mean, variance) = moments(Distribution::Normal(-1.0, 3.0), dtype);
            assert!(
                (mean + 1.0).abs() < 0.04 && (variance - 9.0).abs() < 0.15,
                "{dtype:?} {mean} {variance}"
            );
            let (x, mean, _) = moments(Distribution::Bernoulli(0.3), dtype);
            assert!((mean - 0.3).abs() < 5e-3 && x.iter().all(|&x| x == 0.0 || x == 1.0));
        }
        let (x, mean, _) = moments(Distribution::Uniform(-2.0, 5.0), DType::I32);
        assert!((mean - 1.0).abs() < 0.03 && x.iter().all(|x| (-2.0..5.0).contains(x)));
        let (x, ..) = moments(Distribution::Uniform(1.0, 1.000_000_1), DType::F32);
        assert!(x.iter().all(|&x| x == 1.0));
    }

    #[test]
    fn normal_numbers_have_tails_and_no_correlation_of_neighbours() {
        let (x, ..) = moments(Distribution::Normal(0.0, 1.0), DType::F32);
        let beyond = x.iter().filter(|x| x.abs() > 2.0).count() as f64 / x.len() as f64;
        assert!((beyond - 0.0455).abs() < 3e-3, "{beyond}");
        for lag in [1, 16, 32, 64] {
            let correlation: f64 = x.iter().zip(&x[lag..]).map(|(a, b)| a * b).sum::<f64>() / x.len() as f64;
            assert!(correlation.abs() < 0.012, "{lag} {correlation}");
        }
    }

    #[test]
    fn what_no_distribution_is_like_is_refused() {
        for bad in [
            Distribution::Uniform(1.0, 0.0),
            Distribution::Uniform(0.0, f64::INFINITY),
            Distribution::Normal(0.0, -1.0),
            Distribution::Normal(f64::NAN, 1.0),
            Distribution::Bernoulli(1.5),
        ] {
            assert!(Tensor::random_from(DRAW, &[2], bad, DType::F32).is_err(), "{bad:?}");
        }
        assert!(Tensor::random(&[2], Distribution::Normal(0.0, 1.0), BOOL).is_err());
        assert_eq!(Tensor::random(&[0, 3], Distribution::Default, DType::F32).unwrap().shape(), [0, 3]);
    }

    #[test]
    fn classes_come_as_often_as_their_weights_say() {
        let weights = Value::from_slice(&[0f32, 3.0, 0.0, 1.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0], &[2, 5]);
        let weights = Tensor::from(weights.unwrap());
        let outer = random::set_own_state(Some(random::State::new(5)));
        let drawn = weights.categorical(20_000).unwrap();
        random::set_own_state(outer);
        let drawn = drawn.value().as_slice::<i32>().unwrap().to_vec();
        for (row, expected) in
            drawn.chunks(20_000).zip([[0.0, 0.75, 0.0, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25, 0.0]])
        {
            for (class, expected) in expected.into_iter().enumerate() {
                let count = row.iter().filter(|&&drawn| drawn == class as i32).count();
                // Five standard deviations of a share of 20 000 are 0.0177 at most; 0 is exact.
                let off = (count as f64 / 2e4 - expected).abs();
                assert!(off < 0.018 && (expected > 0.0 || count == 0), "{class} {count}");
            }
        }
    }

    #[test]
    fn a_place_falls_to_a_class_with_a_weight() {
        let sums = [0.0, 0.5, 0.5, 2.0, 2.0];
        assert_eq!(
            [0.0, 0.249, 0.25, 0.99, 1f64.next_down()].map(|place| class_at(place, &sums)),
            [1, 1, 3, 3, 3]
        );
        assert_eq!(class_at(1f64.next_down(), &[0.0, 5e-324, 5e-324]), 1);
    }

    #[test]
    fn rows_that_no_class_can_be_drawn_from_are_refused() {
        let row = |weights: &[f64]| Tensor::from(Value::from_slice(weights, &[weights.len()]).unwrap());
        for bad in
            [&[0.0, 0.0][..], &[1.0, -0.5], &[1.0, f64::NAN], &[f64::INFINITY], &[f64::MAX, f64::MAX], &[]]
        {
            assert!(row(bad).categorical(1).is_err(), "{bad:?}");
        }
        assert!(
            row(&[1.0]).categorical(0).is_err()
                && Tensor::ones(&[], DType::F32).unwrap().categorical(1).is_err()
        );
        assert!(Tensor::ones(&[2], DType::I32).unwrap().categorical(1).is_err());
        assert_eq!(Tensor::ones(&[0, 2], DType::F32).unwrap().categorical(3).unwrap().shape(), [0, 3]);
    }

    #[test]
    fn dropout_keeps_the_mean_and_its_gradient_has_the_same_mask() {
        let ones = Tensor::from(Value::full(&[100, 333], 1.0, DType::F32).unwrap());
        let x = ones.autodiff().require_grad().unwrap();
        let y = x.dropout_from(DRAW, 0, 0.25).unwrap();
        let kept = all(&y);
        assert!(kept.iter().all(|&y| y == 0.0 || y == f64::from(1f32 / 0.75)));
        assert!((kept.iter().sum::<f64>() / kept.len() as f64 - 1.0).abs() < 0.01);
        let grads = y.backward().unwrap();
        assert_eq!(all(&x.grad(&grads).unwrap().clone().into()), kept);
        assert_eq!(all(&column_major(&ones).dropout_from(DRAW, 0, 0.25).unwrap()), kept);
        let half = Tensor::from(Value::full(&[50, 333], 1.0, DType::F32).unwrap());
        assert_eq!(all(&half.dropout_from(DRAW, 50 * 333, 0.25).unwrap()), kept[50 * 333..]);
        assert!(all(&x.dropout(1.0).unwrap()).iter().all(|&y| y == 0.0));
        assert!(x.dropout(1.1).is_err() && x.dropout(0.0).is_ok());
    }
}
