"""A batch as a pure function of epoch and number: what loaders and all their workers call."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from burnpy.data.dataloader.strategy import BatchStrategy, FixBatchStrategy
from burnpy.data.dataset.dataset import Dataset
from burnpy.data.random import permutation, stream

if TYPE_CHECKING:
    from burnpy._core import Device
    from burnpy.data.dataloader.batcher import AnyBatcher

__all__ = ["Reader", "batch_rng"]

_local = threading.local()


def batch_rng() -> random.Random:
    """The random numbers of the batch that is being made: for augmentation in a mapper, a data set or a batcher.

    They depend on the loader's seed, the epoch and the batch, whatever worker makes it; outside a loader they
    are anything.

    Example:
        >>> from burnpy.data import DataLoader, MapperDataset
        >>> noisy = MapperDataset([0.0] * 4, lambda number: number + batch_rng().random())
        >>> def passes(workers):
        ...     loader = DataLoader(noisy, lambda items, _: items, batch_size=2, shuffle=1, num_workers=workers)
        ...     return list(loader)
        >>> passes(0) == passes(2)
        True
    """
    rng = getattr(_local, "rng", None)
    if isinstance(rng, bytes):  # seeding takes longer than most batchers would forgive that never draw
        rng = _local.rng = random.Random(int.from_bytes(rng, "little"))
    return rng or random.Random()


@contextmanager
def seeded(seed: bytes) -> Iterator[None]:
    """While it lasts, :func:`batch_rng` of this thread is that of a seed."""
    _local.rng = seed
    try:
        yield
    finally:
        _local.rng = None


@dataclass
class Reader:
    """Everything a batch depends on. Pickles for worker processes; shared among worker threads."""

    dataset: Dataset[Any]
    batcher: AnyBatcher
    strategy: BatchStrategy
    device: Device
    key: bytes | None
    """The key of the order of items; ``None`` where they are not shuffled."""

    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    # Those of the last two epochs: a pass may begin before the one before it is through.
    _epochs: deque[tuple[int, Dataset[Any], Sequence[int]]] = field(
        default_factory=lambda: deque(maxlen=2), repr=False
    )
    _stream: tuple[int, int, Iterator[list[Any]]] | None = field(default=None, repr=False)

    @property
    def fixed_size(self) -> int | None:
        """The number of items in a batch, if that alone decides which they are."""
        return self.strategy.batch_size() if type(self.strategy) is FixBatchStrategy else None

    def read(self, epoch: int, number: int) -> tuple[int, Any] | None:
        """Batch ``number`` of an epoch, and how many items it holds; ``None`` behind the last one."""
        with seeded(stream(self.key or b"", epoch, number)):
            items = self._items(epoch, number)
            return None if items is None else (len(items), self.made(items))

    def made(self, items: Sequence[Any]) -> Any:
        """A batch of items."""
        make: Any = getattr(self.batcher, "batch", self.batcher)
        return make(items, self.device)

    def _items(self, epoch: int, number: int) -> Sequence[Any] | None:
        size = self.fixed_size
        if size is None:
            return self._streamed(epoch, number)
        dataset, order = self._epoch(epoch)
        indexes = order[number * size : (number + 1) * size]
        return dataset.get_many(plain_indexes(indexes)) if len(indexes) else None

    def _epoch(self, epoch: int) -> tuple[Dataset[Any], Sequence[int]]:
        with self._lock:
            for known in self._epochs:
                if known[0] == epoch:
                    return known[1:]
            dataset = self.dataset.at_epoch(epoch)
            length = len(dataset)
            order: Any = range(length) if self.key is None else permutation(length, stream(self.key, epoch))
            self._epochs.append((epoch, dataset, order))
            return dataset, order

    def _streamed(self, epoch: int, number: int) -> list[Any] | None:
        """A batch of a strategy that only knows when it sees the items: earlier ones are read again if need be."""
        with self._lock:
            if self._stream is None or self._stream[:2] != (epoch, number):
                batches = self._batches(epoch)
                for _ in range(number):
                    next(batches, None)
            else:
                batches = self._stream[2]
            self._stream = None  # an error below leaves nothing half read
            items = next(batches, None)
            self._stream = (epoch, number + 1, batches)
            return items

    def _batches(self, epoch: int) -> Iterator[list[Any]]:
        dataset, order = self._epoch(epoch)
        strategy = self.strategy.clone_dyn()
        step = strategy.batch_size() or 1
        for start in range(0, len(order), step):
            for item in dataset.get_many(plain_indexes(order[start : start + step])):
                strategy.add(item)
                if (batch := strategy.batch(False)) is not None:
                    yield batch
        while (batch := strategy.batch(True)) is not None:
            yield batch

    def __getstate__(self) -> tuple[Any, ...]:
        return self.dataset, self.batcher, self.strategy, self.device, self.key

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]


def plain_indexes(indexes: Sequence[int]) -> Sequence[int]:
    """Python's own integers: data sets use them as keys, in SQL, in JSON."""
    return indexes if isinstance(indexes, range) else indexes.tolist()  # type: ignore[attr-defined]
