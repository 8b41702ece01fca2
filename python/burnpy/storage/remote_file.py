"""An object that is read range by range, always in the version in which it was opened."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from burnpy.errors import StorageError
from burnpy.storage.ranges import assemble, fetch_all, plan
from burnpy.storage.retry import again
from burnpy.storage.storage import Piece, Stat

if TYPE_CHECKING:
    from burnpy.storage.location import Location

__all__ = ["RemoteFile"]


class RemoteFile:
    """An open object: its size, its version, and its bytes when they are asked for.

    Opening asks for the beginning, which is kept: what lies there is not asked for again. Every later answer is of the
    same version, or an error. May be used from many threads, and pickled: the pickle opens the same version again.

    Attributes:
        location: where it is.
        size: length in bytes.
        etag: its version, or ``None`` where the store tells none.

    Example:
        >>> from burnpy.storage import at
        >>> place = at("memory://docs/note.txt")
        >>> with place.create() as upload:
        ...     _ = upload.write(b"all of it")
        ...     upload.commit()
        >>> file = place.open()
        >>> file.size, [bytes(part) for part in file.read_ranges([(0, 3), (7, 9)])]
        (9, [b'all', b'it'])
    """

    def __init__(self, location: Location, stat: Stat | None = None) -> None:
        self.location = location
        self._head = memoryview(b"")
        if stat is None:
            stat = self._open()
        self.size, self.etag = stat.size, stat.etag

    def _open(self) -> Stat:
        """Read the beginning, and what the store tells of the whole with it."""
        place = self.location

        def request() -> Piece:
            piece = place.storage.begin(place.key, place.transfer.first_bytes)
            if piece.stat is not None:
                self._check(
                    0, min(max(place.transfer.first_bytes, len(piece.data)), piece.stat.size), len(piece.data)
                )
            return piece

        piece = again(request, place.transfer)
        self._head = memoryview(piece.data).cast("B")
        return place.stat() if piece.stat is None else piece.stat

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[memoryview]:
        """The bytes of each range: near ones come in one request, several requests run at once.

        Raises:
            StorageError: the object has changed, a request failed for good, or a range is not inside.
        """
        for start, stop in ranges:
            if not 0 <= start <= stop <= self.size:
                raise self._fault(f"there are only {self.size} bytes", start, stop)
        outside = [span if span[1] > len(self._head) else (0, 0) for span in ranges]
        transfer = self.location.transfer
        requests = plan(outside, transfer.gap_bytes, transfer.request_bytes)
        pieces = self._fetch(requests)
        found = assemble(outside, requests, pieces)
        for index, (start, stop) in enumerate(ranges):
            if stop <= len(self._head):
                found[index] = self._head[start:stop]
        return found

    def _fetch(self, requests: Sequence[Any]) -> list[Any]:
        if not requests:
            return []
        untold = False

        def read(start: int, stop: int) -> Any:
            nonlocal untold
            data, told = self._read(start, stop)
            untold = untold or not told
            return data

        counted = self._counter(sum(request.stop - request.start for request in requests))
        pieces = fetch_all(requests, read, self.location.transfer.max_requests, counted)
        if untold and self.etag is not None:
            # The answers say nothing of the version, so it is asked for once, behind all of them.
            self._check_version(self.location.stat(), requests[0].start, requests[-1].stop)
        return pieces

    def _counter(self, total: int) -> Callable[[int], None]:
        progress, name, came = self.location.transfer.progress, str(self), 0

        def count(length: int) -> None:
            nonlocal came
            came += length
            if progress is not None:
                progress(name, came, total)
                if came == total:
                    progress("", came, total)

        return count

    def _read(self, start: int, stop: int) -> tuple[Any, bool]:
        """The bytes of one request, and whether the answer told their version."""
        place = self.location

        def request() -> tuple[Any, bool]:
            piece = place.storage.read(place.key, start, stop, etag=self.etag)
            if piece.stat is not None:
                self._check_version(piece.stat, start, stop)
            self._check(start, stop, len(piece.data))
            return piece.data, piece.stat is not None

        return again(request, place.transfer)

    def _check_version(self, stat: Stat, start: int, stop: int) -> None:
        if (stat.etag, stat.size) != (self.etag, self.size):
            what = f"it was {self.etag} of {self.size} bytes, and is {stat.etag} of {stat.size}"
            raise self._fault(f"the object has changed since it was opened: {what}", start, stop)

    def _check(self, start: int, stop: int, found: int) -> None:
        if found != stop - start:
            what = f"the answer has {found} bytes of {stop - start}"
            raise self._fault(what, start, stop, transient=True)

    def _fault(self, what: str, start: int, stop: int, *, transient: bool = False) -> StorageError:
        text = f"{self}: bytes {start} to {stop}: {what}"
        return StorageError(text, url=str(self), start=start, stop=stop, transient=transient, errno=errno.EIO)

    def __str__(self) -> str:
        return str(self.location)

    def __repr__(self) -> str:
        return f"<{self.size} bytes of {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (self.location, Stat(self.location.key, self.size, self.etag))
