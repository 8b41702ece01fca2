"""What the operations of the table give for large inputs, for tests that compare runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy import Tensor
from tests.tensor.operations import OPERATIONS, Operation

Array = NDArray[Any]


def inputs_of(operation: Operation) -> list[Tensor]:
    """Inputs that are worth two threads, floats in single precision; those of a small case, if no large one is said."""
    case: Any = operation.large or operation.shapes[-1]
    shapes = list(case) if case and isinstance(case[0], tuple) else [case]
    rng = np.random.default_rng(7)
    arrays = [
        draw.array(rng, shape) for draw, shape in zip(operation.draws(len(shapes)), shapes, strict=True)
    ]
    dtype = operation.dtypes[0]
    return [_tensor(array, dtype) for array in arrays]


def _tensor(array: Array, dtype: str) -> Tensor:
    if array.dtype.kind == "f":
        return Tensor.from_numpy(array.astype(np.float32))
    return Tensor.from_numpy(array.astype(dtype) if array.dtype.kind == "i" and "int" in dtype else array)


def outputs_of(operation: Operation) -> list[Array]:
    """Values, and gradients of their sum where there are some."""
    tensors = inputs_of(operation)
    if operation.gradient:
        tensors = [tensor.require_grad() if tensor.kind == "float" else tensor for tensor in tensors]
    result = operation.run(*tensors)
    outputs = list(result) if isinstance(result, tuple | list) else [result]
    arrays = [output.to_numpy() for output in outputs]
    tracked = [output for output in outputs if output.is_tracked()]
    if not tracked:
        return arrays
    parts = [output.cast("f32").sum() for output in tracked]
    gradients = sum(parts[1:], parts[0]).backward()
    found = [tensor.grad(gradients) for tensor in tensors]
    return [*arrays, *(gradient.to_numpy() for gradient in found if gradient is not None)]


def all_outputs() -> dict[str, Array]:
    """Some thousand elements of each result, by operation."""
    found = {}
    for number, operation in enumerate(OPERATIONS):
        for place, array in enumerate(outputs_of(operation)):
            some = array.reshape(-1)[:: max(1, array.size // 4096)]
            found[f"{number}/{operation}/{place}"] = (
                some.astype(np.float64) if array.dtype.kind == "f" else some
            )
    return found
