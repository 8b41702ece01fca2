"""What a data set is."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

__all__ = ["Dataset", "DatasetIterator", "as_dataset", "check_index", "check_range"]

T_co = TypeVar("T_co", covariant=True)


class Dataset(ABC, Generic[T_co]):
    """Items by number: a subclass says how many there are (``__len__``) and which is which (``get``).

    It is read from several threads at once, and must not change items that it handed out. For
    ``worker="process"`` it must pickle. ``get_many`` is what loaders call: override it where many items come cheaper
    than one by one. Where a data set is asked for, any sequence will do too (:func:`as_dataset`).

    Raises:
        IndexError: an index out of range; negative ones are for ``dataset[-1]`` alone.
        DatasetError: an item cannot be had.

    Example:
        >>> class Squares(Dataset[int]):
        ...     def __len__(self):
        ...         return 4
        ...     def get(self, index):
        ...         return check_index(index, 4) ** 2
        >>> squares = Squares()
        >>> list(squares), squares[-1], squares.get_many([2, 2])
        ([0, 1, 4, 9], 9, [4, 4])

    Source: Burn ``data::dataset::Dataset``.
    """

    @abstractmethod
    def get(self, index: int) -> T_co:
        """The item of a number from 0 to ``len`` − 1."""

    @abstractmethod
    def __len__(self) -> int: ...

    def get_many(self, indexes: Sequence[int]) -> Sequence[T_co]:
        """The items of several numbers, in that order; a number may come twice."""
        return [self.get(index) for index in indexes]

    def len(self) -> int:
        """How many items there are; assumed to stay so."""
        return len(self)

    def is_empty(self) -> bool:
        """Whether there are no items."""
        return len(self) == 0

    def iter(self) -> DatasetIterator[T_co]:
        """The items in order; it may go on after an item that failed."""
        return DatasetIterator(self)

    def windows(self, size: int) -> Iterator[list[T_co]]:
        """Each run of ``size`` neighbouring items."""
        from burnpy.data.transform.window import WindowsDataset

        windows: WindowsDataset[T_co] = WindowsDataset(self, size)
        return windows.iter()

    def at_epoch(self, epoch: int) -> Dataset[T_co]:
        """The data set as it stands during one pass of a loader, counted from 0.

        Itself, as a rule. What draws its items at random gives a fixed draw that depends on its seed and the epoch
        alone, so that workers agree and a pass can be resumed; what wraps another data set passes the call on.
        """
        return self

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Dataset[T_co]:
        if isinstance(index, slice):
            from burnpy.data.transform.selection import SelectionDataset

            return SelectionDataset(self, range(*index.indices(len(self))))
        position = operator.index(index)
        return self.get(position + len(self) if position < 0 else position)

    def __iter__(self) -> Iterator[T_co]:
        return self.iter()


class DatasetIterator(Iterator[T_co]):
    """The items of a data set in order; its length is read once, here.

    Example:
        >>> list(DatasetIterator(as_dataset("abc")))
        ['a', 'b', 'c']
    """

    def __init__(self, dataset: Dataset[T_co]) -> None:
        self._dataset = dataset
        self._length = len(dataset)
        self._next = 0

    def __next__(self) -> T_co:
        if self._next >= self._length:
            raise StopIteration
        self._next += 1
        return self._dataset.get(self._next - 1)

    def __length_hint__(self) -> int:
        return self._length - self._next


class _SequenceDataset(Dataset[T_co]):
    """What has a length and items, as a data set; ``__getitems__`` is used where there is one."""

    def __init__(self, items: Sequence[T_co]) -> None:
        self._items = items
        self._bulk = getattr(items, "__getitems__", None)

    def __len__(self) -> int:
        return len(self._items)

    def get(self, index: int) -> T_co:
        return self._items[check_index(index, len(self._items))]

    def get_many(self, indexes: Sequence[int]) -> Sequence[T_co]:
        if self._bulk is None:
            return super().get_many(indexes)
        length = len(self._items)
        items: Sequence[T_co] = self._bulk([check_index(index, length) for index in indexes])
        return items

    def __reduce__(self) -> tuple[Any, ...]:
        return _SequenceDataset, (self._items,)


def as_dataset(items: Dataset[T_co] | Sequence[T_co]) -> Dataset[T_co]:
    """A data set as it is; any object with ``__len__`` and ``__getitem__`` as one, without a copy.

    A list, a NumPy array (item i is row i) or a loaded Hugging Face data set will do.

    Raises:
        TypeError: neither, or a mapping, whose items have keys and no numbers.

    Example:
        >>> as_dataset([10, 20]).get(1)
        20
    """
    if isinstance(items, Dataset):
        return items
    if hasattr(items, "__len__") and hasattr(items, "__getitem__") and not isinstance(items, Mapping):
        return _SequenceDataset(items)
    raise TypeError(f"a data set needs __len__ and items by number, {type(items).__name__} has none")


def check_index(index: int, length: int) -> int:
    """The index, if it is one of a data set of ``length`` items.

    Example:
        >>> check_index(5, 3)
        Traceback (most recent call last):
        IndexError: index 5 is out of range for a data set of 3 items
    """
    position = operator.index(index)
    if not 0 <= position < length:
        raise IndexError(f"index {position} is out of range for a data set of {length} items")
    return position


def check_range(start: int, end: int, length: int) -> range:
    """The range of indices, if it lies within a data set of ``length`` items.

    Example:
        >>> check_range(2, 9, 3)
        Traceback (most recent call last):
        IndexError: the range 2 to 9 does not lie within a data set of 3 items
    """
    if not 0 <= start <= end <= length:
        raise IndexError(f"the range {start} to {end} does not lie within a data set of {length} items")
    return range(start, end)
