"""An open file object as a storage of the one object that it is."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from burnpy.errors import AlreadyExists
from burnpy.storage.storage import Piece, Stat, Upload

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["FileObjectStorage"]


class FileObjectStorage:
    """A binary file object. Reading needs ``seek``; writing goes straight into it, from where it stands.

    Nothing about a file object is atomic: a write that fails leaves what was written, or where the object can be
    cut, nothing.

    Args:
        file: an object with ``read`` and ``seek``, or with ``write``.

    Example:
        >>> import io
        >>> FileObjectStorage(io.BytesIO(b"0123")).read("", 1, 3).data
        b'12'
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()

    def url(self, key: str) -> str:
        """The name that the object has, or its class."""
        name = getattr(self._file, "name", None)
        return name if isinstance(name, str) else f"<{type(self._file).__name__}>"

    def stat(self, key: str) -> Stat:
        """The size; a file object has no versions."""
        with self._lock:
            return Stat(key, self._file.seek(0, os.SEEK_END))

    def begin(self, key: str, length: int) -> Piece:
        """The first bytes and the size."""
        return Piece(self.read(key, 0, length).data, self.stat(key))

    def read(self, key: str, start: int, stop: int, *, etag: str | None = None) -> Piece:
        """Bytes of a range; one thread after the other."""
        with self._lock:
            self._file.seek(start)
            data = self._file.read(stop - start)
            while len(data) < stop - start and (more := self._file.read(stop - start - len(data))):
                data += more
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"{self.url(key)} must be open in binary mode: read returned {type(data).__name__}"
            )
        return Piece(data)

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """Write into the object."""
        return _Writing(self._file, self.url(key))

    def list(self, prefix: str) -> Iterator[Stat]:
        """The object."""
        yield self.stat("")

    def delete(self, key: str) -> None:
        """Not possible.

        Raises:
            io.UnsupportedOperation: always.
        """
        raise io.UnsupportedOperation(f"{self.url(key)}: a file object cannot be deleted")

    def local_path(self, key: str) -> str | None:
        """None: the object may be a pipe or a part of something, whatever its name is."""
        return None


class _Writing:
    def __init__(self, file: Any, name: str) -> None:
        self._file, self._name, self._is_done = file, name, False
        can_seek = getattr(file, "seekable", bool)()
        self._start = file.tell() if can_seek else None

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        sent = 0
        while sent < len(view):
            # A raw file may take less than it is given; others return nothing at all.
            count = self._file.write(view[sent:])
            sent += len(view) - sent if count is None else count
        return len(view)

    def commit(self, overwrite: bool = True) -> None:
        if not overwrite and self._start:
            raise AlreadyExists(
                f"{self._name}: something is in it already, and overwriting is off", path=self._name
            )
        self._is_done = True
        getattr(self._file, "flush", bool)()

    def abort(self) -> None:
        if not self._is_done and self._start is not None:
            self._file.seek(self._start)
            self._file.truncate()
        self._is_done = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()
