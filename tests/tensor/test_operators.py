"""Operators and numbers beside tensors."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ArgumentError, DTypeError, ShapeError

FLOATS = np.array([[1.5, -2.0], [0.25, 3.0]], dtype=np.float32)
INTS = np.array([[5, -7], [2, 9]], dtype=np.int32)

ARITHMETIC: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
]  # fmt: skip
COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("run", [*ARITHMETIC, *COMPARISONS])
@pytest.mark.parametrize("other", [FLOATS[::-1].copy(), 2.5, -3, np.float32(1.5), True], ids=repr)
def test_floats_with_tensors_and_numbers_on_either_side(run: Callable[[Any, Any], Any], other: Any) -> None:
    x, y = Tensor(FLOATS), Tensor(other) if isinstance(other, np.ndarray) else other
    for result, wanted in [(run(x, y), run(FLOATS, other)), (run(y, x), run(other, FLOATS))]:
        assert result.dtype == ("bool" if run in COMPARISONS else "f32")
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("run", [r for r in [*ARITHMETIC, *COMPARISONS] if r is not operator.truediv])
def test_integers_with_tensors_and_numbers_on_either_side(run: Callable[[Any, Any], Any]) -> None:
    x = Tensor(INTS)
    for other in (3, -4, Tensor(INTS[::-1].copy())):
        plain = other.numpy() if isinstance(other, Tensor) else other
        assert np.array_equal(run(x, other).numpy(), run(INTS, plain))
        assert np.array_equal(run(other, x).numpy(), run(plain, INTS))


def test_integers_are_divided_toward_zero() -> None:
    assert (Tensor([7, -7]) / 2).tolist() == [3, -3] and (Tensor([7, -7]) // 2).tolist() == [3, -4]
    with pytest.raises(ArgumentError, match="div"):
        Tensor([1]) / 0


def test_powers() -> None:
    x = Tensor(FLOATS)
    np.testing.assert_allclose((x**2).numpy(), FLOATS**2, rtol=1e-6)
    np.testing.assert_allclose((x.abs() ** 0.5).numpy(), np.abs(FLOATS) ** 0.5, rtol=1e-6)
    np.testing.assert_allclose((2.0**x).numpy(), 2.0**FLOATS, rtol=1e-6)
    assert (Tensor([2, 3]) ** 3).tolist() == [8, 27] and (2 ** Tensor([2, 3])).tolist() == [4, 8]
    with pytest.raises(TypeError, match="modulus"):
        pow(x, 2, 3)  # type: ignore[misc]


def test_bits_and_booleans() -> None:
    x, b = Tensor([6, 3]), Tensor([True, False])
    assert (x & 2).tolist() == [2, 2] and (x | 1).tolist() == [7, 3] and (x ^ x).tolist() == [0, 0]
    assert (x << 1).tolist() == [12, 6] and (x >> 1).tolist() == [3, 1] and (1 << x).tolist() == [64, 8]
    assert (~x).tolist() == [-7, -4] and (~b).tolist() == [False, True]
    assert (b & True).tolist() == [True, False] and (b | ~b).tolist() == [True, True]
    assert (b ^ b).tolist() == [False, False] and (True & b).tolist() == [True, False]


def test_signs_and_rounding() -> None:
    x = Tensor(FLOATS)
    assert (-x).tolist() == (-FLOATS).tolist() and (+x) is x and abs(x).tolist() == np.abs(FLOATS).tolist()
    assert round(x).tolist() == np.round(FLOATS).tolist() and round(x, 1).shape == x.shape
    assert (x @ x.T).shape == (2, 2)


def test_in_place_operators_make_new_tensors() -> None:
    x = y = Tensor([1.0])
    x += 1
    assert x.item() == 2 and y.item() == 1


def test_dtypes_do_not_mix() -> None:
    x = Tensor([1, 2])
    for run in (lambda: x * 0.5, lambda: x + 2**40, lambda: x + Tensor([1.0, 2.0]), lambda: x & Tensor([True, False]),
                lambda: x == 0.5):  # fmt: skip
        with pytest.raises(DTypeError):
            run()


def test_other_things_are_no_operands() -> None:
    x = Tensor([1.0])
    for other in ("a", None, [1.0], object()):
        with pytest.raises(TypeError):
            x + other
    assert (x == "a") is False and (x != None) is True  # noqa: E711
    for run in (lambda: x + np.ones(1, np.float32), lambda: np.ones(1, np.float32) * x):
        with pytest.raises(TypeError):
            run()


def test_shapes_broadcast_as_with_numpy_and_errors_tell_them() -> None:
    assert (Tensor(np.ones((2, 1, 3))) + Tensor(np.ones((4, 1)))).shape == (2, 4, 3)
    with pytest.raises(ShapeError, match=r"add: shapes \[2\] and \[3\]") as caught:
        Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])
    assert caught.value.operation == "add"


def test_methods_take_tensors_and_numbers() -> None:
    x = Tensor(FLOATS)
    assert x.add(1).tolist() == x.add_scalar(1).tolist() == (x + 1).tolist()
    assert x.greater_equal(x).all().item() is True and x.lower_scalar(0).tolist() == [
        [False, True],
        [False, False],
    ]
    assert x.clamp(-1, 1).tolist() == np.clip(FLOATS, -1, 1).tolist()
    assert x.mask_fill(x < 0, 7).tolist()[0][1] == 7 and x.mask_where(x < 0, -x).tolist()[0][1] == 2
    assert x.all_close(x + 1e-9) and not x.all_close(x + 1) and x.is_close(x).all().item() is True
    assert x.int().dtype == "i32" and x.bool().dtype == "bool" and x.int().float().dtype == "f32"
    assert x.float() is not None and x.powf(2.0).shape == x.powi(2).shape == x.square().shape
