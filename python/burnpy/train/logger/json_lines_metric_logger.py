"""JSON lines of a whole run."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from burnpy.train.logger.run_file import RunFile
from burnpy.train.metric.number_text import plain_float

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.store import MetricsUpdate, Split

__all__ = ["JsonLinesMetricLogger"]


class JsonLinesMetricLogger(RunFile):
    """``metrics.jsonl``: a line per batch and per end of a split, with all metrics, only ever appended to.

    A line is an object of ``time`` (seconds since 1970), ``split``, ``tag`` (of a test), ``epoch``, ``batch`` (counted
    from 1 in the epoch; ``null`` at its end), ``values`` and ``texts``, both by metric. Numbers that JSON does not have
    are the texts ``NaN``, ``inf`` and ``-inf``.

    Args:
        directory: where the file is.
        clock: what gives the time.

    Raises:
        OSError: from ``log``: the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.numeric_entry import NumericEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, NumericMetricUpdate, Split
        >>> logger = JsonLinesMetricLogger("run", clock=lambda: 1.5)
        >>> entry = MetricEntry("Loss", SerializedEntry("", "0.5,1"))
        >>> loss = NumericMetricUpdate(entry, NumericEntry.Aggregated(0.5, 1))
        >>> logger.log(MetricsUpdate(entries_numeric=[loss]), 1, Split.Train)
        >>> logger.close()
        >>> print(Path("run/metrics.jsonl").read_text(), end="")
        {"time": 1.5, "split": "train", "epoch": 1, "batch": 1, "values": {"Loss": 0.5}}
    """

    def __init__(self, directory: PathLike, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(directory, "metrics.jsonl")
        self._clock = clock

    def write(
        self, file: IO[str], update: MetricsUpdate, epoch: int, split: Split, batch: int | None
    ) -> None:
        """Append a line."""
        line: dict[str, Any] = {"time": self._clock(), "split": split.name}
        if split.tag is not None:
            line["tag"] = split.tag
        line |= {"epoch": epoch, "batch": batch, "values": _values(update)}
        texts = {
            entry.metric_id: entry.serialized_entry.serialized
            for entry in update.entries
            if not entry.serialized_entry.is_not_available()
        }
        if texts:
            line["texts"] = texts
        file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")


def _values(update: MetricsUpdate) -> dict[str, float | str]:
    numbers = {
        each.entry.metric_id: each.numeric_entry.current()
        for each in update.entries_numeric
        if each.numeric_entry is not None
    }
    return {name: value if math.isfinite(value) else plain_float(value) for name, value in numbers.items()}
