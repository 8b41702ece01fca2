"""Whole objects: downloaded into a file, or written by the core in parts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from burnpy import _core
from burnpy.storage.remote_file import RemoteFile

if TYPE_CHECKING:
    from burnpy._core import Reader, Writer
    from burnpy.pack import Limits
    from burnpy.storage.location import Location
    from burnpy.storage.storage import Stat, Upload

__all__ = [
    "download",
    "local_copy",
    "or_with_extension",
    "reader_at",
    "reader_of",
    "reader_of_all",
    "stage",
    "upload_file",
    "write_pack",
]

T = TypeVar("T")

_AT_ONCE = 4


def download(location: Location, path: str, stat: Stat | None = None) -> None:
    """Copy an object into a file, which appears whole or not at all.

    Memory holds a few pieces at a time, however large the object is.

    Args:
        location: the object.
        path: the file.
        stat: the version that is wanted, if it is known already.
    """
    file = RemoteFile(location, stat)
    step = location.transfer.request_bytes * min(_AT_ONCE, location.transfer.max_requests)
    pieces = location.transfer.request_bytes
    with _core.AtomicFile(path, durable=False) as target:
        target.reserve(file.size)
        for start in range(0, file.size, step):
            stop = min(start + step, file.size)
            cuts = range(start, stop, pieces)
            for part in file.read_ranges([(cut, min(cut + pieces, stop)) for cut in cuts]):
                target.write(part)
        target.commit()


@contextmanager
def local_copy(location: Location) -> Iterator[str]:
    """A file with the object's content: the cache's, or one that is there until the end of the block."""
    if (cached := _cached(location)) is not None:
        yield cached
        return
    with tempfile.TemporaryDirectory(prefix="burnpy-") as folder:
        path = os.path.join(folder, location.name or "object")
        download(location, path)
        yield path


def stage(writer: Writer, location: Location) -> Upload:
    """Send a container in parts, and leave the commit to the caller, who may have several of them.

    Its providers are called one after another while the parts before are on their way.
    """
    total, transfer, sent = writer.size(), location.transfer, 0
    upload = location.create()

    def write(part: bytes) -> None:
        nonlocal sent
        upload.write(part)
        sent += len(part)
        if transfer.progress is not None:
            transfer.progress(str(location), sent, total)

    try:
        writer._write_parts(write, transfer.part_bytes)
    except BaseException:
        upload.abort()
        raise
    if transfer.progress is not None:
        transfer.progress("", sent, total)
    return upload


def write_pack(writer: Writer, location: Location, *, overwrite: bool = True) -> None:
    """Send a container, which becomes visible whole or not at all."""
    with stage(writer, location) as upload:
        upload.commit(overwrite)


def upload_file(path: str, location: Location) -> Upload:
    """Send a file in parts, and leave the commit to the caller."""
    upload, part_bytes = location.create(), location.transfer.part_bytes
    try:
        with open(path, "rb") as file:
            while part := file.read(part_bytes):
                upload.write(part)
    except BaseException:
        upload.abort()
        raise
    return upload


def or_with_extension(open_at: Callable[[Location], T], location: Location) -> T:
    """What opens at a place, or where nothing is, with ``.bpk`` behind its name, as for files."""
    try:
        return open_at(location)
    except FileNotFoundError as missing:
        extension = f".{_core.EXTENSION}"
        if not location.key or location.key.endswith((extension, ".index.json")):
            raise
        try:
            return open_at(replace(location, key=location.key + extension))
        except FileNotFoundError:
            raise missing from None


def reader_of(location: Location, *, strict: bool = False, limits: Limits | None = None) -> Reader:
    """The reader of a container: over the cached file, or over the network range by range."""
    return or_with_extension(lambda place: reader_at(place, strict=strict, limits=limits), location)


def reader_at(location: Location, *, strict: bool = False, limits: Limits | None = None) -> Reader:
    """The same of a container at exactly this place."""
    if (cached := _cached(location)) is not None:
        return _core.Reader.from_file_exact(cached, strict=strict, limits=limits)
    return _core.Reader._from_source(location.open(), strict=strict, limits=limits)


def reader_of_all(location: Location) -> Reader:
    """The reader of a container of which everything will be wanted: over the cached file, or over all in memory."""
    if (cached := _cached(location)) is not None:
        return _core.Reader.from_file_exact(cached)
    return _core.Reader.from_bytes(location.read())


def _cached(location: Location) -> str | None:
    return None if location.cache is None else location.cache.path_of(location)
