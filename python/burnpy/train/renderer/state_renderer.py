"""Renderers that show a ``RunState``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from burnpy.train.renderer.renderer import EvaluationName, MetricsRenderer, MetricState
from burnpy.train.renderer.run_state import RunState

if TYPE_CHECKING:
    from burnpy.train.metric.metric import MetricDefinition
    from burnpy.train.metric.store import MetricsUpdate

__all__ = ["StateRenderer"]

_GROUPS = {"train": "Train", "valid": "Valid"}
_PARTS = ("update_train", "update_valid", "update_split", "log_event_training", "updated")


class StateRenderer(MetricsRenderer):
    """Base of renderers that keep up a :class:`RunState`, and are told after each change what kind of change it was.

    The kinds: ``start``, ``split``, ``batch``, ``split_end``, ``epoch_end``, ``end``, and ``metric``.

    Args:
        clock: what gives the time in seconds.
    """

    _in_parts: ClassVar[bool] = False

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = RunState(clock)
        self.lock = threading.RLock()

    def changed(self, kind: str) -> None:
        """Show the change; the lock is held."""

    def register_metric(self, definition: MetricDefinition) -> None:
        """Learn of a metric."""
        with self.lock:
            self.state.definitions[definition.metric_id] = definition

    def start(
        self, total_epochs: int, starting_epoch: int, total_items: int | None = None, label: str | None = None
    ) -> None:
        """A training begins."""
        with self.lock:
            self.state.start(total_epochs, starting_epoch, label)
            self.changed("start")

    def start_split(self, name: str, total_items: int | None) -> None:
        """An epoch of a split begins."""
        with self.lock:
            self.state.start_split(name, _GROUPS.get(name, name), total_items)
            self.changed("split")

    def update_batch(self, split: str, update: MetricsUpdate, items_processed: int) -> None:
        """A batch is done. Its parts are told one by one if a class that is derived from this one has one of them."""
        if self._in_parts:
            super().update_batch(split, update, items_processed)
            return
        with self.lock:
            self.state.update_split(items_processed, (_GROUPS[split], update))
            self.changed("batch")

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._in_parts = any(getattr(cls, name) is not getattr(StateRenderer, name) for name in _PARTS)

    def update_split(self, items_processed: int) -> None:
        """A batch is done."""
        with self.lock:
            self.state.update_split(items_processed)
            self.changed("batch")

    def log_event_training(self, event: str) -> None:
        """Count an event."""
        with self.lock:
            self.state.count(event)

    def end_split(self) -> None:
        """The epoch of the split is over."""
        with self.lock:
            self.changed("split_end")
            self.state.end_split()

    def update_epoch(self, epoch: int) -> None:
        """An epoch is complete."""
        with self.lock:
            self.state.update_epoch(epoch)
            self.changed("epoch_end")

    def end(self) -> None:
        """The run is over."""
        with self.lock:
            self.changed("end")

    def start_global_progress(self, total_tests: int) -> None:
        """An evaluation begins."""
        with self.lock:
            self.state.start_evaluation(total_tests)
            self.changed("start")

    def start_test(self, name: str, total_items: int | None) -> None:
        """A test begins."""
        with self.lock:
            self.state.start_split("test", _test_group(name), total_items)
            self.changed("split")

    def update_test_progress(self, items_processed: int) -> None:
        """A batch is done."""
        self.update_split(items_processed)

    def log_event_evaluation(self, event: str) -> None:
        """Count an event."""
        self.log_event_training(event)

    def end_test(self) -> None:
        """The test is over."""
        self.end_split()

    def end_global_progress(self) -> None:
        """The evaluation is over."""
        self.end()

    def update_train(self, state: MetricState) -> None:
        """Take up what a metric said."""
        self._update("Train", state)

    def update_valid(self, state: MetricState) -> None:
        """Take up what a metric said."""
        self._update("Valid", state)

    def update_test(self, name: EvaluationName, state: MetricState) -> None:
        """Take up what a metric said."""
        self._update(_test_group(str(name)), state)

    def _update(self, group: str, state: MetricState) -> None:
        with self.lock:
            self.state.update(group, state)
            self.updated(group, state)

    def updated(self, group: str, state: MetricState) -> None:
        """A metric has said something, which the state has already; the lock is held."""


def _test_group(name: str) -> str:
    return f"{name} Test"
