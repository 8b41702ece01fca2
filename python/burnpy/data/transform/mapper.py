"""A function over a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset

__all__ = ["Mapper", "MapperDataset"]

T_contra = TypeVar("T_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
I = TypeVar("I")  # noqa: E741  Burn's letter


class Mapper(Protocol[T_contra, T_co]):
    """What turns an item into another.

    Source: Burn ``data::dataset::transform::Mapper``.
    """

    def map(self, item: T_contra, /) -> T_co:
        """The other item."""
        ...


class MapperDataset(Dataset[T]):
    """A data set whose items go through a :class:`Mapper` or a function, each time they are asked for.

    Items are read in bulk where the data set can. For random augmentation draw from :func:`burnpy.data.batch_rng`,
    which depends on the loader's seed, the epoch and the batch alone.

    Example:
        >>> MapperDataset([1, 2, 3], lambda number: number * 10).get_many([2, 0])
        [30, 10]

    Source: Burn ``data::dataset::transform::MapperDataset``.
    """

    def __init__(self, dataset: Dataset[I] | Sequence[I], mapper: Mapper[I, T] | Callable[[I], T]) -> None:
        self.dataset: Dataset[Any] = as_dataset(dataset)
        self.mapper = mapper
        self._map: Any = getattr(mapper, "map", mapper)
        if not callable(self._map):
            raise TypeError(f"mapper must have a method map or be a function, got {type(mapper).__name__}")

    def __len__(self) -> int:
        return len(self.dataset)

    def get(self, index: int) -> T:
        """The mapped item."""
        mapped: T = self._map(self.dataset.get(index))
        return mapped

    def get_many(self, indexes: Sequence[int]) -> list[T]:
        """The mapped items."""
        return [self._map(item) for item in self.dataset.get_many(indexes)]

    def at_epoch(self, epoch: int) -> MapperDataset[T]:
        """The same of what it maps."""
        return MapperDataset(self.dataset.at_epoch(epoch), self.mapper)
