"""A table of comma-separated values of a whole run."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING

from burnpy.train.logger.run_file import RunFile
from burnpy.train.metric.number_text import plain_float

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.store import MetricsUpdate, Split

__all__ = ["CsvMetricLogger"]

_COLUMNS = ("split", "tag", "epoch", "batch", "metric", "value")


class CsvMetricLogger(RunFile):
    """``metrics.csv``: a row per number, with a line of headings, only ever appended to.

    ``tag`` is that of a test. ``batch`` is counted from 1 in the epoch, and empty at its end.

    Args:
        directory: where the file is.

    Raises:
        OSError: from ``log``: the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.numeric_entry import NumericEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, NumericMetricUpdate, Split
        >>> logger = CsvMetricLogger("run")
        >>> entry = MetricEntry("Loss", SerializedEntry("", "0.5,1"))
        >>> loss = NumericMetricUpdate(entry, NumericEntry.Aggregated(0.5, 1))
        >>> logger.log(MetricsUpdate(entries_numeric=[loss]), 1, Split.Train)
        >>> logger.close()
        >>> print(Path("run/metrics.csv").read_text(), end="")
        split,tag,epoch,batch,metric,value
        train,,1,1,Loss,0.5
    """

    def __init__(self, directory: PathLike) -> None:
        super().__init__(directory, "metrics.csv")

    def write(
        self, file: IO[str], update: MetricsUpdate, epoch: int, split: Split, batch: int | None
    ) -> None:
        """Append a row per number."""
        writer = csv.writer(file, lineterminator="\n")
        if not file.tell():
            writer.writerow(_COLUMNS)
        for each in update.entries_numeric:
            if each.numeric_entry is not None:
                value = plain_float(each.numeric_entry.current())
                writer.writerow((split.name, split.tag, epoch, batch, each.entry.metric_id, value))
