"""Every operation takes quantized tensors for the numbers that they stand for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import DTypeError
from burnpy.module import Calibration, Quantizer
from burnpy.pack import QuantScheme
from tests.tensor.operations import OPERATIONS, Operation

STAY = {"clone", "contiguous"}
"""What gives the tensor itself, as it is stored."""

REFUSED = {"zeros_like", "ones_like", "full_like", "empty_like", "random_like", "one_hot_fill"}
"""What makes a tensor of the same dtype, in which no numbers can be made."""

QUANTIZER = Quantizer(Calibration.MinMax, QuantScheme(value="Q8S", store="Native"))


def _drawn(operation: Operation) -> list[np.ndarray[Any, Any]]:
    shapes: Sequence[Any] = next(
        case if isinstance(case[0], tuple) else (case,)
        for case in operation.shapes
        if case and case[0] != () and np.prod(case[0]) > 0
    )
    rng = np.random.default_rng(3)
    draws = operation.draws(len(shapes))
    return [draw.array(rng, shape) for draw, shape in zip(draws, shapes, strict=True)]


def _tensor(array: np.ndarray[Any, Any]) -> Tensor:
    return Tensor.from_numpy(array.astype(np.float32 if array.dtype.kind == "f" else array.dtype))


def _outputs(operation: Operation, inputs: list[Tensor]) -> list[Tensor]:
    found = operation.run(*inputs)
    return list(found) if isinstance(found, tuple | list) else [found]


FLOATS = [case for case in OPERATIONS if "float32" in case.dtypes]


@pytest.mark.parametrize("operation", [case for case in FLOATS if case.name not in STAY | REFUSED], ids=str)
def test_an_operation_on_quantized_tensors_is_one_on_their_numbers(operation: Operation) -> None:
    inputs = [_tensor(array) for array in _drawn(operation)]
    floats = [i for i, x in enumerate(inputs) if x.kind == "float" and x.size > 0]
    for chosen in [[i] for i in floats] + [floats]:
        quantized = [QUANTIZER.quantize(x) if i in chosen else x for i, x in enumerate(inputs)]
        plain = [x.cast("f32") if i in chosen else x for i, x in enumerate(quantized)]
        with np.errstate(all="ignore"):
            wanted = _outputs(operation, plain)
            found = _outputs(operation, quantized)
        assert [x.dtype for x in found] == [x.dtype for x in wanted]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a.to_numpy(), b.to_numpy())


@pytest.mark.parametrize("operation", [case for case in FLOATS if case.name in STAY], ids=str)
def test_the_same_tensor_stays_quantized(operation: Operation) -> None:
    x = QUANTIZER.quantize(Tensor([[1.0, -2.0]]))
    assert operation.run(x).dtype == "qfloat" and operation.run(x).cast("f32").tolist() == x.float().tolist()


@pytest.mark.parametrize("operation", [case for case in FLOATS if case.name in REFUSED], ids=str)
def test_no_quantized_tensor_is_made_of_nothing(operation: Operation) -> None:
    with pytest.raises(DTypeError, match="qfloat"):
        operation.run(QUANTIZER.quantize(Tensor([[1.0, -2.0]])))


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_numbers_of_quantized_tensors_take_the_dtype_of_the_others(dtype: str) -> None:
    numbers = [1.0, -2.0, 0.5]
    q, x = QUANTIZER.quantize(Tensor(numbers)), Tensor([0.0, 1.0, 2.0], dtype=dtype)
    mask = Tensor([True, False, True])
    plain = q.cast(dtype)
    for found, wanted in [
        (x + q, x + plain),
        (q.mask_where(mask, x), plain.mask_where(mask, x)),
        (Tensor.cat([x, q], 0), Tensor.cat([x, plain], 0)),
        (Tensor.stack([q, x], 0), Tensor.stack([plain, x], 0)),
        (q > x, plain > x),
        (x.slice_assign([slice(0, 3)], q), plain),
    ]:
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


def test_gradients_flow_past_quantized_tensors() -> None:
    q, x = QUANTIZER.quantize(Tensor([2.0, -1.0])), Tensor([3.0, 5.0]).require_grad()
    gradient = x.grad((x * q).backward())
    assert gradient is not None and gradient.tolist() == q.float().tolist()
