"""Values that are kept in memory alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnpy.train.logger.metric_logger import MetricLogger
from burnpy.train.metric.numeric_entry import NumericEntry

if TYPE_CHECKING:
    from burnpy.train.metric.store import MetricsUpdate, Split

__all__ = ["InMemoryMetricLogger"]


class InMemoryMetricLogger(MetricLogger):
    """The lines of each metric, split and epoch, for runs that leave no files.

    Unlike Burn: epochs are found by their number, also where a run does not begin with the first.

    Example:
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, Split
        >>> logger = InMemoryMetricLogger()
        >>> logger.log(MetricsUpdate([MetricEntry("Loss", SerializedEntry("", "0.5,8"))]), 7, Split.Valid)
        >>> logger.read_numeric("Loss", 7, Split.Valid), logger.read_numeric("Loss", 1, Split.Valid)
        ([Aggregated(aggregated_value=0.5, count=8)], [])

    Source: Burn ``logger::InMemoryMetricLogger``.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int, Split], list[str]] = {}

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Keep a line per entry."""
        for entry in update.all_entries():
            if not entry.serialized_entry.is_not_available():
                lines = self._lines.setdefault((entry.metric_id, epoch, split), [])
                lines.append(entry.serialized_entry.serialized)

    def lines(self, name: str, epoch: int, split: Split) -> list[str]:
        """The lines of a metric, as a file would have them."""
        return list(self._lines.get((name, epoch, split), ()))

    def read_numeric(self, name: str, epoch: int, split: Split) -> list[NumericEntry]:
        """The numbers among the lines; texts are passed over."""
        entries = []
        for line in self.lines(name, epoch, split):
            try:
                entries.append(NumericEntry.deserialize(line))
            except ValueError:
                continue
        return entries
