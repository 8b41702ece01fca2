"""What there is to show of a run: the same for all renderers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from burnpy.train.metric.number_text import format_float
from burnpy.train.renderer.renderer import MetricState, Numeric, tell_all
from burnpy.train.renderer.time_left import TimeLeft, run_fraction

if TYPE_CHECKING:
    from burnpy.train.metric.metric import MetricDefinition
    from burnpy.train.metric.serialized_entry import SerializedEntry
    from burnpy.train.metric.store import MetricsUpdate

__all__ = ["MODES", "Reading", "RunState"]

MODES = {"train": "Training", "valid": "Validating", "test": "Evaluation"}


@dataclass(slots=True)
class Reading:
    """What a metric last said of a split.

    Attributes:
        entry: what it said; texts are made of it when they are shown, and most never are.
        value: the number, of the batch or of the epoch; ``None`` if there is none.
        best: the best value at the end of an epoch, and that epoch.
    """

    entry: SerializedEntry | None = None
    value: float | None = None
    best: tuple[float, int] | None = None

    @property
    def text(self) -> str:
        """As it is shown."""
        return "" if self.entry is None else self.entry.formatted

    def best_text(self) -> str:
        """The best value with its epoch; empty if there is none."""
        return "" if self.best is None else f"{format_float(self.best[0], 3)} (epoch {self.best[1]})"


@dataclass(slots=True)
class RunState:
    """How far a run has come, and what its metrics said.

    Attributes:
        mode: what is done: one of ``MODES``, or empty outside of a split.
        group: the split at hand as it is labelled: ``Train``, ``Valid``, or a test's name and ``Test``.
        epoch: the one at hand, from 1; of an evaluation, the number of the test.
        epochs: how many there are.
        items: how many are processed in the split.
        items_total: how many it has, or ``None``.
        counters: how often each event has happened in the split.
    """

    clock: Callable[[], float] = time.monotonic
    label: str | None = None
    mode: str = ""
    group: str = ""
    epoch: int = 0
    epochs: int = 0
    items: int = 0
    items_total: int | None = None
    definitions: dict[str, MetricDefinition] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    is_evaluation: bool = False
    train_total: int | None = None
    _readings: dict[str, dict[str, Reading]] = field(default_factory=dict)
    # The last batch, which most often is over before anybody looks at it.
    _batch: tuple[str, MetricsUpdate] | None = None
    # Items of training: in this epoch, and in all epochs since the start, with and without this one.
    _epoch_items: int = 0
    _train_done: int = 0
    _train_before: int = 0
    _split_started_s: float = 0.0
    _updated: set[str] = field(default_factory=set)
    _time_left: TimeLeft = field(default_factory=lambda: TimeLeft(0))

    def start(self, total_epochs: int, starting_epoch: int, label: str | None) -> None:
        """A training begins."""
        self.label, self.epochs, self.epoch = label, total_epochs, starting_epoch
        self.is_evaluation, self.train_total = False, None
        self._epoch_items = self._train_done = self._train_before = 0
        self._time_left = TimeLeft(starting_epoch - 1)

    def start_evaluation(self, total_tests: int) -> None:
        """An evaluation begins."""
        self.epochs, self.epoch, self.is_evaluation = total_tests, 0, True

    def start_split(self, mode: str, group: str, items_total: int | None) -> None:
        """A split of an epoch, or a test, begins."""
        self.mode, self.group, self.items, self.items_total = mode, group, 0, items_total
        self.epoch += self.is_evaluation
        self._settle()
        self.counters.clear()
        self._updated.clear()
        self._split_started_s = self.clock()
        if mode == "train":
            self.train_total = items_total
            self._train_before = self._train_done
            self._time_left.update(self._split_started_s, self._train_done)

    def update_split(self, items: int, said: tuple[str, MetricsUpdate] | None = None) -> None:
        """So many items of the split are processed.

        Args:
            items: how many.
            said: a group, and what metrics said of it in a batch: as :meth:`update` of all, and :meth:`count` of an
                iteration.
        """
        self.items = items
        if said is not None:
            # A split settles what the one before it said, so the batch before is of the same group.
            self._batch = said
            self.counters["Iteration"] = self.counters.get("Iteration", 0) + 1
        if self.mode == "train":
            self._epoch_items, self._train_done = items, self._train_before + items
            now_s = self.clock()
            if now_s >= self._time_left.due_s:
                self._time_left.update(now_s, self._train_done)

    @property
    def readings(self) -> dict[str, dict[str, Reading]]:
        """What metrics last said, by metric and group, in the order of their first update."""
        if self._batch is not None:
            self._settle()
        return self._readings

    def _settle(self) -> None:
        """Take up what the last batch said."""
        if self._batch is not None:
            (group, update), self._batch = self._batch, None
            tell_all(update, partial(self.update, group))

    def count(self, event: str) -> None:
        """Something has happened."""
        self.counters[event] = self.counters.get(event, 0) + 1

    def update(self, group: str, state: MetricState) -> None:
        """A metric has said something of a group."""
        name = state.entry.metric_id
        readings = self.readings
        groups = readings.get(name)
        if groups is None:
            groups = readings[name] = {}
        reading = groups.get(group)
        if reading is None:
            reading = groups[group] = Reading()
        reading.entry = state.entry.serialized_entry
        self._updated.add(name)
        if isinstance(state, Numeric):
            reading.value = None if state.numeric_entry is None else state.numeric_entry.current()

    def end_split(self) -> None:
        """The split is over: the last values of its metrics are those of the epoch."""
        readings = self.readings
        for name in self._updated:
            reading = readings[name].get(self.group)
            if reading is None or reading.value is None or self.is_evaluation:
                continue
            if math.isfinite(reading.value) and self._is_better(name, reading):
                reading.best = (reading.value, self.epoch)
        self.mode = ""

    def _is_better(self, name: str, reading: Reading) -> bool:
        if reading.best is None or reading.value is None:
            return True
        definition = self.definitions.get(name)
        attributes = None if definition is None else definition.attributes
        if attributes is None or attributes.higher_is_better:
            return reading.value > reading.best[0]
        return reading.value < reading.best[0]

    def update_epoch(self, epoch: int) -> None:
        """An epoch is complete."""
        if epoch < self.epochs:
            self.epoch, self._epoch_items = epoch + 1, 0

    def split_fraction(self) -> float | None:
        """The part of the split that is done; ``None`` where its size is not known."""
        return self.items / self.items_total if self.items_total else None

    def split_seconds(self) -> float:
        """How long the split has taken so far."""
        return self.clock() - self._split_started_s

    def run_fraction(self) -> float | None:
        """The part of the run that is done, validation aside."""
        if self.is_evaluation:
            return run_fraction(self.epoch, self.epochs, self.items, self.items_total)
        return run_fraction(self.epoch, self.epochs, self._epoch_items, self.train_total)

    def seconds_left(self) -> int | None:
        """How long the run will still take; ``None`` before there is an estimate."""
        if self.is_evaluation:
            return None
        now_s, items = self.clock(), self._epoch_items
        return self._time_left.seconds(now_s, self.epoch, self.epochs, items, self.train_total)
