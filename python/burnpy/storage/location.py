"""A file in some storage, as everything that takes a path takes it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from burnpy.storage.retry import again
from burnpy.storage.storage import Stat, Storage, Upload
from burnpy.storage.transfer import Transfer

if TYPE_CHECKING:
    from burnpy.storage.cache import Cache
    from burnpy.storage.remote_file import RemoteFile

__all__ = ["Location", "at", "is_place", "resolve"]


@dataclass(frozen=True)
class Location:
    """A key of a storage, with the way in which its bytes travel. ``at`` makes one.

    Attributes:
        storage: the store.
        key: the name in it.
        transfer: how bytes travel.
        cache: where downloads are kept, if they are.

    Example:
        >>> place = at("memory://empty/a.bpk")
        >>> str(place), str(place.sibling("b.bpk")), place.exists()
        ('memory:///empty/a.bpk', 'memory:///empty/b.bpk', False)
    """

    storage: Storage
    key: str
    transfer: Transfer = field(default_factory=Transfer)
    cache: Cache | None = None

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    def sibling(self, name: str) -> Location:
        """The place of this name in the same folder."""
        folder, slash, _ = self.key.rpartition("/")
        return replace(self, key=f"{folder}{slash}{name}")

    def child(self, name: str) -> Location:
        """The place of this name below, as in a folder."""
        return replace(self, key=f"{self.key.rstrip('/')}/{name}" if self.key else name)

    def stat(self) -> Stat:
        """Size and version.

        Raises:
            FileNotFoundError, PermissionError, StorageError: from the storage.
        """
        return again(lambda: self.storage.stat(self.key), self.transfer)

    def exists(self) -> bool:
        """Whether there is an object."""
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def open(self) -> RemoteFile:
        """Open the object, to read it range by range."""
        from burnpy.storage.remote_file import RemoteFile

        return RemoteFile(self)

    def read(self) -> memoryview:
        """All bytes, in pieces that come at once."""
        file = self.open()
        return file.read_ranges([(0, file.size)])[0]

    def create(self) -> Upload:
        """Begin to write the object: visible whole after ``commit``, and never without it."""
        return self.storage.create(self.key, part_bytes=self.transfer.part_bytes)

    def list(self) -> Iterator[Stat]:
        """The objects below this place, as in a folder."""
        return self.storage.list(f"{self.key.rstrip('/')}/" if self.key else "")

    def files(self) -> dict[str, Stat]:
        """The objects below this place by their names in it, as ``step-3/model.bpk``.

        Raises:
            PermissionError, StorageError: from the storage.
        """
        start = len(f"{self.key.strip('/')}/") if self.key.strip("/") else 0
        found = again(lambda: list(self.list()), self.transfer)
        return {stat.key.lstrip("/")[start:].replace(os.sep, "/"): stat for stat in found}

    def delete(self) -> None:
        """Delete the object; one that is not there is no error."""
        again(lambda: self.storage.delete(self.key), self.transfer)

    def with_extension(self, extension: str) -> Location:
        """This place, with an extension where the name has none; Rust's notion of it, as for files."""
        return self if self.name.rfind(".") > 0 else replace(self, key=f"{self.key}.{extension}")

    def __str__(self) -> str:
        return self.storage.url(self.key)


def at(
    place: Any,
    key: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    engine: str = "auto",
    transfer: Transfer | None = None,
    cache: Cache | None = None,
) -> Location:
    """A place that ``burnpy.open``, ``save_file`` and all others take instead of a path.

    Args:
        place: a URL (``s3://bucket/model.bpk``, ``gs://``, ``az://``, ``https://``, ``memory://`` and whatever else
            fsspec knows), a local path, a file object, what ``fsspec.open`` returns, a ``Storage``, or with ``key``
            a store of obstore or a file system of fsspec.
        key: the name within a store.
        options: what the engine wants to know: keywords of ``obstore.store.from_url`` or of fsspec's file system.
        engine: ``"obstore"`` or ``"fsspec"``. ``"auto"`` is obstore for S3, Google, Azure and HTTP if it is
            installed, and fsspec for everything else. Profiles of ``~/.aws`` are known to fsspec's s3fs alone.
        transfer: how bytes travel.
        cache: a folder that keeps what was downloaded.

    Raises:
        ImportError: the engine is not installed; the message says how to.
        TypeError, ValueError: it is no place, or the engine no engine.

    Example:
        >>> at("memory://models/a.bpk", transfer=Transfer(max_requests=2)).key
        '/models/a.bpk'
    """
    if isinstance(place, Location):
        return replace(place, transfer=transfer or place.transfer, cache=cache or place.cache)
    storage, found = _storage_of(place, key, options or {}, engine)
    return Location(storage, found, transfer or Transfer(), cache)


def _storage_of(place: Any, key: str | None, options: Mapping[str, Any], engine: str) -> tuple[Storage, str]:
    if isinstance(place, str | os.PathLike):
        text = os.fspath(place)
        if "://" in text:
            from burnpy.storage.engine import storage_of_url

            return storage_of_url(text, options, engine)
        from burnpy.storage.local import LocalStorage

        return LocalStorage(), os.path.abspath(text)
    if key is None and hasattr(place, "fs") and hasattr(place, "path"):
        place, key = place.fs, str(place.path)
    if hasattr(place, "cat_file"):
        from burnpy.storage.fsspec_storage import storage_of

        return storage_of(place), _needed(key, place)
    if type(place).__module__.partition(".")[0] == "obstore":
        from burnpy.storage.obstore_storage import ObstoreStorage

        return ObstoreStorage(place), _needed(key, place)
    if isinstance(place, Storage):
        return place, _needed(key, place)
    if key is None and (hasattr(place, "read") or hasattr(place, "write")):
        from burnpy.storage.file_object import FileObjectStorage

        return FileObjectStorage(place), ""
    raise TypeError(f"place must be a URL, a path, a file object or a storage, got {type(place).__name__}")


def _needed(key: str | None, place: object) -> str:
    if key is None:
        raise TypeError(f"key is missing: which object of {type(place).__name__} is meant?")
    return key


def is_place(path: object) -> bool:
    """Whether something that was given for a path is to be found by ``at``: anything but a plain path.

    Example:
        >>> is_place("s3://bucket/key"), is_place("model.bpk")
        (True, False)
    """
    if isinstance(path, str):
        return "://" in path
    if isinstance(path, os.PathLike):
        # `universal_pathlib` has paths in stores.
        return hasattr(path, "fs") and hasattr(path, "path")
    return not isinstance(path, bytes) and (
        isinstance(path, Location) or hasattr(path, "read") or hasattr(path, "write") or hasattr(path, "fs")
    )


def resolve(path: Any) -> Any:
    """The path itself, the local file that a place is, or its location."""
    if not is_place(path):
        return path
    location = at(path)
    local = location.storage.local_path(location.key)
    return location if local is None else local
