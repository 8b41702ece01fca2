"""The files of one checkpoint, and which sets a folder has."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnpy.errors import BurnpyError
from burnpy.train.checkpoint.checkpointer import CheckpointerError, describe, file_name, index_path
from burnpy.train.checkpoint.trainer_record import TrainerRecord

__all__ = ["PARTS", "CheckpointSet", "Survey", "complete_sets", "fingerprint", "fingerprints", "survey"]

PARTS = ("model", "optim", "scheduler")
"""The records of a set, in the order in which they are written; the trainer file follows."""

_EPOCH = re.compile(r"(?:model|optim|scheduler|trainer)-(\d+)\.bpk(?:\.index\.json)?")
_STEP = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class CheckpointSet:
    """A complete set.

    Attributes:
        key: the epoch, or ``"step-<n>"`` in the middle of one.
        trainer: the content of its trainer file; ``None`` for a set by Burn, which has none.
    """

    key: int | str
    trainer: TrainerRecord | None

    def steps(self) -> tuple[int, int]:
        """How far the run was: optimizer steps, and whether the epoch was over."""
        if self.trainer is None:
            return (int(self.key), 1)
        return (int(self.trainer.plain["optimizer_steps"]), int(isinstance(self.key, int)))

    def best(self) -> int | None:
        """The epoch that the strategy by a metric held for the best then; ``None`` if there was no such strategy."""
        state = self.trainer.plain["checkpointing"] if self.trainer is not None else None
        for own in [state, *((state or {}).get("strategies", []))]:
            if own and own.get("current") is not None:
                return int(own["current"])
        return None


def fingerprint(path: Path) -> dict[str, Any]:
    """Size and hash of a file."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"size": file.tell(), "sha256": digest}


def fingerprints(path: Path) -> dict[str, Any]:
    """:func:`fingerprint` of a part of a set; of its index, and of each file, where several ranks wrote it."""
    index = index_path(path)
    if not index.is_file():
        return fingerprint(path)
    names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    return fingerprint(index) | {"files": {name: fingerprint(path.with_name(name)) for name in names}}


@dataclass(frozen=True)
class Survey:
    """What a folder has of checkpoints.

    Attributes:
        complete: the sets whose files are all there and of the right sizes, oldest first.
        faults: what is wrong with each of the others, by key, oldest first.
        unfinished: a first set that the end of its process left half-written; nothing was ever complete before it.
    """

    complete: list[CheckpointSet]
    faults: dict[int | str, str]
    unfinished: bool


def complete_sets(folder: Path) -> list[CheckpointSet]:
    """The sets of a folder whose files are all there and of the right sizes, oldest first.

    A set without its trainer file counts only in a folder that has no trainer file at all: one that Burn wrote.
    """
    return survey(folder).complete


def survey(folder: Path) -> Survey:
    """The sets of a folder, complete or not."""
    keys = _keys(folder)
    burns = not any(part_path(folder, "trainer", key).is_file() for key in keys)
    complete, faults = [], {}
    for key in keys:
        found = _set_of_burn(folder, key) if burns else _set(folder, key)
        if isinstance(found, str):
            faults[key] = found
        else:
            complete.append(found)
    return Survey(sorted(complete, key=CheckpointSet.steps), faults, burns and len(keys) == len(faults) == 1)


def _keys(folder: Path) -> list[int | str]:
    """Of all sets of which there is a file."""
    keys: set[int | str] = set()
    for entry in folder.iterdir() if folder.is_dir() else ():
        if match := _EPOCH.fullmatch(entry.name):
            keys.add(int(match[1]))
        elif _STEP.fullmatch(entry.name):
            keys.add(entry.name)
    return sorted(keys, key=lambda key: (isinstance(key, str), int(str(key).removeprefix("step-"))))


def _set(folder: Path, key: int | str) -> CheckpointSet | str:
    path = part_path(folder, "trainer", key)
    if not path.is_file():
        return f"{path.name} is missing, which is written last"
    try:
        trainer = TrainerRecord.load(path)
    except (BurnpyError, OSError, ValueError) as error:
        # Not complete: a set is as good as its trainer file.
        return str(error)
    files = trainer.plain.get("files", {})
    wrong = (_wrong_size(part_path(folder, part, key), files[part]) for part in PARTS if part in files)
    return next((fault for fault in wrong if fault), CheckpointSet(key, trainer))


def _set_of_burn(folder: Path, key: int | str) -> CheckpointSet | str:
    names = [*PARTS, "trainer"] if isinstance(key, str) else PARTS
    missing = [path.name for part in names if not (path := part_path(folder, part, key)).is_file()]
    return f"{', '.join(missing)} missing" if missing else CheckpointSet(key, None)


def _wrong_size(path: Path, told: dict[str, Any]) -> str | None:
    """What is wrong with a file, or with the index and files that several ranks wrote in place of it."""
    sizes = {path: told["size"]}
    if "files" in told:
        others = told["files"].items()
        sizes = {index_path(path): told["size"]} | {path.with_name(n): each["size"] for n, each in others}
    for file, size in sizes.items():
        found = _size(file)
        if found != size:
            return (
                f"{file.name} is missing" if found is None else f"{file.name} has {found} bytes, not {size}"
            )
    return None


def part_path(folder: Path, part: str, key: int | str) -> Path:
    """Where a file of a set is."""
    return folder / file_name(part, key)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def check_fingerprints(folder: Path, found: CheckpointSet) -> None:
    """Compare the files of a set with what its trainer file says.

    Raises:
        CheckpointerError: one is another file; the message names both.
    """
    for part, wanted in (found.trainer.plain.get("files", {}) if found.trainer else {}).items():
        path = part_path(folder, part, found.key)
        if fingerprints(path) != wanted:
            trainer = part_path(folder, "trainer", found.key)
            raise CheckpointerError(
                f"{path} is not the file that {trainer} was written with: the checkpoint of {describe(found.key)} is "
                f"mixed",
                path=path,
            )
