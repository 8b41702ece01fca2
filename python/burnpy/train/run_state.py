"""Where a run is: what a checkpoint holds beside the three records."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnpy.record.state import StateSink
from burnpy.tensor import random_state, set_random_state
from burnpy.train.checkpoint import CheckpointSet, Snapshot, TrainerRecord

if TYPE_CHECKING:
    from burnpy.train.learner import Learner
    from burnpy.train.loader import TrainingLoader
    from burnpy.train.strategy.components import TrainingComponents

__all__ = ["Position", "RunState"]

_LOG = logging.getLogger("burnpy.train")


@dataclass(frozen=True)
class Position:
    """A place in the middle of an epoch.

    Attributes:
        epoch: from 1.
        iteration: batches that the epoch has had.
        cursor: the place in the training data.
        complete: whether the training data of the epoch has come to its end, and the validation is what is left.
    """

    epoch: int
    iteration: int
    cursor: dict[str, Any]
    complete: bool = False


class RunState:
    """The counters of a run, and the way of everything that is not in a record to the trainer file and back.

    Attributes:
        epoch: the one that runs, from 1.
        optimizer_steps: since the start of the run.
        stopped_early: whether early stopping has ended it.
        resumed: the place in the middle of an epoch where the run goes on; ``None`` at the start of one.
    """

    def __init__(self, train: TrainingLoader, valid: TrainingLoader, strategy: Any = None) -> None:
        self._loaders = (train, valid)
        self._strategy = strategy
        self.epoch = 0
        self.optimizer_steps = 0
        self.stopped_early = False
        self.resumed: Position | None = None

    def snapshot(
        self, learner: Learner, position: Position | None, components: TrainingComponents
    ) -> Snapshot:
        """Everything now: at the end of the epoch, or at a place in it."""
        sink = StateSink()
        train, valid = self._loaders
        processor = components.processor
        plain = {
            "epoch": self.epoch,
            "optimizer_steps": self.optimizer_steps,
            "stopped_early": self.stopped_early,
            "iteration": position.iteration if position is not None else None,
            "validate": position is not None and position.complete,
            "loaders": [position.cursor if position is not None else train.state(), valid.state()],
            "rates": learner.rates(),
            "random": list(random_state()),
            "metrics": [processor.train.save(sink), processor.valid.save(sink)],
            "values": processor.store.state(),
            "strategy": _state(self._strategy),
            "checkpointing": _state(components.checkpointing_strategy),
            "early_stopping": _state(components.early_stopping),
        }
        return Snapshot.of(learner, TrainerRecord(plain, sink))

    def restore(self, found: CheckpointSet, learner: Learner, components: TrainingComponents) -> int:
        """Go on where a set was saved, after its records were loaded; the epoch to start with."""
        if found.trainer is None:
            _LOG.warning(
                "the checkpoint of epoch %s has no trainer file: random numbers, the order of data, metrics, and what "
                "strategies remember begin anew, as in Burn",
                found.key,
            )
            return int(found.key) + 1
        plain, source = found.trainer.plain, found.trainer.source()
        _load_state(self._strategy, plain.get("strategy"))
        self.optimizer_steps = int(plain["optimizer_steps"])
        learner.load_rates(plain["rates"])
        for loader, state in zip(self._loaders, plain["loaders"], strict=True):
            loader.load_state(state)
        set_random_state(tuple(plain["random"]))
        processor = components.processor
        processor.train.load(plain["metrics"][0], source)
        processor.valid.load(plain["metrics"][1], source)
        processor.store.restore(plain["values"])
        _load_state(components.checkpointing_strategy, plain["checkpointing"])
        _load_state(components.early_stopping, plain["early_stopping"])
        epoch = int(plain["epoch"])
        if plain["stopped_early"] and components.early_stopping is not None:
            # That run is over, as it would be had it not been interrupted.
            return max(epoch, components.num_epochs) + 1
        if plain["iteration"] is None:
            return epoch + 1
        self.resumed = Position(epoch, int(plain["iteration"]), plain["loaders"][0], plain["validate"])
        return epoch


def _state(holder: Any) -> Any:
    state = getattr(holder, "state_dict", None)
    return state() if callable(state) else None


def _load_state(holder: Any, state: Any) -> None:
    if state is not None and callable(getattr(holder, "load_state_dict", None)):
        holder.load_state_dict(state)
