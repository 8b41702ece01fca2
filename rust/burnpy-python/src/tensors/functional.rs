//! Functions of `burnpy.tensor.module` and `burnpy.tensor.activation` that are one operation: linear maps, norms,
//! attention, losses.

use burnpy_tensor::Tensor;
use burnpy_tensor::kernels::gemm::Activation;
use burnpy_tensor::ops::{AttentionOptions, CrossEntropy};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::gate;
use super::tensor::PyTensor;

/// A tensor among the arguments of a function.
type Arg<'a, 'py> = &'a Bound<'py, PyTensor>;

/// ``activation(x @ weight + bias)`` in one pass.
///
/// Args:
///     x: ``(…, in)``.
///     weight: ``(in, out)``.
///     bias: ``(out,)``.
///     activation: ``"relu"``, ``"gelu"`` or none.
#[pyfunction]
#[pyo3(signature = (x, weight, bias=None, *, activation=None))]
pub(crate) fn linear(
    py: Python<'_>,
    x: Arg<'_, '_>,
    weight: Arg<'_, '_>,
    bias: Option<Arg<'_, '_>>,
    activation: Option<&str>,
) -> PyResult<PyTensor> {
    let activation = match activation {
        None => Activation::None,
        Some("relu") => Activation::Relu,
        Some(other) => {
            return Err(PyValueError::new_err(format!("activation must be \"relu\" or None, got {other:?}")));
        }
    };
    let (x, weight, bias) = (inner(x), inner(weight), bias.map(inner));
    let work = x.num_elements().saturating_mul(weight.shape().last().copied().unwrap_or(1));
    gate::tensor(py, work, || x.linear(weight, bias, activation))
}

/// ``(x − mean) / √(var + epsilon) · gamma + beta`` along the last axis.
#[pyfunction]
#[pyo3(signature = (x, gamma, beta=None, *, epsilon=1e-5))]
pub(crate) fn layer_norm(
    py: Python<'_>,
    x: Arg<'_, '_>,
    gamma: Arg<'_, '_>,
    beta: Option<Arg<'_, '_>>,
    epsilon: f64,
) -> PyResult<PyTensor> {
    let (x, gamma, beta) = (inner(x), inner(gamma), beta.map(inner));
    gate::tensor(py, x.num_elements(), || x.layer_norm(gamma, beta, epsilon))
}

/// ``x / √(mean(x²) + epsilon) · gamma`` along the last axis.
#[pyfunction]
#[pyo3(signature = (x, gamma, *, epsilon=1e-5))]
pub(crate) fn rms_norm(
    py: Python<'_>,
    x: Arg<'_, '_>,
    gamma: Arg<'_, '_>,
    epsilon: f64,
) -> PyResult<PyTensor> {
    let (x, gamma) = (inner(x), inner(gamma));
    gate::tensor(py, x.num_elements(), || x.rms_norm(gamma, epsilon))
}

/// Normalises channels, axis 1, by statistics that are given: the norm in inference. All four are ``(channels,)``.
#[pyfunction]
#[pyo3(signature = (x, gamma, beta, mean, variance, *, epsilon=1e-5))]
pub(crate) fn batch_norm(
    py: Python<'_>,
    x: Arg<'_, '_>,
    gamma: Arg<'_, '_>,
    beta: Arg<'_, '_>,
    mean: Arg<'_, '_>,
    variance: Arg<'_, '_>,
    epsilon: f64,
) -> PyResult<PyTensor> {
    let (x, [gamma, beta, mean, variance]) = (inner(x), [gamma, beta, mean, variance].map(inner));
    gate::tensor(py, x.num_elements(), || x.batch_norm(gamma, beta, mean, variance, epsilon))
}

/// Normalises channels, axis 1, by the statistics of this batch: the norm in training. Then the mean and the biased
/// variance of each channel, detached.
#[pyfunction]
#[pyo3(signature = (x, gamma, beta, *, epsilon=1e-5))]
pub(crate) fn batch_norm_train(
    py: Python<'_>,
    x: Arg<'_, '_>,
    gamma: Arg<'_, '_>,
    beta: Arg<'_, '_>,
    epsilon: f64,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    let (x, gamma, beta) = (inner(x), inner(gamma), inner(beta));
    let (y, mean, variance) = gate::run(py, x.num_elements(), || x.batch_norm_train(gamma, beta, epsilon))?;
    Ok((PyTensor(y), PyTensor(mean), PyTensor(variance)))
}

/// ``softmax(scale · query @ keyᵀ + bias) @ value`` of each batch and head, ``(batch, heads, length, width)``.
///
/// Args:
///     mask: true hides a key; broadcast to ``(batch, heads, queries, keys)``. A query from which all are hidden gets 0.
///     bias: added to the scores; broadcast alike.
///     scale: by default 1 / √width.
///     softcap: ``c`` makes ``c tanh(s / c)`` of scores.
///     is_causal: query i sees keys up to ``i + keys − queries`` only.
#[pyfunction]
#[pyo3(signature = (query, key, value, mask=None, bias=None, *, scale=None, softcap=None, is_causal=false))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn attention(
    py: Python<'_>,
    query: Arg<'_, '_>,
    key: Arg<'_, '_>,
    value: Arg<'_, '_>,
    mask: Option<Arg<'_, '_>>,
    bias: Option<Arg<'_, '_>>,
    scale: Option<f64>,
    softcap: Option<f64>,
    is_causal: bool,
) -> PyResult<PyTensor> {
    let options = AttentionOptions { scale, softcap, is_causal };
    let (query, key, value) = (inner(query), inner(key), inner(value));
    let (mask, bias) = (mask.map(inner), bias.map(inner));
    let work = gate::work(query, key);
    gate::tensor(py, work, || query.attention(key, value, mask, bias, &options))
}

/// Cross-entropy of rows ``(…, classes)`` and the classes ``(…)`` that they should have.
///
/// Args:
///     weights: one for each class.
///     smoothing: the share of the target that is spread evenly over all classes.
///     ignored: rows with these targets do not count.
///     logits: whether the input is logits, else probabilities.
///     reduction: ``"mean"``, over the weights of the rows' targets, of shape ``(1,)``; ``"none"``, of the targets' shape.
#[pyfunction]
#[pyo3(signature = (x, targets, *, weights=None, smoothing=0.0, ignored=Vec::new(), logits=true, reduction="mean"))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn cross_entropy(
    py: Python<'_>,
    x: Arg<'_, '_>,
    targets: Arg<'_, '_>,
    weights: Option<Vec<f64>>,
    smoothing: f64,
    ignored: Vec<i64>,
    logits: bool,
    reduction: &str,
) -> PyResult<PyTensor> {
    let how = CrossEntropy { weights, smoothing, ignored, logits };
    let (x, targets) = (inner(x), inner(targets));
    match reduction {
        "mean" => gate::tensor(py, x.num_elements(), || x.cross_entropy(targets, &how)),
        "none" => gate::tensor(py, x.num_elements(), || x.cross_entropy_rows(targets, &how)),
        other => Err(PyValueError::new_err(format!("reduction must be \"mean\" or \"none\", got {other:?}"))),
    }
}

/// Connectionist temporal classification of log-probabilities ``(time, batch, classes)``: a loss for each sequence,
/// ``(batch,)``, ∞ for what cannot be aligned (0 with ``zero_infinity``).
#[pyfunction]
#[pyo3(signature = (log_probs, targets, input_lengths, target_lengths, *, blank=0, zero_infinity=false))]
pub(crate) fn ctc_loss(
    py: Python<'_>,
    log_probs: Arg<'_, '_>,
    targets: Arg<'_, '_>,
    input_lengths: Arg<'_, '_>,
    target_lengths: Arg<'_, '_>,
    blank: usize,
    zero_infinity: bool,
) -> PyResult<PyTensor> {
    let (x, [targets, inputs, lengths]) =
        (inner(log_probs), [targets, input_lengths, target_lengths].map(inner));
    gate::tensor(py, x.num_elements(), || x.ctc_loss(targets, inputs, lengths, blank, zero_infinity))
}

/// Rows of a table ``(entries, width)`` by indices of any shape: ``(…, width)``.
#[pyfunction]
pub(crate) fn embedding(py: Python<'_>, weight: Arg<'_, '_>, indices: Arg<'_, '_>) -> PyResult<PyTensor> {
    let (weight, indices) = (inner(weight), inner(indices));
    let width = weight.shape().last().copied().unwrap_or(1);
    gate::tensor(py, indices.num_elements().saturating_mul(width), || weight.embedding(indices))
}

fn inner<'a>(tensor: &'a Bound<'_, PyTensor>) -> &'a Tensor {
    &tensor.get().0
}
