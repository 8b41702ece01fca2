"""What the event store is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from burnpy.train.metric.metric import MetricDefinition, MetricEntry
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store.split import Split

__all__ = ["EpochSummary", "Event", "MetricsUpdate", "NumericMetricUpdate"]


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
