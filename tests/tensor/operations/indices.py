"""Parts of tensors, by ranges and by indices that are tensors."""

from typing import Any

import numpy as np

from burnpy import Tensor
from burnpy.testing import Drawn
from tests.tensor.operations.operation import BOOL, NATURAL, Cases, Operation, bools, naturals

ROWS: Cases = [(3, 4), (3, 4, 2), (3, 4, 0)]
_RANGES = [slice(0, 2), slice(1, 3)]
# Each row once: of several values for one place, only "add" has a gradient.
_ONCE = np.array([2, 0])
_PLACES = np.array([[2, 0, 1], [0, 3, 2]])
_COORDINATES = np.array([[0, 1], [2, 0], [1, 3]])


def _index(high: int) -> Drawn:
    return Drawn("int", low=0, high=high)


def _assigned(x: Any, v: Any) -> Any:
    out = x.copy()
    out[0:2, 1:3] = v
    return out


def _filled(x: Any) -> Any:
    out = x.copy()
    out[0:2, 1:3] = 2
    return out


_UFUNC: dict[str, Any] = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _updated(update: str, place: Any) -> Any:
    def reference(x: Any, v: Any) -> Any:
        out = x.copy()
        if update == "assign":
            out[place(x)] = v
        else:
            _UFUNC[update].at(out, place(x), v)
        return out

    return reference


def _rows(x: Any) -> Any:
    return _ONCE


def _elements(x: Any) -> Any:
    return _PLACES, np.arange(3)[None]


def _points(x: Any) -> Any:
    return _COORDINATES[:, 0], _COORDINATES[:, 1]


def _updates(name: str, indices: Any, place: Any, shapes: Cases) -> list[Operation]:
    """The method with each update, of floats and of integers."""

    def run(update: str) -> Any:
        if name == "scatter_nd":
            return lambda x, v: x.scatter_nd(Tensor(indices), v, update)
        return lambda x, v: getattr(x, name)(0, Tensor(indices), v, update)

    found = [
        Operation(name, _updated(update, place), shapes, call=run(update), note=update)
        for update in ("assign", *_UFUNC)
    ]
    return [*found, *(naturals(op) for op in found)]


RANGES = [
    Operation("slice", lambda x: x[0:2, 1:3], ROWS, args=(_RANGES,)),
    Operation("slice", lambda x: x[1:2, 3:0:-2], ROWS, args=([1, slice(1, 4, -2)],), note="backwards"),
    Operation("slice_dim", lambda x: x[:, 1:4:2], ROWS, args=(1, slice(1, None, 2))),
    Operation(
        "slice_assign",
        _assigned,
        [((3, 4), (2, 2)), ((2, 3), (2, 2))],
        call=lambda x, v: x.slice_assign(_RANGES, v),
    ),
    Operation("slice_fill", _filled, ROWS, args=(_RANGES, 2)),
    Operation("narrow", lambda x: x[:, 1:3], ROWS, args=(1, 1, 2)),
    Operation("select_dim", lambda x: x[:, -1], ROWS, args=(1, -1)),
]

PICKED = [
    Operation(
        "select",
        lambda x, i: np.take(x, i, 1),
        [((3, 4), (5,)), ((3, 4, 2), (1,)), ((3, 4), (0,))],
        (Drawn(), _index(4)),
        call=lambda x, i: x.select(1, i),
        large=((257, 1031), (500,)),
    ),
    Operation(
        "take",
        lambda x, i: np.take(x, i, 0),
        [((4, 3), (2, 3)), ((4,), (1, 1)), ((4, 2), (0,))],
        (Drawn(), _index(4)),
        call=lambda x, i: x.take(0, i),
    ),
    Operation(
        "gather",
        lambda x, i: np.take_along_axis(x, i, 0),
        [((4, 3), (3, 3)), ((4, 1), (1, 1)), ((4, 2), (0, 2))],
        (Drawn(), _index(4)),
        call=lambda x, i: x.gather(0, i),
        large=((257, 1031), (200, 1031)),
    ),
    Operation(
        "gather_nd",
        lambda x, i: x[i[..., 0], i[..., 1]],
        [((3, 4), (5, 2)), ((3, 3, 2), (2, 2, 2)), ((3, 3), (0, 2))],
        (Drawn(), _index(3)),
        call=lambda x, i: x.gather_nd(i),
    ),
    Operation(
        "mask_select",
        lambda x, m: x[m],
        [((3,), (3,)), ((2, 3, 4), (2, 3, 4)), ((0,), (0,))],
        (Drawn(), BOOL),
        call=lambda x, m: x.mask_select(m),
        large=((257, 1031),) * 2,
    ),
    Operation(
        "module.embedding",
        lambda x, i: x[i],
        [((4, 3), (2, 3)), ((4, 1), (1,)), ((4, 2), (0,))],
        (Drawn(), _index(4)),
        large=((1000, 256), (40, 50)),
    ),
]

UPDATES = [
    *_updates("select_assign", _ONCE, _rows, [((3, 4), (2, 4)), ((3, 1), (2, 1)), ((3, 0), (2, 0))]),
    *_updates("scatter", _PLACES, _elements, [((4, 3), (2, 3))]),
    *_updates("scatter_nd", _COORDINATES, _points, [((3, 4), (3,)), ((3, 4, 2), (3, 2))]),
    Operation(
        "select_assign",
        _updated("add", lambda x: np.array([1, 1, 0])),
        [((3, 4), (3, 4))],
        call=lambda x, v: x.select_assign(0, Tensor([1, 1, 0]), v, "add"),
        note="add-twice",
    ),
]

_DTYPES = (
    "slice",
    "slice_dim",
    "select_dim",
    "narrow",
    "select",
    "take",
    "gather",
    "gather_nd",
    "mask_select",
)


def _drawn(operation: Operation, first: Drawn) -> Any:
    return first if operation.inputs is None else (first, *list(operation.draws(2))[1:])


OPERATIONS = [
    *RANGES,
    *PICKED,
    *UPDATES,
    *(naturals(op, _drawn(op, NATURAL)) for op in [*RANGES, *PICKED] if op.name in _DTYPES),
    *(bools(op, _drawn(op, BOOL)) for op in [*RANGES, *PICKED] if op.name in _DTYPES),
    naturals(RANGES[3]),
    naturals(RANGES[4]),
    bools(RANGES[3]),
]
