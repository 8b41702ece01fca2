"""Operations of each element, and of pairs of elements."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burnpy import Tensor
from burnpy.testing import Drawn
from tests.tensor.operations.operation import (
    BOOL,
    INT,
    NATURAL,
    PAIR,
    POSITIVE,
    STEPPED,
    Operation,
    bools,
    ints,
    naturals,
    pair,
    unary,
)

erf = np.vectorize(math.erf, otypes=[float])

HALVES = (-1.5, -0.5, 0.5, 1.5)
WHOLE = (-2.0, -1.0, 0.0, 1.0, 2.0)
INSIDE = Drawn(low=-0.9, high=0.9)
AWAY = Drawn(away=(0.0,), apart=0.2)

FUNCTIONS = [
    unary("exp", np.exp),
    unary("log", np.log, POSITIVE),
    unary("log1p", np.log1p, Drawn(low=-0.8)),
    unary("sqrt", np.sqrt, POSITIVE),
    unary("recip", np.reciprocal, AWAY),
    unary("abs", np.abs, AWAY),
    unary("neg", np.negative),
    unary("square", np.square),
    unary("sin", np.sin),
    unary("cos", np.cos),
    unary("tan", np.tan, Drawn(low=-1.2, high=1.2)),
    unary("sinh", np.sinh),
    unary("cosh", np.cosh),
    unary("tanh", np.tanh),
    unary("asin", np.arcsin, INSIDE),
    unary("acos", np.arccos, INSIDE),
    unary("atan", np.arctan),
    unary("asinh", np.arcsinh),
    unary("acosh", np.arccosh, Drawn(low=1.2, high=4.0)),
    unary("atanh", np.arctanh, INSIDE),
    unary("erf", erf),
    unary("sign", np.sign, AWAY),
    unary("round", np.round, Drawn(away=HALVES)),
    unary("floor", np.floor, Drawn(away=WHOLE)),
    unary("ceil", np.ceil, Drawn(away=WHOLE)),
    unary("trunc", np.trunc, Drawn(away=WHOLE)),
    unary("round_to", lambda x: np.round(x * 10) / 10, args=(1,), gradient=False),
    unary("clamp", lambda x: np.clip(x, -0.5, 0.75), Drawn(away=(-0.5, 0.75)), args=(-0.5, 0.75)),
    unary("clamp_min", lambda x: np.maximum(x, -0.5), Drawn(away=(-0.5,)), args=(-0.5,)),
    unary("clamp_max", lambda x: np.minimum(x, 0.5), Drawn(away=(0.5,)), args=(0.5,)),
    unary("is_nan", lambda x: x < 0, AWAY, call=lambda x: x.log().is_nan(), gradient=False),
    unary("is_inf", lambda x: x == 0, STEPPED, call=lambda x: x.recip().is_inf(), gradient=False),
    unary("is_finite", lambda x: x > 0, STEPPED, call=lambda x: x.log().is_finite(), gradient=False),
    unary("contains_nan", lambda x: np.reshape((x < 0).any(), 1), AWAY,
          call=lambda x: x.log().contains_nan(), gradient=False),
]  # fmt: skip

CONVERSIONS = [
    unary("int", lambda x: np.trunc(x).astype(int), gradient=False),
    unary("bool", lambda x: x != 0, STEPPED, gradient=False),
    unary("float", lambda x: x),
    unary("float", lambda x: x.astype(float), INT, dtypes=["int32"], note="ints", gradient=False),
    unary("cast", lambda x: x, args=("f64",), keeps_dtype=False),
    unary("cast", lambda x: np.trunc(x).astype(int), args=("i16",), gradient=False, note="to-ints"),
]


def truncated(a: Any, b: Any) -> Any:
    return np.trunc(a / b).astype(np.int64)


def _powers(a: Any, b: Any) -> Any:
    return np.power(a, b)


POWERS = [
    pair("powf", np.power, (POSITIVE, Drawn())),
    unary("powf", lambda x: x**1.5, POSITIVE, args=(1.5,), note="number"),
    unary("powf_scalar", lambda x: x**-0.5, POSITIVE, args=(-0.5,)),
    pair("powi", _powers, (AWAY, Drawn("int", low=-2, high=4))),
    unary("powi_scalar", lambda x: x**3, args=(3,)),
    unary("powi_scalar", lambda x: x**-2.0, AWAY, args=(-2,), note="negative"),
    unary("powi_scalar", lambda x: x**0, args=(0,), note="zero"),
    ints(pair("powi", np.power), (Drawn("int", low=-3, high=4), Drawn("int", low=0, high=4))),
    naturals(unary("powi_scalar", lambda x: x**2), args=(2,)),
]

ARITHMETIC = [
    pair("add", np.add),
    pair("sub", np.subtract),
    pair("mul", np.multiply),
    pair("div", np.divide, (Drawn(), AWAY)),
    pair("remainder", np.mod, (Drawn(), AWAY)),
    pair("fmod", np.fmod, (Drawn(), AWAY)),
    pair("atan2", np.arctan2, AWAY),
    pair("hypot", np.hypot, AWAY),
    pair("max_pair", np.maximum),
    pair("min_pair", np.minimum),
]


def _divisors(low: int) -> tuple[Drawn, Drawn]:
    return Drawn("int", low=low, high=9), Drawn("int", low=1, high=4)


WHOLE_NUMBERS = [
    *(naturals(op) for op in ARITHMETIC if op.name in ("add", "mul", "max_pair", "min_pair")),
    *(ints(op) for op in ARITHMETIC if op.name in ("add", "sub", "mul", "max_pair", "min_pair")),
    ints(pair("div", truncated), _divisors(-9)),
    naturals(pair("div", truncated), _divisors(0)),
    ints(pair("remainder", np.mod), _divisors(-9)),
    naturals(pair("remainder", np.mod), _divisors(0)),
    ints(pair("fmod", np.fmod), _divisors(-9)),
    ints(unary("neg", np.negative)),
    ints(unary("abs", np.abs)),
    ints(unary("sign", np.sign)),
    naturals(unary("square", np.square)),
    naturals(unary("clamp", lambda x: np.clip(x, 1, 4)), args=(1, 4)),
    naturals(unary("clamp_min", lambda x: np.maximum(x, 2)), args=(2,)),
    naturals(unary("clamp_max", lambda x: np.minimum(x, 2)), args=(2,)),
    ints(unary("bool", lambda x: x != 0)),
    ints(unary("cast", lambda x: x.astype(float)), args=("f32",)),
]


def _beside_a_number(
    name: str, reference: Callable[[Any, Any], Any], number: float = 1.75
) -> list[Operation]:
    """An operation with a number in place of the second tensor, and the method for numbers alone."""
    away = Drawn(away=(0.0, 1.75, -1.75))
    rest: dict[str, Any] = {"args": (number,), "inputs": away}
    return [
        unary(name, lambda x: reference(x, number), **rest, note="number"),
        unary(f"{name}_scalar", lambda x: reference(x, number), **rest),
        ints(unary(f"{name}_scalar", lambda x: reference(x, 3)), args=(3,)),
    ]


NUMBERS = [
    *_beside_a_number("add", np.add),
    *_beside_a_number("sub", np.subtract),
    *_beside_a_number("mul", np.multiply),
    *_beside_a_number("div", lambda a, b: truncated(a, b) if a.dtype.kind == "i" else a / b),
    *_beside_a_number("remainder", np.mod),
    *_beside_a_number("fmod", np.fmod),
]

_COMPARE: dict[str, Callable[..., Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "lower": np.less, "lower_equal": np.less_equal,
}  # fmt: skip


def _against(compare: Callable[..., Any], number: float) -> Callable[..., Any]:
    return lambda x: compare(x, number)


COMPARISONS = [
    *(pair(name, compare, STEPPED, gradient=False) for name, compare in _COMPARE.items()),
    *(naturals(pair(name, compare)) for name, compare in _COMPARE.items()),
    *(unary(f"{name}_scalar", _against(compare, 0.5), STEPPED, args=(0.5,), gradient=False)
      for name, compare in _COMPARE.items()),
    *(ints(unary(f"{name}_scalar", _against(compare, 2)), args=(2,)) for name, compare in _COMPARE.items()),
    *(bools(pair(name, _COMPARE[name])) for name in ("equal", "not_equal")),
    pair("is_close", np.isclose, STEPPED, gradient=False),
    pair("all_close", lambda a, b: np.asarray(np.allclose(a, b)), STEPPED, gradient=False,
         call=lambda a, b: Tensor(a.all_close(b)), shapes=[((0,), (0,)), ((1,), (1,)), ((3, 4), (4,))]),
]  # fmt: skip

_SHIFTS = (NATURAL, Drawn("int", low=0, high=5))

BITS = [
    *(naturals(pair(f"bitwise_{name}", getattr(np, f"bitwise_{name}"))) for name in ("and", "or", "xor")),
    *(ints(pair(f"bitwise_{name}", getattr(np, f"bitwise_{name}"))) for name in ("and", "or", "xor")),
    *(naturals(unary(f"bitwise_{name}_scalar", _against(getattr(np, f"bitwise_{name}"), 3)), args=(3,))
      for name in ("and", "or", "xor")),
    ints(unary("bitwise_not", np.bitwise_not)),
    naturals(pair("bitwise_left_shift", np.left_shift), (NATURAL, Drawn("int", low=0, high=4))),
    naturals(pair("bitwise_right_shift", np.right_shift), _SHIFTS),
    ints(pair("bitwise_right_shift", np.right_shift), (INT, Drawn("int", low=0, high=4))),
    naturals(unary("bitwise_left_shift_scalar", lambda x: x << 3), args=(3,)),
    ints(unary("bitwise_right_shift_scalar", lambda x: x >> 1), args=(1,)),
    bools(pair("bool_and", np.logical_and)),
    bools(pair("bool_or", np.logical_or)),
    bools(pair("bool_xor", np.logical_xor)),
    bools(unary("bool_not", np.logical_not)),
    bools(unary("int", lambda x: x.astype(int))),
    bools(unary("float", lambda x: x.astype(float))),
]  # fmt: skip

_WHERE = [((3,), (3,), (3,)), ((2, 3, 4), (2, 3, 4), (2, 3, 4)), ((2, 0), (2, 0), (2, 0)), ((1,), (1,), (1,))]
_BROADCAST = [*_WHERE, ((2, 3), (1, 3), (2, 1))]


def _where(x: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, value, x)


MASKS = [
    Operation("mask_where", _where, _BROADCAST, (Drawn(), BOOL, Drawn()), large=((257, 1031),) * 3),
    naturals(Operation("mask_where", _where, _BROADCAST), (NATURAL, BOOL, NATURAL)),
    bools(Operation("mask_where", _where, _BROADCAST)),
    pair("mask_fill", lambda x, mask: np.where(mask, -7.0, x), (Drawn(), BOOL), args=(-7.0,),
         shapes=[case for case in PAIR if case[0] != ()]),
    naturals(pair("mask_fill", lambda x, mask: np.where(mask, 7, x)), (NATURAL, BOOL), args=(7,),
             shapes=[((3,), (3,)), ((2, 0), (2, 0)), ((2, 3), (1, 3))]),
]  # fmt: skip

OPERATIONS = [
    *FUNCTIONS, *CONVERSIONS, *POWERS, *ARITHMETIC, *WHOLE_NUMBERS, *NUMBERS, *COMPARISONS, *BITS, *MASKS,
]  # fmt: skip
