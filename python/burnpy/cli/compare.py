"""Two tensors of one dtype and shape, compared bit for bit, and how far apart their values are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from burnpy.pack import TensorInfo, View

__all__ = ["Difference", "compare_values"]

_CHUNK_BYTES = 8 << 20
"""Compared at a time: a tensor larger than memory is no matter, and the chunks stay in the cache's reach."""


class Difference(NamedTuple):
    """How two tensors differ.

    Attributes:
        differing: elements whose bits differ (bytes, of a quantized payload).
        size: elements that were compared.
        max_abs_difference: the largest |a − b|, exact for integers, taken in f64 for floats; NaN where one of the two
            is NaN; ``None`` for a quantized payload, whose bytes say nothing of themselves.
    """

    differing: int
    size: int
    max_abs_difference: int | float | None


def compare_values(info: TensorInfo, a: View, b: View) -> Difference | None:
    """Compare two payloads chunk by chunk; ``None`` where all bits are equal."""
    import numpy as np

    # NumPy stands at this edge only: the package itself does no arithmetic on elements.
    left, right = (np.asarray(view).reshape(-1) for view in (a, b))
    differing, maximum = 0, None
    step = max(1, _CHUNK_BYTES // left.itemsize)
    for start in range(0, left.size, step):
        chunks = left[start : start + step], right[start : start + step]
        count, largest = _compare_chunk(*chunks, quantized=info.scheme is not None)
        differing += count
        maximum = _larger(maximum, largest)
    return Difference(differing, left.size, maximum) if differing else None


def _compare_chunk(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], *, quantized: bool
) -> tuple[int, int | float | None]:
    bits = f"u{a.itemsize}"
    different = a.view(bits) != b.view(bits)
    count = int(different.sum())
    if count == 0 or quantized:
        return count, None
    return count, _max_abs_difference(a[different], b[different])


def _max_abs_difference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> int | float:
    import numpy as np

    if a.dtype.kind == "b":
        return 1
    if a.dtype.kind in "iu":
        # The difference of two signed numbers may not fit their type; modulo 2^bits it is exact as an unsigned one.
        bits = f"u{a.itemsize}"
        x, y = a.view(bits), b.view(bits)
        return int(np.where(a > b, x - y, y - x).max())
    x, y = a.astype(np.float64), b.astype(np.float64)
    # Two infinities are 0 apart, not NaN; so are two NaNs of other bits.
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.where(same, 0.0, np.abs(x - y)).max())


def _larger(a: int | float | None, b: int | float | None) -> int | float | None:
    if a is None or b is None:
        return b if a is None else a
    return b if b > a or b != b else a
