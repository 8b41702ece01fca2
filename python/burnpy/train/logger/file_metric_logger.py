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

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.metric.metric import MetricDefinition
    from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split

__all__ = ["FileMetricLogger"]

_BATCHES = 256


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
        # What is still to be written to them, by split and metric; that of the split at hand; of how many batches.
        self._held: dict[Split, dict[str, _Held]] = {}
        self._held_now: dict[str, _Held] = {}
        self._batches = 0
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
        if epoch != self._epoch or split is not self._split:
            self._turn(epoch, split)
        for name, entry in update.said():
            held = self._held_now.get(name)
            if held is None:
                if entry.is_not_available():
                    continue
                held = self._held_now[name] = _Held(self._file(self.path(name, epoch, split)))
            held.entries.append(entry)
        self._batches += 1
        if self._batches >= _BATCHES:
            self._write()

    def _turn(self, epoch: int, split: Split) -> None:
        """Go on in another epoch or split."""
        if self._with_epochs and epoch != self._epoch:
            self._close_files()
        self._epoch, self._split = epoch, split
        self._held_now = self._held.setdefault(split, {})

    def _write(self) -> None:
        """Hand what is held to the files."""
        self._batches = 0
        for held in self._all_held():
            held.write()

    def _all_held(self) -> list[_Held]:
        return [held for of_split in self._held.values() for held in of_split.values()]

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
        files, self._open = self._open, {}
        held = self._all_held()
        self._epoch = self._split = None
        self._held, self._held_now, self._batches = {}, {}, 0
        # All of them, also after one that fails.
        with ExitStack() as stack:
            for file in files.values():
                stack.callback(file.close)
            for each in held:
                stack.callback(each.write)

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


class _Held:
    """A file, and entries that are to be written to it."""

    __slots__ = ("entries", "file")

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.entries: list[SerializedEntry] = []

    def write(self) -> None:
        entries, self.entries = self.entries, []
        # Texts are made here: many at once take a third of the time.
        texts = [entry.serialized for entry in entries]
        absent = ("", SerializedEntry.NOT_AVAILABLE)
        self.file.write("".join([f"{text}\n" for text in texts if text not in absent]))


def _checked(what: str, text: str) -> str:
    if not text or text in (".", "..") or any(character in text for character in "/\\\0\n"):
        raise ValueError(f"{what} must be fit for a file, got {text!r}")
    return text
