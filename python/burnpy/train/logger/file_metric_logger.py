"""Metric files in the folders that Burn has."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from burnpy.train.logger.metric_logger import MetricLogger
from burnpy.train.logger.text_file import cut, open_fresh, open_to_append, size
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.store.event import by_metric

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.metric import MetricDefinition
    from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split

__all__ = ["FileMetricLogger"]

# How many batches are held: few enough to stay in a processor's cache.
_BATCHES = 64


class FileMetricLogger(MetricLogger):
    r"""One file per metric, split and epoch, one line per batch: ``train/epoch-1/Loss.log``, byte for byte as Burn.

    A file is emptied at the first entry of its epoch. Lines are held in memory until the end of the split, ``flush``,
    or a question for them.

    Args:
        directory: the artifact folder; nothing is created before the first entry.

    Raises:
        ValueError: from ``log``: a metric's name, or the tag of a test, cannot be that of a file.
        OSError: from ``log``: a file cannot be written.

    Example:
        >>> from burnpy.train.metric.metric import MetricEntry
        >>> from burnpy.train.metric.serialized_entry import SerializedEntry
        >>> from burnpy.train.metric.store import MetricsUpdate, Split
        >>> logger = FileMetricLogger("run")
        >>> logger.log(MetricsUpdate([MetricEntry("Learning Rate", SerializedEntry("", "0.001"))]), 2, Split.Train)
        >>> logger.close()
        >>> Path("run/train/epoch-2/Learning_Rate.log").read_text()
        '0.001\n'

    Source: Burn ``logger::FileMetricLogger``.
    """

    def __init__(self, directory: PathLike) -> None:
        self.directory = Path(os.fspath(directory))
        self._with_epochs = True
        self._epoch: int | None = None
        self._split: Split | None = None
        self._open: dict[Path, IO[str]] = {}
        # Of the epoch and split at hand: files by metric, and what is still to be written to them.
        self._files: dict[str, IO[str]] = {}
        self._held: list[MetricsUpdate] = []
        self._restored: set[Path] = set()

    @classmethod
    def new_eval(cls, directory: PathLike) -> Self:
        """One of an evaluation, without folders of epochs: ``test/first-set/Loss.log``."""
        logger = cls(directory)
        logger._with_epochs = False
        return logger

    def path(self, name: str, epoch: int, split: Split) -> Path:
        """The file of a metric.

        Raises:
            ValueError: the name, or the tag of the split, cannot be that of a file.
        """
        folder = self._folder(split)
        if self._with_epochs:
            folder = folder / f"epoch-{epoch}"
        return folder / f"{_checked('the name of a metric', name.replace(' ', '_'))}.log"

    def _folder(self, split: Split) -> Path:
        if split.tag is not None:
            tag = split.tag.strip().replace(" ", "-").lower()
            return self.directory / "test" / _checked("the tag of a test", tag)
        return self.directory / split.name if self._with_epochs else self.directory

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        """Write a line per entry."""
        is_first = epoch != self._epoch or split is not self._split
        if is_first:
            self._turn(epoch, split)
        self._held.append(update)
        if is_first or len(self._held) >= _BATCHES:
            self._write()

    def _turn(self, epoch: int, split: Split) -> None:
        """Go on in another epoch or split."""
        self._write()
        if self._with_epochs and epoch != self._epoch:
            self._close_files()
        self._epoch, self._split = epoch, split
        self._files = {}

    def _write(self) -> None:
        """Make lines of what is held, and hand them to the files: of many at once it takes a third of the time."""
        held, self._held = self._held, []
        if self._epoch is None or self._split is None:
            return
        for name, said in by_metric(held):
            kinds = {type(entry) for entry in said}
            lines = (kinds.pop() if len(kinds) == 1 else SerializedEntry).lines(said)
            if lines:
                if name not in self._files:
                    self._files[name] = self._file(self.path(name, self._epoch, self._split))
                self._files[name].write(lines)

    def _file(self, path: Path) -> IO[str]:
        if path not in self._open:
            goes_on = path in self._restored
            self._restored.discard(path)
            self._open[path] = open_to_append(path) if goes_on else open_fresh(path)
        return self._open[path]

    def read_numeric(self, name: str, epoch: int, split: Split) -> list[NumericEntry]:
        """The numbers in a file; an empty list if it is not there.

        Raises:
            ValueError: a line is no number; the message names file and line.
        """
        path = self.path(name, epoch, split)
        self._write()
        if path in self._open:
            self._open[path].flush()
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        entries = []
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                entries += [NumericEntry.deserialize(line)] if line else []
            except ValueError as problem:
                raise ValueError(f"{path}, line {number}: {problem}") from None
        return entries

    def log_metric_definition(self, definition: MetricDefinition) -> None:
        """Check that the name can be that of a file."""
        _checked("the name of a metric", definition.name.replace(" ", "_"))

    def log_epoch_summary(self, summary: EpochSummary) -> None:
        """Close the files; a later entry of the same epoch begins them anew."""
        if self._with_epochs:
            self._close_files()

    def flush(self) -> None:
        """Write the lines that are held."""
        self._write()
        for file in self._open.values():
            file.flush()

    def close(self) -> None:
        """Close the files."""
        self._close_files()

    def _close_files(self) -> None:
        # All of them, also after one that fails.
        with ExitStack() as stack:
            stack.callback(self._forget_files)
            self._write()

    def _forget_files(self) -> None:
        files, self._open, self._files = self._open, {}, {}
        self._epoch = self._split = None
        with ExitStack() as stack:
            for file in files.values():
                stack.callback(file.close)

    def positions(self) -> dict[str, int]:
        """The sizes of the files of this epoch so far, by their paths in the folder."""
        self.flush()
        paths = {*self._open, *self._restored}
        return {path.relative_to(self.directory).as_posix(): size(path) for path in sorted(paths)}

    def restore(self, positions: dict[str, int]) -> None:
        """Cut the files back; their next entries are appended."""
        self._close_files()
        paths = {self.directory / name: position for name, position in positions.items()}
        for path, position in paths.items():
            cut(path, position)
        self._restored = set(paths)


def _checked(what: str, text: str) -> str:
    if not text or text in (".", "..") or any(character in text for character in "/\\\0\n"):
        raise ValueError(f"{what} must be fit for a file, got {text!r}")
    return text
