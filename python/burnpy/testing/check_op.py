"""One call that tests an operation: its values beside NumPy's, its gradients beside differences of its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from burnpy.testing.drawn import Drawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burnpy import Tensor

    Array = NDArray[Any]

__all__ = ["FLOATS", "INTS", "SIGNED", "TOLERANCES", "Drawn", "check_op"]

Shape = tuple[int, ...]

TOLERANCES: Mapping[str, float] = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
"""How far a value may be from the reference, in parts of the larger of it and 1, by dtype."""

FLOATS = tuple(TOLERANCES)
SIGNED = ("int64", "int32", "int16", "int8")
INTS = (*SIGNED, "uint64", "uint32", "uint16", "uint8")

_STEP = 1e-6
_PROBES = 12
_KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}


def check_op(
    op: Callable[..., Any],
    reference: Callable[..., Any],
    *,
    shapes: Sequence[Shape | tuple[Shape, ...]],
    inputs: Drawn | Sequence[Drawn] | None = None,
    dtypes: Sequence[str] = FLOATS,
    gradient: bool = True,
    keeps_dtype: bool = True,
    same_bits: bool = True,
    rel: float = 1.0,
    seed: int = 1,
    **options: Any,
) -> None:
    """Assert that an operation gives what a reference gives, with the gradient that its values have.

    For every case of ``shapes``, one shape for an operation of one input, a tuple of shapes for more: values of each
    dtype against ``reference`` in double precision; the same for inputs that are views with other strides, bit for bit
    unless ``same_bits`` is false; and, where ``gradient``, the gradients of a weighted sum of the outputs against
    central differences in double precision, for whole and strided inputs.

    Args:
        op: Takes tensors, and ``options``; returns a tensor or several.
        reference: Takes arrays, ``float64``, ``int64`` or ``bool``, and ``options``; returns an array or several.
        shapes: Cases. Sizes 0 and 1 belong among them.
        inputs: What to draw for each input; floats in ``[-2, 2)`` by default.
        dtypes: Those that inputs have, each case with all of them: floats if they name floats, else integers.
        gradient: Whether to check gradients.
        keeps_dtype: Whether outputs of the inputs' kind have the first input's dtype.
        same_bits: Whether views give the bits of whole inputs; false for what adds up in the order of the memory.
        rel: Factor on the tolerances, for operations that lose more.
        seed: Of the numbers drawn.
        options: What ``op`` and ``reference`` are called with besides.

    Raises:
        AssertionError: naming the case, the dtype and the first element that differs.

    Example:
        >>> import numpy as np
        >>> from burnpy import Tensor
        >>> check_op(Tensor.exp, np.exp, shapes=[(3,), (2, 0), (4, 1, 3)])
    """
    import numpy as np

    call, expect = partial(op, **options), partial(reference, **options)
    for number, case in enumerate(shapes):
        shape_list = _shapes(case)
        draws = [inputs or Drawn()] * len(shape_list) if isinstance(inputs, Drawn | None) else list(inputs)
        rng = np.random.default_rng([seed, number])
        arrays = [draw.array(rng, shape) for draw, shape in zip(draws, shape_list, strict=True)]
        where = f"shapes {shape_list}"
        for dtype in dtypes:
            _check_values(call, expect, arrays, dtype, keeps_dtype, same_bits, rel, f"{where}, {dtype}")
        if gradient:
            _check_gradients(call, arrays, rng, rel, where)


def _shapes(case: Shape | tuple[Shape, ...]) -> list[Shape]:
    return list(case) if case and isinstance(case[0], tuple) else [case]  # type: ignore[list-item]


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _check_values(
    op: Callable[..., Any],
    reference: Callable[..., Any],
    arrays: list[Array],
    dtype: str,
    keeps_dtype: bool,
    same_bits: bool,
    rel: float,
    where: str,
) -> None:
    import numpy as np

    whole = [_tensor(array, dtype) for array in arrays]
    # The reference sees what half precision left of the numbers.
    seen = [_wide(tensor.to_numpy()) for tensor in whole]
    outputs, expected = _as_tuple(op(*whole)), _as_tuple(reference(*seen))
    tolerance = TOLERANCES.get(dtype, TOLERANCES["float32"]) * rel
    assert len(outputs) == len(expected), f"{where}: {len(outputs)} outputs, expected {len(expected)}"
    for output, wanted in zip(outputs, map(np.asarray, expected), strict=True):
        assert tuple(output.shape) == wanted.shape, (
            f"{where}: shape {tuple(output.shape)}, expected {wanted.shape}"
        )
        kind = _KINDS[wanted.dtype.kind]
        assert output.kind == kind, f"{where}: {output.dtype}, expected one of kind {kind}"
        if kind == "float":
            first = next((tensor for tensor in whole if tensor.kind == "float"), output)
            assert not keeps_dtype or output.dtype == first.dtype, (
                f"{where}: {output.dtype} from {first.dtype}"
            )
            _assert_close(_wide(output.to_numpy()), wanted, tolerance, where)
        else:
            np.testing.assert_array_equal(_wide(output.to_numpy()), _wide(wanted), err_msg=where)
    for views in _strided(whole):
        again = _as_tuple(op(*views))
        for output, other in zip(outputs, again, strict=True):
            found, first_found = _wide(other.to_numpy()), _wide(output.to_numpy())
            if same_bits:
                np.testing.assert_array_equal(
                    found, first_found, err_msg=f"{where}: strided inputs, other bits"
                )
            else:
                _assert_close(found, first_found, tolerance, f"{where}, strided inputs")


def _check_gradients(
    op: Callable[..., Any], arrays: list[Array], rng: np.random.Generator, rel: float, where: str
) -> None:
    floats = [i for i, array in enumerate(arrays) if array.dtype.kind == "f"]
    assert floats, f"{where}: no input of floats to differentiate by"
    weights: list[Tensor] = []

    def loss(tensors: list[Tensor]) -> Tensor:
        outputs = [output for output in _as_tuple(op(*tensors)) if output.kind == "float"]
        assert outputs, f"{where}: no output of floats to differentiate"
        if not weights:
            weights.extend(_tensor(rng.uniform(0.5, 1.5, output.shape), "float64") for output in outputs)
        parts: list[Tensor] = [
            (output * weight).sum() for output, weight in zip(outputs, weights, strict=True)
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    whole = [_tensor(array, "float64") for array in arrays]
    loss(whole)
    wanted = {
        (i, index): _difference(loss, arrays, i, index)
        for i in floats
        for index in _probes(rng, arrays[i].shape)
    }
    for views in [whole, *_strided(whole)]:
        leaves = [tensor.require_grad() if i in floats else tensor for i, tensor in enumerate(views)]
        gradients = loss(leaves).backward()
        found: dict[int, Array] = {}
        for i in floats:
            gradient = leaves[i].grad(gradients)
            assert gradient is not None, f"{where}: input {i} has no gradient"
            found[i] = gradient.to_numpy()
            assert found[i].shape == arrays[i].shape, f"{where}: gradient {found[i].shape} of input {i}"
        for (i, index), slope in wanted.items():
            off = abs(found[i][index] - slope)
            assert off <= 2e-6 * rel * max(1.0, abs(slope)), (
                f"{where}: d/dinput{i}{list(index)} is {found[i][index]}, differences give {slope}"
            )


def _difference(
    loss: Callable[[list[Tensor]], Tensor], arrays: list[Array], i: int, index: tuple[int, ...]
) -> float:
    def at(step: float) -> float:
        moved = arrays[i].copy()
        moved[index] += step
        tensors = [_tensor(moved if j == i else array, "float64") for j, array in enumerate(arrays)]
        return float(loss(tensors).item())

    return (at(_STEP) - at(-_STEP)) / (2 * _STEP)


def _probes(rng: np.random.Generator, shape: Shape) -> Iterator[tuple[int, ...]]:
    import numpy as np

    size = math.prod(shape)
    chosen = range(size) if size <= _PROBES else rng.choice(size, _PROBES, replace=False)
    for flat in chosen:
        yield tuple(int(i) for i in np.unravel_index(int(flat), shape)) if shape else ()


def _tensor(array: Array, dtype: str) -> Tensor:
    """The array as a tensor: floats in a dtype of floats, integers in one of integers, else as they are."""
    import numpy as np

    from burnpy import Tensor

    kind = array.dtype.kind
    if kind == "f" and dtype == "bfloat16":
        import ml_dtypes

        array = np.asarray(array, dtype=ml_dtypes.bfloat16)
    elif (kind == "f" and dtype.startswith("float")) or (kind == "i" and "int" in dtype):
        array = np.asarray(array, dtype=dtype)
    return Tensor.from_numpy(array)


def _wide(array: Array) -> Array:
    import numpy as np

    if array.dtype == np.bool_:
        return array
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def _strided(tensors: list[Tensor]) -> Iterator[list[Tensor]]:
    """The same values as views: with axes in reverse order in memory, running backwards, and with gaps."""
    if not any(tensor.rank() for tensor in tensors):
        return
    for view in (_reversed_axes, _backwards, _with_gaps):
        yield [view(tensor) if tensor.rank() else tensor for tensor in tensors]


def _reversed_axes(tensor: Tensor) -> Tensor:
    import numpy as np

    from burnpy import Tensor

    axes = list(reversed(range(tensor.rank())))
    turned = np.ascontiguousarray(tensor.to_numpy().transpose(axes))
    return Tensor.from_numpy(turned).permute(axes)


def _backwards(tensor: Tensor) -> Tensor:
    import numpy as np

    from burnpy import Tensor

    axes = list(range(tensor.rank()))
    return Tensor.from_numpy(np.ascontiguousarray(np.flip(tensor.to_numpy()))).flip(axes)


def _with_gaps(tensor: Tensor) -> Tensor:
    import numpy as np

    from burnpy import Tensor

    wide = np.repeat(tensor.to_numpy(), 2, axis=-1)
    return Tensor.from_numpy(np.ascontiguousarray(wide))[..., ::2]


def _assert_close(found: Array, wanted: Array, tolerance: float, where: str) -> None:
    import numpy as np

    wanted = wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        off = np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    bad = ~(same | (off <= tolerance))
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{where}: {int(bad.sum())} of {bad.size} values differ; at {list(index)} "
            f"found {found[index]}, expected {wanted[index]} (tolerance {tolerance:g})"
        )
