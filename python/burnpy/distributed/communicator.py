"""What ranks say to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from burnpy._core import Tensor
from burnpy.errors import BurnpyError

__all__ = ["WINDOW_BYTES", "Communicator", "CommunicatorError", "DistributedBuffer"]

WINDOW_BYTES = 2**23

DistributedBuffer: TypeAlias = Any
"""Anything with the buffer protocol, contiguous: a NumPy array, ``tensor.numpy()``, a ``bytearray``."""


class CommunicatorError(BurnpyError):
    """Ranks cannot work together: one has failed, or they disagree.

    Attributes:
        rank: the one that failed, or ``None`` where that is not known.
    """

    def __init__(self, message: str = "", *, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank

    def __reduce__(self) -> tuple[Any, ...]:
        return (_error, (str(self), self.rank), self.__dict__)


def _error(message: str, rank: int | None) -> CommunicatorError:
    return CommunicatorError(message, rank=rank)


@runtime_checkable
class Communicator(Protocol):
    """One of several ranks, which make the same calls in the same order; each returns when this rank's part is done.

    Buffers are used where they lie: nothing is copied into a message and out of it. Objects are small things, such as
    commands, and are pickled where they leave the process. To write one of your own, derive from this class; all but
    :meth:`windows` and :meth:`all_reduce` is to be filled in, and ``burnpy.testing.check_communicator`` tells whether
    it is right.

    Attributes:
        rank: which one this is, from 0.
        size: how many there are.
    """

    rank: int
    size: int

    def gather(
        self, buffer: DistributedBuffer, into: Sequence[DistributedBuffer] | None = None, root: int = 0
    ) -> None:
        """Have a buffer of each rank on ``root``.

        Args:
            buffer: what this rank gives, which may be read-only and empty.
            into: on ``root``, a writable buffer for each rank, as long as what that gives; else ignored.
            root: who has them all.

        Raises:
            CommunicatorError: a length differs, or another rank has failed.
        """
        ...

    def broadcast(self, buffers: Sequence[DistributedBuffer], root: int = 0) -> None:
        """Have the content of the buffers of ``root`` in those of all; they are as long, and writable elsewhere."""
        ...

    def gather_object(self, value: Any, root: int = 0) -> list[Any] | None:
        """An object of each rank, in their order, on ``root``; ``None`` elsewhere."""
        ...

    def scatter_object(self, values: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's one of the objects that ``root`` has for the ranks."""
        ...

    def broadcast_object(self, value: Any, root: int = 0) -> Any:
        """The object that ``root`` has."""
        ...

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        ...

    def abort(self, reason: str) -> None:
        """Have all ranks fail, as soon as may be: this one cannot go on, and they would wait for it for ever."""
        ...

    def settle(self, is_settled: bool = True) -> None:
        """Say that nobody waits for this rank, so that what it fails with from now on is its own affair; or not."""

    def windows(self) -> Sequence[np.ndarray[Any, Any]] | None:
        """Memory that all ranks see, or ``None`` where they have none: then buffers are sent.

        Each writes into the array of its own rank; after a :meth:`barrier` all may read all arrays, until they call
        this again. It is other memory than the last time, which some may still be reading.

        Returns: an array of bytes for each rank, all of one length.
        """
        return None

    def all_reduce(self, buffers: Sequence[DistributedBuffer]) -> None:
        """Have the sums over all ranks in the buffers, which are writable and of numbers.

        They are summed in the order of the ranks, one by one, so all have the same bits, and the next time again. Each
        buffer is summed by one rank, in turn: several of some megabytes go faster than one that is large.

        Cost: each rank sends and gets all buffers once, and one rank holds ``size`` copies of a buffer.

        Raises:
            CommunicatorError: a length differs, or another rank has failed.
            TypeError: a buffer is not of numbers that a tensor can hold.
        """
        for number, buffer in enumerate(buffers):
            own, owner = np.asarray(buffer), number % self.size
            parts = [np.empty_like(own) for _ in range(self.size)] if self.rank == owner else None
            self.gather(own, parts, owner)
            if parts is not None:
                as_bytes(own)[:] = as_bytes(_sum(parts).numpy())
        for number, buffer in enumerate(buffers):
            self.broadcast([buffer], number % self.size)


def _sum(parts: Sequence[np.ndarray[Any, Any]]) -> Tensor:
    total = Tensor.from_numpy(parts[0], copy=False)
    for part in parts[1:]:
        total = total + Tensor.from_numpy(part, copy=False)
    return total


def as_bytes(buffer: DistributedBuffer) -> memoryview:
    """A buffer as its bytes, which share its memory.

    Raises:
        TypeError: it is no buffer, or not contiguous.
    """
    if isinstance(buffer, np.ndarray):
        # Not every dtype, such as bfloat16, has a form in the buffer protocol.
        if not buffer.flags.c_contiguous:
            raise TypeError(f"buffer must be contiguous, got an array with strides {buffer.strides}")
        buffer = buffer.reshape(-1).view(np.uint8)
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise TypeError("buffer must be contiguous")
    return view if view.nbytes == 0 and view.format == "B" else view.cast("B")


def check_lengths(got: int, wanted: int, rank: int) -> None:
    """Compare what a rank gave with the room for it.

    Raises:
        CommunicatorError: they differ.
    """
    if got != wanted:
        raise CommunicatorError(f"rank {rank} gave {got} bytes where {wanted} were awaited", rank=rank)


def check_root(root: int, size: int) -> None:
    """Whether there is such a rank.

    Raises:
        ValueError: there is not.
    """
    if not 0 <= root < size:
        raise ValueError(f"root must be a rank from 0 to {size - 1}, got {root}")
