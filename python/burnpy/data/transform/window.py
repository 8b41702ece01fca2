"""Runs of neighbouring items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index

__all__ = ["WindowsDataset"]

T = TypeVar("T")


class WindowsDataset(Dataset[list[T]]):
    """Item i is the list of the items i to i + ``size`` − 1 of a data set, read at once.

    Raises:
        ValueError: ``size`` is less than 1.

    Example:
        >>> list(WindowsDataset([0, 1, 2, 3], 3))
        [[0, 1, 2], [1, 2, 3]]
        >>> len(WindowsDataset([0, 1], 3))
        0

    Source: Burn ``data::dataset::transform::WindowsDataset``.
    """

    def __init__(self, dataset: Dataset[T] | Sequence[T], size: int) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        self.dataset = as_dataset(dataset)
        self.size = size

    def __len__(self) -> int:
        return max(len(self.dataset) - self.size + 1, 0)

    def get(self, index: int) -> list[T]:
        """The window that begins at ``index``."""
        start = check_index(index, len(self))
        return list(self.dataset.get_many(range(start, start + self.size)))

    def at_epoch(self, epoch: int) -> WindowsDataset[T]:
        """The same of what it looks at."""
        return WindowsDataset(self.dataset.at_epoch(epoch), self.size)
