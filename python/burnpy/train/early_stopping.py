"""When a run has nothing more to gain."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from burnpy.train.metric.store import Aggregate, Direction, Split

if TYPE_CHECKING:
    from burnpy.train.metric.store import EventStoreClient

__all__ = ["EarlyStoppingStrategy", "MetricEarlyStoppingStrategy", "StoppingCondition"]

_LOG = logging.getLogger("burnpy.train")


class EarlyStoppingStrategy(Protocol):
    """Asked at the end of every epoch whether it was the last.

    One that remembers something has ``state_dict`` and ``load_state_dict``, of what JSON can hold.

    Source: Burn ``train::EarlyStoppingStrategy``.
    """

    def should_stop(self, epoch: int, store: EventStoreClient, /) -> bool:
        """Whether the training ends after this epoch, counted from 1."""


@dataclass(frozen=True)
class _NoImprovementSince:
    n_epochs: int

    def __post_init__(self) -> None:
        if isinstance(self.n_epochs, bool) or not isinstance(self.n_epochs, int) or self.n_epochs < 1:
            raise ValueError(f"n_epochs must be 1 or more, got {self.n_epochs!r}")


class StoppingCondition:
    """When to stop: ``StoppingCondition.NoImprovementSince(n_epochs=5)``.

    Source: Burn ``train::StoppingCondition``.
    """

    NoImprovementSince: ClassVar[type[_NoImprovementSince]] = _NoImprovementSince


class MetricEarlyStoppingStrategy:
    """Stops when a metric has not become better for some epochs. Equal values are no improvement, and NaN never is.

    Args:
        metric: its name, or the metric; it must be registered for the split.
        aggregate: how the values of batches become one.
        direction: which values are good.
        split: where it is measured.
        condition: ``StoppingCondition.NoImprovementSince(n_epochs)``.
        warmup_epochs: epochs in which it never stops.

    Source: Burn ``train::MetricEarlyStoppingStrategy``.
    """

    def __init__(
        self,
        metric: Any,
        aggregate: Aggregate,
        direction: Direction,
        split: Split,
        condition: _NoImprovementSince,
        *,
        warmup_epochs: int | None = None,
    ) -> None:
        if not isinstance(condition, _NoImprovementSince):
            raise TypeError(f"condition must be a StoppingCondition, got {condition!r}")
        self.metric = metric if isinstance(metric, str) else metric.name()
        self.aggregate = Aggregate(aggregate)
        self.direction = Direction(direction)
        self.split = split
        self.condition = condition
        self._warmup = warmup_epochs
        self.best_epoch = 1
        self.best_value = math.inf if self.direction is Direction.Lowest else -math.inf

    def with_warmup_epochs(self, warmup_epochs: int | None) -> MetricEarlyStoppingStrategy:
        """Have it never stop in the first epochs; returns itself."""
        self._warmup = warmup_epochs
        return self

    def warmup_epochs(self) -> int | None:
        """Epochs in which it never stops."""
        return self._warmup

    def should_stop(self, epoch: int, store: EventStoreClient, /) -> bool:
        """Whether nothing has become better for too long."""
        value = store.find_metric(self.metric, epoch, self.aggregate, self.split)
        if value is None:
            _LOG.warning("early stopping: %s has no value for %s in epoch %d", self.metric, self.split, epoch)
            return False
        better = value < self.best_value if self.direction is Direction.Lowest else value > self.best_value
        if better:
            _LOG.info("new best epoch %d: %s of %s is %s", epoch, self.metric, self.split, value)
            self.best_epoch, self.best_value = epoch, value
            return False
        if self._warmup is not None and epoch <= self._warmup:
            return False
        stop = epoch - self.best_epoch >= self.condition.n_epochs
        if stop:
            _LOG.info(
                "stopping early in epoch %d: %s was best in epoch %d", epoch, self.metric, self.best_epoch
            )
        return stop

    def state_dict(self) -> dict[str, Any]:
        """The best so far."""
        return {"best_epoch": self.best_epoch, "best_value": self.best_value}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.best_epoch, self.best_value = int(state["best_epoch"]), float(state["best_value"])
