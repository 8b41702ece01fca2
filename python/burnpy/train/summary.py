"""The table of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.train.logger import FileMetricLogger
from burnpy.train.metric.store import Split, mean_of

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["LearnerSummary", "LearnerSummaryConfig", "MetricEntry", "MetricSummary", "SummaryMetrics"]

_EPOCH = re.compile(r"epoch-(\d+)")


@dataclass(frozen=True)
class MetricEntry:
    """The value of a metric in an epoch, ``step``.

    Source: Burn ``train::MetricEntry``.
    """

    step: int
    value: float


@dataclass(frozen=True)
class MetricSummary:
    """A metric over the epochs that have a value.

    Source: Burn ``train::MetricSummary``.
    """

    name: str
    entries: tuple[MetricEntry, ...]


@dataclass(frozen=True)
class SummaryMetrics:
    """Metrics by split; those of tests by tag.

    Source: Burn ``train::SummaryMetrics``.
    """

    train: tuple[MetricSummary, ...] = ()
    valid: tuple[MetricSummary, ...] = ()
    test: dict[str, tuple[MetricSummary, ...]] = field(default_factory=dict)


class LearnerSummary:
    """Least and greatest values of metrics over a run, read from the files of its folder.

    Args:
        directory: the artifact folder.
        metrics: names of metrics, in the order of the table.
        epochs: how many the run had; by default the highest that the folder has.
        model: its text, shown above the table.

    Raises:
        FileNotFoundError: the folder is not there, or has neither ``train``, ``valid`` nor ``test``.
        ValueError: a file of a metric is damaged.

    Source: Burn ``train::LearnerSummary``.
    """

    def __init__(
        self,
        directory: PathLike,
        metrics: Iterable[str],
        *,
        epochs: int | None = None,
        model: str | None = None,
    ) -> None:
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise FileNotFoundError(2, "no artifact folder", str(directory))
        if not any((self.directory / split).is_dir() for split in ("train", "valid", "test")):
            raise FileNotFoundError(
                2, "the folder has no metrics: neither train, valid nor test is in it", str(directory)
            )
        # Unlike Burn: a run that knows its epochs is not told of those that an earlier one left in the folder.
        self.epochs = _last_epoch(self.directory) if epochs is None else epochs
        self.model = model
        names = list(metrics)
        self.metrics = SummaryMetrics(
            self._read(names, Split.Train), self._read(names, Split.Valid), self._tests(names)
        )

    def _read(self, names: Sequence[str], split: Split) -> tuple[MetricSummary, ...]:
        logger = FileMetricLogger(self.directory)
        found = []
        for name in names:
            values = ((e, mean_of(logger.read_numeric(name, e, split))) for e in range(1, self.epochs + 1))
            entries = tuple(MetricEntry(epoch, value) for epoch, value in values if value is not None)
            if entries:
                found.append(MetricSummary(name, entries))
        return tuple(found)

    def _tests(self, names: Sequence[str]) -> dict[str, tuple[MetricSummary, ...]]:
        folder = self.directory / "test"
        tags = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
        if not tags:
            return {}
        if all(_EPOCH.fullmatch(tag) for tag in tags):
            found = {"": self._read(names, Split.Test())}
        else:
            found = {
                tag: self._of_test(names, folder / tag) or self._read(names, Split.Test(tag)) for tag in tags
            }
        return {tag: metrics for tag, metrics in found.items() if metrics}

    def _of_test(self, names: Sequence[str], folder: Path) -> tuple[MetricSummary, ...]:
        # Unlike Burn, whose table never shows evaluations: they are written without a folder for the epoch.
        logger = FileMetricLogger.new_eval(folder)
        values = ((name, mean_of(logger.read_numeric(name, 1, Split.Test()))) for name in names)
        return tuple(MetricSummary(n, (MetricEntry(1, value),)) for n, value in values if value is not None)

    def __str__(self) -> str:
        head = f"{'=' * 24} Learner Summary {'=' * 24}\n"
        if self.model is not None:
            head += f"Model:\n{self.model}\n"
        return f"{head}Total Epochs: {self.epochs}\n\n\n{_table(self.metrics)}"

    __repr__ = __str__


@dataclass(frozen=True)
class LearnerSummaryConfig:
    """Where a summary is read from.

    Source: Burn ``train::LearnerSummaryConfig``.
    """

    directory: PathLike
    metrics: tuple[str, ...]

    def init(self) -> LearnerSummary:
        """The summary; see :class:`LearnerSummary`."""
        return LearnerSummary(self.directory, self.metrics)


def _last_epoch(directory: Path) -> int:
    epochs = [int(m[1]) for entry in directory.glob("*/epoch-*") if (m := _EPOCH.fullmatch(entry.name))]
    return max(epochs, default=0)


def _table(metrics: SummaryMetrics) -> str:
    rows = [("Train", each) for each in metrics.train] + [("Valid", each) for each in metrics.valid]
    for tag, tests in sorted(metrics.test.items()):
        rows += [(f"Test ({tag})" if tag else "Test", each) for each in tests]
    split = max([5, *(len(label) for label, _ in rows)])
    name = max([6, *(len(each.name) for _, each in rows)])
    lines = [f"| {'Split':<{split}} | {'Metric':<{name}} | Min.     | Epoch    | Max.     | Epoch    |"]
    lines.append(f"|{'-' * (split + 2)}|{'-' * (name + 2)}|" + f"{'-' * 10}|" * 4)
    for label, each in rows:
        low = min(each.entries, key=lambda e: (_rank(e.value), e.step))
        high = max(each.entries, key=lambda e: (_rank(e.value), e.step))
        cells = (f"{_number(low.value):<8}", f"{low.step:<8}", f"{_number(high.value):<8}", f"{high.step:<8}")
        lines.append(f"| {label:<{split}} | {each.name:<{name}} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _rank(value: float) -> tuple[bool, float]:
    """NaN counts as the greatest."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def _number(value: float) -> str:
    if math.isnan(value) or math.isinf(value) or value >= 0.01:
        return f"{value:.3f}".replace("nan", "NaN")
    mantissa, exponent = f"{value:.3e}".split("e")
    return f"{mantissa}e{int(exponent)}"
