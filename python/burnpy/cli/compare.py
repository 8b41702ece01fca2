"""Two tensors of one dtype and shape, compared bit for bit, and how far apart their values are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from burnpy.cli.container import Info
    from burnpy.pack import View

__all__ = ["Difference", "compare_values"]

_PACKED = frozenset(("f4e2m1fn", "f6e2m3fn", "f6e3m2fn", "f4e2m1fn_x2", "c32"))
_CHUNK_BYTES = 8 << 20
"""Compared at a time: a tensor larger than memory is no matter, and the chunks stay in the cache's reach."""


class Difference(NamedTuple):
    """How two tensors differ.

    Attributes:
        differing: elements whose bits differ (bytes, where elements are packed).
        size: elements that were compared.
        max_abs_difference: the largest |a − b|, exact for integers, taken in f64 for floats; NaN where one of the two
            is NaN; ``None`` where elements are packed: their bytes say nothing of themselves.
    """

    differing: int
    size: int
    max_abs_difference: int | float | None


def compare_values(info: Info, a: View, b: View) -> Difference | None:
    """Compare two payloads chunk by chunk; ``None`` where all bits are equal."""
    import numpy as np

    # NumPy stands at this edge only: the package itself does no arithmetic on elements.
    left, right = (np.asarray(view).reshape(-1) for view in (a, b))
    differing, maximum = 0, None
    is_packed = info.scheme is not None or info.dtype in _PACKED
    step = max(1, _CHUNK_BYTES // left.itemsize)
    for start in range(0, left.size, step):
        chunks = left[start : start + step], right[start : start + step]
        count, largest = _compare_chunk(*chunks, packed=is_packed)
        differing += count
        maximum = _larger(maximum, largest)
    return Difference(differing, left.size, maximum) if differing else None


def _compare_chunk(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], *, packed: bool
) -> tuple[int, int | float | None]:
    different = _differing(a, b)
    count = int(different.sum())
    if count == 0 or packed:
        return count, None
    return count, _max_abs_difference(a[different], b[different])


def _differing(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if a.dtype.kind == "c":
        # No integer is as wide as the widest of them.
        parts: np.ndarray[Any, Any] = a.view("u4").reshape(a.size, -1) != b.view("u4").reshape(b.size, -1)
        either: np.ndarray[Any, Any] = parts.max(axis=1)
        return either
    bits = f"u{a.itemsize}"
    different: np.ndarray[Any, Any] = a.view(bits) != b.view(bits)
    return different


def _max_abs_difference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> int | float:
    import numpy as np

    if a.dtype.kind == "b":
        return 1
    if a.dtype.kind in "iu":
        # The difference of two signed numbers may not fit their type; modulo 2^bits it is exact as an unsigned one.
        bits = f"u{a.itemsize}"
        x, y = a.view(bits), b.view(bits)
        return int(np.where(a > b, x - y, y - x).max())
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    # Two infinities are 0 apart, not NaN; so are two NaNs of other bits.
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.where(same, 0.0, np.abs(x - y)).max())


def _larger(a: int | float | None, b: int | float | None) -> int | float | None:
    if a is None or b is None:
        return b if a is None else a
    return b if b > a or b != b else a
