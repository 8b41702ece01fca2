"""A folder that keeps what was downloaded."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnpy.storage.location import Location
    from burnpy.storage.storage import Stat

__all__ = ["Cache"]

# A download that was not written to for so long was killed; what it left is deleted like any other file.
_ABANDONED_S = 3600


@dataclass(frozen=True)
class Cache:
    """Downloads on this machine, each under a name of its URL, its version and its size, so that none is ever stale.

    What is in the cache costs one request, for the version, and is mapped like any file. Several processes may share a
    folder: a file appears whole, and a second process waits for the first one's download instead of starting its own.
    When the files are more than ``max_bytes`` together, those go first that were not used for the longest time; who
    has one open keeps it, where the system allows that. An object whose store tells no version is not kept.

    Args:
        folder: where; is made if it is not there.
        max_bytes: how much is kept, but always the newest file.

    Example:
        >>> from burnpy.storage import at
        >>> place = at("memory://notes/a.txt", cache=Cache("downloads", max_bytes=10**9))
        >>> with place.create() as upload:
        ...     _ = upload.write(b"text")
        ...     upload.commit()
        >>> Path(place.cache.path_of(place)).read_text()
        'text'
    """

    folder: str | os.PathLike[str]
    max_bytes: int = 100 << 30

    def __post_init__(self) -> None:
        if self.max_bytes < 0:
            raise ValueError(f"max_bytes must be at least 0, got {self.max_bytes}")

    def path_of(self, location: Location) -> str | None:
        """The local copy of an object, downloaded if need be; ``None`` for one without a version.

        Raises:
            FileNotFoundError, PermissionError, StorageError: from the storage.
        """
        stat = location.stat()
        if stat.etag is None:
            return None
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / _name_of(location, stat)
        if not _is_there(path, stat):
            with _locked(_lock_of(path)):
                # Another process may have brought it while this one waited.
                if not _is_there(path, stat):
                    self._download(location, stat, path)
        os.utime(path)
        self._make_room(path)
        return str(path)

    def _download(self, location: Location, stat: Stat, path: Path) -> None:
        from burnpy.storage.whole import download

        download(location, str(path), stat)

    def _make_room(self, newest: Path) -> None:
        """Delete the files that were used the longest time ago until the rest fits."""
        files = []
        for entry in os.scandir(self.folder):
            try:
                found = entry.stat()
                is_arriving = entry.name.endswith(".tmp") and time.time() - found.st_mtime < _ABANDONED_S
                if not entry.name.startswith(".") and entry.is_file() and not is_arriving:
                    files.append((found.st_mtime_ns, found.st_size, entry.path))
            except FileNotFoundError:
                continue
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self.max_bytes or path == str(newest):
                continue
            try:
                os.unlink(path)
                _lock_of(Path(path)).unlink(missing_ok=True)
            except OSError:
                # Gone already, or open on a system that does not let go of open files.
                continue
            total -= size


def _name_of(location: Location, stat: Stat) -> str:
    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    # The object's own name stands at the end: formats are told by it where the content leaves a doubt.
    return f"{digest(str(location))}-{digest(str(stat.etag))}-{stat.size}-{location.name[-80:] or 'object'}"


def _is_there(path: Path, stat: Stat) -> bool:
    try:
        return path.stat().st_size == stat.size
    except FileNotFoundError:
        return False


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the system lets go for one that dies."""
    with open(path, "ab") as file:
        try:
            import fcntl
        except ImportError:
            # Without locks two processes may download the same file; each puts a whole one in place.
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        # It stays as long as the file: a process that waits for one that is deleted would download once more.
