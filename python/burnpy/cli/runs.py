"""``burnpy runs``: the runs of a folder beside each other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnpy._places import is_remote
from burnpy.cli.arguments import Subparsers, place
from burnpy.cli.table import lines, terminal_width
from burnpy.cli.text import escape, json_float, name_text
from burnpy.errors import BurnpyError

if TYPE_CHECKING:
    from burnpy.storage import Location
    from burnpy.train.report import Curve, RunFolder

__all__ = ["add_to"]

# What a run leaves below its folder.
_OF_RUN = re.compile(
    r"(.*?/)?(?:(?:train|valid)/epoch-\d+/[^/]+\.log|test/.+\.log|checkpoint/.+\.bpk|metrics\.(?:jsonl|csv))"
)


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "compare the training runs in a folder"
    about = (
        f"{text}: each one's epochs, checkpoints, and the best value of each metric with its epoch; of the validation, "
        "or of the training where that has none. A folder that is a run itself, and folders in folders, are runs too."
    )
    parser = commands.add_parser("runs", help=text, description=about)
    parser.add_argument("folder", metavar="FOLDER", type=place)
    parser.add_argument(
        "--json", action="store_true", help="a list of objects, with the values of all epochs"
    )
    parser.add_argument(
        "--metric", metavar="NAME", action="append", help="show this metric alone; may be given several times"
    )
    parser.add_argument("--sort", metavar="NAME", help="the run with the best value of this metric first")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table, or its JSON."""
    folder = options.folder if is_remote(options.folder) else Path(options.folder)
    found = _runs(folder)
    metrics = _metrics(found, options)
    if options.sort is not None:
        found = _sorted(found, options.sort)
    if options.json:
        import json

        print(json.dumps([_as_json(each, metrics) for each in found], indent=2))
    else:
        for line in _as_text(found, folder, metrics):
            print(line)
    return 0


def _runs(folder: Path | Location) -> list[RunFolder]:
    """The runs at or below a folder, by path; what lies in a run is none.

    Raises:
        FileNotFoundError, NotADirectoryError: it is no folder.
        BurnpyError: it has no run.
    """
    try:
        found = _runs_here(folder) if isinstance(folder, Path) else _runs_elsewhere(folder)
    except ValueError as error:
        raise BurnpyError(str(error)) from error
    if not found:
        raise BurnpyError(f"{folder}: no run is in it")
    return sorted(found, key=lambda each: str(each.directory).split("/"))


def _runs_elsewhere(folder: Location) -> list[RunFolder]:
    from burnpy.train.report import RunFolder

    roots = {match[1] or "" for name in folder.files() if (match := _OF_RUN.fullmatch(name))}
    outer = [root for root in roots if not any(root != other and root.startswith(other) for other in roots)]
    return [RunFolder(folder.child(root.rstrip("/")) if root else folder) for root in outer]


def _runs_here(folder: Path) -> list[RunFolder]:
    from burnpy.train.report import RunFolder

    found: list[RunFolder] = []
    waiting = [folder]
    while waiting:
        current = waiting.pop(0)
        try:
            found.append(RunFolder(current))
        except FileNotFoundError:
            if not current.exists():
                raise
            inner = (entry for entry in current.iterdir() if entry.is_dir() and not entry.is_symlink())
            waiting += sorted(inner)
    return found


def _metrics(found: Sequence[RunFolder], options: argparse.Namespace) -> list[str]:
    there = sorted(
        {name for each in found for name in each.metrics()}, key=lambda name: (name != "Loss", name)
    )
    for name in [*(options.metric or ()), *([options.sort] if options.sort is not None else ())]:
        if name not in there:
            raise BurnpyError(f"no run has a metric {name!r}; there are {', '.join(there) or 'none'}")
    # A rate has no best value.
    return options.metric or [name for name in there if name != "Learning Rate"]


def _curve(each: RunFolder, metric: str) -> Curve | None:
    return each.curve(metric, "valid") or each.curve(metric, "train")


def _sorted(found: Sequence[RunFolder], metric: str) -> list[RunFolder]:
    from burnpy.train.report import lower_is_better

    sign = 1 if lower_is_better(metric) else -1

    def place(each: RunFolder) -> tuple[bool, float]:
        curve = _curve(each, metric)
        best = curve.best if curve is not None else None
        return (True, 0.0) if best is None else (False, sign * best[1])

    return sorted(found, key=place)


def _as_text(found: Sequence[RunFolder], folder: Path | Location, metrics: Sequence[str]) -> Iterator[str]:
    header = ("run", "epochs", "sets", *(escape(name) for name in metrics))
    rows = [_row(each, folder, metrics) for each in found]
    yield from lines(header, rows, right=range(1, len(header)), width=terminal_width())


def _row(each: RunFolder, folder: Path | Location, metrics: Sequence[str]) -> list[str]:
    sets = sum(each.complete for each in each.checkpoints)
    return [
        name_text(_name(each, folder)),
        str(each.num_epochs),
        str(sets),
        *(_best(each, m) for m in metrics),
    ]


def _name(each: RunFolder, folder: Path | Location) -> str:
    """The path below the folder that was asked for."""
    if isinstance(each.directory, Path):
        inner = each.directory.relative_to(str(folder)).as_posix()
    else:
        inner = str(each.directory).removeprefix(str(folder)).strip("/") or "."
    return each.name if inner == "." else inner


def _best(each: RunFolder, metric: str) -> str:
    curve = _curve(each, metric)
    if curve is None or curve.best is None:
        return "-"
    epoch, value = curve.best
    return f"{value:.5g} @{epoch}"


def _as_json(each: RunFolder, metrics: Sequence[str]) -> dict[str, Any]:
    splits: dict[str, dict[str, Any]] = {"train": {}, "valid": {}}
    for curve in each.curves:
        if curve.metric in metrics:
            splits[curve.split][curve.metric] = _curve_json(curve)
    return {
        "run": str(each.directory),
        "epochs": each.num_epochs,
        "metrics": splits,
        "tests": {
            tag: {name: json_float(v) for name, v in values.items()} for tag, values in each.tests.items()
        },
        "checkpoints": [vars(checkpoint) for checkpoint in each.checkpoints],
    }


def _curve_json(curve: Curve) -> dict[str, Any]:
    best = curve.best
    return {
        "best": None if best is None else {"epoch": best[0], "value": json_float(best[1])},
        "epochs": {str(epoch): json_float(value) for epoch, value in curve.epochs.items()},
    }
