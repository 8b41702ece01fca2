"""One set of tensors, written by several ranks at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnpy._core import EXTENSION, AtomicFile, TensorEntry, stage_file
from burnpy.distributed.communicator import Communicator, CommunicatorError

__all__ = ["save_by_ranks", "share_of_rank"]


def share_of_rank(nbytes: Sequence[int], size: int, rank: int) -> range:
    """Which of some tensors a rank writes where all have them: neighbours, of about as many bytes for each rank.

    Args:
        nbytes: of the tensors.
        size: of how many ranks.
        rank: which one.

    Example:
        >>> [list(share_of_rank([10, 10, 30, 5, 5], 2, rank)) for rank in range(2)]
        [[0, 1], [2, 3, 4]]
    """
    total, at, owners = sum(nbytes), 0, []
    for each in nbytes:
        # By the middle of the tensor, so that each has one owner.
        owners.append(min(size - 1, (2 * at + each) * size // (2 * total)) if total else 0)
        at += each
    first = sum(owner < rank for owner in owners)
    return range(first, first + owners.count(rank))


def save_by_ranks(
    communicator: Communicator,
    tensors: Mapping[str, Any],
    folder: str | os.PathLike[str],
    *,
    name: str = "model",
    metadata: Mapping[str, str] | None = None,
    scalars: Mapping[str, Any] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
) -> Path:
    """Write a file on each rank, and on the first one the index that makes a set of them; called on all ranks.

    It is a set as :func:`burnpy.save_sharded` writes it: ``burnpy.safe_open`` opens the index as one mapping, on any
    number of ranks. All files are written beside their places first, an index that is there is removed, the files are
    put in place, and the new index last: what a crash leaves is the old set, or none.

    Args:
        communicator: of this rank.
        tensors: what this rank writes: NumPy arrays, ``burnpy.pack.Tensor`` or lazy views; names are of one rank only.
        folder: the same for all ranks; it is made if it is not there.
        name: the first part of the files' names.
        metadata: texts by key, kept in the first file; the same on all ranks.
        scalars: numbers and flags by name, likewise.
        param_ids: ids of this rank's tensors, by name.
        durable: wait until the disk has the files.

    Returns:
        The path of the index.

    Raises:
        CommunicatorError: on all ranks: a rank could not write, or two have a tensor of one name.

    Example:
        >>> import burnpy, numpy as np
        >>> from burnpy.distributed import LocalCommunicator
        >>> alone = LocalCommunicator.group(1)[0]
        >>> index = save_by_ranks(alone, {"w": np.ones(3, np.float32)}, "set")
        >>> burnpy.safe_open(index)["w"].numpy().sum().item()
        3.0
    """
    from burnpy._shards import index_json, index_name, shard_names

    folder, rank = Path(folder), communicator.rank
    names = {key: _nbytes(value) for key, value in tensors.items()}
    given = _agreed(communicator, names)
    # Without any tensor, the first rank's file has the rest.
    writers = [r for r, theirs in enumerate(given) if theirs] or [0]
    files = shard_names(name, EXTENSION, len(writers))
    index = folder / index_name(name)

    def stage() -> AtomicFile:
        is_first = rank == writers[0]
        folder.mkdir(parents=True, exist_ok=True)
        return stage_file(
            tensors,
            folder / files[writers.index(rank)],
            metadata if is_first else None,
            scalars=scalars if is_first else None,
            param_ids=param_ids,
            durable=durable,
        )

    def mark() -> None:
        content = index_json(dict(zip(files, (_sized(given[r]) for r in writers), strict=True)))
        with AtomicFile(index, durable=durable) as file:
            file.write(content)
            file.commit()

    with ExitStack() as stack:
        staged = _together(communicator, stage if rank in writers else None, stack)
        _together(communicator, (lambda: index.unlink(missing_ok=True)) if rank == 0 else None)
        _together(communicator, staged.commit if staged is not None else None)
        _together(communicator, mark if rank == 0 else None)
    return index


@dataclass
class _Sized:
    nbytes: int


def _sized(names: Mapping[str, int]) -> dict[str, _Sized]:
    """What an index says of the tensors of a file."""
    return {name: _Sized(nbytes) for name, nbytes in names.items()}


def _nbytes(value: Any) -> int:
    size = value.byte_len() if isinstance(value, TensorEntry) else getattr(value, "nbytes", 0)
    return int(size)


def _agreed(communicator: Communicator, names: Mapping[str, int]) -> list[dict[str, int]]:
    """The names on all ranks, of which none is on two."""
    given = communicator.gather_object(dict(names))
    given = communicator.broadcast_object(given)
    owner: dict[str, int] = {}
    for rank, theirs in enumerate(given or ()):
        for key in theirs:
            if owner.setdefault(key, rank) != rank:
                raise CommunicatorError(
                    f"ranks {owner[key]} and {rank} both write a tensor {key!r}", rank=rank
                )
    return given or []


def _together(communicator: Communicator, work: Any, stack: ExitStack | None = None) -> Any:
    """Do something on some ranks, and raise what fails on any of them on all."""
    result, error = None, None
    try:
        result = work() if work is not None else None
        if stack is not None and result is not None:
            stack.enter_context(result)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    errors = communicator.gather_object(error)
    first = next(((rank, text) for rank, text in enumerate(errors or ()) if text is not None), None)
    told = communicator.broadcast_object(first)
    if told is not None:
        raise CommunicatorError(f"rank {told[0]} could not write its part: {told[1]}", rank=told[0])
    return result
