"""Any loader as the loop needs it: batches, how far they are, and where to go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from burnpy.data import Progress
from burnpy.errors import DatasetError

__all__ = ["LoaderPass", "TrainingLoader", "length_of"]


class TrainingLoader:
    """A ``DataLoader`` of ``burnpy.data``, or any object with ``__iter__`` (a ``DataLoader`` of PyTorch, a list).

    The items of a batch of another loader are counted by the first length found in it. A loader that has
    ``state_dict`` and ``load_state_dict`` goes on in the middle of an epoch at no cost; of any other the batches before
    are read again and thrown away, which is right only if it gives them in the same order.

    Args:
        loader: the loader.
        name: the argument that it came in, for errors.

    Raises:
        TypeError: it cannot be iterated, or is an iterator, which gives one epoch only.
    """

    def __init__(self, loader: Any, name: str) -> None:
        if not hasattr(loader, "__iter__"):
            raise TypeError(f"{name} must be a data loader or an iterable, got {type(loader).__name__}")
        if isinstance(loader, Iterator):
            raise TypeError(f"{name} must give a pass per epoch, got an iterator, {type(loader).__name__}")
        self.loader = loader
        self._skip = 0

    def num_items(self) -> int | None:
        """Items of an epoch, if anybody knows."""
        if hasattr(self.loader, "num_items"):
            return int(self.loader.num_items())
        dataset: Any = getattr(self.loader, "dataset", None)
        return len(dataset) if hasattr(dataset, "__len__") else None

    def begin(self) -> LoaderPass:
        """The next pass."""
        skip, self._skip = self._skip, 0
        return LoaderPass(self, skip)

    def state(self) -> dict[str, Any]:
        """Where the loader stands between passes."""
        return dict(self.loader.state_dict()) if hasattr(self.loader, "state_dict") else {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Have the next pass go on where a state was taken.

        Raises:
            DatasetError: the state is of another loader.
        """
        if "batches" in state:
            self._skip = int(state["batches"])
        elif state and hasattr(self.loader, "load_state_dict"):
            self.loader.load_state_dict(dict(state))


class LoaderPass:
    """One pass over a loader."""

    def __init__(self, owner: TrainingLoader, skip: int) -> None:
        self._owner = owner
        self._iterator: Any = iter(())
        self._own = False
        self._total: int | None = None
        self._batches = self._items = 0
        self._failure: Exception | None = None
        try:
            self._begin(skip)
        except Exception as error:
            # To be raised where whoever reads batches expects it.
            self._failure = error

    def _begin(self, skip: int) -> None:
        self._iterator = iter(self._owner.loader)
        self._own = hasattr(self._iterator, "progress")
        self._total = None if self._own else self._owner.num_items()
        try:
            for _ in range(skip):
                self.next()
        except StopIteration:
            raise DatasetError(
                f"to go on after batch {skip}, but the data loader has only {self._batches}"
            ) from None

    def next(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: there is none.
        """
        if self._failure is not None:
            raise self._failure
        batch = next(self._iterator)
        self._batches += 1
        if not self._own:
            self._items += length_of(batch)
        return batch

    def progress(self) -> Progress:
        """Items so far, of how many."""
        if self._own:
            progress: Progress = self._iterator.progress()
            return progress
        return Progress(self._items, self._total)

    def state(self) -> dict[str, Any]:
        """Where the pass is, for :meth:`TrainingLoader.load_state`."""
        for holder in (self._iterator, self._owner.loader):
            if hasattr(holder, "state_dict"):
                return dict(holder.state_dict())
        return {"batches": self._batches}

    def close(self) -> None:
        """Leave the pass: workers are free for the next one."""
        close = getattr(self._iterator, "close", None)
        if callable(close):
            close()


def length_of(batch: Any) -> int:
    """Items in a batch: its length, or that of the first array in it."""
    # The common kinds first: a question for a Mapping takes longer than all others.
    is_many = isinstance(batch, (list, tuple))
    shape = getattr(batch[0] if is_many and batch else batch, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 1
    if is_many:
        return len(batch)
    if isinstance(batch, Mapping):
        return length_of(next(iter(batch.values()))) if batch else 0
    for value in vars(batch).values() if hasattr(batch, "__dict__") else ():
        if hasattr(value, "shape"):
            return length_of(value)
    return 1
