"""Activation functions: methods of tensors, and functions of `burnpy.tensor.activation`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burnpy.testing import Drawn
from tests.tensor.operations.operation import AXES, LARGE_ONE, Operation, unary

_erf = np.vectorize(math.erf, otypes=[float])
_SELU_ALPHA, _SELU_GAMMA = 1.6732632423543772, 1.0507009873554805


def _away(*points: float) -> Drawn:
    return Drawn(low=-4.0, high=4.0, away=points, apart=0.05)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _glu(x: Any) -> Any:
    a, b = np.split(x, 2, axis=1)
    return a * _sigmoid(b)


def _shrunk(x: Any, lambd: float, bias: float) -> Any:
    return np.where(x > lambd, x - bias, np.where(x < -lambd, x + bias, 0.0))


def _gelu_tanh(x: Any) -> Any:
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _quiet(x: Any) -> Any:
    return np.exp(x) / (1 + np.exp(x).sum(axis=1, keepdims=True))


# Name, formula, where it has kinks, arguments.
_CURVES: list[tuple[str, Callable[[Any], Any], tuple[float, ...], tuple[float, ...]]] = [
    ("relu", lambda x: np.maximum(x, 0), (0.0,), ()),
    ("relu6", lambda x: np.clip(x, 0, 6), (0.0,), ()),
    ("leaky_relu", lambda x: np.where(x >= 0, x, 0.01 * x), (0.0,), ()),
    ("leaky_relu", lambda x: np.where(x >= 0, x, 0.25 * x), (0.0,), (0.25,)),
    ("elu", _elu, (0.0,), ()),
    ("elu", lambda x: _elu(x, 0.5), (0.0,), (0.5,)),
    ("celu", lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2)), (0.0,), (2.0,)),
    ("selu", lambda x: _SELU_GAMMA * _elu(x, _SELU_ALPHA), (0.0,), ()),
    ("gelu", lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2, (), ()),
    ("gelu_approximate", _gelu_tanh, (), ()),
    ("silu", lambda x: x * _sigmoid(x), (), ()),
    ("mish", lambda x: x * np.tanh(_softplus(x)), (), ()),
    ("sigmoid", _sigmoid, (), ()),
    ("log_sigmoid", lambda x: -_softplus(-x), (), ()),
    ("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1), (-2.5, 2.5), ()),
    ("hard_swish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), (-3.0, 3.0), ()),
    ("hardtanh", lambda x: np.clip(x, -1, 1), (-1.0, 1.0), ()),
    ("hardtanh", lambda x: np.clip(x, -0.5, 2), (-0.5, 2.0), (-0.5, 2.0)),
    ("softplus", _softplus, (), ()),
    ("softplus", lambda x: np.where(2 * x > 4, x, _softplus(2 * x) / 2), (2.0,), (2.0, 4.0)),
    ("softsign", lambda x: x / (1 + np.abs(x)), (0.0,), ()),
    ("tanhshrink", lambda x: x - np.tanh(x), (), ()),
    ("hard_shrink", lambda x: np.where(np.abs(x) > 0.5, x, 0), (-0.5, 0.5), ()),
    ("soft_shrink", lambda x: _shrunk(x, 0.5, 0.5), (-0.5, 0.5), ()),
    ("shrink", lambda x: _shrunk(x, 1.0, 0.25), (-1.0, 1.0), (1.0, 0.25)),
    ("thresholded_relu", lambda x: np.where(x > 1, x, 0), (1.0,), ()),
    ("threshold", lambda x: np.where(x > 0.5, x, -3.0), (0.5,), (0.5, -3.0)),
]

METHODS = [
    *(unary(name, formula, _away(*kinks), args=args, note="-".join(f"{number:g}" for number in args))
      for name, formula, kinks, args in _CURVES),
    unary("prelu", lambda x, a: np.where(x >= 0, x, a * x), (_away(0.0), Drawn()),
          shapes=[((3, 4), (1,)), ((1,), (1,)), ((0, 2), (1,))], large=((257, 1031), (1,))),
    unary("prelu", lambda x, a: np.where(x >= 0, x, a[None, :, None] * x), (_away(0.0), Drawn()),
          shapes=[((2, 3, 4), (3,)), ((1, 1, 1), (1,))], large=((8, 64, 500), (64,)), note="channels"),
    Operation("glu", _glu, [(2, 4), (3, 6, 2), (1, 2), (2, 0)], args=(1,), large=((257, 1030),)),
    Operation("softmax", _softmax, AXES, args=(1,), large=LARGE_ONE),
    Operation("log_softmax", lambda x: np.log(_softmax(x)), AXES, args=(1,), large=LARGE_ONE),
    Operation("softmin", lambda x: _softmax(-x), AXES, args=(1,), large=LARGE_ONE),
    Operation("quiet_softmax", _quiet, AXES, args=(1,), large=LARGE_ONE),
]  # fmt: skip


def _function(operation: Operation) -> Operation:
    """The function of `burnpy.tensor.activation` that is the method, of which one dtype will do."""
    return Operation(
        **{**vars(operation), "name": f"activation.{operation.name}", "dtypes": ["float64"], "large": None}
    )


OPERATIONS = [*METHODS, *map(_function, METHODS), _function(unary("tanh", np.tanh))]
