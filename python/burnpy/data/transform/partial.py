"""A stretch of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index

__all__ = ["PartialDataset", "even_bounds"]

T = TypeVar("T")


class PartialDataset(Dataset[T]):
    """The items ``start`` to ``end`` − 1 of a data set.

    Unlike Burn: an ``end`` beyond the data set is its end, also where ``start`` is not 0.

    Raises:
        ValueError: ``start`` is negative or after ``end``.

    Example:
        >>> list(PartialDataset("abcdef", 2, 4))
        ['c', 'd']
        >>> [len(part) for part in PartialDataset.split(range(27), 4)]
        [6, 6, 6, 9]
        >>> [len(part) for part in PartialDataset.split_chunks(range(27), 4, 5)]
        [10, 10, 5, 2]

    Source: Burn ``data::dataset::transform::PartialDataset``.
    """

    def __init__(self, dataset: Dataset[T] | Sequence[T], start: int, end: int) -> None:
        if not 0 <= start <= end:
            raise ValueError(f"start and end must satisfy 0 <= start <= end, got {start} and {end}")
        self.dataset = as_dataset(dataset)
        self.start, self.end = start, end
        self._length = max(min(end, len(self.dataset)) - start, 0)

    def __len__(self) -> int:
        return self._length

    def get(self, index: int) -> T:
        """Item ``index`` of the stretch."""
        return self.dataset.get(self.start + check_index(index, self._length))

    def get_many(self, indexes: Sequence[int]) -> Sequence[T]:
        """Several items, read at once."""
        return self.dataset.get_many([self.start + check_index(index, self._length) for index in indexes])

    def at_epoch(self, epoch: int) -> PartialDataset[T]:
        """The same of the whole."""
        return PartialDataset(self.dataset.at_epoch(epoch), self.start, self.end)

    @staticmethod
    def split(dataset: Dataset[T] | Sequence[T], num: int) -> list[PartialDataset[T]]:
        """``num`` parts of equal length; the last takes the remainder."""
        return _cut(dataset, even_bounds(len(dataset), num))

    @staticmethod
    def split_chunks(dataset: Dataset[T] | Sequence[T], num: int, batch_size: int) -> list[PartialDataset[T]]:
        """At most ``num`` parts of whole batches, the first ones longer by a batch; none is empty.

        Only the very last batch may be short.
        """
        for name, number in ("num", num), ("batch_size", batch_size):
            if number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")
        length = len(dataset)
        each, more = divmod(-(-length // batch_size), num)
        batches = [each + (part < more) for part in range(num)]
        ends = [min(end * batch_size, length) for end in accumulate(count for count in batches if count)]
        return _cut(dataset, [0, *ends])


def even_bounds(length: int, num: int) -> list[int]:
    """Where ``num`` parts of ⌊length / num⌋ begin, and the end, to which the last part reaches.

    Example:
        >>> even_bounds(28, 3)
        [0, 9, 18, 28]
    """
    if num < 1:
        raise ValueError(f"num must be at least 1, got {num}")
    return [part * (length // num) for part in range(num)] + [length]


def _cut(dataset: Dataset[T] | Sequence[T], bounds: list[int]) -> list[PartialDataset[T]]:
    return [PartialDataset(dataset, start, end) for start, end in pairwise(bounds)]
