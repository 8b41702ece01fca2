"""Draws the tensors of a conversion one after another, so that no more than one is in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from burnpy import _core
from burnpy.store.dtype import cast_float, numpy_dtype
from burnpy.store.snapshot import TensorSnapshot

__all__ = ["Drawing", "Progress"]

Progress: TypeAlias = Callable[[str, int, int], object]
"""Called with a tensor's name before it is drawn, the bytes written so far, and the bytes of all."""

# Of a tensor that has to be copied, this much of the source is held beside the copy.
_CHUNK_BYTES = 8 << 20
_TRANSPOSED = (1, 2, 4, 8, 16)


class Drawing:
    """Providers of tensors for one writer, which calls each once and lets its array go before the next.

    The pages of a mapped source go with it: what was read from a file of any length does not add up.

    Args:
        total: bytes of all tensors in the target.
        progress: told of every tensor.
    """

    def __init__(self, total: int, progress: Progress | None = None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress
        self._last: np.ndarray[Any, Any] | None = None

    def provider(self, tensor: TensorSnapshot, dtype: str, nbytes: int) -> Callable[[], Any]:
        """What draws a tensor, its floats as ``dtype``."""

        def draw() -> Any:
            self._forget_last()
            if self._progress is not None:
                self._progress(tensor.name, self._done, self._total)
            array = tensor.to_numpy()
            self._done += nbytes
            if tensor.dtype != dtype or not array.flags.c_contiguous:
                return _by_rows(array, tensor.dtype, dtype)
            self._last = array
            return array

        return draw

    def finish(self) -> None:
        """Tell that everything is written."""
        self._forget_last()
        if self._progress is not None:
            self._progress("", self._total, self._total)

    def _forget_last(self) -> None:
        if self._last is not None:
            _forget(self._last)
            self._last = None


def _by_rows(array: np.ndarray[Any, Any], source: str, target: str) -> np.ndarray[Any, Any]:
    """A copy in the order of a file, made in slices along the axis that the source has outermost."""
    dtype = array.dtype if source == target else numpy_dtype(target)
    out = np.empty(array.shape, dtype)
    if out.size == 0:
        return out
    if source == target and array.ndim == 2 and array.flags.f_contiguous and array.itemsize in _TRANSPOSED:
        _transpose(array.T, out)
        return out
    axis = max(range(array.ndim), key=lambda axis: abs(array.strides[axis]), default=None)
    if axis is None:
        out[()] = array if source == target else cast_float(array, source, target)
        return out
    extent = array.shape[axis]
    step = max(1, _CHUNK_BYTES * extent // max(array.nbytes, 1))
    for start in range(0, extent, step):
        index = (*[slice(None)] * axis, slice(start, start + step))
        part = array[index]
        out[index] = part if source == target else cast_float(part, source, target)
        _forget(part)
    return out


def _transpose(matrix: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """NumPy's copy takes four times as long: 0.4 GB/s instead of 1.6 for 4096 by 4096 floats."""
    rows, cols = matrix.shape
    flat = out.reshape(-1).view(np.uint8).data
    step = max(1, _CHUNK_BYTES // (cols * matrix.itemsize))
    for start in range(0, rows, step):
        part = matrix[start : start + step]
        _core.transpose_rows(part.reshape(-1).view(np.uint8).data, cols, matrix.itemsize, flat, rows, start)
        _forget(part)


def _forget(array: np.ndarray[Any, Any]) -> None:
    """Give the pages of a mapped file back; of a view that runs backwards, whose first byte is not its lowest, none."""
    if any(stride < 0 for stride in array.strides) or array.size == 0:
        return
    address: int = array.__array_interface__["data"][0]
    extents = zip(array.shape, array.strides, strict=True)
    last = sum((extent - 1) * stride for extent, stride in extents)
    _core.forget_pages(address, last + array.itemsize)
