"""What the event store is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from burnpy.train.metric.mean_metric import MeanText
from burnpy.train.metric.metric import MetricDefinition, MetricEntry, MetricId
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.numeric_state import entries_of
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.store.split import Split

__all__ = ["BatchUpdate", "EpochSummary", "Event", "MetricsUpdate", "NumericMetricUpdate", "by_metric"]


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

    # Of batches: those of all entries, one object for all batches of a split.
    names: ClassVar[Any] = None

    def all_entries(self) -> list[MetricEntry]:
        """The texts in the order in which loggers write them."""
        return [*self.entries, *[update.entry for update in self.entries_numeric]]

    def said(self) -> Iterable[tuple[MetricId, SerializedEntry]]:
        """:meth:`all_entries` as pairs of metric and entry."""
        return [(entry.metric_id, entry.serialized_entry) for entry in self.all_entries()]


class BatchUpdate(MetricsUpdate):
    """That of a batch, whose entries are made when they are asked for.

    Args:
        names: of the metrics, those of text first.
        said: what they said.
        numbers: of metrics of numbers, by name: its number and the running one. Those that are not there said a
            ``MeanText``, which has both.
        texts: how many metrics of text there are.

    Example:
        >>> from burnpy.train.metric import LossMetric
        >>> said = LossMetric().update([0.5, 1.5])
        >>> update = BatchUpdate(("Loss",), [said], {}, texts=0)
        >>> update.entries_numeric[0].running_entry
        Aggregated(aggregated_value=1.0, count=2)
    """

    __slots__ = ("_made", "_numbers", "_said", "_texts", "names")

    def __init__(
        self,
        names: tuple[MetricId, ...],
        said: Sequence[SerializedEntry],
        numbers: Mapping[MetricId, tuple[NumericEntry | None, NumericEntry | None]],
        texts: int,
    ) -> None:
        self.names = names  # type: ignore[misc]
        self._said = said
        self._numbers = numbers
        self._texts = texts
        self._made: tuple[list[MetricEntry], list[NumericMetricUpdate]] | None = None
        self.final = False

    def said(self) -> Iterable[tuple[MetricId, SerializedEntry]]:
        """What metrics said, as it was given."""
        return zip(self.names, self._said, strict=True)

    @property
    def entries(self) -> list[MetricEntry]:  # type: ignore[override]
        """Of metrics of text."""
        return self._entries()[0]

    @property
    def entries_numeric(self) -> list[NumericMetricUpdate]:  # type: ignore[override]
        """Of metrics of numbers."""
        return self._entries()[1]

    def _entries(self) -> tuple[list[MetricEntry], list[NumericMetricUpdate]]:
        if self._made is None:
            entries = [MetricEntry(*pair) for pair in self.said()]
            numbers = [self._numeric(entry) for entry in entries[self._texts :]]
            self._made = entries[: self._texts], numbers
        return self._made

    def _numeric(self, entry: MetricEntry) -> NumericMetricUpdate:
        said = entry.serialized_entry
        if entry.metric_id in self._numbers:
            return NumericMetricUpdate(entry, *self._numbers[entry.metric_id])
        assert isinstance(said, MeanText), "it has the numbers"
        return NumericMetricUpdate(entry, *entries_of(said.snapshot))


def by_metric(updates: Sequence[MetricsUpdate]) -> Iterable[tuple[MetricId, Sequence[SerializedEntry]]]:
    """What each metric said in all of the updates, in their order.

    Example:
        >>> batches = [BatchUpdate(("Loss",), [SerializedEntry("", text)], {}, texts=1) for text in ("0.5,1", "0.2,1")]
        >>> [(name, len(entries)) for name, entries in by_metric(batches)]
        [('Loss', 2)]
    """
    batches = [update for update in updates if isinstance(update, BatchUpdate)]
    if len(batches) == len(updates) and len({id(batch.names) for batch in batches}) == 1:
        return zip(batches[0].names, zip(*[batch._said for batch in batches], strict=True), strict=True)
    entries: dict[MetricId, list[SerializedEntry]] = {}
    for update in updates:
        for name, entry in update.said():
            entries.setdefault(name, []).append(entry)
    return entries.items()


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
