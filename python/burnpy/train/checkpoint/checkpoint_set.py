"""The files of one checkpoint, and which sets a folder has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnpy.errors import BurnpyError, StorageError
from burnpy.storage import at
from burnpy.train.checkpoint.checkpointer import CheckpointerError, below, describe, file_name
from burnpy.train.checkpoint.fingerprint import fingerprints
from burnpy.train.checkpoint.trainer_record import TrainerRecord

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.storage import Location

__all__ = [
    "PARTS",
    "CheckpointSet",
    "Survey",
    "check_fingerprints",
    "complete_sets",
    "part_path",
    "step_keys",
    "survey",
]

PARTS = ("model", "optim", "scheduler")
"""The records of a set, in the order in which they are written; the trainer file follows."""

_EPOCH = re.compile(r"(?:model|optim|scheduler|trainer)-(\d+)\.bpk(?:\.index\.json)?")
_STEP = re.compile(r"(step-\d+)/.*")


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


@dataclass(frozen=True)
class Survey:
    """What a folder has of checkpoints.

    Attributes:
        complete: the sets whose files are all there and of the right sizes, oldest first.
        faults: what is wrong with each of the others, by key, oldest first.
        unfinished: a first set that the end of its process left half-written; nothing was ever complete before it.
        sizes: of all files, by their names in the folder.
    """

    complete: list[CheckpointSet]
    faults: dict[int | str, str]
    unfinished: bool
    sizes: Mapping[str, int]


def complete_sets(folder: Place) -> list[CheckpointSet]:
    """The sets of a folder whose files are all there and of the right sizes, oldest first.

    A set without its trainer file counts only in a folder that has no trainer file at all: one that Burn wrote. The
    folder may be a URL: it is listed, and its trainer files are read.

    Raises:
        PermissionError, StorageError: the folder cannot be listed, or a store does not give a trainer file.
    """
    return survey(folder).complete


def survey(folder: Place) -> Survey:
    """The sets of a folder, complete or not; as :func:`complete_sets`."""
    place = at(folder)
    sizes = {name: stat.size for name, stat in place.files().items()}
    keys = _keys(sizes)
    burns = not any(file_name("trainer", key) in sizes for key in keys)
    complete, faults = [], {}
    for key in keys:
        found = _set_of_burn(key, sizes) if burns else _set(place, key, sizes)
        if isinstance(found, str):
            faults[key] = found
        else:
            complete.append(found)
    unfinished = burns and len(keys) == len(faults) == 1
    return Survey(sorted(complete, key=CheckpointSet.steps), faults, unfinished, sizes)


def _keys(names: Iterable[str]) -> list[int | str]:
    """Of all sets of which there is a file."""
    keys: set[int | str] = set()
    for name in names:
        if match := _EPOCH.fullmatch(name):
            keys.add(int(match[1]))
        elif match := _STEP.fullmatch(name):
            keys.add(match[1])
    return sorted(keys, key=lambda key: (isinstance(key, str), int(str(key).removeprefix("step-"))))


def _set(folder: Location, key: int | str, sizes: Mapping[str, int]) -> CheckpointSet | str:
    path = folder.child(file_name("trainer", key))
    if file_name("trainer", key) not in sizes:
        return f"{path.name} is missing, which is written last"
    try:
        trainer = TrainerRecord.load(path)
    except StorageError:
        # A store that does not answer says nothing of its files.
        raise
    except (BurnpyError, OSError, ValueError) as error:
        # Not complete: a set is as good as its trainer file.
        return str(error)
    files = trainer.plain.get("files", {})
    wrong = (_wrong_size(file_name(part, key), files[part], sizes) for part in PARTS if part in files)
    return next((fault for fault in wrong if fault), CheckpointSet(key, trainer))


def _set_of_burn(key: int | str, sizes: Mapping[str, int]) -> CheckpointSet | str:
    names = [file_name(part, key) for part in ([*PARTS, "trainer"] if isinstance(key, str) else PARTS)]
    missing = [_last(name) for name in names if name not in sizes]
    return f"{', '.join(missing)} missing" if missing else CheckpointSet(key, None)


def _wrong_size(name: str, told: Mapping[str, Any], sizes: Mapping[str, int]) -> str | None:
    """What is wrong with a file, or with the index and files that several ranks wrote in place of it."""
    wanted = {name: told["size"]}
    if "files" in told:
        folder = name[: name.rfind("/") + 1]
        others = {f"{folder}{other}": each["size"] for other, each in told["files"].items()}
        wanted = {f"{name}.index.json": told["size"]} | others
    for file, size in wanted.items():
        if file not in sizes:
            return f"{_last(file)} is missing"
        if sizes[file] != size:
            return f"{_last(file)} has {sizes[file]} bytes, not {size}"
    return None


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def step_keys(folder: Path | Location) -> list[str]:
    """The keys of sets of the middle of an epoch, complete or not, or without any file."""
    names = folder.files() if not isinstance(folder, Path) else [f"{e.name}/" for e in folder.glob("step-*")]
    return sorted({match[1] for name in names if (match := _STEP.fullmatch(name))})


def part_path(folder: Path | Location, part: str, key: int | str) -> Path | Location:
    """Where a file of a set is."""
    return below(folder, file_name(part, key))


def check_fingerprints(folder: Path | Location, found: CheckpointSet) -> None:
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
