"""A safetensors file in a store: its header at once, and each tensor when it is asked for."""

from __future__ import annotations

import os
import weakref
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from burnpy._core import ForeignFile
from burnpy.errors import CheckpointError
from burnpy.store.archive import TensorInfo
from burnpy.store.foreign import ForeignArchive

if TYPE_CHECKING:
    from burnpy.pack import Limits
    from burnpy.storage.remote_file import RemoteFile
    from burnpy.store.npz import Told

__all__ = ["MAX_HEADER", "RemoteSafetensorsArchive", "of_object"]

MAX_HEADER = 100_000_000
"""The longest header that the format allows, in bytes."""
_LENGTH = 8


class RemoteSafetensorsArchive(ForeignArchive):
    """A safetensors file that is read range by range: one or two requests for the header, one for each tensor.

    The core checks the header of a file that has it and is as long as the object, and else nothing but a hole; what it
    says of tensors goes with functions that fetch their bytes.

    Args:
        file: the open object.
        limits: bounds on what is accepted.

    Raises:
        CheckpointError: the header is not sound.
    """

    def __init__(self, file: RemoteFile, limits: Limits | None = None) -> None:
        folder = TemporaryDirectory(prefix="burnpy-", ignore_cleanup_errors=True)
        weakref.finalize(self, folder.cleanup)
        path = os.path.join(folder.name, file.location.name or "object")
        head = _head_of(file, limits)
        with open(path, "wb") as copy:
            copy.write(head)
            copy.truncate(file.size)
        try:
            self._header = ForeignFile.safetensors(path, limits)
        except CheckpointError as error:
            raise of_object(error, path, str(file)) from error
        told: list[Told] = []
        for name in self._header.keys():  # noqa: SIM118 (not a mapping)
            dtype, shape, nbytes, start = self._header.info(name)
            at = len(head) + (start or 0)
            told.append((name, dtype, tuple(shape), None, False, partial(_read, file, at, at + nbytes)))
        super().__init__(ForeignFile.windows(path, told, limits), str(file))

    @property
    def format(self) -> str:
        """Safetensors."""
        return self._header.format

    def info(self, name: str) -> TensorInfo:
        """What the header says of a tensor."""
        return ForeignArchive.told(self._header, name)

    def metadata(self) -> dict[str, str]:
        """The texts of the header."""
        return self._header.metadata() or {}

    def close(self) -> None:
        """Let the file go."""
        self._header.close()
        super().close()


def _head_of(file: RemoteFile, limits: Limits | None) -> bytes:
    """The header with its length; of one that is too long or ends outside, what the core needs to say so."""
    length = int.from_bytes(file.read_ranges([(0, min(_LENGTH, file.size))])[0], "little")
    most = MAX_HEADER if limits is None else min(MAX_HEADER, limits.max_metadata_bytes)
    end = _LENGTH + length if length <= most and _LENGTH + length <= file.size else _LENGTH + 1
    return bytes(file.read_ranges([(0, min(end, file.size))])[0])


def _read(file: RemoteFile, start: int, stop: int) -> memoryview:
    return file.read_ranges([(start, stop)])[0]


def of_object(error: CheckpointError, path: str, name: str) -> CheckpointError:
    """The error of a file here, as one of the object that the file stands for."""
    message = str(error).replace(path, name)
    told = CheckpointError(message)
    told.__dict__.update({**error.__dict__, "path": name, "message": message})
    return told
