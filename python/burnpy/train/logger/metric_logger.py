"""Who writes the values of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnpy.train.metric.metric import MetricDefinition
    from burnpy.train.metric.numeric_entry import NumericEntry
    from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split

__all__ = ["MetricLogger"]


class MetricLogger:
    """Base of metric loggers; one of your own needs :meth:`log`.

    The training calls, from one thread: ``log_metric_definition`` once per metric, ``log`` after every batch and at the
    end of every epoch, ``log_epoch_summary`` at the end of a split, ``flush`` when it stops, ``close`` at the end.
    Early stopping, checkpoints by metric and the summary read: from the first logger that can.

    Example:
        >>> class Printer(MetricLogger):
        ...     def log(self, update, epoch, split):
        ...         for entry in update.all_entries():
        ...             print(split, epoch, entry.metric_id, entry.serialized_entry.serialized)
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, Split
        >>> Printer().log(MetricsUpdate([MetricEntry("Loss", SerializedEntry("", "0.5,1"))]), 3, Split.Train)
        train 3 Loss 0.5,1

    Source: Burn ``logger::MetricLogger``.
    """

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Write what metrics said; entries that are not available are left out.

        Args:
            update: the entries: those of text come first.
            epoch: counted from 1.
            split: where they were measured.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method log")

    def read_numeric(self, name: str, epoch: int, split: Split) -> list[NumericEntry]:
        """The numbers of a metric in an epoch in the order in which they were written; an empty list if there are none.

        Raises:
            NotImplementedError: this logger only writes.
            ValueError: what is kept is damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} only writes")

    def log_metric_definition(self, definition: MetricDefinition) -> None:
        """Learn of a metric."""

    def log_epoch_summary(self, summary: EpochSummary) -> None:
        """Learn that a split has come to the end of an epoch."""

    def flush(self) -> None:
        """Hand what is held to the system."""

    def close(self) -> None:
        """Let go of files and connections; nothing is logged afterwards, or all begins anew."""

    def positions(self) -> dict[str, int]:
        """How far each file has been written, by name: what :meth:`restore` takes."""
        return {}

    def restore(self, positions: dict[str, int]) -> None:
        """Cut off what was written after these positions, to go on there.

        Raises:
            ValueError: a file is shorter than its position.
        """
