"""A loader's batches in shards, of which only some are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnpy.data.dataloader.loader import DataLoader
from burnpy.data.dataloader.reader import Reader, plain_indexes, seeded
from burnpy.data.random import stream

__all__ = ["BatchParts", "part_of", "shard_bounds"]


@dataclass(frozen=True)
class BatchParts:
    """Some shards of a batch.

    Attributes:
        epoch: of the loader, from 0.
        number: of the batch in the epoch, from 0.
        num_items: of the whole batch.
        parts: shard, its number of items, and its batch; shards without items are left out.
    """

    epoch: int
    number: int
    num_items: int
    parts: list[tuple[int, int, Any]]


def shard_bounds(num_items: int, num_shards: int) -> list[int]:
    """Where the shards of a batch begin, and its end; their sizes differ by one at most.

    Example:
        >>> shard_bounds(10, 4)
        [0, 2, 5, 7, 10]
    """
    return [num_items * i // num_shards for i in range(num_shards + 1)]


def part_of(loader: DataLoader, num_shards: int, shards: Sequence[int]) -> DataLoader:
    """A loader at the same place that gives :class:`BatchParts`: each batch cut into shards, only some of them read.

    Progress and state are those of whole batches: a state of one fits the other. What a batcher draws from
    ``batch_rng`` depends on the shard too.

    Raises:
        ValueError: a shard is not one of ``num_shards``.

    Example:
        >>> loader = part_of(DataLoader(range(7), batch_size=4), 2, [1])
        >>> [(batch.num_items, [part.tolist() for _, _, part in batch.parts]) for batch in loader]
        [(4, [[2, 3]]), (3, [[5, 6]])]
    """
    wrong = [shard for shard in shards if not 0 <= shard < num_shards]
    if wrong:
        raise ValueError(f"shards must be from 0 to {num_shards - 1}, got {wrong[0]}")
    part = loader.to_device(loader.reader.device)
    part.reader = _PartReader(part.reader, num_shards, list(shards))
    return part


class _PartReader(Reader):
    """Reads shards of a batch."""

    def __init__(self, whole: Reader, num_shards: int, shards: list[int]) -> None:
        super().__init__(whole.dataset, whole.batcher, whole.strategy, whole.device, whole.key)
        self._num_shards = num_shards
        self._shards = shards

    def read(self, epoch: int, number: int) -> tuple[int, Any] | None:
        size = self.fixed_size
        dataset = None
        if size is None:
            items = self._streamed(epoch, number)
        else:
            dataset, order = self._epoch(epoch)
            items = order[number * size : (number + 1) * size]  # type: ignore[assignment]
        if items is None or not len(items):
            return None
        bounds = shard_bounds(len(items), self._num_shards)
        parts = []
        for shard in self._shards:
            mine: Any = items[bounds[shard] : bounds[shard + 1]]
            if len(mine):
                with seeded(stream(self.key or b"", epoch, number, shard)):
                    some = mine if dataset is None else dataset.get_many(plain_indexes(mine))
                    parts.append((shard, len(mine), self.made(some)))
        return len(items), BatchParts(epoch, number, len(items), parts)

    def __getstate__(self) -> tuple[Any, ...]:
        return super().__getstate__(), self._num_shards, self._shards

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(Reader(*state[0]), *state[1:])  # type: ignore[misc]
