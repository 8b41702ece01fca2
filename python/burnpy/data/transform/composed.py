"""Data sets one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index

__all__ = ["ComposedDataset"]

T = TypeVar("T")


class ComposedDataset(Dataset[T]):
    """Several data sets as one: the items of the first, then those of the second and so on.

    Lengths are read once, here; an item is found by bisection, and neighbours of one part are read at once.

    Example:
        >>> both = ComposedDataset([[0, 1, 2], [], [10, 11]])
        >>> len(both), both.get(3), both.get_many([4, 0, 1])
        (5, 10, [11, 0, 1])

    Source: Burn ``data::dataset::transform::ComposedDataset``.
    """

    def __init__(self, datasets: Sequence[Dataset[T] | Sequence[T]]) -> None:
        self.datasets = [as_dataset(dataset) for dataset in datasets]
        self._ends = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def get(self, index: int) -> T:
        """Item ``index`` of the whole."""
        part, place = self._find(index)
        return self.datasets[part].get(place)

    def get_many(self, indexes: Sequence[int]) -> Sequence[T]:
        """Several items, with one bulk read for each run of indices in one part."""
        runs = groupby(map(self._find, indexes), key=lambda found: found[0])
        read = [self.datasets[part].get_many([place for _, place in run]) for part, run in runs]
        return read[0] if len(read) == 1 else [item for items in read for item in items]

    def at_epoch(self, epoch: int) -> ComposedDataset[T]:
        """The same of its parts."""
        return ComposedDataset([dataset.at_epoch(epoch) for dataset in self.datasets])

    def _find(self, index: int) -> tuple[int, int]:
        index = check_index(index, len(self))
        part = bisect_right(self._ends, index)
        return part, index - (self._ends[part - 1] if part else 0)
