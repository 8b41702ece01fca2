"""The artifact folder of a run, read back."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.train.artifact_folder import ArtifactFolder
from burnpy.train.checkpoint.checkpoint_set import PARTS, CheckpointSet, survey
from burnpy.train.checkpoint.checkpointer import file_name
from burnpy.train.report.curve import Curve
from burnpy.train.report.values import values_of

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.storage import Location

__all__ = ["RunCheckpoint", "RunFolder"]


@dataclass(frozen=True)
class RunCheckpoint:
    """A set of files.

    Attributes:
        key: the epoch, or ``"step-<n>"`` in the middle of one.
        epoch: in which it was saved, if anything tells.
        optimizer_steps: since the start of the run, if anything tells.
        num_bytes: of all its files.
        complete: whether a run can go on from it.
        best: whether the strategy keeps it as the best.
    """

    key: int | str
    epoch: int | None
    optimizer_steps: int | None
    num_bytes: int
    complete: bool
    best: bool = False


class RunFolder:
    r"""A run by burnpy or by Burn: what its folder tells.

    Values come from the files ``train/epoch-<n>/<Metric>.log``, else from ``metrics.jsonl``, else from ``metrics.csv``.
    Everything is read at once; nothing is changed.

    Args:
        directory: the artifact folder; or a URL, or a place of ``burnpy.storage.at``, whose logs are copied first.

    Attributes:
        directory: what was given.
        curves: metrics of the training, then of the validation, by name.
        tests: of evaluations: by test, the value of each metric.
        unread: files of metrics that are no numbers.

    Raises:
        FileNotFoundError: it is not there, or is not the folder of a run.
        NotADirectoryError: it is a file.

    Example:
        >>> folder = Path("run/valid/epoch-1")
        >>> folder.mkdir(parents=True)
        >>> _ = (folder / "Loss.log").write_text("0.5,1\n1.5,1\n1,final\n")
        >>> run = RunFolder("run")
        >>> run.curves[0].epochs, run.curves[0].batches, run.num_epochs
        ({1: 1.0}, {1: [0.5, 1.5]}, 1)
    """

    def __init__(self, directory: Place) -> None:
        folder = ArtifactFolder(directory)
        self.directory = folder.place
        if isinstance(self.directory, Path):
            _check_folder(self.directory)
        with ExitStack() as stack:
            self._here = stack.enter_context(folder.opened())
            weakref.finalize(self, stack.pop_all().close)
        values = values_of(self._here)
        self.curves: Sequence[Curve] = values.curves()
        self.tests = values.tests()
        self.unread: Sequence[str] = values.unread
        self.checkpoints: Sequence[RunCheckpoint] = _checkpoints(folder.checkpoint)
        if not (self.curves or self.tests or self.checkpoints):
            raise FileNotFoundError(
                2, "no run is in the folder: it has no metrics and no checkpoints", str(directory)
            )

    @property
    def name(self) -> str:
        """The last part of the path."""
        return (self.directory.resolve() if isinstance(self.directory, Path) else self.directory).name

    @property
    def num_epochs(self) -> int:
        """The last epoch that has values."""
        return max((epoch for curve in self.curves for epoch in curve.epochs), default=0)

    def curve(self, metric: str, split: str) -> Curve | None:
        """One of the curves."""
        return next((each for each in self.curves if (each.metric, each.split) == (metric, split)), None)

    def metrics(self) -> list[str]:
        """Names of the metrics that have curves: losses first, then by name."""
        return sorted({curve.metric for curve in self.curves}, key=lambda name: (name != "Loss", name))

    def config(self) -> str | None:
        """The text of ``config.json``, which examples save beside a run."""
        return _text(self._here / "config.json")

    def log(self) -> list[str]:
        """The lines of ``experiment.log``."""
        return (_text(self._here / "experiment.log") or "").splitlines()

    def times(self) -> tuple[float, float] | None:
        """When the first and the last file of values was written, in seconds since 1970.

        Of a run elsewhere, when the first and the last line of its log was.
        """
        if not isinstance(self.directory, Path):
            return _times_of(self.log())
        splits = (self._here / split for split in ("train", "valid"))
        files = [path for split in splits for path in split.glob("*/*.log")]
        files += [self._here / name for name in ("metrics.jsonl", "metrics.csv", "experiment.log")]
        moments = [path.stat().st_mtime for path in files if path.is_file()]
        return (min(moments), max(moments)) if moments else None


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _check_folder(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(2, "no such folder", str(path))
    if not path.is_dir():
        raise NotADirectoryError(20, "not the folder of a run", str(path))


def _times_of(log: Sequence[str]) -> tuple[float, float] | None:
    moments = []
    for line in log:
        # A text may have lines that are none of the log's own.
        with suppress(ValueError):
            moments.append(datetime.fromisoformat(line.partition(" ")[0]).timestamp())
    return (min(moments), max(moments)) if moments else None


def _checkpoints(folder: Path | Location) -> list[RunCheckpoint]:
    found = survey(folder)
    # The newest set knows what is best.
    best = found.complete[-1].best() if found.complete else None
    made = [_checkpoint(found.sizes, each.key, each, each.key == best) for each in found.complete]
    made += [_checkpoint(found.sizes, key, None, False) for key in found.faults]
    return sorted(made, key=lambda each: (each.epoch or 0, isinstance(each.key, int), str(each.key)))


def _checkpoint(
    sizes: Mapping[str, int], key: int | str, found: CheckpointSet | None, best: bool
) -> RunCheckpoint:
    plain = found.trainer.plain if found is not None and found.trainer is not None else {}
    num_bytes = sum(sizes.get(file_name(part, key), 0) for part in (*PARTS, "trainer"))
    epoch = plain.get("epoch", key if isinstance(key, int) else None)
    return RunCheckpoint(key, epoch, plain.get("optimizer_steps"), num_bytes, found is not None, best)
