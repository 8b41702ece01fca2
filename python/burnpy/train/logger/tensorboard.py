"""Values for TensorBoard."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from burnpy.train.logger.metric_logger import MetricLogger

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split

__all__ = ["SummaryWriter", "TensorboardMetricLogger"]


class SummaryWriter(Protocol):
    """What is needed of ``tensorboardX.SummaryWriter``, or of torch's."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> object:
        """Write a number."""

    def add_text(self, tag: str, text_string: str, global_step: int) -> object:
        """Write a text."""

    def flush(self) -> None:
        """Hand what is held to the system."""

    def close(self) -> None:
        """Close the files."""


class TensorboardMetricLogger(MetricLogger):
    """Event files for TensorBoard: ``Loss/train`` by batch, over the whole run, and ``epoch/Loss/train`` by epoch.

    It only writes: another logger must be there for early stopping and for checkpoints by metric. After a resume inside
    an epoch, batches are counted on from there; those that the stopped run had told later stay in its file.

    Args:
        directory: where the event files are, as ``<artifact folder>/tensorboard``.
        writer: what writes them; by default a ``tensorboardX.SummaryWriter`` is made at the first entry.

    Raises:
        ImportError: from ``log``: tensorboardX is not installed (extra ``tensorboard``).
    """

    def __init__(self, directory: PathLike, *, writer: SummaryWriter | None = None) -> None:
        self.directory = Path(os.fspath(directory))
        self._writer = writer
        self._steps: dict[str, int] = {}

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Write the numbers, by batch or by epoch, and the texts of an epoch."""
        if self._writer is None:
            self._writer = _summary_writer(self.directory)
        name = split.name if split.tag is None else f"{split.name}/{split.tag}"
        step = epoch if update.final else self._steps.get(name, 0) + 1
        if not update.final:
            self._steps[name] = step
        for each in update.entries_numeric:
            if each.numeric_entry is not None:
                tag = f"{each.entry.metric_id}/{name}"
                self._writer.add_scalar(
                    f"epoch/{tag}" if update.final else tag, each.numeric_entry.current(), step
                )
        for entry in update.entries if update.final else ():
            self._writer.add_text(f"{entry.metric_id}/{name}", entry.serialized_entry.formatted, epoch)

    def log_epoch_summary(self, summary: EpochSummary) -> None:
        """Write what is held."""
        self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def positions(self) -> dict[str, int]:
        """How many batches of each split have been told."""
        self.flush()
        return dict(self._steps)

    def restore(self, positions: dict[str, int]) -> None:
        """Count on from there."""
        self._steps = dict(positions)


def _summary_writer(directory: Path) -> SummaryWriter:
    try:
        from tensorboardX import SummaryWriter as Writer
    except ImportError as error:
        raise ImportError(
            "TensorboardMetricLogger needs tensorboardX: pip install burnpy[tensorboard]"
        ) from error
    writer: SummaryWriter = Writer(os.fspath(directory))
    return writer
