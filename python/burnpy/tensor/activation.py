"""Activation functions, under Burn's names.

Example:
    >>> from burnpy import Tensor
    >>> softmax(Tensor([[0.0, 0.0]]), 1).tolist()
    [[0.5, 0.5]]
    >>> relu(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
"""

from __future__ import annotations

from burnpy._core import Tensor

__all__ = [
    "celu",
    "elu",
    "gelu",
    "gelu_approximate",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "prelu",
    "quiet_softmax",
    "relu",
    "relu6",
    "selu",
    "shrink",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "thresholded_relu",
]


def relu(tensor: Tensor) -> Tensor:
    """``max(x, 0)``; the gradient at 0 is 0, NaN stays NaN."""
    return tensor.relu()


def relu6(tensor: Tensor) -> Tensor:
    """X kept between 0 and 6."""
    return tensor.relu6()


def leaky_relu(tensor: Tensor, negative_slope: float = 0.01) -> Tensor:
    """X where x ≥ 0, else ``negative_slope · x``."""
    return tensor.leaky_relu(negative_slope)


def prelu(tensor: Tensor, alpha: Tensor) -> Tensor:
    """X where x ≥ 0, else ``alpha · x`` with a learned alpha, ``(1,)`` or ``(channels,)`` for axis 1."""
    return tensor.prelu(alpha)


def thresholded_relu(tensor: Tensor, alpha: float = 1.0) -> Tensor:
    """X where ``x > alpha``, else 0."""
    return tensor.thresholded_relu(alpha)


def threshold(tensor: Tensor, threshold: float, value: float) -> Tensor:
    """X where ``x > threshold``, else ``value``."""
    return tensor.threshold(threshold, value)


def elu(tensor: Tensor, alpha: float = 1.0) -> Tensor:
    """X where x > 0, else ``alpha (e^x − 1)``."""
    return tensor.elu(alpha)


def celu(tensor: Tensor, alpha: float = 1.0) -> Tensor:
    """X where x > 0, else ``alpha (e^(x / alpha) − 1)``."""
    return tensor.celu(alpha)


def selu(tensor: Tensor) -> Tensor:
    """Self-normalising: ``γ x`` where x ≥ 0, else ``γ α (e^x − 1)``."""
    return tensor.selu()


def gelu(tensor: Tensor) -> Tensor:
    """``x Φ(x)``, Φ the normal distribution."""
    return tensor.gelu()


def gelu_approximate(tensor: Tensor) -> Tensor:
    """``x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2``."""
    return tensor.gelu_approximate()


def silu(tensor: Tensor) -> Tensor:
    """``x σ(x)``."""
    return tensor.silu()


def mish(tensor: Tensor) -> Tensor:
    """``x tanh(ln(1 + e^x))``."""
    return tensor.mish()


def sigmoid(tensor: Tensor) -> Tensor:
    """``1 / (1 + e^−x)``."""
    return tensor.sigmoid()


def log_sigmoid(tensor: Tensor) -> Tensor:
    """``ln σ(x)``, without overflow."""
    return tensor.log_sigmoid()


def hard_sigmoid(tensor: Tensor, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """``alpha x + beta`` kept between 0 and 1."""
    return tensor.hard_sigmoid(alpha, beta)


def hard_swish(tensor: Tensor) -> Tensor:
    """X times ``x / 6 + 1/2`` kept between 0 and 1."""
    return tensor.hard_swish()


def hardtanh(tensor: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """X kept between two bounds."""
    return tensor.hardtanh(min_val, max_val)


def tanh(tensor: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return tensor.tanh()


def tanhshrink(tensor: Tensor) -> Tensor:
    """``x − tanh x``."""
    return tensor.tanhshrink()


def softplus(tensor: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``ln(1 + e^(beta x)) / beta``, and x itself where ``beta x > threshold``."""
    return tensor.softplus(beta, threshold)


def softsign(tensor: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return tensor.softsign()


def hard_shrink(tensor: Tensor, lambda_: float = 0.5) -> Tensor:
    """X where ``|x| > lambda``, else 0."""
    return tensor.hard_shrink(lambda_)


def soft_shrink(tensor: Tensor, lambda_: float = 0.5) -> Tensor:
    """``sign x · max(|x| − lambda, 0)``."""
    return tensor.soft_shrink(lambda_)


def shrink(tensor: Tensor, lambda_: float = 0.5, bias: float = 0.5) -> Tensor:
    """``x − bias`` where ``x > lambda``, ``x + bias`` where ``x < −lambda``, else 0."""
    return tensor.shrink(lambda_, bias)


def glu(tensor: Tensor, dim: int) -> Tensor:
    """``a σ(b)``, a the first half of an axis and b the second."""
    return tensor.glu(dim)


def softmax(tensor: Tensor, dim: int) -> Tensor:
    """``e^x / Σ e^x`` along an axis."""
    return tensor.softmax(dim)


def log_softmax(tensor: Tensor, dim: int) -> Tensor:
    """``x − ln Σ e^x`` along an axis."""
    return tensor.log_softmax(dim)


def softmin(tensor: Tensor, dim: int) -> Tensor:
    """The softmax of ``−x`` along an axis."""
    return tensor.softmin(dim)


def quiet_softmax(tensor: Tensor, dim: int) -> Tensor:
    """``e^x / (1 + Σ e^x)`` along an axis, which can be 0 for all elements."""
    return tensor.quiet_softmax(dim)
