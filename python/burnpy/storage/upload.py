"""Uploads: parts handed to an engine that asks for them, and parts gathered for one that takes all at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any

from burnpy.errors import AlreadyExists

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Gathered", "Streamed"]

_IN_MEMORY = 64 << 20
_WAITING = 2


class _Aborted(Exception):
    """What ends the stream of an upload that is given up."""


class _Block:
    """Leaving the block aborts what was not committed."""

    _url: str
    _exists: Callable[[], bool]

    def abort(self) -> None:
        raise NotImplementedError

    def _refuse_existing(self, overwrite: bool) -> None:
        if not overwrite and self._exists():
            self.abort()
            raise AlreadyExists(
                f"{self._url}: something is there already, and overwriting is off", path=self._url
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()


class Streamed(_Block):
    """An upload by a function that takes an iterator of parts and returns when the object is visible.

    The function runs in a thread of its own; ``write`` waits while two parts are on their way to it. An iterator that
    raises ends the function, which then leaves nothing visible.
    """

    def __init__(
        self, send: Callable[[Iterator[bytes]], object], url: str, exists: Callable[[], bool]
    ) -> None:
        self._url, self._exists = url, exists
        self._parts: queue.Queue[bytes | _Aborted | None] = queue.Queue(_WAITING)
        self._fault: BaseException | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(send,), name="burnpy-upload", daemon=True)
        self._thread.start()

    def _run(self, send: Callable[[Iterator[bytes]], object]) -> None:
        try:
            send(self._taken())
        except BaseException as fault:
            self._fault = fault
        finally:
            self._is_over.set()

    def _taken(self) -> Iterator[bytes]:
        while (part := self._parts.get()) is not None:
            if isinstance(part, _Aborted):
                raise part
            yield part

    def _put(self, part: bytes | _Aborted | None) -> bool:
        """Whether the part was taken; not if the function has ended, with a fault or too early."""
        while not self._is_over.is_set():
            try:
                self._parts.put(part, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def write(self, data: Any, /) -> int:
        """Append bytes."""
        part = bytes(data)
        if part and not self._put(part):
            raise self._fault or ValueError(f"{self._url}: the upload is over already")
        return len(part)

    def commit(self, overwrite: bool = True) -> None:
        """Send what is left, and wait until the object is visible."""
        self._refuse_existing(overwrite)
        self._put(None)
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def abort(self) -> None:
        """End the upload; the engine deletes its parts."""
        if self._put(_Aborted(f"{self._url}: aborted")):
            self._thread.join()


class Gathered(_Block):
    """An upload that is gathered first, in memory and from 64 MiB on in a file, and sent at the commit."""

    def __init__(self, send: Callable[[bytes], object], url: str, exists: Callable[[], bool]) -> None:
        self._send, self._url, self._exists = send, url, exists
        self._parts: Any = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by abort and commit

    def write(self, data: Any, /) -> int:
        """Append bytes."""
        return int(self._parts.write(data))

    def commit(self, overwrite: bool = True) -> None:
        """Send all."""
        self._refuse_existing(overwrite)
        self._parts.seek(0)
        with self._parts:
            self._send(self._parts.read())

    def abort(self) -> None:
        """Forget all."""
        self._parts.close()
