"""Where a run goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from burnpy.errors import TrainingError
from burnpy.train.checkpoint.checkpoint_set import CheckpointSet, Survey, survey
from burnpy.train.checkpoint.checkpointer import CheckpointerError, describe

if TYPE_CHECKING:
    from burnpy._typing import Place

__all__ = ["resume_point"]

_LOG = logging.getLogger("burnpy.train")


def resume_point(folder: Place, where: int | str) -> CheckpointSet | None:
    """The complete set to go on from; ``None`` where none ever was. Sets that are passed over are told in a warning.

    Args:
        folder: of the sets.
        where: ``"latest"``, ``"best"`` by the strategy that keeps it, or an epoch.

    Raises:
        TrainingError: there are sets, and none is complete; the message tells what is wrong with each.
        CheckpointerError: that epoch has none, with those that there are; or nothing tells which is best.

    Example:
        >>> resume_point("runs/empty/checkpoint", "latest") is None
        True
    """
    found = survey(folder)
    if isinstance(where, int):
        return _of_epoch(folder, found, where)
    latest = _latest(folder, found)
    if where == "best":
        best = latest.best() if latest is not None else None
        if best is None:
            raise CheckpointerError(
                f"{folder} does not tell which checkpoint is best: no strategy by a metric kept one",
                path=folder,
            )
        return _of_epoch(folder, found, best)
    if latest is None:
        _LOG.warning("%s has no complete checkpoint: training from the beginning", folder)
    else:
        _LOG.info("resuming from the checkpoint of %s", describe(latest.key))
    return latest


def _latest(folder: Place, found: Survey) -> CheckpointSet | None:
    faults = [f"{describe(key)}: {fault}" for key, fault in found.faults.items()]
    if not found.complete and faults and not found.unfinished:
        raise TrainingError(
            f"none of the {len(faults)} checkpoints in {folder} is complete, so there is nothing to go on from; "
            f"to start anew, take resume away or choose another folder\n  " + "\n  ".join(faults),
            kind="checkpoint",
        )
    for fault in faults:
        _LOG.warning("passed over an incomplete checkpoint in %s, %s", folder, fault)
    return found.complete[-1] if found.complete else None


def _of_epoch(folder: Place, found: Survey, epoch: int) -> CheckpointSet:
    for each in found.complete:
        if each.key == epoch:
            return each
    there = ", ".join(str(each.key) for each in found.complete) or "none"
    fault = f"; {found.faults[epoch]}" if epoch in found.faults else ""
    raise CheckpointerError(
        f"{folder} has no complete checkpoint of {describe(epoch)}; complete: {there}{fault}", path=folder
    )
