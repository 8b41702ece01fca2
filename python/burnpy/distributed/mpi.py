"""Ranks that are processes which an MPI launcher started."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from mmap import mmap
from types import TracebackType
from typing import Any

import numpy as np

from burnpy._core import set_num_threads
from burnpy.distributed.communicator import (
    WINDOW_BYTES,
    Communicator,
    CommunicatorError,
    DistributedBuffer,
    as_bytes,
    check_lengths,
    check_root,
)

__all__ = ["MpiCommunicator"]

# MPI counts in 32-bit integers; half of that leaves room for what it adds.
_PIECE_BYTES = 2**30
_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK")


class MpiCommunicator(Communicator):
    """One of the processes that ``mpirun`` or another launcher of MPI started; through mpi4py.

    An exception that nobody catches ends all ranks, since the others would wait for this one for ever, unless
    :meth:`settle` was called.

    Args:
        comm: a communicator of mpi4py; ``COMM_WORLD`` by default. It is duplicated, so all ranks construct this.

    Raises:
        ImportError: mpi4py is not installed, or finds no library of MPI.
    """

    def __init__(self, comm: Any = None) -> None:
        mpi = _mpi()
        self._comm = (mpi.COMM_WORLD if comm is None else comm).Dup()
        self._byte, self._status = mpi.BYTE, mpi.Status
        self._windows: list[list[np.ndarray[Any, Any]]] | None = None
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()
        self._is_settled = False
        self._watch()

    @staticmethod
    def is_launched() -> bool:
        """Whether a launcher of MPI started this process. Does not import mpi4py."""
        return any(name in os.environ for name in _LAUNCHED)

    @staticmethod
    def ranks_here() -> int:
        """How many ranks this machine has, as far as the launcher tells."""
        told = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or os.environ.get("MPI_LOCALNRANKS") or "1"
        return max(1, int(told))

    def gather(
        self, buffer: DistributedBuffer, into: Sequence[DistributedBuffer] | None = None, root: int = 0
    ) -> None:
        """Have a buffer of each rank on ``root``."""
        check_root(root, self.size)
        own = as_bytes(buffer)
        if self.rank != root:
            for request in [self._comm.Isend([piece, self._byte], root) for piece in _pieces(own)]:
                request.Wait()
            return
        rooms = [as_bytes(room) for room in into or ()]
        check_lengths(own.nbytes, rooms[root].nbytes, root)
        rooms[root][:] = own
        for rank in range(self.size):
            if rank != root:
                for piece in _pieces(rooms[rank]):
                    self._receive(piece, rank)

    def broadcast(self, buffers: Sequence[DistributedBuffer], root: int = 0) -> None:
        """Have the content of the buffers of ``root`` in those of all."""
        check_root(root, self.size)
        for buffer in buffers:
            for piece in _pieces(as_bytes(buffer)):
                self._comm.Bcast([piece, self._byte], root)

    def gather_object(self, value: Any, root: int = 0) -> list[Any] | None:
        """An object of each rank on ``root``; it is pickled before anything is sent."""
        check_root(root, self.size)
        found: list[Any] | None = self._comm.gather(value, root)
        return found

    def scatter_object(self, values: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's one of the objects of ``root``."""
        check_root(root, self.size)
        if self.rank == root and len(values or ()) != self.size:
            raise CommunicatorError(f"there must be an object for each of {self.size} ranks, got {values!r}")
        return self._comm.scatter(values, root)

    def broadcast_object(self, value: Any, root: int = 0) -> Any:
        """The object that ``root`` has."""
        check_root(root, self.size)
        return self._comm.bcast(value, root)

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        self._comm.Barrier()

    def windows(self) -> list[np.ndarray[Any, Any]] | None:
        """Memory that all ranks see, if they are on one machine and it has room for it."""
        if self._windows is None:
            self._windows = self._shared_windows()
        self._windows.reverse()
        return self._windows[-1] if self._windows else None

    def abort(self, reason: str) -> None:
        """End all processes of the launcher at once, this one too."""
        print(f"rank {self.rank}: {reason}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        self._comm.Abort(1)

    def settle(self, is_settled: bool = True) -> None:
        """Whether an exception that ends this rank is to leave the others alone."""
        self._is_settled = is_settled

    def share_cores(self) -> None:
        """Have the ranks of a machine share its cores, unless ``BURNPY_NUM_THREADS`` says how many each has."""
        if "BURNPY_NUM_THREADS" in os.environ or self.size == 1:
            return
        all_cores = os.cpu_count() or 1
        mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else all_cores
        # A launcher that binds ranks to cores has shared them already.
        set_num_threads(mine if mine < all_cores else max(1, all_cores // self.ranks_here()))

    def _shared_windows(self) -> list[list[np.ndarray[Any, Any]]]:
        """Two for each rank, in a file that all have open; or none."""
        mpi = _mpi()
        here = self._comm.Split_type(mpi.COMM_TYPE_SHARED)
        is_here = here.Get_size() == self.size
        here.Free()
        if not is_here:
            return []
        name = self._comm.bcast(_shared_file(2 * self.size * WINDOW_BYTES) if self.rank == 0 else None)
        memory = None
        with suppress(OSError), open(name, "r+b") as file:
            memory = mmap(file.fileno(), 0)
        is_open = self._comm.allreduce(memory is not None, mpi.LAND)
        if self.rank == 0:
            with suppress(OSError):
                os.unlink(name)
        if memory is None or not is_open:
            return []
        return [list(half) for half in np.frombuffer(memory, np.uint8).reshape(2, self.size, WINDOW_BYTES)]

    def _receive(self, room: memoryview, rank: int) -> None:
        status = self._status()
        self._comm.Probe(rank, 0, status)
        try:
            check_lengths(status.Get_count(self._byte), room.nbytes, rank)
        except CommunicatorError as error:
            # What is on its way fits nowhere.
            self.abort(str(error))
            raise
        self._comm.Recv([room, self._byte], rank)

    def _watch(self) -> None:
        """Have an exception that ends this process end all, as long as they wait for it."""
        before = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            before(kind, error, trace)
            if not self._is_settled and self.size > 1:
                self.abort("".join(traceback.format_exception_only(error)).strip())

        sys.excepthook = hook


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            f"ranks that are processes need mpi4py and a library of MPI: pip install 'burnpy[mpi]' ({error})"
        ) from error
    return MPI


def _shared_file(nbytes: int) -> str:
    """The path of a file of zeros, in memory if the system has a folder for it; nothing is there if it has no room.

    MPI has windows too, but to make one has Open MPI write warnings where it was built with UCX.
    """
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = ""
    try:
        handle, path = tempfile.mkstemp(prefix="burnpy-ranks-", dir=folder)
        with open(handle, "wb") as file:
            # Written, not only made longer: to touch memory that is not there would end the process.
            file.write(bytes(nbytes))
    except OSError:
        with suppress(OSError):
            os.unlink(path)
    return path


def _pieces(data: memoryview) -> Iterator[memoryview]:
    """At least one, so that a rank that gives nothing is not waited for."""
    return (data[at : at + _PIECE_BYTES] for at in range(0, max(data.nbytes, 1), _PIECE_BYTES))
