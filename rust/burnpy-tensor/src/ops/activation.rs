//! Activations: one pass forward, one pass back.

use super::axis::axis;
use super::elementwise::{Save, combine, float_unary, only_floats, zip_floats};
use super::half::via_f32;
use super::power::with_slopes;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::Kind;
use crate::error::{Error, Result};
use crate::kernels::ops::{self, curve};
use crate::tensor::Tensor;
use crate::value::Value;

/// Activations as lines: name and parameters, function, what the way back reads, gradient.
macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident),*) = $forward:expr, $save:ident $backward:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// `DType` if the tensor is not of floats.
            pub fn $name(&self, $($parameter: f64),*) -> Result<Self> {
                float_unary(stringify!($name), self, $forward, Save::$save, $backward)
            }
        )*}
    };
}

activations! {
    /// `max(x, 0)`. The gradient at 0 is 0; NaN stays NaN.
    relu() = ops::Relu, Output ops::ReluGrad;
    /// `x` where `x ≥ 0`, else `negative_slope · x`.
    leaky_relu(negative_slope) = ops::LeakyRelu(negative_slope), Input ops::LeakyReluGrad(negative_slope);
    /// `x` where `x > 0`, else `alpha (e^x - 1)`.
    elu(alpha) = curve::Elu(alpha), Input curve::EluGrad(alpha);
    /// `x` where `x > 0`, else `alpha (e^(x / alpha) - 1)`.
    celu(alpha) = curve::Celu(alpha), Input curve::CeluGrad(alpha);
    /// `γ x` where `x ≥ 0`, else `γ α (e^x - 1)`, with the constants of Klambauer et al. 2017.
    selu() = curve::Selu, Input curve::SeluGrad;
    /// `x Φ(x)`, Φ the normal distribution.
    gelu() = ops::Gelu, Input ops::GeluGrad;
    /// `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.
    gelu_approximate() = ops::GeluTanh, Input ops::GeluTanhGrad;
    /// `x σ(x)`.
    silu() = ops::Silu, Input ops::SiluGrad;
    /// `x tanh(ln(1 + e^x))`.
    mish() = curve::Mish, Input curve::MishGrad;
    /// `σ(x) = 1 / (1 + e^-x)`.
    sigmoid() = ops::Sigmoid, Output ops::SigmoidGrad;
    /// `ln σ(x)`, without overflow.
    log_sigmoid() = curve::LogSigmoid, Input curve::LogSigmoidGrad;
    /// `alpha x + beta`, kept between 0 and 1.
    hard_sigmoid(alpha, beta) = curve::HardSigmoid(alpha, beta), Input curve::HardSigmoidGrad(alpha, beta);
    /// `x` times `x / 6 + 1/2` kept between 0 and 1.
    hard_swish() = curve::HardSwish, Input curve::HardSwishGrad;
    /// `ln(1 + e^(beta x)) / beta`, and `x` itself where `beta x > threshold`.
    softplus(beta, threshold) = ops::Softplus { beta, threshold }, Input ops::SoftplusGrad { beta, threshold };
    /// `x / (1 + |x|)`.
    softsign() = curve::Softsign, Input curve::SoftsignGrad;
    /// `x - tanh x`.
    tanhshrink() = curve::Tanhshrink, Input curve::TanhshrinkGrad;
    /// `x` where `|x| > lambda`, else 0.
    hard_shrink(lambda) = curve::Shrink(lambda, 0.0), Input curve::ShrinkGrad(lambda);
    /// `sign x · max(|x| - lambda, 0)`.
    soft_shrink(lambda) = curve::Shrink(lambda, lambda), Input curve::ShrinkGrad(lambda);
    /// `x - bias` where `x > lambda`, `x + bias` where `x < -lambda`, else 0.
    shrink(lambda, bias) = curve::Shrink(lambda, bias), Input curve::ShrinkGrad(lambda);
    /// `x` where `x > alpha`, else 0.
    thresholded_relu(alpha) = curve::Threshold(alpha, 0.0), Input curve::ThresholdGrad(alpha);
    /// `x` where `x > threshold`, else `value`.
    threshold(threshold, value) = curve::Threshold(threshold, value), Input curve::ThresholdGrad(threshold);
}

impl Tensor {
    /// `x` kept between 0 and 6.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn relu6(&self) -> Result<Self> {
        self.hardtanh(0.0, 6.0)
    }

    /// `x` kept between two bounds.
    ///
    /// # Errors
    /// `DType` if the tensor is not of floats.
    pub fn hardtanh(&self, min_val: f64, max_val: f64) -> Result<Self> {
        if self.kind() != Kind::Float {
            return Err(only_floats("hardtanh", self.dtype()));
        }
        self.clamp(min_val.into(), max_val.into())
    }

    /// `x` where `x ≥ 0`, else `alpha · x` with a learned `alpha` of shape `[1]`, or `[channels]` for axis 1.
    ///
    /// # Errors
    /// `Shape` if there is neither one slope nor one a channel, `DType` if the tensors are not of floats of one dtype.
    pub fn prelu(&self, alpha: &Self) -> Result<Self> {
        let channels = if self.rank() > 1 { self.shape()[1] } else { 1 };
        if alpha.rank() != 1 || ![1, channels].contains(&alpha.shape()[0]) {
            let (found, shape) = (alpha.shape(), self.shape());
            let message = format_args!(
                "slopes of shape {found:?} for an input of shape {shape:?}: expected [1] or [{channels}]"
            );
            return Err(Error::shape("prelu", message));
        }
        let mut per_channel = vec![1; self.rank().max(1)];
        if self.rank() > 1 {
            per_channel[1] = alpha.shape()[0];
        }
        via_f32([self, alpha], |[x, alpha]| {
            let slopes = reshaped(alpha, &per_channel);
            let value = zip_floats("prelu", x.value(), slopes.value(), curve::Prelu)?;
            // dx = dy where x ≥ 0, else a dy; da = Σ x dy where x < 0
            Ok(with_slopes("prelu", [x, &slopes], value, curve::PreluSlopeInput, curve::PreluSlopeAlpha))
        })
    }

    /// [`Tensor::prelu`] with a slope for each element, of the same shape, that is not learned: RReLU in training.
    ///
    /// # Errors
    /// As [`Tensor::prelu`].
    pub fn leaky_relu_with(&self, slopes: &Self) -> Result<Self> {
        via_f32([self, slopes], |[x, slopes]| {
            let value = zip_floats("leaky_relu_with", x.value(), slopes.value(), curve::Prelu)?;
            Ok(with_slopes(
                "leaky_relu_with",
                [x, slopes],
                value,
                curve::PreluSlopeInput,
                curve::PreluSlopeAlpha,
            ))
        })
    }

    /// `a σ(b)`, with `a` the first half of an axis and `b` the second.
    ///
    /// # Errors
    /// `Shape` if the axis does not exist or its size is odd, `DType` if the tensor is not of floats.
    pub fn glu(&self, dim: isize) -> Result<Self> {
        let axis = axis("glu", dim, self.rank())?;
        let size = self.shape()[axis];
        if !size.is_multiple_of(2) {
            return Err(Error::shape("glu", format_args!("axis {dim} has an odd size, {size}")));
        }
        via_f32([self], |[x]| {
            let [a, b] = halves(x.value(), axis);
            let value = zip_floats("glu", &a, &b, curve::Gate)?;
            // da = σ(b) dy, db = a σ(b) (1 - σ(b)) dy
            Ok(record("glu", [x], value, |_| {
                let shape = x.shape().to_vec();
                move |gradient: Value| Ok([Some(glu_gradient(&gradient, &a, &b, axis, &shape)?)])
            }))
        })
    }
}

/// The same elements as another shape, recorded.
fn reshaped(x: &Tensor, shape: &[usize]) -> Tensor {
    let value = x.value().reshaped(shape);
    record("reshape", [x], value, |_| {
        let shape = x.shape().to_vec();
        move |gradient: Value| Ok([Some(gradient.reshaped(&shape))])
    })
}

/// Both halves of an axis, without a copy.
fn halves(x: &Value, axis: usize) -> [Value; 2] {
    let layout = x.layout();
    let mut shape = layout.shape().to_vec();
    shape[axis] /= 2;
    let way = shape[axis] as isize * layout.strides()[axis];
    [0, way].map(|by| {
        let offset = if layout.num_elements() == 0 { 0 } else { layout.offset().saturating_add_signed(by) };
        x.with_layout(
            crate::Layout::from_parts(&shape, layout.strides(), offset).expect("half of what is there"),
        )
    })
}

/// Both gradients, written side by side.
fn glu_gradient(gradient: &Value, a: &Value, b: &Value, axis: usize, shape: &[usize]) -> Result<Value> {
    let da = zip_floats("glu", gradient, b, curve::GateOther)?.contiguous();
    let db = combine(zip_floats("glu", a, b, curve::GateSlope)?, gradient, ops::Mul)?.contiguous();
    let inner: usize = shape[axis..].iter().product::<usize>() / 2;
    dispatch_float!(gradient.dtype(), T => {
        let (da, db) = (da.as_slice::<T>().expect("contiguous"), db.as_slice::<T>().expect("contiguous"));
        Value::build_as(gradient.dtype(), shape, |out: &mut [T]| {
            let rows = da.chunks_exact(inner.max(1)).zip(db.chunks_exact(inner.max(1)));
            for (out, (da, db)) in out.chunks_exact_mut((2 * inner).max(1)).zip(rows) {
                out[..inner].copy_from_slice(da);
                out[inner..].copy_from_slice(db);
            }
        })
    }, else => Err(only_floats("glu", gradient.dtype())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{check, check_gradients, close, column_major, float, floats};

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// Name, function, its formula.
    type Case<'a> = (&'a str, &'a dyn Fn(&Tensor) -> Result<Tensor>, &'a dyn Fn(f64) -> f64);

    #[test]
    fn activations_and_gradients_are_those_of_the_formulas() {
        let cases: &[Case<'_>] = &[
            ("relu", &|x| x.relu(), &|x| x.max(0.0)),
            ("relu6", &|x| x.relu6(), &|x| x.clamp(0.0, 6.0)),
            ("leaky_relu", &|x| x.leaky_relu(0.1), &|x| if x < 0.0 { 0.1 * x } else { x }),
            ("elu", &|x| x.elu(1.3), &|x| if x > 0.0 { x } else { 1.3 * x.exp_m1() }),
            ("celu", &|x| x.celu(-1.5), &|x| if x > 0.0 { x } else { -1.5 * (x / -1.5).exp_m1() }),
            ("selu", &|x| x.selu(), &|x| {
                1.0507009873554805 * if x > 0.0 { x } else { 1.6732632423543772 * x.exp_m1() }
            }),
            ("gelu", &|x| x.gelu(), &|x| 0.5 * x * (1.0 + libm::erf(x / 2f64.sqrt()))),
            ("gelu_approximate", &|x| x.gelu_approximate(), &|x| {
                0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh())
            }),
            ("silu", &|x| x.silu(), &|x| x * sigmoid(x)),
            ("mish", &|x| x.mish(), &|x| x * x.exp().ln_1p().tanh()),
            ("sigmoid", &|x| x.sigmoid(), &sigmoid),
            ("log_sigmoid", &|x| x.log_sigmoid(), &|x| -(-x).exp().ln_1p()),
            ("hard_sigmoid", &|x| x.hard_sigmoid(0.2, 0.5), &|x| (0.2 * x + 0.5).clamp(0.0, 1.0)),
            ("hard_swish", &|x| x.hard_swish(), &|x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
            ("hardtanh", &|x| x.hardtanh(-1.0, 0.5), &|x| x.clamp(-1.0, 0.5)),
            ("softplus", &|x| x.softplus(1.5, 20.0), &|x| (1.5 * x).exp().ln_1p() / 1.5),
            ("softsign", &|x| x.softsign(), &|x| x / (1.0 + x.abs())),
            ("tanhshrink", &|x| x.tanhshrink(), &|x| x - x.tanh()),
            ("hard_shrink", &|x| x.hard_shrink(0.5), &|x| if x.abs() > 0.5 { x } else { 0.0 }),
            ("soft_shrink", &|x| x.soft_shrink(0.5), &|x| x.signum() * (x.abs() - 0.5).max(0.0)),
            ("shrink", &|x| x.shrink(0.5, 0.2), &|x| if x.abs() > 0.5 { x - 0.2 * x.signum() } else { 0.0 }),
            ("thresholded_relu", &|x| x.thresholded_relu(1.0), &|x| if x > 1.0 { x } else { 0.0 }),
            ("threshold", &|x| x.threshold(0.3, 7.0), &|x| if x > 0.3 { x } else { 7.0 }),
        ];
        let x = [-7.5, -2.9, -1.2, -0.4, -0.01, 0.2, 0.7, 1.6, 3.5, 8.0];
        for (name, function, formula) in cases {
            check(name, |inputs| function(&inputs[0]), |x| formula(x[0]), &[(&x, &[2, 5])]);
        }
    }

    #[test]
    fn far_out_and_at_nan_the_gradients_are_finite_or_pass() {
        let x = float(&[-1000.0, 1000.0, f64::NAN], &[3]).autodiff().require_grad().unwrap();
        let gradient = |y: Result<Tensor>| {
            let grads = y.unwrap().backward().unwrap();
            floats(&x.grad(&grads).unwrap().clone().into())
        };
        assert_eq!(gradient(x.relu()), [0.0, 1.0, 1.0]);
        assert_eq!(gradient(x.elu(1.0))[..2], [0.0, 1.0]);
        assert_eq!(gradient(x.celu(1.0))[..2], [0.0, 1.0]);
        assert!(close(gradient(x.selu())[1], 1.0507009873554805, 1e-12));
        assert_eq!(gradient(x.mish())[..2], [0.0, 1.0]);
        assert_eq!(gradient(x.softplus(1.0, 20.0))[..2], [0.0, 1.0]);
        assert_eq!(gradient(x.log_sigmoid())[..2], [1.0, 0.0]);
        for y in [x.relu(), x.hard_shrink(0.5), x.soft_shrink(0.5), x.threshold(0.0, 1.0), x.relu6()] {
            assert!(floats(&y.unwrap())[2].is_nan());
        }
        let ints: Tensor = Value::from_slice(&[1i32], &[1]).unwrap().into();
        assert!(ints.relu().is_err() && ints.hardtanh(0.0, 1.0).is_err());
    }

    #[test]
    fn prelu_has_a_slope_for_all_or_for_each_channel() {
        let x = float(&[-1.0, 2.0, -3.0, 4.0, -5.0, -6.0], &[1, 3, 2]);
        let slopes = float(&[0.1, 0.2, 0.3], &[3]);
        let expected = [-0.1, 2.0, -0.2 * 3.0, 4.0, -1.5, -0.3 * 6.0];
        for x in [x.clone(), column_major(&x)] {
            let y = floats(&x.prelu(&slopes).unwrap());
            assert!(y.iter().zip(expected).all(|(&y, e)| close(y, e, 1e-12)), "{y:?}");
            check_gradients("prelu", &|x| x[0].prelu(&x[1]), &[x.clone(), slopes.clone()]);
            check_gradients("prelu", &|x| x[0].prelu(&x[1]), &[x, float(&[0.25], &[1])]);
        }
        assert!(x.prelu(&float(&[0.1, 0.2], &[2])).is_err());
        assert_eq!(floats(&float(&[-2.0], &[1]).prelu(&float(&[0.5], &[1])).unwrap()), [-1.0]);
    }

    #[test]
    fn glu_gates_one_half_by_the_other() {
        let data = [-0.5710, -1.3416, 1.9128, -0.8257, -0.1331, -1.4804, -0.6281, -0.6115];
        let y = floats(&float(&data, &[1, 8]).glu(-1).unwrap());
        for (y, expected) in y.iter().zip([-0.2665, -0.2487, 0.6656, -0.2904]) {
            assert!(close(*y, expected, 1e-4));
        }
        for (shape, dim) in [([2, 4, 1], 1), ([2, 2, 2], 0), ([1, 2, 4], -1)] {
            let x = float(&data, &shape);
            check_gradients("glu", &|x| x[0].glu(dim), std::slice::from_ref(&x));
            check_gradients("glu", &|x| x[0].glu(dim), &[column_major(&x)]);
        }
        assert!(float(&data, &[8, 1]).glu(1).is_err() && float(&data, &[8]).glu(1).is_err());
        assert_eq!(float(&[], &[0, 4]).glu(1).unwrap().shape(), [0, 2]);
    }
}
