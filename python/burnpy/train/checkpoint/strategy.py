"""Which epochs are kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from burnpy.train.metric.store import Aggregate, Direction, Split

if TYPE_CHECKING:
    from burnpy.train.metric.store import EventStoreClient

__all__ = [
    "CheckpointingAction",
    "CheckpointingStrategy",
    "ComposedCheckpointingStrategy",
    "ComposedCheckpointingStrategyBuilder",
    "KeepLastNCheckpoints",
    "MetricCheckpointingStrategy",
]


@dataclass(frozen=True)
class CheckpointingAction:
    """What is to be done at the end of an epoch: ``CheckpointingAction.Save`` or ``CheckpointingAction.Delete(epoch)``.

    Source: Burn ``train::checkpoint::CheckpointingAction``.
    """

    epoch: int = 0
    Save: ClassVar[CheckpointingAction]

    @staticmethod
    def Delete(epoch: int) -> CheckpointingAction:
        """Delete the set of an epoch."""
        return CheckpointingAction(epoch)

    def is_save(self) -> bool:
        """Whether the set of the current epoch is to be saved."""
        return self.epoch == 0

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}.Save" if self.is_save() else f"{name}.Delete({self.epoch})"


CheckpointingAction.Save = CheckpointingAction()


class CheckpointingStrategy(Protocol):
    """Says at the end of every epoch what is kept.

    One that remembers something has ``state_dict`` and ``load_state_dict``, of what JSON can hold, so that a resumed
    run goes on as it was.

    Source: Burn ``train::checkpoint::CheckpointingStrategy``.
    """

    def checkpointing(self, epoch: int, store: EventStoreClient, /) -> list[CheckpointingAction]:
        """The actions for an epoch, counted from 1."""


class KeepLastNCheckpoints:
    """Keeps the sets of the last ``n`` epochs.

    Example:
        >>> KeepLastNCheckpoints(2).checkpointing(3, None)
        [CheckpointingAction.Save, CheckpointingAction.Delete(1)]

    Source: Burn ``train::checkpoint::KeepLastNCheckpoints``.
    """

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            # Unlike Burn: 0 would save each set and delete it at once.
            raise ValueError(f"n must be 1 or more, got {n!r}")
        self.n = n

    def checkpointing(self, epoch: int, store: EventStoreClient | None, /) -> list[CheckpointingAction]:
        """Save, and delete the one that is too many."""
        old = epoch - self.n
        return [CheckpointingAction.Save] + ([CheckpointingAction.Delete(old)] if old > 0 else [])


class MetricCheckpointingStrategy:
    """Keeps the set of the epoch in which a metric was best; the first of equals, and never one of NaN.

    An epoch for which the metric has no value counts as best.

    Args:
        metric: its name, or the metric.
        aggregate: how the values of batches become one.
        direction: which values are good.
        split: where it is measured.

    Source: Burn ``train::checkpoint::MetricCheckpointingStrategy``.
    """

    def __init__(self, metric: Any, aggregate: Aggregate, direction: Direction, split: Split) -> None:
        self.metric = metric if isinstance(metric, str) else metric.name()
        self.aggregate = Aggregate(aggregate)
        self.direction = Direction(direction)
        self.split = split
        self.current: int | None = None

    def checkpointing(self, epoch: int, store: EventStoreClient, /) -> list[CheckpointingAction]:
        """Save if this epoch is the best, and give up the one that was."""
        if store.find_metric(self.metric, epoch, self.aggregate, self.split) is None:
            best: int | None = epoch
        else:
            best = store.find_epoch(self.metric, self.aggregate, self.direction, self.split)
        actions = []
        if best == epoch:
            actions.append(CheckpointingAction.Save)
        if self.current is not None and self.current != best:
            actions.append(CheckpointingAction.Delete(self.current))
        self.current = best
        return actions

    def state_dict(self) -> dict[str, Any]:
        """The epoch that is kept."""
        return {"current": self.current}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.current = state["current"]


class ComposedCheckpointingStrategy:
    """Keeps what any of several strategies keeps: a set goes when all have given it up.

    Source: Burn ``train::checkpoint::ComposedCheckpointingStrategy``.
    """

    def __init__(self, strategies: Iterable[CheckpointingStrategy]) -> None:
        self.strategies = list(strategies)
        if not self.strategies:
            raise ValueError("a composed strategy needs at least one strategy")
        self._given_up: list[set[int]] = [set() for _ in self.strategies]

    @staticmethod
    def builder() -> ComposedCheckpointingStrategyBuilder:
        """Add one after the other."""
        return ComposedCheckpointingStrategyBuilder()

    @classmethod
    def default(cls) -> ComposedCheckpointingStrategy:
        """The last two epochs, and the one of the lowest validation loss."""
        best = MetricCheckpointingStrategy("Loss", Aggregate.Mean, Direction.Lowest, Split.Valid)
        return cls([KeepLastNCheckpoints(2), best])

    def checkpointing(self, epoch: int, store: EventStoreClient, /) -> list[CheckpointingAction]:
        """Save if one wants to, and delete what all have given up."""
        save = False
        asked: list[int] = []
        for strategy, given_up in zip(self.strategies, self._given_up, strict=True):
            actions = strategy.checkpointing(epoch, store)
            if not any(action.is_save() for action in actions):
                given_up.add(epoch)
            for action in actions:
                if action.is_save():
                    save = True
                else:
                    given_up.add(action.epoch)
                    asked.append(action.epoch)
        gone = [old for old in dict.fromkeys(asked) if all(old in given_up for given_up in self._given_up)]
        for given_up in self._given_up:
            given_up.difference_update(gone)
        return ([CheckpointingAction.Save] if save else []) + [CheckpointingAction.Delete(e) for e in gone]

    def state_dict(self) -> dict[str, Any]:
        """What each has given up, and remembers."""
        states: list[Any] = [getattr(strategy, "state_dict", dict)() for strategy in self.strategies]
        return {"given_up": [sorted(given_up) for given_up in self._given_up], "strategies": states}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state; one of other strategies is left alone."""
        if len(state["given_up"]) != len(self.strategies):
            return
        self._given_up = [set(given_up) for given_up in state["given_up"]]
        for strategy, own in zip(self.strategies, state["strategies"], strict=True):
            if hasattr(strategy, "load_state_dict"):
                strategy.load_state_dict(own)


class ComposedCheckpointingStrategyBuilder:
    """Strategies, one after the other."""

    def __init__(self) -> None:
        self._strategies: list[CheckpointingStrategy] = []

    def add(self, strategy: CheckpointingStrategy) -> ComposedCheckpointingStrategyBuilder:
        """One more; returns the builder."""
        self._strategies.append(strategy)
        return self

    def build(self) -> ComposedCheckpointingStrategy:
        """The strategy."""
        return ComposedCheckpointingStrategy(self._strategies)
