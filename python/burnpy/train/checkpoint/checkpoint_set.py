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

__all__ = ["PARTS", "CheckpointSet", "complete_sets", "fingerprint", "fingerprints"]

PARTS = ("model", "optim", "scheduler")
"""The records of a set, in the order in which they are written; the trainer file follows."""

_EPOCH = re.compile(r"trainer-(\d+)\.bpk")
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


def _has_sizes(path: Path, told: dict[str, Any]) -> bool:
    if "files" not in told:
        return bool(_size(path) == told["size"])
    others = told["files"].items()
    return bool(_size(index_path(path)) == told["size"]) and all(
        _size(path.with_name(name)) == each["size"] for name, each in others
    )


def complete_sets(folder: Path) -> list[CheckpointSet]:
    """The sets of a folder whose files are all there and of the right sizes, oldest first.

    A set without its trainer file counts only in a folder that has no trainer file at all: one that Burn wrote.
    """
    if not folder.is_dir():
        return []
    trainers: list[tuple[int | str, Path]] = []
    for entry in folder.iterdir():
        if match := _EPOCH.fullmatch(entry.name):
            trainers.append((int(match[1]), entry))
        elif _STEP.fullmatch(entry.name) and (entry / "trainer.bpk").is_file():
            trainers.append((entry.name, entry / "trainer.bpk"))
    if not trainers:
        return _sets_of_burn(folder)
    found = [_set(folder, key, path) for key, path in trainers]
    return sorted((each for each in found if each is not None), key=CheckpointSet.steps)


def _set(folder: Path, key: int | str, path: Path) -> CheckpointSet | None:
    try:
        trainer = TrainerRecord.load(path)
    except (BurnpyError, OSError, ValueError):
        # Not complete: a set is as good as its trainer file.
        return None
    files = trainer.plain.get("files", {})
    right = all(_has_sizes(part_path(folder, part, key), files[part]) for part in PARTS if part in files)
    return CheckpointSet(key, trainer) if right else None


def _sets_of_burn(folder: Path) -> list[CheckpointSet]:
    epochs = {int(m[1]) for entry in folder.iterdir() if (m := re.fullmatch(r"model-(\d+)\.bpk", entry.name))}
    whole = (e for e in sorted(epochs) if all(part_path(folder, part, e).is_file() for part in PARTS))
    return [CheckpointSet(epoch, None) for epoch in whole]


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
