"""Ranks that are threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from burnpy._core import get_num_threads, set_thread_share
from burnpy.distributed.communicator import (
    WINDOW_BYTES,
    Communicator,
    CommunicatorError,
    DistributedBuffer,
    as_bytes,
    check_lengths,
    check_root,
)

__all__ = ["LocalCommunicator"]


class _Group:
    """What the ranks share: two places for each, used in turn, and a barrier that they meet at."""

    def __init__(self, size: int) -> None:
        self.slots: list[list[Any]] = [[None] * size, [None] * size]
        self.barrier = threading.Barrier(size)
        self.reason = ""


class LocalCommunicator(Communicator):
    """One of several threads of a process, made by :meth:`group`. Objects are passed as they are, not copied.

    A rank that fails must say so by :meth:`abort`, or the others wait for ever.

    Example:
        >>> alone = LocalCommunicator.group(1)[0]
        >>> alone.gather_object("here")
        ['here']
    """

    def __init__(self, rank: int, group: _Group) -> None:
        self.rank = rank
        self.size = len(group.slots[0])
        self._group = group
        self._turn = 0
        self._windows: list[list[np.ndarray[Any, Any]]] = []

    @classmethod
    def group(cls, size: int) -> list[LocalCommunicator]:
        """A communicator for each of ``size`` threads.

        Raises:
            ValueError: ``size`` is less than 1.
        """
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        shared = _Group(size)
        return [cls(rank, shared) for rank in range(size)]

    def gather(
        self, buffer: DistributedBuffer, into: Sequence[DistributedBuffer] | None = None, root: int = 0
    ) -> None:
        """Have a buffer of each rank on ``root``."""
        slots = self._exchange(as_bytes(buffer), root)
        if self.rank == root:
            for rank, (part, room) in enumerate(zip(slots, into or (), strict=True)):
                target = as_bytes(room)
                self._guarded(check_lengths, part.nbytes, target.nbytes, rank)
                target[:] = part
        self._wait()

    def broadcast(self, buffers: Sequence[DistributedBuffer], root: int = 0) -> None:
        """Have the content of the buffers of ``root`` in those of all."""
        own = [as_bytes(buffer) for buffer in buffers]
        slots = self._exchange(own, root)
        if self.rank != root:
            for part, target in zip(slots[root], own, strict=True):
                self._guarded(check_lengths, part.nbytes, target.nbytes, root)
                target[:] = part
        self._wait()

    def gather_object(self, value: Any, root: int = 0) -> list[Any] | None:
        """An object of each rank on ``root``."""
        slots = self._exchange(value, root)
        return slots if self.rank == root else None

    def scatter_object(self, values: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's one of the objects of ``root``."""
        given: Sequence[Any] = self._exchange(values, root)[root]
        self._guarded(_check_count, len(given), self.size)
        return given[self.rank]

    def broadcast_object(self, value: Any, root: int = 0) -> Any:
        """The object that ``root`` has."""
        return self._exchange(value, root)[root]

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        self._wait()

    def windows(self) -> list[np.ndarray[Any, Any]]:
        """Memory that all ranks see."""
        if len(self._windows) < 2:
            self._windows.append(self._exchange(np.empty(WINDOW_BYTES, np.uint8)))
        else:
            self._windows.reverse()
        return self._windows[-1]

    def abort(self, reason: str) -> None:
        """Have all ranks fail in the call that they are in, or the next."""
        self._group.reason = self._group.reason or f"rank {self.rank}: {reason}"
        self._group.barrier.abort()

    @contextmanager
    def sharing_cores(self) -> Iterator[None]:
        """While it lasts, kernels that this thread calls use one of ``size`` equal shares of the threads.

        So ranks compute at once, and all together on no more threads than there were, but one each at the least.
        Left on the thread that entered it.

        Example:
            >>> from burnpy import get_num_threads
            >>> ranks, before = LocalCommunicator.group(2), get_num_threads()
            >>> with ranks[0].sharing_cores():
            ...     get_num_threads() == max(1, before // 2)
            True
        """
        if self.size == 1:
            yield
            return
        outer = set_thread_share((max(1, get_num_threads() // self.size), self.rank))
        try:
            yield
        finally:
            set_thread_share(outer)

    def _exchange(self, value: Any, root: int = 0) -> list[Any]:
        """What all ranks gave. Nobody puts something else in these places before all have been here again."""
        check_root(root, self.size)
        self._turn = 1 - self._turn
        slots = self._group.slots[self._turn]
        slots[self.rank] = value
        self._wait()
        return list(slots)

    def _wait(self) -> None:
        try:
            self._group.barrier.wait()
        except threading.BrokenBarrierError:
            reason = self._group.reason or "a rank has failed"
            raise CommunicatorError(f"the ranks no longer work together: {reason}") from None

    def _guarded(self, check: Any, *arguments: Any) -> None:
        try:
            check(*arguments)
        except Exception as error:
            self.abort(str(error))
            raise


def _check_count(got: int, size: int) -> None:
    if got != size:
        raise CommunicatorError(f"there must be an object for each of {size} ranks, got {got}")
