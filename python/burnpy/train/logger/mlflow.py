"""Values for MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

from burnpy.train.logger.metric_logger import MetricLogger

if TYPE_CHECKING:
    from burnpy.train.metric.store import MetricsUpdate, Split

__all__ = ["MlflowMetricLogger", "MlflowRun"]


class MlflowRun(Protocol):
    """What is needed of the module ``mlflow``, or of anything that stands for it."""

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> object:
        """Write numbers at a step."""


class MlflowMetricLogger(MetricLogger):
    """Numbers in the active MLflow run: ``train/Loss`` by batch, over the whole run, and ``epoch/train/Loss`` by epoch.

    It only writes: another logger must be there for early stopping and for checkpoints by metric. Characters that
    MLflow does not allow in names become ``_``.

    Args:
        run: what takes the numbers; by default the module ``mlflow``, imported at the first entry.

    Raises:
        ImportError: from ``log``: MLflow is not installed (extra ``mlflow``).

    Example:
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.numeric_entry import NumericEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, NumericMetricUpdate, Split
        >>> class Run:
        ...     def log_metrics(self, metrics, step):
        ...         print(metrics, step)
        >>> entry = MetricEntry("Loss", SerializedEntry("", "0.5,1"))
        >>> loss = NumericMetricUpdate(entry, NumericEntry.Aggregated(0.5, 1))
        >>> MlflowMetricLogger(Run()).log(MetricsUpdate(entries_numeric=[loss]), 1, Split.Train)
        {'train/Loss': 0.5} 1
    """

    def __init__(self, run: MlflowRun | None = None) -> None:
        self._run = run
        self._steps: dict[str, int] = {}

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Write the numbers, by batch or by epoch."""
        if self._run is None:
            self._run = _active_run()
        name = split.name if split.tag is None else f"{split.name}/{split.tag}"
        step = epoch if update.final else self._steps.get(name, 0) + 1
        if not update.final:
            self._steps[name] = step
        prefix = f"epoch/{name}" if update.final else name
        numbers = {
            _allowed(f"{prefix}/{each.entry.metric_id}"): each.numeric_entry.current()
            for each in update.entries_numeric
            if each.numeric_entry is not None
        }
        if numbers:
            self._run.log_metrics(numbers, step=step)

    def positions(self) -> dict[str, int]:
        """How many batches of each split have been told."""
        return dict(self._steps)

    def restore(self, positions: dict[str, int]) -> None:
        """Count on from there."""
        self._steps = dict(positions)


def _allowed(name: str) -> str:
    return "".join(character if character.isalnum() or character in "_-./ " else "_" for character in name)


def _active_run() -> MlflowRun:
    try:
        import mlflow
    except ImportError as error:
        raise ImportError("MlflowMetricLogger needs MLflow: pip install burnpy[mlflow]") from error
    return cast(MlflowRun, mlflow)
