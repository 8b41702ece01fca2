"""What the event store is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from burnpy.train.metric.metric import MetricDefinition, MetricEntry, MetricId
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.numeric_state import Snapshot, entries_of
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.store.split import Split

__all__ = ["BatchUpdate", "EpochSummary", "Event", "MetricsUpdate", "NumericMetricUpdate"]


# Not frozen: one is made per metric and batch, and a frozen one takes three times as long.
@dataclass(slots=True)
class NumericMetricUpdate:
    """What a metric of numbers said.

    Attributes:
        entry: in words.
        numeric_entry: the number of the batch, or of the epoch at its end; ``None`` if there is none.
        running_entry: the number of the epoch so far; ``None`` if there is none.
    """

    entry: MetricEntry
    numeric_entry: NumericEntry | None = None
    running_entry: NumericEntry | None = None


@dataclass(slots=True)
class MetricsUpdate:
    """What all metrics said after a batch, or at the end of an epoch.

    Attributes:
        entries: of metrics of text.
        entries_numeric: of metrics of numbers.
        final: whether it is that of the end of an epoch.
    """

    entries: Sequence[MetricEntry] = ()
    entries_numeric: Sequence[NumericMetricUpdate] = ()
    final: bool = False

    def all_entries(self) -> list[MetricEntry]:
        """The texts in the order in which loggers write them."""
        return [*self.entries, *[update.entry for update in self.entries_numeric]]

    def said(self) -> Sequence[tuple[MetricId, SerializedEntry]]:
        """:meth:`all_entries` as pairs of metric and entry."""
        return [(entry.metric_id, entry.serialized_entry) for entry in self.all_entries()]


class BatchUpdate(MetricsUpdate):
    """That of a batch, whose entries are made when they are asked for.

    Args:
        said: what metrics said, those of text first.
        numbers: of the last ones of them, those of numbers: a snapshot of the state, or number and running number.

    Example:
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> update = BatchUpdate([("Loss", SerializedEntry("", "0.5,1"))], [(0.5, 1, 2.0, 2)])
        >>> update.entries_numeric[0].running_entry
        Aggregated(aggregated_value=1.0, count=2)
    """

    __slots__ = ("_entries", "_numbers", "_said")

    def __init__(
        self,
        said: Sequence[tuple[MetricId, SerializedEntry]],
        numbers: Sequence[Snapshot | tuple[NumericEntry | None, NumericEntry | None]],
    ) -> None:
        self._said = said
        self._numbers = numbers
        self._entries: tuple[list[MetricEntry], list[NumericMetricUpdate]] | None = None
        self.final = False

    def said(self) -> Sequence[tuple[MetricId, SerializedEntry]]:
        """What metrics said, as it was given."""
        return self._said

    @property
    def entries(self) -> list[MetricEntry]:  # type: ignore[override]
        """Of metrics of text."""
        return self._made()[0]

    @property
    def entries_numeric(self) -> list[NumericMetricUpdate]:  # type: ignore[override]
        """Of metrics of numbers."""
        return self._made()[1]

    def _made(self) -> tuple[list[MetricEntry], list[NumericMetricUpdate]]:
        if self._entries is None:
            entries = [MetricEntry(metric_id, entry) for metric_id, entry in self._said]
            texts = len(entries) - len(self._numbers)
            pairs = [numbers if len(numbers) == 2 else entries_of(numbers) for numbers in self._numbers]
            numeric = [
                NumericMetricUpdate(entry, *pair) for entry, pair in zip(entries[texts:], pairs, strict=True)
            ]
            self._entries = entries[:texts], numeric
        return self._entries


@dataclass(frozen=True, slots=True)
class EpochSummary:
    """That a split has come to the end of an epoch, counted from 1."""

    epoch_number: int
    split: Split


@dataclass(frozen=True, slots=True)
class _StartSplit:
    epoch: int


@dataclass(frozen=True, slots=True)
class _MetricsInit:
    definitions: Sequence[MetricDefinition]


@dataclass(slots=True)
class _MetricsUpdate:
    update: MetricsUpdate


@dataclass(frozen=True, slots=True)
class _EndEpoch:
    summary: EpochSummary


class Event:
    """What happens in a split; one of the classes that it holds.

    ``StartSplit(epoch)``, ``MetricsInit(definitions)``, ``MetricsUpdate(update)`` and ``EndEpoch(summary)``.

    Example:
        >>> Event.StartSplit(3).epoch
        3

    Source: Burn ``metric::store::Event``.
    """

    StartSplit: ClassVar[type[_StartSplit]] = _StartSplit
    MetricsInit: ClassVar[type[_MetricsInit]] = _MetricsInit
    MetricsUpdate: ClassVar[type[_MetricsUpdate]] = _MetricsUpdate
    EndEpoch: ClassVar[type[_EndEpoch]] = _EndEpoch


AnyEvent: TypeAlias = _StartSplit | _MetricsInit | _MetricsUpdate | _EndEpoch
