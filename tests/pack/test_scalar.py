"""`burnpy.pack.Scalar`."""

import copy
import math
import pickle

import numpy as np
import pytest

from burnpy.pack import Scalar, ScalarConversionError

VALUES = [
    (True, "Bool"),
    (0, "UInt"),
    (2**64 - 1, "UInt"),
    (-1, "Int"),
    (-(2**63), "Int"),
    (0.5, "Float"),
    (math.inf, "Float"),
    (np.uint8(3), "UInt"),
    (np.int64(3), "Int"),
    (np.float32(0.1), "Float"),
    (np.float64(0.1), "Float"),
    (np.bool_(False), "Bool"),
]


@pytest.mark.parametrize(("value", "kind"), VALUES)
def test_a_value_chooses_its_kind(value: object, kind: str) -> None:
    scalar = Scalar(value)
    assert (scalar.kind, scalar.value) == (kind, value)
    assert type(scalar.value) in (bool, int, float)


def test_a_kind_can_be_chosen() -> None:
    assert Scalar.int_(3) == Scalar(3, "Int") != Scalar.uint(3) == Scalar(3)
    assert Scalar.float_(3).value == 3.0
    assert Scalar.bool_(True) == Scalar(True)
    with pytest.raises(ValueError, match="kind must be"):
        Scalar(3, "Integer")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda: Scalar(2**64), lambda: Scalar.int_(2**63), lambda: Scalar.uint(-1)])
def test_what_is_out_of_range_is_refused(make: object) -> None:
    with pytest.raises(OverflowError):
        make()  # type: ignore[operator]


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="got str"):
        Scalar("3")


CONVERSIONS = [
    (Scalar(-5), "i32", -5),
    (Scalar(200), "u8", 200),
    (Scalar.int_(200), "u8", 200),
    (Scalar(42), "usize", 42),
    (Scalar.int_(3), "f64", 3.0),
    (Scalar.int_(3), "f32", 3.0),
    (Scalar(2.5), "f64", 2.5),
    (Scalar(2.5), "f32", 2.5),
    (Scalar(2**64 - 1), "u64", 2**64 - 1),
    (Scalar(0.1), "f32", float(np.float32(0.1))),
    (Scalar(True), "bool", True),
]


@pytest.mark.parametrize(("scalar", "wanted", "expected"), CONVERSIONS)
def test_a_scalar_converts_to_a_type_that_holds_it(scalar: Scalar, wanted: str, expected: float) -> None:
    converted = scalar.to(wanted)
    assert converted == expected and type(converted) is type(expected)


REFUSED = [
    (Scalar.int_(5_000_000_000), "i32"),
    (Scalar(-1), "u32"),
    (Scalar(300), "u8"),
    (Scalar(2**63), "i64"),
    (Scalar(1.5), "i64"),
    (Scalar.int_(1), "bool"),
    (Scalar(1.0), "bool"),
    (Scalar(True), "f64"),
    (Scalar(True), "u8"),
]


@pytest.mark.parametrize(("scalar", "wanted"), REFUSED)
def test_a_conversion_that_would_lose_the_value_is_an_error(scalar: Scalar, wanted: str) -> None:
    with pytest.raises(ScalarConversionError, match=f"cannot be read as {wanted}"):
        scalar.to(wanted)


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(ValueError, match='unknown type "u128"'):
        Scalar(1).to("u128")


@pytest.mark.parametrize("scalar", [Scalar(3), Scalar(-3), Scalar(0.1), Scalar(True), Scalar.int_(3)])
def test_scalars_are_values(scalar: Scalar) -> None:
    for other in (pickle.loads(pickle.dumps(scalar)), copy.copy(scalar)):
        assert (other, hash(other), repr(other)) == (scalar, hash(scalar), repr(scalar))
    assert len({scalar, other}) == 1
    assert eval(repr(scalar)) == scalar
