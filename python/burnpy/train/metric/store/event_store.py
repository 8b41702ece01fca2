"""Between metrics, those who write their values, and those who ask for them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from burnpy.errors import BurnpyError
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store.event import AnyEvent, Event, MetricsUpdate
from burnpy.train.metric.store.split import Aggregate, Direction, Split

if TYPE_CHECKING:
    from burnpy.train.logger.metric_logger import MetricLogger

__all__ = ["EventStore", "EventStoreClient", "mean_of"]

_Key = tuple[str, Split, int]


class EventStore:
    """Passes events on to loggers, and answers from what those have kept.

    It may be used from several threads: each event is passed on before :meth:`add_event` returns, so a question sees
    all events before it.

    Unlike Burn: values of this run alone are answered, that is of its epochs so far and, if it is a resumed one, of the
    epochs before its first; what another run left in the same folder is not.

    Args:
        loggers: who keeps the values; the first one that can read answers.

    Example:
        >>> from burnpy.train.logger import InMemoryMetricLogger
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import NumericMetricUpdate
        >>> store = EventStore([InMemoryMetricLogger()])
        >>> for epoch, loss in enumerate([0.5, 0.25, 0.75], start=1):
        ...     store.add_event(Event.StartSplit(epoch), Split.Valid)
        ...     entry = MetricEntry("Loss", SerializedEntry(f"{loss}", f"{loss},final"))
        ...     update = MetricsUpdate(entries_numeric=[NumericMetricUpdate(entry)])
        ...     store.add_event(Event.MetricsUpdate(update), Split.Valid)
        >>> store.find_epoch("Loss", Aggregate.Mean, Direction.Lowest, Split.Valid)
        2

    Source: Burn ``metric::store::EventStore`` and its client.
    """

    def __init__(self, loggers: Iterable[MetricLogger]) -> None:
        self.loggers = list(loggers)
        self._lock = threading.RLock()
        self._epochs: dict[Split, int] = {}
        self._first_epoch: int | None = None
        self._written: set[_Key] = set()
        self._known: dict[_Key, float] = {}
        # Names that this epoch of a split has values of and none is known: nothing is to be done for their batches.
        self._noted: dict[Split, set[str]] = {}
        # Of the last update: the split and, if all of them are noted, the names.
        self._split: Split | None = None
        self._names: Any = None
        self._epoch = 1

    def client(self) -> EventStoreClient:
        """What strategies are given to ask."""
        return EventStoreClient(self)

    def epoch(self, split: Split) -> int:
        """The epoch that a split is in: 1 until it is told."""
        return self._epochs.get(split, 1)

    def add_event(self, event: AnyEvent, split: Split) -> None:
        """Take an event of a split in.

        Raises:
            OSError: a logger cannot write.
            TypeError: ``event`` is none.
        """
        with self._lock:
            if isinstance(event, Event.MetricsUpdate):
                self.add_update(event.update, split)
            elif isinstance(event, Event.StartSplit):
                self._epochs[split] = event.epoch
                self._forget_noted()
                self._first_epoch = self._first_epoch or event.epoch
            elif isinstance(event, Event.MetricsInit):
                for logger in self.loggers:
                    for definition in event.definitions:
                        logger.log_metric_definition(definition)
            elif isinstance(event, Event.EndEpoch):
                for logger in self.loggers:
                    logger.log_epoch_summary(event.summary)
            else:
                raise TypeError(f"event must be one of Event, got {event!r}")

    def add_update(self, update: MetricsUpdate, split: Split) -> None:
        """:meth:`add_event` of ``Event.MetricsUpdate(update)``."""
        with self._lock:
            if split is not self._split or update.names is not self._names:
                self._note(update, split)
            for logger in self.loggers:
                logger.log(update, self._epoch, split)

    def _note(self, update: MetricsUpdate, split: Split) -> None:
        """Note who has values in the epoch that the split is in."""
        epoch = self._epoch = self.epoch(split)
        noted = self._noted.setdefault(split, set())
        for name, entry in update.said():
            if name not in noted and not entry.is_not_available():
                noted.add(name)
                self._written.add((name, split, epoch))
                self._known.pop((name, split, epoch), None)
        for number in update.entries_numeric if update.final else ():
            if number.numeric_entry is not None:
                self._known[number.entry.metric_id, split, epoch] = number.numeric_entry.current()
                noted.discard(number.entry.metric_id)
        # Batches of metrics that are all noted need nothing more.
        is_complete = update.names is not None and noted.issuperset(update.names)
        self._split, self._names = (split, update.names) if is_complete else (None, None)

    def find_metric(self, name: str, epoch: int, aggregate: Aggregate, split: Split) -> float | None:
        """The value of a metric in an epoch, or ``None`` if it has none.

        Args:
            name: the metric's.
            epoch: counted from 1.
            aggregate: how the values of batches become one, where the epoch has not told its own.
            split: where it was measured.

        Raises:
            BurnpyError: no logger can read the values; the first one's reason is the ``__cause__``.
            ValueError: ``aggregate`` is none.
        """
        Aggregate(aggregate)
        key = (name, split, epoch)
        with self._lock:
            if not self._is_of_this_run(key):
                return None
            if key not in self._known:
                value = mean_of(self._read(name, epoch, split))
                if value is None:
                    return None
                self._known[key] = value
                self._forget_noted()
            return self._known[key]

    def _forget_noted(self) -> None:
        self._noted.clear()
        self._split = self._names = None

    def _is_of_this_run(self, key: _Key) -> bool:
        first = self._first_epoch or 1
        return 1 <= key[2] < first or key in self._written

    def _read(self, name: str, epoch: int, split: Split) -> list[NumericEntry]:
        problems: list[Exception] = []
        for logger in self.loggers:
            try:
                return logger.read_numeric(name, epoch, split)
            except (NotImplementedError, ValueError, OSError) as problem:
                problems.append(problem)
        told = f"none of {len(problems)} metric loggers can read {name!r} of {split} in epoch {epoch}"
        raise BurnpyError(f"{told}: {problems[0]}" if problems else told) from (
            problems[0] if problems else None
        )

    def find_epoch(self, name: str, aggregate: Aggregate, direction: Direction, split: Split) -> int | None:
        """The epoch, counted from 1, in which a metric was best; the first of equals.

        Values that are not finite are never best.

        Unlike Burn: which answers an epoch that does not exist where no value is finite, and looks no further than the
        first epoch without a value.

        Returns:
            ``None`` if no epoch has a finite value.

        Raises:
            BurnpyError: as :meth:`find_metric`.
        """
        sign = -1.0 if Direction(direction) is Direction.Highest else 1.0
        best: tuple[float, int] | None = None
        with self._lock:
            for epoch in range(1, self._last_epoch(split) + 1):
                value = self.find_metric(name, epoch, aggregate, split)
                if value is not None and math.isfinite(value) and (best is None or sign * value < best[0]):
                    best = (sign * value, epoch)
        return None if best is None else best[1]

    def _last_epoch(self, split: Split) -> int:
        return max(self.epoch(split), (self._first_epoch or 1) - 1)

    def state(self) -> dict[str, Any]:
        """How far the values have come, as data that JSON can hold: what a checkpoint keeps."""
        with self._lock:
            written = sorted(
                [epoch, name, split.name, split.tag or ""]
                for name, split, epoch in self._written
                if epoch >= self.epoch(split)
            )
            known = [[epoch, name, split.name, value] for (name, split, epoch), value in self._known.items()]
            logs = [[type(logger).__name__, logger.positions()] for logger in self.loggers]
            return {"written": written, "known": known, "logs": logs}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there: what loggers wrote later is cut off. To be called before the first event.

        A logger that was not there then begins with this run.

        Raises:
            ValueError: a file is shorter than it was.
            OSError: a file cannot be cut.
        """
        with self._lock:
            self._known = {(name, Split(split), epoch): value for epoch, name, split, value in state["known"]}
            self._written = set(self._known) | {
                (name, Split(split, tag or None), epoch) for epoch, name, split, tag in state["written"]
            }
            logs = list(state["logs"])
            for logger in self.loggers:
                found = next((entry for entry in logs if entry[0] == type(logger).__name__), None)
                if found is not None:
                    logs.remove(found)
                    logger.restore(found[1])

    def flush(self) -> None:
        """Have all loggers hand what they hold to the system."""
        with self._lock:
            for logger in self.loggers:
                logger.flush()

    def close(self) -> None:
        """Close all loggers, also after one that fails.

        Raises:
            OSError: the first failure.
        """
        failures: list[Exception] = []
        with self._lock:
            for logger in self.loggers:
                try:
                    logger.close()
                except Exception as failure:
                    failures.append(failure)
        if failures:
            raise failures[0]


class EventStoreClient:
    """Answers from an :class:`EventStore`; what strategies get.

    Source: Burn ``metric::store::EventStoreClient``.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def find_metric(self, name: str, epoch: int, aggregate: Aggregate, split: Split) -> float | None:
        """See :meth:`EventStore.find_metric`."""
        return self._store.find_metric(name, epoch, aggregate, split)

    def find_epoch(self, name: str, aggregate: Aggregate, direction: Direction, split: Split) -> int | None:
        """See :meth:`EventStore.find_epoch`."""
        return self._store.find_epoch(name, aggregate, direction, split)


def mean_of(entries: Sequence[NumericEntry]) -> float | None:
    """The value of an epoch: its last entry if that is final, else the mean of all, each counted for its units.

    Raises:
        ValueError: a final entry is followed by another one.

    Example:
        >>> mean_of([NumericEntry.Value(0.5), NumericEntry.Aggregated(1.25, 2)])
        1.0
        >>> mean_of([NumericEntry.Value(0.6), NumericEntry.Final(0.85)]), mean_of([])
        (0.85, None)
    """
    if not entries:
        return None
    if isinstance(entries[-1], NumericEntry.Final):
        return entries[-1].value
    total, units = 0.0, 0
    for index, entry in enumerate(entries):
        if isinstance(entry, NumericEntry.Final):
            raise ValueError(f"entry {index + 1} of {len(entries)} is final, but not the last one")
        count = entry.count if isinstance(entry, NumericEntry.Aggregated) else 1
        total += entry.current() * count
        units += count
    return total / units if units else math.nan
