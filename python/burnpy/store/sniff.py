"""Which format a file is, from its content."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from burnpy._core import EXTENSION, MAGIC_NUMBER
from burnpy.errors import CheckpointError
from burnpy.store.burnpack import BurnpackArchive
from burnpy.store.remote_safetensors import MAX_HEADER
from burnpy.store.safetensors import SafetensorsArchive

if TYPE_CHECKING:
    from burnpy.pack import Limits
    from burnpy.storage.location import Location
    from burnpy.store.archive import Archive

__all__ = ["START_BYTES", "format_of", "open_any", "open_archive", "open_file"]

START_BYTES = 4096
"""How much of a file tells what it is."""
_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_INDEX = ".index.json"
# Names that promise what `torch.save` writes.
_PYTORCH_NAMES = (".pt", ".pth")


def open_archive(path: str | Location, limits: Limits | None = None) -> Archive:
    """Open a file or an object of a store, or all of an index.

    Raises:
        CheckpointError, Error: the file is none of the formats, or not a sound one.
    """
    if str(path).endswith(_INDEX):
        from burnpy.store.index import IndexArchive

        return IndexArchive(path, limits)
    return open_any(path, limits)


def open_any(path: str | Location, limits: Limits | None = None, *, index: bool = True) -> Archive:
    """Open one file or object by what is in it."""
    if isinstance(path, str):
        return open_file(path, limits, index=index)
    from burnpy.store.remote import open_remote

    return open_remote(path, limits, index=index)


def open_file(path: str, limits: Limits | None = None, *, index: bool = True) -> Archive:
    """Open one file by what is in it.

    A name does not decide what a file is. It decides whose complaint is told of a file that is nothing at all, or that
    is something else than its name promises: a pickle under ``.safetensors``, a safetensors file under ``.pt``.

    Args:
        path: the file.
        limits: bounds on what is accepted.
        index: whether it may be an index. One that leads to an index might lead to itself.
    """
    with open(path, "rb") as file:
        start = file.read(START_BYTES)
    extension = os.path.splitext(path)[1].lower()
    match format_of(start, extension):
        case "burnpack":
            return BurnpackArchive(path, limits)
        case "safetensors":
            return SafetensorsArchive(path, limits)
        case "npz":
            from burnpy.store.npz import NpzArchive

            return NpzArchive(path, limits)
        case "index" if not index:
            message = f"{path}: an index, where a file of an index is expected"
            raise CheckpointError(message, kind="malformed index", path=path)
        case "index":
            from burnpy.store.index import IndexArchive

            return IndexArchive(path, limits)
    if extension == ".safetensors":
        return _misnamed(path, limits)
    from burnpy.store.pytorch import PytorchArchive

    return PytorchArchive(path, limits)


def format_of(start: bytes, extension: str) -> str:
    """The format that a file with this beginning and extension is read as."""
    if start.startswith(MAGIC_NUMBER.to_bytes(4, "little")):
        return "burnpack"
    if start.startswith(_ZIP):
        return "npz" if _first_member(start).endswith((b".npy", b"__metadata__.json")) else "pytorch"
    if start.startswith(_EMPTY_ZIP):
        return "npz" if extension == ".npz" else "pytorch"
    if _is_safetensors(start) and extension not in _PYTORCH_NAMES:
        return "safetensors"
    if start.lstrip().startswith(b"{") and (extension == ".json" or b'"weight_map"' in start):
        return "index"
    if extension == ".safetensors" and not start.startswith(b"\x80"):
        return "safetensors"
    return "burnpack" if extension == f".{EXTENSION}" and not start.startswith(b"\x80") else "pytorch"


def _is_safetensors(start: bytes) -> bool:
    length = int.from_bytes(start[:8], "little")
    return 2 <= length <= MAX_HEADER and start[8:9] == b"{"


def _first_member(start: bytes) -> bytes:
    """The name in a zip's first local header."""
    return start[30 : 30 + int.from_bytes(start[26:28], "little")]


def _misnamed(path: str, limits: Limits | None) -> Archive:
    """A zip or pickle that is called a safetensors file: taken if there are tensors in it."""
    from burnpy.store.pytorch import PytorchArchive

    try:
        archive = PytorchArchive(path, limits)
        if archive.keys():
            return archive
        archive.close()
    except CheckpointError as error:
        try:
            return SafetensorsArchive(path, limits)
        except CheckpointError as told:
            raise told from error
    return SafetensorsArchive(path, limits)
