"""Whether a communicator does what it must."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from burnpy.tensor import Tensor

if TYPE_CHECKING:
    from burnpy.distributed import Communicator

__all__ = ["check_communicator"]


def check_communicator(communicator: Communicator) -> None:
    """Try everything that ranks say to each other; called on all of them at once.

    Raises:
        AssertionError: something is not as it must be. The other ranks may then wait for ever: abort them.

    Example:
        >>> from burnpy.distributed import LocalCommunicator
        >>> check_communicator(LocalCommunicator.group(1)[0])
    """
    assert 0 <= communicator.rank < communicator.size
    checks: list[Callable[[Communicator], None]] = [
        _gather,
        _broadcast,
        _objects,
        _windows,
        _all_reduce,
        _sums_do_not_depend_on_chance,
        _refusals,
    ]
    for check in checks:
        check(communicator)
        communicator.barrier()


def _gather(ranks: Communicator) -> None:
    for root in range(ranks.size):
        for lengths in ([7] * ranks.size, list(range(ranks.size)), [300_000] * ranks.size):
            own = np.full(lengths[ranks.rank], ranks.rank + 1, np.float32)
            own.flags.writeable = False
            rooms = [np.zeros(length, np.float32) for length in lengths] if ranks.rank == root else None
            ranks.gather(own, rooms, root)
            for rank, room in enumerate(rooms or ()):
                assert room.tolist() == [rank + 1] * lengths[rank], f"gather of rank {rank} on {root}"


def _broadcast(ranks: Communicator) -> None:
    for root in range(ranks.size):
        content = [np.arange(5, dtype=np.int64) + root, np.full((2, 3), root + 0.5), np.zeros(0)]
        buffers = content if ranks.rank == root else [np.zeros_like(each) for each in content]
        ranks.broadcast(buffers, root)
        for got, wanted in zip(buffers, content, strict=True):
            assert np.array_equal(got, wanted), f"broadcast of {root}"
        word = bytearray(b"burn" if ranks.rank == root else b"????")
        ranks.broadcast([word], root)
        assert bytes(word) == b"burn"
    # What comes from a tensor lies where it did.
    tensor = Tensor([1.0, 2.0, 3.0])
    room = tensor.numpy() if ranks.rank == 0 else np.zeros(3, np.float32)
    ranks.broadcast([room])
    assert room.tolist() == [1.0, 2.0, 3.0]


def _objects(ranks: Communicator) -> None:
    for root in range(ranks.size):
        found = ranks.gather_object({"rank": ranks.rank}, root)
        wanted = [{"rank": rank} for rank in range(ranks.size)]
        assert found == (wanted if ranks.rank == root else None), f"gather_object on {root}"
        given = [f"for {rank}" for rank in range(ranks.size)] if ranks.rank == root else None
        assert ranks.scatter_object(given, root) == f"for {ranks.rank}", f"scatter_object of {root}"
        assert ranks.broadcast_object(("it", root) if ranks.rank == root else None, root) == ("it", root)


def _windows(ranks: Communicator) -> None:
    for turn in range(5):
        windows = ranks.windows()
        found = ranks.gather_object(windows is not None)
        assert found is None or len({*found}) == 1, "all ranks must have windows, or none"
        if windows is None:
            return
        mine = np.arange(1000, dtype=np.float32) + ranks.rank + turn
        windows[ranks.rank][: mine.nbytes].view(np.float32)[:] = mine
        ranks.barrier()
        # No barrier after: who is first writes into the next ones.
        for rank, window in enumerate(windows):
            wanted = np.arange(1000) + rank + turn
            assert window[: mine.nbytes].view(np.float32).tolist() == wanted.tolist(), (
                f"window of rank {rank}"
            )


def _all_reduce(ranks: Communicator) -> None:
    total = sum(range(1, ranks.size + 1))
    buffers: list[np.ndarray[Any, Any]] = [
        np.full(4, ranks.rank + 1, np.float32),
        np.full((3, 2), ranks.rank + 1, np.int64),
        np.zeros(0, np.float32),
        np.full(100_000, ranks.rank + 1, np.float64),
    ]
    ranks.all_reduce(buffers)
    for buffer in buffers:
        assert np.all(buffer == total), f"all_reduce of {buffer.dtype}"


def _sums_do_not_depend_on_chance(ranks: Communicator) -> None:
    parts = [np.random.default_rng(rank).normal(size=1000).astype(np.float32) for rank in range(ranks.size)]
    wanted = parts[0].copy()
    for part in parts[1:]:
        wanted += part
    for _ in range(3):
        own = parts[ranks.rank].copy()
        ranks.all_reduce([own])
        assert own.tobytes() == wanted.tobytes(), "all_reduce sums in another order than that of the ranks"


def _refusals(ranks: Communicator) -> None:
    for wrong in (-1, ranks.size):
        for call in (ranks.gather_object, ranks.broadcast_object):
            try:
                call("something", wrong)
            except ValueError:
                continue
            raise AssertionError(f"root {wrong} of {ranks.size} ranks must be refused")
    try:
        ranks.gather(np.zeros((4, 4))[:, 0], [np.zeros(4)] * ranks.size, ranks.rank)
    except TypeError:
        return
    raise AssertionError("a buffer that is not contiguous must be refused")
