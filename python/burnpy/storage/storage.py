"""What a place for files has to offer: the protocol behind everything that opens or writes a URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Piece", "Stat", "Storage", "Upload"]


@dataclass(frozen=True)
class Stat:
    """What a store says of an object.

    Attributes:
        key: its name in the store.
        size: its length in bytes.
        etag: what tells this version from every other one, or ``None`` where the store has nothing of the kind.
    """

    key: str
    size: int
    etag: str | None = None


@dataclass(frozen=True)
class Piece:
    """The answer to one request for bytes.

    Attributes:
        data: the bytes, any buffer.
        stat: what came with them about the whole object, or ``None`` where such an answer says nothing.
    """

    data: Any
    stat: Stat | None = None


class Upload(Protocol):
    """An object on its way: visible whole after ``commit``, and never without it. Leaving its block aborts it."""

    def write(self, data: Any, /) -> int:
        """Append bytes, all of them, and return their number."""
        ...

    def commit(self, overwrite: bool = True) -> None:
        """Make the object visible.

        Raises:
            AlreadyExists: something is there, and ``overwrite`` is off.
        """
        ...

    def abort(self) -> None:
        """Throw away what was written; nothing after a commit."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class Storage(Protocol):
    """A place for files under keys; but for ``begin``, a method is one request.

    Retries, joining of ranges, checks of the version and the cache are not its business: they are done once, above.
    Methods may be called from several threads. Faults are ``FileNotFoundError``, ``PermissionError``, or a
    ``StorageError`` that says whether another attempt may help (``transient``).
    """

    def url(self, key: str) -> str:
        """How people name the object."""
        ...

    def stat(self, key: str) -> Stat:
        """Size and version of an object."""
        ...

    def begin(self, key: str, length: int) -> Piece:
        """The first bytes of an object, about so many and all of a shorter one, with its size and version.

        In one request if the store's answers tell both, else in two.
        """
        ...

    def read(self, key: str, start: int, stop: int, *, etag: str | None = None) -> Piece:
        """Bytes of a range, fewer where the object ends before it does.

        Args:
            key: the object.
            start: the first byte.
            stop: the first byte behind.
            etag: the version that is wanted. A store that can asks for this one and no other.
        """
        ...

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """Begin to write an object, which is sent in parts."""
        ...

    def list(self, prefix: str) -> Iterator[Stat]:
        """The objects whose keys begin with ``prefix``."""
        ...

    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is no error."""
        ...

    def local_path(self, key: str) -> str | None:
        """The file of this machine that the object is, if it is one."""
        ...
