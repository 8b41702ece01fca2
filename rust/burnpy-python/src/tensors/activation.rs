//! Activation functions, behind `burnpy.tensor.activation`.

use pyo3::prelude::*;

use super::gate;
use super::methods::{along, pairs, unary};
use super::tensor::PyTensor;

unary! {
    /// ``max(x, 0)``; the gradient at 0 is 0, NaN stays NaN.
    relu;
    /// x kept between 0 and 6.
    relu6;
    /// Self-normalising: ``γ x`` where x ≥ 0, else ``γ α (e^x − 1)``.
    selu;
    /// ``x Φ(x)``, Φ the normal distribution.
    gelu;
    /// ``x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2``.
    gelu_approximate;
    /// ``x σ(x)``.
    silu;
    /// ``x tanh(ln(1 + e^x))``.
    mish;
    /// ``1 / (1 + e^−x)``.
    sigmoid;
    /// ``ln σ(x)``, without overflow.
    log_sigmoid;
    /// x times ``x / 6 + 1/2`` kept between 0 and 1.
    hard_swish;
    /// ``x / (1 + |x|)``.
    softsign;
    /// ``x − tanh x``.
    tanhshrink;
}

along! {
    /// ``a σ(b)``, a the first half of an axis and b the second.
    glu;
}

pairs! {
    /// x where x ≥ 0, else ``alpha · x`` with a learned alpha of shape ``(1,)``, or ``(channels,)`` for axis 1.
    prelu;
}

/// Functions of each element with parameters.
macro_rules! curves {
    ($($(#[doc = $text:literal])+ $name:ident($($parameter:ident = $default:literal),+);)+) => {
        #[pymethods]
        impl PyTensor {
            $($(#[doc = $text])+
            #[pyo3(signature = ($($parameter=$default),+))]
            fn $name(&self, py: Python<'_>, $($parameter: f64),+) -> PyResult<Self> {
                gate::tensor(py, self.0.num_elements(), || self.0.$name($($parameter),+))
            })+
        }
    };
}

curves! {
    /// x where x ≥ 0, else ``negative_slope · x``.
    leaky_relu(negative_slope = 0.01);
    /// x where x > 0, else ``alpha (e^x − 1)``.
    elu(alpha = 1.0);
    /// x where x > 0, else ``alpha (e^(x / alpha) − 1)``.
    celu(alpha = 1.0);
    /// ``alpha x + beta`` kept between 0 and 1.
    hard_sigmoid(alpha = 0.2, beta = 0.5);
    /// x kept between two bounds.
    hardtanh(min_val = -1.0, max_val = 1.0);
    /// ``ln(1 + e^(beta x)) / beta``, and x itself where ``beta x > threshold``.
    softplus(beta = 1.0, threshold = 20.0);
    /// x where ``|x| > lambda``, else 0.
    hard_shrink(lambda_ = 0.5);
    /// ``sign x · max(|x| − lambda, 0)``.
    soft_shrink(lambda_ = 0.5);
    /// ``x − bias`` where ``x > lambda``, ``x + bias`` where ``x < −lambda``, else 0.
    shrink(lambda_ = 0.5, bias = 0.5);
    /// x where ``x > alpha``, else 0.
    thresholded_relu(alpha = 1.0);
}

#[pymethods]
impl PyTensor {
    /// x where ``x > threshold``, else ``value``.
    fn threshold(&self, py: Python<'_>, threshold: f64, value: f64) -> PyResult<Self> {
        gate::tensor(py, self.0.num_elements(), || self.0.threshold(threshold, value))
    }
}
