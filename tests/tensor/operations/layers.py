"""Functions that layers are made of: linear maps, norms, attention, losses."""

import math
from typing import Any

import numpy as np

from burnpy import Tensor
from burnpy.tensor import module
from burnpy.testing import Drawn
from tests.tensor.operations.operation import BOOL, POSITIVE, Cases, Operation

AWAY = Drawn(away=(0.0,), apart=0.2)


def _linear(x: Any, weight: Any, bias: Any = 0.0) -> Any:
    return x @ weight + bias


def _layer_norm(x: Any, gamma: Any, beta: Any = 0.0) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * gamma + beta


def _rms_norm(x: Any, gamma: Any) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gamma


def _channels(x: Any, *vectors: Any) -> list[Any]:
    return [v.reshape(-1, *[1] * (x.ndim - 2)) for v in vectors]


def _batch_norm(x: Any, *statistics: Any) -> Any:
    gamma, beta, mean, variance = _channels(x, *statistics)
    return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta


def _batch_norm_train(x: Any, gamma: Any, beta: Any) -> Any:
    axes = (0, *range(2, x.ndim))
    mean, variance = x.mean(axis=axes), x.var(axis=axes)
    return _batch_norm(x, gamma, beta, mean, variance)


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _attention(query: Any, key: Any, value: Any, bias: Any = 0.0, scale: float | None = None) -> Any:
    scores = query @ key.swapaxes(-1, -2) * (scale or 1 / math.sqrt(query.shape[-1])) + bias
    return _softmax(scores) @ value


def _masked(query: Any, key: Any, value: Any, mask: Any) -> Any:
    mask = mask & ~mask.all(axis=-1, keepdims=True)
    return _attention(query, key, value, np.where(mask, -np.inf, 0.0))


def _call_masked(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    every = mask.all_dim(-1).expand(mask.shape)
    return module.attention(query, key, value, mask.bool_and(every.bool_not()))


def _causal(query: Any, key: Any, value: Any) -> Any:
    queries, keys = query.shape[-2], key.shape[-2]
    return _attention(query, key, value, np.where(np.tri(queries, keys, keys - queries), 0.0, -np.inf))


def _capped(query: Any, key: Any, value: Any) -> Any:
    return _softmax(2 * np.tanh(query @ key.swapaxes(-1, -2) * 0.3 / 2)) @ value


def _rows(x: Any, targets: Any) -> Any:
    return -np.take_along_axis(np.log(_softmax(x)), targets[..., None], -1)[..., 0]


def _smooth(x: Any, targets: Any) -> Any:
    logs = np.log(_softmax(x))
    weights = np.array([1.0, 2.0, 0.5])
    wanted = 0.9 * np.eye(3)[targets] + 0.1 / 3
    return np.reshape(-(logs * wanted * weights).sum() / weights[targets].sum(), 1)


def _ctc(x: Any, targets: Any) -> Any:
    """The sum over all alignments of all time steps to all labels, one batch after the other."""
    losses = []
    for b, labels in enumerate(targets):
        states = [0]
        for label in labels:
            states += [int(label), 0]
        alpha = np.zeros(len(states))
        alpha[:2] = np.exp(x[0, b, states[:2]])
        for t in range(1, len(x)):
            before = alpha.copy()
            for s, state in enumerate(states):
                skips = s >= 2 and state != 0 and state != states[s - 2]
                total = before[s] + (before[s - 1] if s else 0.0) + (before[s - 2] if skips else 0.0)
                alpha[s] = total * np.exp(x[t, b, state])
        losses.append(-np.log(alpha[-2:].sum()))
    return np.array(losses)


def _call_ctc(x: Tensor, targets: Tensor) -> Tensor:
    time, batch, _ = x.shape
    lengths = Tensor([time] * batch), Tensor([targets.shape[1]] * batch)
    return module.ctc_loss(x, targets, *lengths)


HEADS: Cases = [((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)), ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1))]
_LARGE_HEADS = ((2, 4, 200, 32),) * 3
LABELS = Drawn("int", low=0, high=3)

OPERATIONS = [
    Operation(
        "module.linear",
        _linear,
        [((3, 5), (5, 4), (4,)), ((2, 3, 5), (5, 4), (4,)), ((1, 1), (1, 1), (1,)), ((0, 2), (2, 3), (3,))],
        rel=4,
        same_bits=False,
        large=((257, 300), (300, 400), (400,)),
    ),
    Operation(
        "module.linear", _linear, [((3, 5), (5, 4)), ((5,), (5, 2))], rel=4, same_bits=False, note="no-bias"
    ),
    Operation(
        "module.linear",
        lambda *t: np.maximum(_linear(*t), 0),
        [((3, 5), (5, 4), (4,))],
        rel=4,
        same_bits=False,
        options={"activation": "relu"},
        note="relu",
    ),
    Operation(
        "module.layer_norm",
        _layer_norm,
        [((2, 3, 4), (4,), (4,)), ((3, 7), (7,), (7,)), ((0, 3), (3,), (3,))],
        rel=10,
        large=((500, 256), (256,), (256,)),
    ),
    Operation("module.layer_norm", _layer_norm, [((2, 3, 4), (4,))], rel=10, note="no-beta"),
    Operation(
        "module.rms_norm",
        _rms_norm,
        [((2, 3, 4), (4,)), ((3, 1), (1,)), ((0, 3), (3,))],
        AWAY,
        rel=10,
        large=((500, 256), (256,)),
    ),
    Operation(
        "module.batch_norm",
        _batch_norm,
        [((2, 3, 4), *[(3,)] * 4), ((4, 2), *[(2,)] * 4), ((2, 3, 2, 2), *[(3,)] * 4)],
        (Drawn(), Drawn(), Drawn(), Drawn(), POSITIVE),
        rel=4,
        large=((16, 32, 20, 20), *[(32,)] * 4),
    ),
    Operation(
        "module.batch_norm_train",
        _batch_norm_train,
        [((4, 3, 5), (3,), (3,)), ((5, 2), (2,), (2,))],
        rel=20,
        call=lambda *t: module.batch_norm_train(*t)[0],
        large=((16, 32, 20, 20), (32,), (32,)),
    ),
    Operation("module.attention", _attention, HEADS, rel=4, large=_LARGE_HEADS),
    Operation(
        "module.attention",
        _causal,
        HEADS,
        rel=4,
        options={"is_causal": True},
        note="causal",
        large=_LARGE_HEADS,
    ),
    Operation(
        "module.attention", _capped, HEADS, rel=4, options={"scale": 0.3, "softcap": 2.0}, note="capped"
    ),
    Operation(
        "module.attention",
        _masked,
        [((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), (2, 2, 3, 5))],
        (Drawn(), Drawn(), Drawn(), BOOL),
        call=_call_masked,
        rel=4,
        note="mask",
    ),
    Operation(
        "module.attention",
        _attention,
        [((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), (1, 2, 3, 5))],
        call=lambda q, k, v, bias: module.attention(q, k, v, bias=bias),
        rel=4,
        note="bias",
    ),
    Operation(
        "module.cross_entropy",
        lambda x, t: np.reshape(_rows(x, t).mean(), 1),
        [((4, 3), (4,)), ((1, 3), (1,)), ((2, 2, 3), (2, 2))],
        (Drawn(), LABELS),
        rel=4,
        large=((3000, 100), (3000,)),
    ),
    Operation(
        "module.cross_entropy",
        _rows,
        [((4, 3), (4,)), ((2, 2, 3), (2, 2))],
        (Drawn(), LABELS),
        rel=4,
        options={"reduction": "none"},
        note="none",
    ),
    Operation(
        "module.cross_entropy",
        _smooth,
        [((4, 3), (4,))],
        (Drawn(), LABELS),
        rel=4,
        options={"weights": [1.0, 2.0, 0.5], "smoothing": 0.1},
        note="smooth",
    ),
    Operation(
        "module.ctc_loss",
        _ctc,
        [((5, 2, 3), (2, 2)), ((4, 1, 3), (1, 1))],
        (Drawn(low=-3.0, high=0.0), Drawn("int", low=1, high=3)),
        call=_call_ctc,
        rel=10,
        large=((100, 8, 3), (8, 20)),
    ),
]
