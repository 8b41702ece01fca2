"""TensorData and tolerances: Burn's rules."""

import pickle

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import DataError, ShapeError
from burnpy.tensor import TensorData, Tolerance

INF, NAN = float("inf"), float("nan")


def test_lists_keep_what_they_say_and_tensors_take_the_devices_dtypes() -> None:
    assert [TensorData(values).dtype for values in ([1.0], [1], [True])] == ["f64", "i64", "bool"]
    assert Tensor.from_data(TensorData([1.0])).dtype == "f32" and Tensor(TensorData([1])).dtype == "i32"
    assert Tensor.from_data(TensorData([1.0]), dtype="f64").dtype == "f64"
    data = Tensor([[1.0, 2.0]]).require_grad().to_data()
    assert (data.shape, data.dtype, data.numpy().tolist()) == ((1, 2), "f32", [[1, 2]])


def test_shape_and_bytes_must_fit() -> None:
    assert TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).shape == (2, 2)
    with pytest.raises(ShapeError):
        TensorData([1.0, 2.0, 3.0], (2, 2))
    data = TensorData.from_bytes(np.float32([1, 2]).tobytes(), (2,), "f32")
    assert data.to_vec("f32") == [1, 2] and data.bytes == np.float32([1, 2]).tobytes()
    with pytest.raises(DataError, match="7 bytes"):
        TensorData.from_bytes(bytes(7), (2,), "f32")


def test_elements_are_converted_only_when_asked() -> None:
    data = TensorData([1.5, -2.5])
    with pytest.raises(DataError, match="f64, not f32"):
        data.to_vec("f32")
    assert (
        list(data.iter("i32")) == [1, -2]
        and data.convert("i8").dtype == data.convert_dtype("i8").dtype == "i8"
    )
    assert TensorData.zeros((2, 1)) == TensorData([[0], [0]], dtype="f32") != TensorData.ones((2, 1))
    assert TensorData.full((0, 3), 2.0, "i64").shape == (0, 3)


def test_equal_means_equal() -> None:
    x = TensorData([1.0, 2.0])
    x.assert_eq(TensorData([1.0, 2.0]))
    x.assert_eq(TensorData([1, 2]), strict=False)
    for other in (TensorData([1, 2]), TensorData([1.0, 3.0]), TensorData([1.0])):
        with pytest.raises(AssertionError):
            x.assert_eq(other, strict=True)
    with pytest.raises(AssertionError, match="element 0"):
        TensorData([NAN]).assert_eq(TensorData([NAN]))


@pytest.mark.parametrize(
    ("x", "y", "tolerance", "passes"),
    [
        (1.0, 1.004, Tolerance.default(), True), (1.0, 1.006, Tolerance.balanced(), False),
        (0.0, 9e-6, Tolerance.default(), True), (0.0, 1e-5, Tolerance.default(), False),  # below, not at it
        (1.0, 1.009, Tolerance.permissive(), True), (0.0, 0.0099, Tolerance.permissive(), True),
        (1.0, 1.0 + 2**-52, Tolerance.strict(), False), (1.0, 1.0, Tolerance.strict(), True),
        (0.0, 1e-307, Tolerance.strict(), True), (100.0, 101.0, Tolerance.relative(0.01), True),
        (100.0, 100.5, Tolerance.absolute(0.5), False), (100.0, 100.4, Tolerance.absolute(0.5), True),
        (NAN, NAN, Tolerance.strict(), True), (INF, INF, Tolerance.strict(), True),
        (INF, -INF, Tolerance.permissive(), False), (NAN, 1.0, Tolerance.permissive(), False),
        (-1.0, 1.0, Tolerance.relative(0.1), False),
    ],
)  # fmt: skip
def test_close_means_below_the_larger_part(x: float, y: float, tolerance: Tolerance, passes: bool) -> None:
    left, right = TensorData([x]), TensorData([y])
    if passes:
        left.assert_approx_eq(right, tolerance)
    else:
        with pytest.raises(AssertionError, match="element 0"):
            left.assert_approx_eq(right, tolerance)


def test_half_precision_has_parts_of_its_own() -> None:
    x, y = TensorData([1.0], dtype="f16"), TensorData([1.02], dtype="f16")
    tolerance = Tolerance.relative(0.001).set_half_precision_relative(0.1)
    x.assert_approx_eq(y, tolerance)
    with pytest.raises(AssertionError):
        x.convert("f32").assert_approx_eq(y.convert("f32"), tolerance)
    assert Tolerance.default().set_half_precision_absolute(0.5).parts("bf16") == (0.005, 0.5)


def test_a_difference_tells_the_first_elements_and_the_shapes() -> None:
    with pytest.raises(AssertionError, match=r"element 0: 0\.0 and 1\.0 differ by 1\.0.*\n(.*\n)*and 5 more"):
        TensorData.zeros((10,)).assert_approx_eq(TensorData.ones((10,)))
    with pytest.raises(AssertionError, match=r"shape \[1\] is not \[2\]"):
        TensorData([1.0]).assert_approx_eq(TensorData([1.0, 2.0]))


def test_ranges() -> None:
    data = TensorData([0.0, 1.0])
    data.assert_within_range(0, 1.5)
    data.assert_within_range_inclusive(0, 1)
    with pytest.raises(AssertionError, match="element 1"):
        data.assert_within_range(0, 1)
    with pytest.raises(ValueError, match="rel"):
        Tolerance(-1.0)


def test_data_can_be_pickled() -> None:
    data = TensorData([[1, 2]])
    assert pickle.loads(pickle.dumps(data)) == data
