"""Sums over shards whose bits do not depend on how many ranks there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnpy._core import Tensor
from burnpy.distributed.communicator import WINDOW_BYTES

if TYPE_CHECKING:
    from burnpy.distributed.buckets import Buckets
    from burnpy.distributed.communicator import Communicator

__all__ = ["Shards", "sum_in_order", "sum_shards"]

_Node = tuple[int, int]

# So many ranks read each other's memory, and each forms the whole sum: one meeting, and no copy comes back. Of more,
# what each reads grows with their number, and it is less to read one copy of each rank and a result.
_FEW = 4


@dataclass(frozen=True)
class Shards:
    """Which rank computes which shards: neighbours, as evenly as may be.

    Args:
        num_shards: how many there are.
        size: of how many ranks.

    Raises:
        ValueError: there are fewer shards than ranks, so that a rank would have nothing to do.

    Example:
        >>> [list(Shards(6, 4).of(rank)) for rank in range(4)]
        [[0], [1, 2], [3], [4, 5]]
    """

    num_shards: int
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be at least 1, got {self.size}")
        if self.num_shards < self.size:
            raise ValueError(
                f"{self.size} ranks cannot share {self.num_shards} shards: num_shards must be {self.size} or more"
            )

    def of(self, rank: int) -> range:
        """The shards of a rank."""
        return range(self.num_shards * rank // self.size, self.num_shards * (rank + 1) // self.size)


def sum_in_order(parts: Sequence[Tensor]) -> Tensor:
    """The sum of tensors: that of the first half plus that of the second, down to the single ones.

    Raises:
        ValueError: there is none.

    Example:
        >>> sum_in_order([Tensor([1.0]), Tensor([2.0]), Tensor([3.0])]).item()
        6.0
    """
    if not parts:
        raise ValueError("parts must have a tensor, got none")
    return _sum({(i, i + 1): part for i, part in enumerate(parts)}, (0, len(parts)))


def sum_shards(
    communicator: Communicator, owned: Sequence[Sequence[Tensor]], counts: Sequence[int], buckets: Buckets
) -> list[Tensor]:
    """Sum over the shards of all ranks, on each of them, with the bits of :func:`sum_in_order` however they are shared.

    The halves of the sum that a rank can form alone it forms; of each bucket, one rank gets these from all,
    sums on, and sends the result to all.

    Args:
        communicator: of this rank.
        owned: for each shard of this rank, its buckets.
        counts: how many shards each rank has; they follow each other.
        buckets: what a shard consists of.

    Cost: a rank sends and gets about twice the size of a shard where shards are as many as ranks, and up to the
    logarithm of its shards more where halves and ranks do not fall together.

    Raises:
        ValueError: ``owned`` is not as long as ``counts`` says, or nobody has a shard.
        CommunicatorError: another rank has failed.
    """
    rank, total = communicator.rank, sum(counts)
    if len(owned) != counts[rank] or not total:
        raise ValueError(f"rank {rank} must have {counts[rank]} of {total} shards, got {len(owned)}")
    starts = [sum(counts[:i]) for i in range(len(counts))]
    nodes = [_nodes(range(at, at + n), (0, total)) for at, n in zip(starts, counts, strict=True)]
    sums = [
        [
            _sum({(i, i + 1): own[b] for i, own in enumerate(owned, starts[rank])}, node)
            for node in nodes[rank]
        ]
        for b in range(len(buckets))
    ]
    if communicator.size == 1:
        return [own[0] for own in sums]
    seen = _look(communicator, sums, nodes, buckets) if communicator.size <= _FEW else None
    return _exchange(communicator, sums, nodes, buckets) if seen is None else seen


def _look(
    communicator: Communicator, sums: list[list[Tensor]], nodes: list[list[_Node]], buckets: Buckets
) -> list[Tensor] | None:
    """The sums, formed on each rank out of memory that all see; ``None`` where there is none."""
    whole = (0, max(end for own in nodes for _, end in own))
    room = WINDOW_BYTES // max(map(len, nodes)) // 64 * 64
    found: list[list[Tensor]] = [[] for _ in sums]
    for group in buckets.parts(room):
        windows = communicator.windows()
        if windows is None:
            return None
        for part in group:
            for i, own in enumerate(sums[part.bucket]):
                part.within(windows[communicator.rank][i * room :])[:] = own.numpy()[part.start : part.stop]
        communicator.barrier()
        for part in group:
            parts = {
                node: Tensor.from_numpy(part.within(window[i * room :]), copy=node == whole)
                for theirs, window in zip(nodes, windows, strict=True)
                for i, node in enumerate(theirs)
            }
            found[part.bucket].append(_sum(parts, whole))
    return [parts[0] if len(parts) == 1 else Tensor.cat(parts) for parts in found]


def _exchange(
    communicator: Communicator, sums: list[list[Tensor]], nodes: list[list[_Node]], buckets: Buckets
) -> list[Tensor]:
    rank, size = communicator.rank, communicator.size
    longest = max(map(len, nodes))
    whole = (0, max(end for own in nodes for _, end in own))
    owners = buckets.owners(size)
    results: list[Any] = []
    for b, own in enumerate(sums):
        root = owners[b]
        found: dict[_Node, Tensor] = {}
        for i in range(longest):
            rooms = [buckets.room(b, is_empty=i >= len(theirs)) for theirs in nodes] if rank == root else None
            communicator.gather(own[i].numpy() if i < len(own) else b"", rooms, root)
            for theirs, room in zip(nodes, rooms or (), strict=False):
                if i < len(theirs):
                    found[theirs[i]] = Tensor.from_numpy(room, copy=False)
        results.append(_sum(found, whole).numpy() if rank == root else buckets.room(b))
    for b, result in enumerate(results):
        communicator.broadcast([result], owners[b])
    return [Tensor.from_numpy(result, copy=False) for result in results]


def _nodes(own: range, node: _Node) -> list[_Node]:
    """The largest parts of the sum that lie within a range."""
    start, end = node
    if end <= own.start or own.stop <= start:
        return []
    if own.start <= start and end <= own.stop:
        return [node]
    middle = (start + end) // 2
    return _nodes(own, (start, middle)) + _nodes(own, (middle, end))


def _sum(found: Mapping[_Node, Tensor], node: _Node) -> Tensor:
    if node in found:
        return found[node]
    start, end = node
    middle = (start + end) // 2
    return _sum(found, (start, middle)) + _sum(found, (middle, end))
