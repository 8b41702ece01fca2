"""Checkpoints in stores: burnpacks range by range, other formats by a copy on this machine."""

from __future__ import annotations

import os
import weakref
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from burnpy._core import MAGIC_NUMBER, Reader
from burnpy._places import is_remote, place_of
from burnpy.errors import CheckpointError
from burnpy.store.burnpack import BurnpackArchive
from burnpy.store.remote_safetensors import RemoteSafetensorsArchive, of_object
from burnpy.store.safetensors import SafetensorsArchive

if TYPE_CHECKING:
    from collections.abc import Callable

    from burnpy._typing import Place
    from burnpy.pack import Limits
    from burnpy.storage.location import Location
    from burnpy.store.archive import Archive
    from burnpy.store.foreign import ForeignArchive

__all__ = ["beside", "bytes_at", "kept_with_its_copy", "open_remote", "path_or_place", "safetensors_at"]

Kept = TypeVar("Kept")


def path_or_place(path: Place) -> str | Location:
    """A path as text, or what is no file of this machine."""
    place = place_of(path)
    return place if is_remote(place) else os.fspath(place)


def bytes_at(place: str | Location) -> bytes:
    """All bytes of a file or an object."""
    if not isinstance(place, str):
        return bytes(place.read())
    with open(place, "rb") as file:
        return file.read()


def beside(place: str | Location, name: str) -> str | Location:
    """What is under a name in the folder of a file; the name's parts are divided by ``/``."""
    if isinstance(place, str):
        return os.path.join(os.path.dirname(place), *name.split("/"))
    return place.sibling(name)


def open_remote(location: Location, limits: Limits | None = None, *, index: bool = True) -> Archive:
    """Open an object by what is in it.

    A burnpack or a safetensors file takes two requests at most, and each tensor one more when it is asked for. All
    other formats are copied to this machine first: into the location's cache, or beside other temporary files until the
    archive is let go. With a cache everything is copied, and mapped.
    """
    from burnpy.store.sniff import START_BYTES, format_of, open_file

    if location.cache is None:
        file = location.open()
        start = bytes(file.read_ranges([(0, min(START_BYTES, file.size))])[0])
        if start.startswith(MAGIC_NUMBER.to_bytes(4, "little")):
            return BurnpackArchive(str(location), reader=Reader._from_source(file, limits=limits))
        kind = format_of(start, os.path.splitext(location.name)[1].lower())
        if kind == "safetensors":
            return RemoteSafetensorsArchive(file, limits)
        if kind == "index" and index:
            from burnpy.store.index import IndexArchive

            return IndexArchive(location, limits)
    return kept_with_its_copy(location, lambda path: open_file(path, limits, index=index))


def safetensors_at(place: str | Location) -> ForeignArchive:
    """A safetensors file, and nothing else."""
    if isinstance(place, str):
        return SafetensorsArchive(place)
    if place.cache is None:
        return RemoteSafetensorsArchive(place.open())
    return kept_with_its_copy(place, SafetensorsArchive)


def kept_with_its_copy(location: Location, open_copy: Callable[[str], Kept]) -> Kept:
    """What is opened of an object's copy on this machine, which is there until that is let go."""
    from burnpy.storage.whole import local_copy

    with ExitStack() as stack:
        path = stack.enter_context(local_copy(location))
        try:
            kept = open_copy(path)
        except CheckpointError as error:
            raise of_object(error, path, str(location)) from error
        weakref.finalize(kept, stack.pop_all().close)
        return kept
