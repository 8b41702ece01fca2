"""What the first rank has the others do. All is fixed by these: the others decide nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from burnpy.tensor import Tensor
    from burnpy.train.strategy.replica import Place

__all__ = ["Batch", "Begin", "Command", "End", "Save", "Step"]


@dataclass
class Begin:
    """Be as the first rank: the sizes of three records, whose bytes follow.

    Attributes:
        sizes: of model, optimizer and scheduler.
        rates: the current learning rates.
        num_shards: of a batch.
    """

    sizes: list[int]
    rates: list[float]
    num_shards: int


@dataclass
class Batch:
    """Compute the own shards of a batch, and report.

    Attributes:
        place: where in the run it is.
        cursor: epoch and number of the batch in the loader; ``None`` if the shards follow in a message.
        running: running states of the batch before.
    """

    place: Place
    cursor: tuple[int, int] | None
    running: list[Tensor]


@dataclass
class Step:
    """Sum gradients, and make a step of the optimizer.

    Attributes:
        active: shards that had items.
        present: whether there is a gradient, by parameter.
        running: as in :class:`Batch`.
    """

    active: list[int]
    present: list[bool]
    running: list[Tensor]


@dataclass
class Save:
    """Write the own part of the optimizer's record.

    Attributes:
        path: what the whole record's file would be.
        running: as in :class:`Batch`.
    """

    path: Path
    running: list[Tensor]


@dataclass
class End:
    """The run is over.

    Attributes:
        running: as in :class:`Batch`.
        history: of metrics.
        reason: of an interruption, if there was one.
        error: what the run ended with; raised if nothing was told of it yet.
    """

    running: list[Tensor]
    history: dict[str, Any]
    interruption: Any = None
    error: BaseException | None = None
    is_raised: bool = False


Command: TypeAlias = Begin | Batch | Step | Save | End
