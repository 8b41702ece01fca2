"""Reductions, running results, order along an axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burnpy.testing import Drawn
from tests.tensor.operations.operation import (
    AXES,
    BOOL,
    DISTINCT,
    INT,
    LARGE_ONE,
    NATURAL,
    STEPPED,
    Cases,
    Operation,
    bools,
    ints,
    naturals,
)

FULL: Cases = [(), (1,), (7,), (2, 3, 4), (5, 1, 33)]
EMPTY: Cases = [*FULL, (0,), (3, 0, 2)]
EMPTY_AXES: Cases = [*AXES, (0, 2), (2, 0)]
AWAY = Drawn(away=(0.0,), apart=0.2)
SIGNED_DISTINCT = Drawn(low=-1.9, high=2.2, distinct=True)


def whole(name: str, reference: Callable[..., Any], inputs: Drawn | None = None, **rest: Any) -> Operation:
    """A reduction of everything to one element."""
    return Operation(
        name,
        lambda x: np.reshape(reference(x), 1),
        **{"shapes": EMPTY, "inputs": inputs, "large": LARGE_ONE} | rest,
    )


def along(name: str, reference: Callable[..., Any], inputs: Drawn | None = None, **rest: Any) -> Operation:
    """Something along axis 1, of which the reference knows."""
    return Operation(
        name, reference, **{"shapes": AXES, "inputs": inputs, "args": (1,), "large": LARGE_ONE} | rest
    )


def first_along(operation: Operation, reference: Callable[..., Any]) -> Operation:
    """The same along the first axis."""
    changes = {"args": (*operation.args[:-1], 0), "reference": reference, "note": "first"}
    return Operation(**{**vars(operation), **changes})


def kept(function: Callable[..., Any], axis: Any = 1, **rest: Any) -> Callable[..., Any]:
    return lambda x: function(x, axis=axis, keepdims=True, **rest)


def _max_abs(x: Any, **how: Any) -> Any:
    return np.abs(x).max(**how)


def _arg(function: Callable[..., Any], axis: int = 1) -> Callable[..., Any]:
    return lambda x: function(x, axis=axis, keepdims=True)


WHOLE = [
    whole("sum", np.sum),
    whole("mean", np.mean, shapes=FULL),
    whole("prod", np.prod, same_bits=False),
    whole("max", np.max, DISTINCT, shapes=FULL),
    whole("min", np.min, DISTINCT, shapes=FULL),
    whole("max_abs", _max_abs, SIGNED_DISTINCT, shapes=FULL),
    naturals(whole("sum", np.sum), Drawn("int", low=0, high=2), shapes=[(7,), (2, 3, 4), (0,)]),
    ints(whole("mean", lambda x: np.trunc(x.mean()).astype(int)), shapes=[(1,), (7,), (3, 4)]),
    naturals(whole("prod", np.prod), Drawn("int", low=1, high=3), shapes=[(0,), (5,), (2, 3)]),
    ints(whole("max", np.max), shapes=FULL),
    naturals(whole("min", np.min), shapes=FULL),
    ints(whole("max_abs", _max_abs), shapes=FULL),
    whole("any", np.any, STEPPED, gradient=False),
    whole("all", np.all, STEPPED, gradient=False),
    bools(whole("any", np.any)),
    bools(whole("all", np.all)),
    naturals(whole("all", np.all)),
]

_DIMS = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "max_abs": _max_abs,
}
_DRAWN = {"max": DISTINCT, "min": DISTINCT, "max_abs": SIGNED_DISTINCT}


def _shapes(name: str) -> Cases:
    return EMPTY_AXES if name in ("sum", "prod") else AXES


DIMS = [
    *(along(f"{name}_dim", kept(f), _DRAWN.get(name), shapes=_shapes(name)) for name, f in _DIMS.items()),
    *(
        first_along(along(f"{name}_dim", kept(f), _DRAWN.get(name)), kept(f, axis=0))
        for name, f in _DIMS.items()
    ),
    *(
        along(
            f"{name}_dims", kept(f, axis=(0, 1)), _DRAWN.get(name), args=([0, 1],), same_bits=name != "prod"
        )
        for name, f in _DIMS.items()
    ),
    along("sum_dims_squeeze", lambda x: x.sum(axis=(0, 1)), args=([0, 1],), shapes=[(2, 3, 4), (3, 1, 2)]),
    along("sum_dims", lambda x: x, args=([],), note="none"),
    naturals(along("sum_dim", kept(np.sum)), shapes=EMPTY_AXES),
    naturals(along("max_dim", kept(np.max))),
    ints(along("min_dim", kept(np.min))),
    ints(along("mean_dim", lambda x: np.trunc(x.mean(axis=1, keepdims=True)).astype(int))),
    ints(along("prod_dim", kept(np.prod)), Drawn("int", low=-1, high=2)),
    *(
        along(f"{name}_dim", kept(f), STEPPED, gradient=False)
        for name, f in (("any", np.any), ("all", np.all))
    ),
    *(bools(along(f"{name}_dim", kept(f))) for name, f in (("any", np.any), ("all", np.all))),
    along("var", kept(np.var, ddof=1), shapes=[(2, 3, 4), (4, 5), (3, 5, 17)]),
    along("var_bias", kept(np.var)),
    along("var_mean", lambda x: (kept(np.var, ddof=1)(x), kept(np.mean)(x)), shapes=[(2, 3, 4), (3, 5, 17)]),
    along("var_mean_bias", lambda x: (kept(np.var)(x), kept(np.mean)(x))),
    along("argmax", _arg(np.argmax), STEPPED, gradient=False),
    along("argmin", _arg(np.argmin), STEPPED, gradient=False),
    first_along(along("argmax", kept, STEPPED, gradient=False), _arg(np.argmax, 0)),
    ints(along("argmax", _arg(np.argmax))),
    naturals(along("argmin", _arg(np.argmin))),
    along("max_dim_with_indices", lambda x: (kept(np.max)(x), _arg(np.argmax)(x)), DISTINCT),
    along("min_dim_with_indices", lambda x: (kept(np.min)(x), _arg(np.argmin)(x)), DISTINCT),
]


def _running(f: Callable[..., Any]) -> Callable[..., Any]:
    def places(x: Any) -> Any:
        """Where the running extreme stands, the last of several."""
        values = f(x, axis=1)
        steps = np.arange(x.shape[1]).reshape(1, -1, *[1] * (x.ndim - 2))
        return np.maximum.accumulate(np.where(x == values, steps, 0), axis=1)

    return lambda x: (f(x, axis=1), places(x))


RUNNING = [
    along("cumsum", lambda x: x.cumsum(axis=1), shapes=EMPTY_AXES),
    along("cumprod", lambda x: x.cumprod(axis=1), AWAY, shapes=EMPTY_AXES, rel=20),
    along("cummax", lambda x: np.maximum.accumulate(x, axis=1), DISTINCT),
    along("cummin", lambda x: np.minimum.accumulate(x, axis=1), DISTINCT),
    along("cummax_with_indices", _running(np.maximum.accumulate), DISTINCT),
    along("cummin_with_indices", _running(np.minimum.accumulate), DISTINCT),
    first_along(along("cumsum", kept), lambda x: x.cumsum(axis=0)),
    naturals(along("cumsum", lambda x: x.cumsum(axis=1))),
    ints(along("cummax", lambda x: np.maximum.accumulate(x, axis=1))),
]


def _descending(x: Any) -> Any:
    return -np.sort(-x, axis=1)


def _median(x: Any) -> Any:
    return np.sort(x, axis=1)[:, (x.shape[1] - 1) // 2 : (x.shape[1] - 1) // 2 + 1]


def _median_index(x: Any) -> Any:
    return np.argsort(x, axis=1)[:, (x.shape[1] - 1) // 2 : (x.shape[1] - 1) // 2 + 1]


_TOP: Cases = [(2, 3, 4), (1, 3), (3, 5, 17)]
_TOP_INDICES = lambda x: np.argsort(-x, axis=1)[:, :2]  # noqa: E731

ORDER = [
    along("sort", lambda x: np.sort(x, axis=1), DISTINCT, shapes=EMPTY_AXES),
    along("sort_descending", _descending, DISTINCT, shapes=EMPTY_AXES),
    along(
        "argsort", lambda x: np.argsort(x, axis=1), DISTINCT, gradient=False, dtypes=["float64", "float32"]
    ),
    along(
        "argsort_descending",
        lambda x: np.argsort(-x, axis=1),
        DISTINCT,
        gradient=False,
        dtypes=["float64", "float32"],
    ),
    along(
        "sort_with_indices",
        lambda x: (np.sort(x, axis=1), np.argsort(x, axis=1)),
        DISTINCT,
        dtypes=["float64", "float32"],
    ),
    along(
        "sort_descending_with_indices",
        lambda x: (_descending(x), np.argsort(-x, axis=1)),
        DISTINCT,
        dtypes=["float64", "float32"],
    ),
    along("median", _median, DISTINCT),
    along(
        "median_with_indices",
        lambda x: (_median(x), _median_index(x)),
        DISTINCT,
        dtypes=["float64", "float32"],
    ),
    along("topk", lambda x: _descending(x)[:, :2], DISTINCT, args=(2, 1), shapes=_TOP),
    along(
        "topk_with_indices",
        lambda x: (_descending(x)[:, :2], _TOP_INDICES(x)),
        DISTINCT,
        args=(2, 1),
        shapes=_TOP,
        dtypes=["float64", "float32"],
    ),
    along(
        "argtopk",
        _TOP_INDICES,
        DISTINCT,
        args=(2, 1),
        shapes=_TOP,
        gradient=False,
        dtypes=["float64", "float32"],
    ),
    naturals(along("sort", lambda x: np.sort(x, axis=1))),
    ints(along("sort_descending", _descending)),
    naturals(along("median", _median), NATURAL),
    ints(along("topk", lambda x: _descending(x)[:, :2]), INT, args=(2, 1), shapes=_TOP),
]

PICKS = [
    Operation(
        "argwhere",
        lambda x: np.argwhere(x),
        [(3,), (2, 3, 4), (0,)],
        BOOL,
        dtypes=["bool"],
        gradient=False,
        large=LARGE_ONE,
    ),
    Operation(
        "nonzero", lambda x: tuple(np.nonzero(x)), [(3,), (2, 3, 4)], BOOL, dtypes=["bool"], gradient=False
    ),
    Operation(
        "argwhere", lambda x: np.argwhere(x), [(3,), (2, 3, 4)], STEPPED, gradient=False, note="floats"
    ),
]

OPERATIONS = [*WHOLE, *DIMS, *RUNNING, *ORDER, *PICKS]
