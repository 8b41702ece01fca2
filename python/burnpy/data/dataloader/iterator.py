"""One pass over the batches of a loader."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from burnpy.data.dataloader.progress import Progress

if TYPE_CHECKING:
    from burnpy.data.dataloader.loader import DataLoader
    from burnpy.data.dataloader.worker import Pool

__all__ = ["DataLoaderIterator"]


class DataLoaderIterator(Iterator[Any]):
    """The batches of one epoch, in an order that does not depend on workers.

    After an error, ``next`` tries the same batch again, as in Burn; a ``for`` loop ends at the error.

    Source: Burn ``data::dataloader::DataLoaderIterator``.
    """

    def __init__(self, loader: DataLoader, epoch: int, number: int, items: int) -> None:
        self._loader = loader
        self._epoch = epoch
        self._number = number
        self._items = items
        self._is_exhausted = False
        self._pool: Pool | None = None
        self._tickets: deque[int] = deque()

    def __next__(self) -> Any:
        if self._is_exhausted:
            raise StopIteration
        read = self._read()
        if read is None:
            self.close()
            self._is_exhausted = True
            raise StopIteration
        self._number += 1
        self._items += read[0]
        return read[1]

    def progress(self) -> Progress:
        """Items in the batches so far, of those of the epoch; those before the point of a resume count."""
        return Progress(self._items, self._loader.num_items())

    def state_dict(self) -> dict[str, int]:
        """Where the pass stands: after the batches that were handed out; see :meth:`DataLoader.load_state_dict`."""
        if self._is_exhausted:
            return self._loader.cursor(self._epoch + 1, 0, 0)
        return self._loader.cursor(self._epoch, self._number, self._items)

    def close(self) -> None:
        """Leaves the pass; workers are free for the next one."""
        if self._pool is not None:
            self._loader.give_back(self._pool)
        self._pool = None
        self._tickets.clear()

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self.close()

    def _read(self) -> tuple[int, Any] | None:
        if not self._loader.num_workers:
            return self._loader.reader.read(self._epoch, self._number)
        if self._pool is not None and self._pool.pid != os.getpid():
            # This process is a fork: threads did not come along, processes are the parent's.
            self.close()
        if self._pool is None:
            self._pool = self._loader.lease()
        try:
            return self._answer(self._pool)
        except BaseException:
            # Also an interrupt: the answer may come later, and is skipped then.
            self.close()
            raise

    def _answer(self, pool: Pool) -> tuple[int, Any] | None:
        end = self._loader.num_batches()
        while len(self._tickets) < self._loader.queue_size:
            ahead = self._number + len(self._tickets)
            if end is not None and ahead >= end:
                break
            self._tickets.append(pool.ask(self._epoch, ahead))
        if not self._tickets:
            return None
        is_good, value = pool.answer(self._tickets[0])
        if not is_good:
            raise value
        self._tickets.popleft()
        read: tuple[int, Any] | None = value
        return read
