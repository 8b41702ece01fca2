"""Tensors of a rule. Each is called with a tensor whose shape says which."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burnpy import Tensor
from burnpy._core import new_stream
from burnpy.testing import Drawn
from tests.tensor.operations.operation import (
    INT,
    LARGE_ONE,
    NATURAL,
    Cases,
    Operation,
    bools,
    ints,
    naturals,
    unary,
)

MATRIX: Cases = [(3, 4), (1, 1), (0, 2)]


def made(name: str, reference: Callable[..., Any], call: Callable[..., Any], **rest: Any) -> Operation:
    rest = {
        "shapes": [(2, 3), (), (1,), (0, 2)],
        "gradient": False,
        "keeps_dtype": False,
        "dtypes": ["float32"],
    } | rest
    return Operation(name, reference, call=call, **rest)


def _grid(x: Any) -> Any:
    return np.stack(np.meshgrid(*map(np.arange, x.shape), indexing="ij"), -1)


def _one_hot(x: Any, count: int) -> Any:
    return np.eye(count, dtype=np.int64)[x]


def _in_unit_interval(x: Tensor) -> Tensor:
    return (x >= 0.0).bool_and(x < 1.0)


def _dropped_or_scaled(x: Tensor) -> Tensor:
    y = x.dropout(0.25)
    return (y == 0.0).bool_or((y * 0.75 - x).abs() < 0.02)


def _drawn_of_the_largest(weights: Tensor) -> Tensor:
    return weights.mask_fill(weights < weights.max_dim(-1), 0.0).categorical(5)


LIKE = [
    unary("zeros_like", np.zeros_like, gradient=False),
    unary("ones_like", np.ones_like, gradient=False),
    unary("full_like", lambda x: np.full_like(x, 2.5), args=(2.5,), gradient=False),
    naturals(unary("ones_like", np.ones_like)),
    ints(unary("full_like", lambda x: np.full_like(x, -3)), INT, args=(-3,)),
    bools(unary("zeros_like", np.zeros_like)),
    unary(
        "empty_like",
        lambda x: np.asarray(x.shape, dtype=int),
        call=lambda x: Tensor(np.asarray(x.empty_like().shape, dtype=np.int64)),
        gradient=False,
    ),
]

CONSTANTS = [
    made("zeros", np.zeros_like, lambda x: Tensor.zeros(x.shape)),
    made("ones", np.ones_like, lambda x: Tensor.ones(x.shape)),
    made(
        "ones", lambda x: np.ones(x.shape, dtype=int), lambda x: Tensor.ones(x.shape, dtype="i8"), note="ints"
    ),
    made("full", lambda x: np.full(x.shape, 2.5), lambda x: Tensor.full(x.shape, 2.5)),
    made("full", lambda x: np.full(x.shape, 7), lambda x: Tensor.full(x.shape, 7), note="ints"),
    made("empty", lambda x: x * 0, lambda x: Tensor.empty(x.shape).mask_fill(x == x, 0.0)),
    made("arange", lambda x: np.arange(2, 7), lambda x: Tensor.arange(2, 7), shapes=[(1,)]),
    made("arange_step", lambda x: np.arange(2, 13, 3), lambda x: Tensor.arange_step(2, 13, 3), shapes=[(1,)]),
    made("eye", lambda x: np.eye(len(x)), lambda x: Tensor.eye(x.shape[0]), shapes=[(3,), (1,), (0,)]),
    made("cartesian_grid", _grid, lambda x: Tensor.cartesian_grid(x.shape), shapes=[(2, 3), (4,), (2, 1, 3)]),
    *(
        made(
            f"{name}_mask",
            reference,
            lambda x, name=name: getattr(Tensor, f"{name}_mask")(x.shape, 1),
            shapes=MATRIX,
        )
        for name, reference in {
            "tril": lambda x: ~np.tri(*x.shape, 1, dtype=bool),
            "triu": lambda x: np.tri(*x.shape, 0, dtype=bool),
            "diag": lambda x: ~np.eye(*x.shape, 1, dtype=bool),
        }.items()
    ),
]

CLASSES = [
    Operation(
        "one_hot",
        lambda x: _one_hot(x, 6),
        [(3,), (2, 3), (0,)],
        NATURAL,
        args=(6,),
        gradient=False,
        dtypes=["int64", "int32", "uint8"],
    ),
    Operation(
        "one_hot_fill",
        lambda x: np.where(_one_hot(x, 6) == 1, 5, 2),
        [(3,), (2, 3)],
        NATURAL,
        args=(6, 5, 2, -1),
        gradient=False,
        dtypes=["int64", "int16"],
    ),
    Operation(
        "one_hot_fill",
        lambda x: np.where(np.moveaxis(_one_hot(x.astype(int), 4), -1, 0) == 1, 0.5, -1.0),
        [(3,), (2, 3)],
        Drawn(low=0.0, high=3.0, step=1.0),
        args=(4, 0.5, -1.0, 0),
        gradient=False,
        note="floats",
    ),
]

RANDOM = [
    made("random", lambda x: x == x, lambda x: _in_unit_interval(Tensor.random(x.shape)), large=LARGE_ONE),
    made("random_like", lambda x: x == x, lambda x: _in_unit_interval(x.random_like())),
    made(
        "random_from",
        lambda x: x == x,
        lambda x: _in_unit_interval(Tensor.random_from(new_stream(), x.shape)),
        large=LARGE_ONE,
    ),
    Operation(
        "categorical",
        lambda x: np.repeat(np.argmax(x, -1)[..., None], 5, -1),
        [(3,), (2, 4), (2, 3, 1), (0, 2)],
        Drawn(low=0.2, high=2.0, distinct=True),
        call=_drawn_of_the_largest,
        gradient=False,
        large=(300, 70),
    ),
    made("dropout", lambda x: x == x, _dropped_or_scaled, large=LARGE_ONE),
    unary("dropout", lambda x: x, args=(0.0,), note="none"),
]

OPERATIONS = [*LIKE, *CONSTANTS, *CLASSES, *RANDOM]
