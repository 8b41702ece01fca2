"""Batches, epoch after epoch."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from burnpy._core import Device
from burnpy.data.dataloader.batcher import AnyBatcher, StackBatcher
from burnpy.data.dataloader.iterator import DataLoaderIterator
from burnpy.data.dataloader.reader import Reader
from burnpy.data.dataloader.strategy import BatchStrategy, FixBatchStrategy
from burnpy.data.dataset.dataset import Dataset, as_dataset, check_range
from burnpy.data.random import fork
from burnpy.data.transform.partial import PartialDataset, even_bounds
from burnpy.errors import DatasetError

if TYPE_CHECKING:
    from burnpy.data.dataloader.worker import Pool, WorkerKind

__all__ = ["DataLoader", "split_dataloader"]


class DataLoader:
    """Batches of a data set: each ``iter()`` is the next epoch.

    Which items are in batch n of epoch e depends on the seed, e and n alone: not on workers, nor on how often the
    loader was copied or a pass left early. Unlike Burn: with workers, items are shuffled among all in each epoch, and
    batches come in order.

    Args:
        dataset: where items come from; any sequence.
        batcher: what makes a batch of them, a :class:`Batcher` or a function ``(items, device)``; without it, a
            :class:`StackBatcher`.
        batch_size: items in a batch; the last one may be smaller.
        shuffle: the seed of the order of items, a new one in each epoch; ``None`` for the order of the data set.
        num_workers: how many read ahead; 0 to read when a batch is asked for.
        worker: ``"thread"``, without copies, for reading and native code; ``"process"`` for Python code: the data set
            is sent to each (forkserver; spawn on Windows; the script needs ``if __name__ == "__main__":``).
        prefetch: how many batches all workers may hold ready, 2 for each by default; the bound of the memory they use.
        device: where tensors go, handed to the batcher; by default ``Device()``.
        strategy: what makes batches of another kind, instead of ``batch_size``; it reads in order, so with workers
            there is one, and a pass is resumed by reading its items again.

    Raises:
        ValueError: a size, a number or a seed that cannot be.
        TypeError: the data set or the batcher is none; or cannot be pickled for ``worker="process"``.

    A data set's or batcher's exception is raised by ``next``, from a worker with its traceback as a note; a process
    that died raises ``DatasetError``.

    Example:
        >>> loader = DataLoader(range(5), batch_size=2)
        >>> [batch.tolist() for batch in loader], len(loader), loader.num_items()
        ([[0, 1], [2, 3], [4]], 3, 5)
        >>> loader = DataLoader(range(100), batch_size=10, shuffle=42)
        >>> batches = iter(loader)
        >>> _, _, state = next(batches), next(batches), loader.state_dict()
        >>> resumed = DataLoader(range(100), batch_size=10, shuffle=42)
        >>> resumed.load_state_dict(state)
        >>> next(iter(resumed)).tolist() == next(batches).tolist()
        True

    Source: Burn ``data::dataloader::DataLoader``.
    """

    def __init__(
        self,
        dataset: Dataset[Any] | Sequence[Any],
        batcher: AnyBatcher | None = None,
        *,
        batch_size: int = 1,
        shuffle: int | None = None,
        num_workers: int = 0,
        worker: WorkerKind = "thread",
        prefetch: int | None = None,
        device: Device | None = None,
        strategy: BatchStrategy | None = None,
    ) -> None:
        batcher = StackBatcher() if batcher is None else batcher
        if not callable(getattr(batcher, "batch", batcher)):
            raise TypeError(
                f"batcher must have a method batch or be a function, got {type(batcher).__name__}"
            )
        _check_workers(num_workers, worker, prefetch)
        self._seed = shuffle
        self._options = (num_workers, worker, prefetch)
        self.reader = Reader(
            as_dataset(dataset),
            batcher,
            FixBatchStrategy[Any](batch_size) if strategy is None else strategy,
            Device() if device is None else device,
            None if shuffle is None else fork(shuffle),
        )
        self.num_workers = min(num_workers, 1) if self.reader.fixed_size is None else num_workers
        self.queue_size = 2 * self.num_workers if prefetch is None else max(prefetch, 1)
        self._num_items = len(self.reader.dataset)
        self._start = (0, 0, 0)
        self._current: weakref.ref[DataLoaderIterator] | None = None
        self._idle: list[Pool] = []
        weakref.finalize(self, _close_all, self._idle)

    def iter(self) -> DataLoaderIterator:
        """The next epoch; the first pass after :meth:`load_state_dict` is what is left of one."""
        epoch, number, items = self._start
        self._start = (epoch + 1, 0, 0)
        iterator = DataLoaderIterator(self, epoch, number, items)
        self._current = weakref.ref(iterator)
        return iterator

    def __iter__(self) -> DataLoaderIterator:
        return self.iter()

    def __len__(self) -> int:
        batches = self.num_batches()
        if batches is None:
            raise TypeError("how many batches there are is not known before they are made by this strategy")
        return batches

    def num_items(self) -> int:
        """How many items an epoch has."""
        return self._num_items

    def num_batches(self) -> int | None:
        """How many batches an epoch has, or ``None`` if the strategy only knows when it sees the items."""
        size = self.reader.fixed_size
        return None if size is None else -(-self._num_items // size)

    @property
    def epoch(self) -> int:
        """The number, from 0, of the epoch that the next ``iter()`` begins or goes on with."""
        return self._start[0]

    def set_epoch(self, epoch: int) -> None:
        """Lets the next ``iter()`` be that of an epoch, counted from 0."""
        if epoch < 0:
            raise ValueError(f"epoch must not be negative, got {epoch}")
        self._start = (epoch, 0, 0)

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: a few integers, however far it is; see :meth:`load_state_dict`.

        It is the place of the pass that was begun last: after the batches it handed out, not those that workers
        have ready.
        """
        iterator = self._current() if self._current is not None else None
        return self.cursor(*self._start) if iterator is None else iterator.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Lets the next ``iter()`` go on where a state was taken: the same batches as if nothing had happened.

        No batch before that is read again. Workers, device and batcher may be others than they were.

        Raises:
            DatasetError: another seed, number of items or batch size; nothing is changed.
        """
        mine = self.cursor(0, 0, 0)
        names = sorted((mine.keys() | state.keys()) - {"epoch", "batch", "items"})
        differ = [
            f"{name} was {state.get(name)} and is {mine.get(name)}"
            for name in names
            if state.get(name) != mine.get(name)
        ]
        missing = [f"{name} is missing" for name in ("epoch", "batch", "items") if state.get(name, -1) < 0]
        if differ or missing:
            raise DatasetError(f"the state is of another loader: {', '.join(differ + missing)}", kind="State")
        self._start = (state["epoch"], state["batch"], state["items"])
        self._current = None

    def to_device(self, device: Device) -> DataLoader:
        """The same loader, at the same place, for another device."""
        return self._derived(self.reader.dataset, device, self._start)

    def slice(self, start: int, end: int) -> DataLoader:
        """A loader of the items ``start`` to ``end`` − 1, shuffled among themselves, in the same epoch.

        Raises:
            IndexError: the range does not lie within the data set.
        """
        part = check_range(start, end, self._num_items)
        dataset = PartialDataset(self.reader.dataset, part.start, part.stop)
        return self._derived(dataset, self.reader.device, (self._start[0], 0, 0))

    def close(self) -> None:
        """Ends the workers that are idle; they come back with the next pass. Also done when the loader goes."""
        _close_all(self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cursor(self, epoch: int, number: int, items: int) -> dict[str, int]:
        """The state of a loader like this at a place."""
        what = {"num_items": self._num_items}
        if self.reader.fixed_size is not None:
            what["batch_size"] = self.reader.fixed_size
        if self._seed is not None:
            what["seed"] = self._seed
        return {"epoch": epoch, "batch": number, "items": items} | what

    def lease(self) -> Pool:
        """Workers for one pass: two passes at once do not share them, and cannot wait for each other."""
        from burnpy.data.dataloader.worker import Pool

        while self._idle:
            pool = self._idle.pop()
            if pool.pid == os.getpid():
                return pool
        num_workers, kind, _ = self._options
        return Pool(self.reader, kind, min(self.num_workers, num_workers))

    def give_back(self, pool: Pool) -> None:
        """Takes workers back, for the next pass."""
        if pool.is_broken:
            pool.close()
        else:
            self._idle.append(pool)

    def _derived(self, dataset: Dataset[Any], device: Device, start: tuple[int, int, int]) -> DataLoader:
        num_workers, worker, prefetch = self._options
        derived = DataLoader(
            dataset,
            self.reader.batcher,
            shuffle=self._seed,
            num_workers=num_workers,
            worker=worker,
            prefetch=prefetch,
            device=device,
            strategy=self.reader.strategy,
        )
        derived._start = start
        return derived


def split_dataloader(loader: DataLoader, devices: Sequence[Device]) -> list[DataLoader]:
    """One loader for each device, of ⌊items / devices⌋ neighbouring items, the last one with the remainder.

    With one device or none it is the loader itself, as it is.

    Example:
        >>> parts = split_dataloader(DataLoader(range(11)), [Device.cpu(), Device.cpu()])
        >>> [part.num_items() for part in parts]
        [5, 6]

    Source: Burn ``data::dataloader::split_dataloader``.
    """
    if len(devices) < 2:
        return [loader]
    bounds = even_bounds(loader.num_items(), len(devices))
    return [
        loader.slice(start, end).to_device(device)
        for device, start, end in zip(devices, bounds, bounds[1:], strict=False)
    ]


def _check_workers(num_workers: int, worker: str, prefetch: int | None) -> None:
    if isinstance(num_workers, bool) or not hasattr(num_workers, "__index__"):
        raise TypeError(f"num_workers must be an integer, got {num_workers!r}")
    if num_workers < 0:
        raise ValueError(f"num_workers must not be negative, got {num_workers}")
    if worker not in ("thread", "process"):
        raise ValueError(f"worker must be 'thread' or 'process', got {worker!r}")
    if prefetch is not None and prefetch < 0:
        raise ValueError(f"prefetch must not be negative, got {prefetch}")


def _close_all(pools: list[Pool]) -> None:
    while pools:
        pools.pop().close()
