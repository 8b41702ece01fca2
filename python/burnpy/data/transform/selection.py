"""Chosen items of a data set, in a chosen order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index, check_range
from burnpy.data.random import RngSource, fork, permutation
from burnpy.data.transform.partial import even_bounds

__all__ = ["SelectionDataset", "ShuffledDataset", "random_split"]

T = TypeVar("T")


class SelectionDataset(Dataset[T]):
    """The items of a list of indices, in its order; one may come twice.

    Example:
        >>> chosen = SelectionDataset.from_indices_checked("abcde", [4, 0, 0, 3])
        >>> list(chosen), list(chosen.slice(1, 3))
        (['e', 'a', 'a', 'd'], ['a', 'a'])
        >>> [len(part) for part in SelectionDataset.new_select_all(range(28)).split(3)]
        [9, 9, 10]

    Source: Burn ``data::dataset::transform::SelectionDataset``.
    """

    def __init__(self, dataset: Dataset[T] | Sequence[T], indices: Sequence[int]) -> None:
        self.dataset = as_dataset(dataset)
        self.indices = indices

    @classmethod
    def from_indices_checked(
        cls, dataset: Dataset[T] | Sequence[T], indices: Sequence[int]
    ) -> SelectionDataset[T]:
        """A selection by indices; one out of range raises ``IndexError``."""
        length = len(dataset)
        return SelectionDataset(dataset, [check_index(index, length) for index in indices])

    @classmethod
    def from_indices_unchecked(
        cls, dataset: Dataset[T] | Sequence[T], indices: Sequence[int]
    ) -> SelectionDataset[T]:
        """A selection by indices; one out of range raises when its item is asked for."""
        return SelectionDataset(dataset, indices)

    @classmethod
    def new_select_all(cls, dataset: Dataset[T] | Sequence[T]) -> SelectionDataset[T]:
        """All items, in order."""
        return SelectionDataset(dataset, range(len(dataset)))

    @classmethod
    def new_shuffled(cls, dataset: Dataset[T] | Sequence[T], rng: RngSource) -> SelectionDataset[T]:
        """All items, in random order."""
        return SelectionDataset(dataset, permutation(len(dataset), fork(rng)).tolist())

    def __len__(self) -> int:
        return len(self.indices)

    def get(self, index: int) -> T:
        """The item that index number ``index`` selects."""
        return self.dataset.get(int(self.indices[check_index(index, len(self.indices))]))

    def get_many(self, indexes: Sequence[int]) -> Sequence[T]:
        """Several items, read at once."""
        length, indices = len(self.indices), self.indices
        return self.dataset.get_many([int(indices[check_index(index, length)]) for index in indexes])

    def at_epoch(self, epoch: int) -> SelectionDataset[T]:
        """The same of the data set that is selected from."""
        return SelectionDataset(self.dataset.at_epoch(epoch), self.indices)

    def shuffle(self, rng: RngSource) -> None:
        """Puts the selection into another order, in place."""
        order = permutation(len(self.indices), fork(rng)).tolist()
        self.indices = [int(self.indices[place]) for place in order]

    def slice(self, start: int, end: int) -> SelectionDataset[T]:
        """The selected items ``start`` to ``end`` − 1; a range that does not lie within raises ``IndexError``."""
        part = check_range(start, end, len(self.indices))
        return SelectionDataset(self.dataset, self.indices[part.start : part.stop])

    def split(self, num: int) -> list[SelectionDataset[T]]:
        """``num`` parts of equal length; the last takes the remainder."""
        return [self.slice(start, end) for start, end in pairwise(even_bounds(len(self.indices), num))]


class ShuffledDataset(SelectionDataset[T]):
    """All items of a data set in one random order, drawn here.

    Reads in bulk, unlike Burn's. A loader with ``shuffle`` draws a new order in each epoch instead.

    Example:
        >>> shuffled = ShuffledDataset(range(27), 42)
        >>> list(shuffled) == list(ShuffledDataset(range(27), 42)), sorted(shuffled) == list(range(27))
        (True, True)

    Source: Burn ``data::dataset::transform::ShuffledDataset``.
    """

    def __init__(self, dataset: Dataset[T] | Sequence[T], rng: RngSource = None) -> None:
        super().__init__(dataset, permutation(len(dataset), fork(rng)).tolist())


def random_split(
    dataset: Dataset[T] | Sequence[T], lengths: Sequence[float], rng: RngSource = None
) -> list[SelectionDataset[T]]:
    """Cuts a data set, in random order, into parts of given lengths; no item comes twice.

    Args:
        dataset: what is cut.
        lengths: whole numbers of items, with a sum of at most the number of items; or fractions with a sum of at
            most 1, of which each part but the last is rounded down and the last gets what is left up to the sum.
        rng: a seed, a generator, or ``None`` for the operating system's randomness.

    Raises:
        ValueError: a negative length, or a sum that is too large.

    Example:
        >>> train, valid = random_split(range(10), [0.7, 0.3], 42)
        >>> len(train), len(valid), sorted([*train, *valid]) == list(range(10))
        (7, 3, True)
    """
    counts = _counts(lengths, len(dataset))
    shuffled = ShuffledDataset(dataset, rng)
    ends = [sum(counts[:part]) for part in range(len(counts) + 1)]
    return [shuffled.slice(start, end) for start, end in pairwise(ends)]


def _counts(lengths: Sequence[float], total: int) -> list[int]:
    is_fractions = any(isinstance(length, float) for length in lengths)
    limit = 1 if is_fractions else total
    # The sum of [0.7, 0.2, 0.1] is not exactly 1.
    if any(length < 0 for length in lengths) or not sum(lengths) <= limit + 1e-9:
        raise ValueError(
            f"lengths must not be negative, and their sum at most {limit}, got {list(lengths)} of {total} items"
        )
    if not is_fractions:
        return [int(length) for length in lengths]
    counts = [int(length * total + 1e-9) for length in lengths]
    return [*counts[:-1], int(min(sum(lengths), 1.0) * total + 1e-9) - sum(counts[:-1])]
