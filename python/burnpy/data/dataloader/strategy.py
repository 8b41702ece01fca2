"""Which items become a batch."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar

__all__ = ["BatchStrategy", "FixBatchStrategy"]

T = TypeVar("T")


class BatchStrategy(Protocol):
    """Takes items one by one, in order, and says when some are a batch.

    Source: Burn ``data::dataloader::BatchStrategy``.
    """

    def add(self, item: Any, /) -> None:
        """Takes an item."""
        ...

    def batch(self, force: bool, /) -> list[Any] | None:
        """The items of a batch, if there is one; with ``force`` all that are left, or ``None`` if none are."""
        ...

    def clone_dyn(self) -> Self:
        """A strategy like this, without items."""
        ...

    def batch_size(self) -> int | None:
        """How many items a batch has, if that is known: so many are read at once."""
        ...


class FixBatchStrategy(Generic[T]):
    """Batches of a fixed number of items; the last one may be smaller.

    Raises:
        ValueError: ``batch_size`` is less than 1.

    Example:
        >>> strategy = FixBatchStrategy(2)
        >>> for item in "abc":
        ...     strategy.add(item)
        ...     print(strategy.batch(False))
        None
        ['a', 'b']
        None
        >>> strategy.batch(True), strategy.batch(True)
        (['c'], None)

    Source: Burn ``data::dataloader::FixBatchStrategy``.
    """

    def __init__(self, batch_size: int) -> None:
        if isinstance(batch_size, bool) or not hasattr(batch_size, "__index__"):
            raise TypeError(f"batch_size must be an integer, got {batch_size!r}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        self._batch_size = batch_size
        self._items: list[T] = []

    def add(self, item: T) -> None:
        """Takes an item."""
        self._items.append(item)

    def batch(self, force: bool) -> list[T] | None:
        """The items so far if they are enough, or if there are any and ``force`` is set."""
        if len(self._items) < (1 if force else self._batch_size):
            return None
        items, self._items = self._items, []
        return items

    def clone_dyn(self) -> FixBatchStrategy[T]:
        """One of the same size, without items."""
        return FixBatchStrategy(self._batch_size)

    def batch_size(self) -> int:
        """How many items a batch has."""
        return self._batch_size
