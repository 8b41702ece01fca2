"""Files of this machine as a storage; keys are absolute paths."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from burnpy import _core
from burnpy.storage.storage import Piece, Stat, Upload

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["LocalStorage"]


class LocalStorage:
    """Files. What burnpy opens here is mapped, not read through this class, which serves who has a ``Storage``.

    Example:
        >>> from burnpy.storage import at
        >>> with at("note.txt").create() as upload:
        ...     _ = upload.write(b"all of it")
        ...     upload.commit()
        >>> at("note.txt").stat().size
        9
    """

    def url(self, key: str) -> str:
        """The path."""
        return key

    def stat(self, key: str) -> Stat:
        """Size, and inode and time as the version."""
        return _stat_of(key, os.stat(key))

    def begin(self, key: str, length: int) -> Piece:
        """The first bytes and the stat."""
        return self.read(key, 0, length)

    def read(self, key: str, start: int, stop: int, *, etag: str | None = None) -> Piece:
        """Bytes of a range, and the version of the file that was open."""
        with open(key, "rb") as file:
            file.seek(start)
            return Piece(file.read(stop - start), _stat_of(key, os.fstat(file.fileno())))

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """A scratch file beside the place, which a commit renames; folders are made."""
        os.makedirs(os.path.dirname(key) or ".", exist_ok=True)
        return _FileUpload(key)

    def list(self, prefix: str) -> Iterator[Stat]:
        """Files whose paths begin with the prefix; one that goes meanwhile is none."""
        folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
        for parent, _, names in sorted(os.walk(folder, onerror=_unless_missing)):
            for name in sorted(names):
                path = os.path.join(parent, name)
                if not path.startswith(prefix):
                    continue
                try:
                    yield self.stat(path)
                except FileNotFoundError:
                    continue

    def delete(self, key: str) -> None:
        """Delete a file."""
        try:
            os.unlink(key)
        except FileNotFoundError:
            return

    def local_path(self, key: str) -> str | None:
        """The key."""
        return key


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _stat_of(key: str, stat: os.stat_result) -> Stat:
    return Stat(key, stat.st_size, f"{stat.st_ino:x}-{stat.st_mtime_ns:x}")


class _FileUpload:
    def __init__(self, path: str) -> None:
        self._file = _core.AtomicFile(path, durable=False)

    def write(self, data: Any, /) -> int:
        return self._file.write(data)

    def commit(self, overwrite: bool = True) -> None:
        self._file.commit(overwrite)

    def abort(self) -> None:
        self._file.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()
