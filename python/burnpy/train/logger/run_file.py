"""One file of a whole run."""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import IO, TYPE_CHECKING

from burnpy.train.logger.metric_logger import MetricLogger
from burnpy.train.logger.text_file import cut, open_to_append, size

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split

__all__ = ["RunFile"]


class RunFile(MetricLogger):
    """Base of loggers that append to one file, and count the batches of each epoch."""

    def __init__(self, directory: PathLike, name: str) -> None:
        self.path = Path(os.fspath(directory)) / name
        self._file: IO[str] | None = None
        self._batches: dict[str, int] = {}

    @abstractmethod
    def write(
        self, file: IO[str], update: MetricsUpdate, epoch: int, split: Split, batch: int | None
    ) -> None:
        """Append what metrics said; ``batch`` is ``None`` at the end of an epoch."""

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Append what metrics said."""
        if self._file is None:
            self._file = open_to_append(self.path)
        batch = None
        if not update.final:
            key = f"{split.name}/{split.tag or ''}/{epoch}"
            batch = self._batches[key] = self._batches.get(key, 0) + 1
        self.write(self._file, update, epoch, split, batch)

    def log_epoch_summary(self, summary: EpochSummary) -> None:
        """Write the lines that are held, and count batches anew."""
        self._batches.clear()
        self.flush()

    def flush(self) -> None:
        """Write the lines that are held."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def positions(self) -> dict[str, int]:
        """The size of the file, and how many batches of each epoch it has told."""
        self.flush()
        return {self.path.name: size(self.path), **self._batches}

    def restore(self, positions: dict[str, int]) -> None:
        """Cut the file back."""
        self.close()
        self._batches = dict(positions)
        cut(self.path, self._batches.pop(self.path.name, 0))
