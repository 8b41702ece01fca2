"""Many small tensors as a few buffers of some megabytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnpy._core import Tensor

__all__ = ["Buckets", "Part"]

_BUCKET_BYTES = 2**20
_ALIGNED = 64


@dataclass(frozen=True)
class Part:
    """Some of the numbers of a bucket, and where they are in memory that several parts share.

    Attributes:
        bucket: its number.
        start: the first of them.
        stop: the one after the last.
        at: the byte that they begin at.
        dtype: of NumPy.
    """

    bucket: int
    start: int
    stop: int
    at: int
    dtype: np.dtype[Any]

    def within(self, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The place for them in bytes, as numbers."""
        end = self.at + (self.stop - self.start) * self.dtype.itemsize
        return memory[self.at : end].view(self.dtype)


class Buckets:
    """A division of tensors into buckets: those of one dtype, flat behind each other, until a bucket is full.

    A tensor that fills a bucket is alone in it, and not copied.

    Args:
        tensors: shapes and dtypes are taken from these; they are not kept.
        bucket_bytes: how large a bucket may become before the next begins. Smaller ones spread the sums more evenly
            over ranks, larger ones need fewer messages.

    Raises:
        ValueError: ``bucket_bytes`` is less than 1.

    Example:
        >>> tensors = [Tensor([[1.0, 2.0]]), Tensor([3.0])]
        >>> buckets = Buckets(tensors)
        >>> [bucket.tolist() for bucket in buckets.flatten([tensors[0], None])]
        [[1.0, 2.0, 0.0]]
        >>> [tensor.tolist() for tensor in buckets.split([Tensor([4.0, 5.0, 6.0])])]
        [[[4.0, 5.0]], [6.0]]
    """

    def __init__(self, tensors: Sequence[Tensor], bucket_bytes: int = _BUCKET_BYTES) -> None:
        if bucket_bytes < 1:
            raise ValueError(f"bucket_bytes must be at least 1, got {bucket_bytes}")
        self._shapes = [tensor.shape for tensor in tensors]
        self._groups: list[list[int]] = []
        self._empty: list[np.ndarray[Any, Any]] = []
        open_ones: dict[str, tuple[int, int]] = {}
        for index, tensor in enumerate(tensors):
            nbytes = tensor.nbytes
            bucket, filled = open_ones.get(tensor.dtype, (-1, 0))
            if nbytes >= bucket_bytes or bucket < 0 or filled + nbytes > bucket_bytes:
                self._groups.append([])
                # Its NumPy dtype is known to the core alone.
                self._empty.append(Tensor.zeros((0,), dtype=tensor.dtype).numpy())
                bucket, filled = len(self._groups) - 1, 0
            self._groups[bucket].append(index)
            if nbytes < bucket_bytes:
                # One that is large leaves the bucket that is being filled open.
                open_ones[tensor.dtype] = (bucket, filled + nbytes)

    def __len__(self) -> int:
        return len(self._groups)

    def flatten(self, tensors: Sequence[Tensor | None]) -> list[Tensor]:
        """The buckets of tensors of these shapes, with zeros where there is none.

        Raises:
            ValueError: there are more or fewer tensors.
            ShapeError: one has another size.
        """
        if len(tensors) != len(self._shapes):
            raise ValueError(f"there must be {len(self._shapes)} tensors, got {len(tensors)}")
        return [self._flat(b, [tensors[i] for i in group]) for b, group in enumerate(self._groups)]

    def _flat(self, bucket: int, tensors: list[Tensor | None]) -> Tensor:
        parts = [
            self._zeros(bucket, shape) if tensor is None else tensor.reshape(math.prod(shape))
            for tensor, shape in zip(tensors, [self._shapes[i] for i in self._groups[bucket]], strict=True)
        ]
        return parts[0] if len(parts) == 1 else Tensor.cat(parts)

    def _zeros(self, bucket: int, shape: tuple[int, ...]) -> Tensor:
        return Tensor.from_numpy(np.zeros(math.prod(shape), self._empty[bucket].dtype), copy=False)

    def split(self, buckets: Sequence[Tensor]) -> list[Tensor]:
        """The tensors of buckets, which share their memory."""
        parts: dict[int, Tensor] = {}
        for bucket, group in zip(buckets, self._groups, strict=True):
            at = 0
            for index in group:
                size = math.prod(self._shapes[index])
                parts[index] = bucket[at : at + size].reshape(self._shapes[index])
                at += size
        return [parts[index] for index in range(len(self._shapes))]

    def owners(self, size: int) -> list[int]:
        """Which of ``size`` ranks sums each bucket: the largest first, each by the one with the least so far."""
        loads, owners = [0] * size, [0] * len(self)
        nbytes = [self._size(bucket) * self._empty[bucket].itemsize for bucket in range(len(self))]
        for bucket in sorted(range(len(self)), key=lambda bucket: -nbytes[bucket]):
            owners[bucket] = loads.index(min(loads))
            loads[owners[bucket]] += nbytes[bucket]
        return owners

    def parts(self, limit: int) -> list[list[Part]]:
        """All buckets in parts, which are grouped so that those of a group fit into so many bytes; in order.

        Args:
            limit: a multiple of 64, and 64 or more.
        """
        groups: list[list[Part]] = [[]]
        at = 0
        for bucket, empty in enumerate(self._empty):
            start, size = -1, self._size(bucket)
            while start < size:
                start = max(start, 0)
                stop = min(size, start + (limit - at) // empty.itemsize)
                if stop > start or not size:
                    groups[-1].append(Part(bucket, start, stop, at, empty.dtype))
                    at += -(-(stop - start) * empty.itemsize // _ALIGNED) * _ALIGNED
                if stop < size:
                    groups.append([])
                    at = 0
                start = stop
        return groups

    def room(self, bucket: int, *, is_empty: bool = False) -> np.ndarray[Any, Any]:
        """Memory of the size of a bucket, of any content; or none at all."""
        return np.empty(0 if is_empty else self._size(bucket), self._empty[bucket].dtype)

    def _size(self, bucket: int) -> int:
        return sum(math.prod(self._shapes[i]) for i in self._groups[bucket])
