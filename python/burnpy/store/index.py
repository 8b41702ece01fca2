"""A checkpoint in several files, with an index that says which tensor is where, as one archive of ``burnpy.open``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from burnpy.errors import CheckpointError, Error
from burnpy.store.archive import Archive, Skipped, TensorInfo
from burnpy.store.remote import beside, bytes_at
from burnpy.store.sniff import open_any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from burnpy.pack import Limits
    from burnpy.storage.location import Location
    from burnpy.store.archive import LazyTensor

    T = TypeVar("T")

__all__ = ["IndexArchive"]

# What leads out of the index's folder, or might on some system: "..", a root, a drive, a backslash.
_UNSAFE = re.compile(r"(^|/)\.\.(/|$)|^/|\\|^[A-Za-z]:|\0")


class IndexArchive(Archive):
    """All files that an index names. A file that is missing or damaged is told when one of its tensors is asked for.

    The index counts: a tensor of a file that it does not place there is listed among the skipped ones.
    """

    def __init__(self, place: str | Location, limits: Limits | None = None) -> None:
        self.path = str(place)
        self._is_open = True
        self._texts, self._homes = _read_index(self.path, bytes_at(place))
        self._files: dict[str, Archive] = {}
        self._faults: dict[str, Exception] = {}

        def opened(name: str) -> Archive | Exception:
            try:
                return open_any(beside(place, name), limits, index=False)
            except (CheckpointError, Error, OSError) as fault:
                return fault

        names = sorted(set(self._homes.values()))
        for name, found in zip(names, _each(opened, names, place), strict=True):
            if isinstance(found, Exception):
                self._faults[name] = found
            else:
                self._files[name] = found
        self._keys = {name: dict.fromkeys(file.keys()) for name, file in self._files.items()}

    @property
    def format(self) -> str:
        """That of its files, and that there are several."""
        kinds = [file.format for file in self._files.values()]
        return f"{kinds[0].partition(' ')[0]} index" if kinds else "index"

    def keys(self) -> list[str]:
        """Names file by file, in data order within each; those that their file does not have come behind."""
        found = [key for name, keys in self._keys.items() for key in keys if self._homes.get(key) == name]
        self._check_open()
        return list(dict.fromkeys([*found, *self._homes]))

    def view(self, name: str, shown: str | None = None) -> LazyTensor:
        """A tensor of one of the files."""
        return self._home(name).view(name, shown)

    def info(self, name: str) -> TensorInfo:
        """What its file says of a tensor."""
        return self._home(name).info(name)

    def metadata(self) -> dict[str, str]:
        """The texts of all files and of the index; the first file's count."""
        return {**self._texts, **self._merged(lambda file: file.metadata())}

    def scalars(self) -> dict[str, Any]:
        """Those of all files; the first file's count."""
        return self._merged(lambda file: file.scalars())

    def typed_scalars(self) -> dict[str, Any]:
        """The same with their kinds."""
        return self._merged(lambda file: file.typed_scalars())

    def skipped(self) -> list[Skipped]:
        """What no file built, and what the index does not place where it is."""
        unplaced = [
            Skipped(key, f"not placed in {name} by the index", "unsupported")
            for name, keys in self._keys.items()
            for key in sorted(keys)
            if self._homes.get(key) != name
        ]
        return [skipped for file in self._files.values() for skipped in file.skipped()] + unplaced

    def ties(self) -> list[list[str]]:
        """Those within a file."""
        return [group for file in self._files.values() for group in file.ties()]

    def overlaps(self) -> list[list[str]]:
        """Those within a file."""
        return [group for file in self._files.values() for group in file.overlaps()]

    def close(self) -> None:
        """Let all files go."""
        self._is_open = False
        for file in self._files.values():
            file.close()

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError(f"{self.path}: the files are closed")

    def _home(self, name: str) -> Archive:
        """The file of a tensor."""
        self._check_open()
        home = self._homes[name]
        fault = self._faults.get(home)
        if isinstance(fault, FileNotFoundError):
            raise self._fault("missing shard", name, home, "which does not exist") from fault
        if fault is not None:
            # Always the same error, so it must not collect the traces of everybody who asks.
            raise fault.with_traceback(None)
        if name not in self._keys[home]:
            raise self._fault("missing tensor", name, home, "which does not have it")
        return self._files[home]

    def _fault(self, kind: str, name: str, home: str, what: str) -> CheckpointError:
        message = f"{self.path}: tensor {name!r} should be in {home!r}, {what}"
        return CheckpointError(message, kind=kind, tensor=name, member=home, path=self.path)

    def _merged(self, part: Callable[[Archive], Mapping[str, T]]) -> dict[str, T]:
        merged: dict[str, T] = {}
        for file in self._files.values():
            # The first file counts: that is where a sharded set keeps what is about all of it.
            for name, value in part(file).items():
                merged.setdefault(name, value)
        return merged


def _each(
    opened: Callable[[str], Archive | Exception], names: list[str], place: str | Location
) -> list[Archive | Exception]:
    """What was opened under each name; over a network all at once, since each takes a request or two."""
    if isinstance(place, str):
        return [opened(name) for name in names]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(place.transfer.max_requests) as pool:
        return list(pool.map(opened, names))


def _read_index(path: str, data: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of an index, and which tensor is in which file below the index's folder."""
    try:
        content = json.loads(data)
        homes = dict(content["weight_map"].items())
        texts = content.get("metadata") or {}
        if not all(isinstance(home, str) and home for home in homes.values()):
            raise ValueError("weight_map holds something else than names of files")
        texts = {key: text for key, text in texts.items() if isinstance(text, str)}
    except KeyError as error:
        raise _malformed(path, f"it has no {error.args[0]}") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _malformed(path, str(error)) from error
    _refuse_unsafe(path, homes.items())
    return texts, homes


def _malformed(path: str, what: str) -> CheckpointError:
    return CheckpointError(f"{path}: malformed index: {what}", kind="malformed index", path=path)


def _refuse_unsafe(path: str, homes: Iterable[tuple[str, str]]) -> None:
    for name, home in homes:
        if _UNSAFE.search(home):
            message = (
                f"{path}: tensor {name!r} is said to be in {home}, which may lead out of the index's folder"
            )
            raise CheckpointError(message, kind="unsafe path", tensor=name, member=home, path=path)
