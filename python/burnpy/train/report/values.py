"""Values of a run, from whatever logger wrote them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store import mean_of
from burnpy.train.report.curve import Curve

__all__ = ["Values", "values_of"]

_EPOCH = re.compile(r"epoch-(\d+)")
_SPLITS = ("train", "valid")


class Values:
    """Numbers by split, metric, epoch and batch, as they come in.

    Attributes:
        unread: files that hold no numbers.
    """

    def __init__(self) -> None:
        self._epochs: dict[tuple[str, str], dict[int, float]] = {}
        self._batches: dict[tuple[str, str], dict[int, list[float]]] = {}
        self._tests: dict[str, dict[str, float]] = {}
        self.unread: list[str] = []

    def add_batch(self, split: str, metric: str, epoch: int, batch: int, value: float) -> None:
        """Take the value of a batch in, counted from 1; an epoch that a later run begins anew forgets the old one."""
        values = self._batches.setdefault((split, metric), {}).setdefault(epoch, [])
        del values[batch - 1 :]
        values.append(value)

    def add_epoch(self, split: str, metric: str, epoch: int, value: float) -> None:
        """Take the value of an epoch in."""
        self._epochs.setdefault((split, metric), {})[epoch] = value

    def add_test(self, tag: str, metric: str, value: float) -> None:
        """Take the value of an evaluation in."""
        self._tests.setdefault(tag, {})[metric] = value

    def curves(self) -> list[Curve]:
        """All metrics of both splits, those of the training first."""
        keys = sorted({*self._epochs, *self._batches})
        return [
            Curve(
                metric, split, self._epochs.get((split, metric), {}), self._batches.get((split, metric), {})
            )
            for split, metric in keys
        ]

    def tests(self) -> dict[str, dict[str, float]]:
        """Evaluations by name."""
        return {tag: dict(sorted(values.items())) for tag, values in sorted(self._tests.items())}


def values_of(directory: Path) -> Values:
    """All values that a folder has, from the first kind of file that has some of a training.

    Raises:
        ValueError: a file that holds nothing else than values is damaged; the message names file and line.
    """
    values = Values()
    for split in _SPLITS:
        for path in sorted(directory.glob(f"{split}/epoch-*/*.log")):
            if match := _EPOCH.fullmatch(path.parent.name):
                _read_file(values, path, split, int(match[1]))
    for path in sorted(directory.glob("test/**/*.log")):
        _read_test(values, path, path.relative_to(directory / "test").parts)
    for name, rows in (("metrics.jsonl", _json_rows), ("metrics.csv", _csv_rows)):
        if not values.curves() and (directory / name).is_file():
            for row in rows(directory / name):
                _add_row(values, *row)
    return values


def _read_file(values: Values, path: Path, split: str, epoch: int) -> None:
    """A file of Burn's layout: values of batches, then that of the epoch."""
    entries, value = _entries(values, path)
    if value is None:
        return
    name = _name(path)
    values.add_epoch(split, name, epoch, value)
    own = [entry for entry in entries if not isinstance(entry, NumericEntry.Final)]
    # A metric that says something at the end alone has one line.
    for batch, entry in enumerate(own if len(entries) > 1 else (), start=1):
        values.add_batch(split, name, epoch, batch, entry.current())


def _read_test(values: Values, path: Path, parts: tuple[str, ...]) -> None:
    _, value = _entries(values, path)
    if value is not None:
        tag = parts[0] if len(parts) > 1 and not _EPOCH.fullmatch(parts[0]) else "test"
        values.add_test(tag, _name(path), value)


def _entries(values: Values, path: Path) -> tuple[list[NumericEntry], float | None]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        entries = [NumericEntry.deserialize(line) for line in lines if line]
        return entries, mean_of(entries)
    except ValueError:
        # Texts, which are a metric's right, or damaged.
        values.unread.append("/".join(path.parts[-3:]))
        return [], None


def _name(path: Path) -> str:
    """The metric's name: spaces are underscores in files."""
    return path.stem.replace("_", " ")


_Row = tuple[str, str, int, int | None, str, float]
"""Split, tag of a test, epoch, batch or ``None`` at the end, metric, value."""


def _add_row(
    values: Values, split: str, tag: str, epoch: int, batch: int | None, metric: str, value: float
) -> None:
    if split not in _SPLITS:
        if batch is None:
            values.add_test(tag or split, metric, value)
    elif batch is None:
        values.add_epoch(split, metric, epoch, value)
    else:
        values.add_batch(split, metric, epoch, batch, value)


def _json_rows(path: Path) -> Iterator[_Row]:
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            # A run that was killed may leave half a line at the end.
            if not text.endswith("\n"):
                return
            try:
                line: dict[str, Any] = json.loads(text)
                for metric, value in line["values"].items():
                    tag, batch = line.get("tag", ""), line["batch"]
                    yield line["split"], tag, int(line["epoch"]), batch, metric, float(value)
            except (ValueError, TypeError, KeyError, AttributeError) as problem:
                raise ValueError(f"{path}, line {number}: not a line of metrics ({problem})") from None


def _csv_rows(path: Path) -> Iterator[_Row]:
    with open(path, encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                batch = int(row["batch"]) if row["batch"] else None
                yield row["split"], row["tag"], int(row["epoch"]), batch, row["metric"], float(row["value"])
            except (ValueError, TypeError, KeyError) as problem:
                raise ValueError(f"{path}, line {number}: not a row of metrics ({problem})") from None
