"""NumPy's ``.npz`` as an archive of ``burnpy.open``."""

from __future__ import annotations

import errno
import io
import json
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from burnpy._core import ForeignFile
from burnpy.errors import CheckpointError, DTypeError
from burnpy.store.archive import Skipped
from burnpy.store.dtype import dtype_of
from burnpy.store.foreign import ForeignArchive

if TYPE_CHECKING:
    from typing import TypeAlias

    from burnpy.pack import Limits

    # name, dtype, shape, first byte, whether by columns, what provides the bytes: as the core takes a tensor
    Told: TypeAlias = tuple[str, str, tuple[int, ...], int | None, bool, Callable[[], Any] | None]

__all__ = ["METADATA_MEMBER", "NpzArchive"]

METADATA_MEMBER = "__metadata__.json"
"""The member with the texts that `burnpy.convert` writes. It is no ``.npy``: NumPy's arrays are those."""

# Whatever the readers of zips and of headers say of bytes that make no sense.
_FAULTS = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError, EOFError,
    NotImplementedError, RecursionError, MemoryError, SyntaxError, LookupError, tokenize.TokenError,
)  # fmt: skip
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
# The longest header of a `.npy` that NumPy accepts, and what stands before it.
_MAX_HEADER = 12 + 10_000
_ENCRYPTED = 0x1
_MAX_EXTENT = 2**63 - 1
_MAX_METADATA = 100_000_000


class NpzArchive(ForeignArchive):
    """A zip of ``.npy`` files: stored arrays are windows of it, deflated ones are inflated when they are asked for.

    Arrays of objects would have to be unpickled, and are skipped; so are records, texts and dates.
    """

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        self._skipped: list[Skipped] = []
        self._metadata: dict[str, str] = {}
        # Filled once the file is mapped: what is inflated later is read from there.
        whole: list[memoryview] = []
        with _faults_of(path), zipfile.ZipFile(path) as archive:
            told = [entry for info in archive.infolist() if (entry := self._tell(archive, info, path, whole))]
        _refuse_clashes(path, told)
        with _faults_of(path):
            super().__init__(ForeignFile.windows(path, told, limits), path)
        whole.append(memoryview(self._file.memory()))

    def metadata(self) -> dict[str, str]:
        """The texts that ``burnpy.convert`` has written beside the arrays."""
        self._file.keys()  # raises when closed
        return dict(self._metadata)

    def skipped(self) -> list[Skipped]:
        """Arrays of objects, records, texts and dates, and whatever is no array."""
        self._file.keys()  # raises when closed
        return list(self._skipped)

    def _tell(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, whole: list[memoryview]
    ) -> Told | None:
        if info.is_dir():
            return None
        if info.filename == METADATA_MEMBER and info.file_size <= _MAX_METADATA:
            self._metadata = _texts(archive.read(info))
            return None
        name = info.filename.removesuffix(".npy")
        if (kind := _kind_of_other(info)) is not None:
            self._skipped.append(Skipped(name, kind, "unsupported"))
            return None
        start = _payload_start(archive, info)
        header = _read_header(archive, info)
        text = _text_of(header.dtype)
        if text is None:
            dtype = "object" if header.dtype.hasobject else str(header.dtype)
            self._skipped.append(Skipped(name, "numpy.ndarray", "unsupported", header.shape, dtype))
            return None
        _check_length(path, name, header, info.file_size)
        if info.compress_type == zipfile.ZIP_STORED and header.dtype.newbyteorder("<") == header.dtype:
            by_columns = header.by_columns and len(header.shape) > 1
            return name, text, header.shape, start + header.length, by_columns, None
        unpacked = _Member(path, name, info, start, header, whole)
        return name, text, header.shape, None, False, unpacked.in_order


@dataclass(frozen=True)
class _Header:
    """The header of a ``.npy``, and its own length in bytes."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    length: int

    @property
    def payload(self) -> int:
        """Bytes of the elements."""
        return prod(self.shape) * self.dtype.itemsize


class _Member:
    """A member of the zip that has to be unpacked, swapped, or both."""

    def __init__(
        self,
        path: str,
        name: str,
        info: zipfile.ZipInfo,
        start: int,
        header: _Header,
        whole: list[memoryview],
    ) -> None:
        self.path = path
        self.name = name
        self.info = info
        self.start = start
        self.header = header
        self.whole = whole

    def in_order(self) -> Any:
        """The elements by rows, little-endian."""
        flat = np.frombuffer(self._unpacked(), self.header.dtype, offset=self.header.length)
        array = flat.reshape(self.header.shape, order="F" if self.header.by_columns else "C")
        return np.ascontiguousarray(array, self.header.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)

    def _unpacked(self) -> bytes | memoryview:
        packed = self.whole[0][self.start : self.start + self.info.compress_size]
        if self.info.compress_type == zipfile.ZIP_STORED:
            if len(packed) != self.info.file_size:
                raise self._fault(
                    "truncated", f"the file has {len(packed)} of its {self.info.file_size} bytes"
                )
            return packed
        try:
            data = zlib.decompressobj(-15).decompress(packed, self.info.file_size)
        except zlib.error as error:
            raise self._fault("malformed archive", f"it cannot be inflated: {error}") from error
        if len(data) != self.info.file_size:
            raise self._fault("truncated", f"it inflates to {len(data)} of {self.info.file_size} bytes")
        if zlib.crc32(data) != self.info.CRC:
            found = zlib.crc32(data)
            raise self._fault(
                "checksum", f"its CRC-32 is {found:#010x}, the archive says {self.info.CRC:#010x}"
            )
        return data

    def _fault(self, kind: str, what: str) -> CheckpointError:
        message = f"{self.path}: tensor {self.name!r}: {what}"
        return CheckpointError(
            message, kind=kind, tensor=self.name, member=self.info.filename, path=self.path
        )


@contextmanager
def _faults_of(path: str) -> Iterator[None]:
    try:
        yield
    except (*_FAULTS, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        # EINVAL: an offset in the directory led to a place before the file.
        message = f"{path}: no sound .npz: {error}"
        raise CheckpointError(message, kind="malformed archive", path=path) from error


def _kind_of_other(info: zipfile.ZipInfo) -> str | None:
    """What a member is that is not read; ``None`` for a ``.npy``."""
    if not info.filename.endswith(".npy"):
        return "zip member"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted zip member"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"zip member of method {info.compress_type}"
    return None


def _read_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Header:
    """The header of the member whose bytes the archive's file stands at.

    Without ``archive.open``, which costs as much for a member as all the rest of it.
    """
    file = archive.fp
    assert file is not None, "the archive is open"
    start = file.read(min(info.compress_size, _MAX_HEADER))
    if info.compress_type == zipfile.ZIP_DEFLATED:
        start = zlib.decompressobj(-15).decompress(start, _MAX_HEADER)
    elif info.compress_size != info.file_size:
        raise ValueError(
            f"{info.filename} has {info.compress_size} bytes, and is said to have {info.file_size}"
        )
    version, length = start[6:8], start[8:10] if start[6:7] == b"\x01" else start[8:12]
    return _header(start[: 8 + len(length) + int.from_bytes(length, "little")], (*version,))


@lru_cache(maxsize=256)
def _header(text: bytes, version: tuple[int, ...]) -> _Header:
    """NumPy reads the header as a literal, which executes nothing; it may say anything.

    Layers of one shape have one header: the cache saves three quarters of the time of a usual checkpoint.
    """
    member = io.BytesIO(text)
    np.lib.format.read_magic(member)
    if version == (1, 0):
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
    elif version in ((2, 0), (3, 0)):
        shape, by_columns, dtype = np.lib.format.read_array_header_2_0(member)
    else:
        raise ValueError(f"unknown version {version} of .npy")
    if not all(0 <= extent <= _MAX_EXTENT for extent in shape):
        raise ValueError(f"impossible shape {shape}")
    return _Header(tuple(map(int, shape)), by_columns, dtype, member.tell())


def _text_of(dtype: np.dtype[Any]) -> str | None:
    """The text form of an element type; ``None`` for objects, records, texts and dates."""
    if dtype.hasobject or dtype.names or dtype.subdtype:
        return None
    try:
        return dtype_of(dtype)
    except DTypeError:
        return None


def _check_length(path: str, name: str, header: _Header, file_size: int) -> None:
    found = file_size - header.length
    if found != header.payload:
        message = (
            f"{path}: tensor {name!r} has {found} bytes, its shape {header.shape} needs {header.payload}"
        )
        kind = "truncated" if found < header.payload else "trailing bytes"
        raise CheckpointError(message, kind=kind, tensor=name, found=found, limit=header.payload, path=path)


def _texts(data: bytes) -> dict[str, str]:
    content = json.loads(data)
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise ValueError(f"{METADATA_MEMBER} is no map of texts")
    return content


def _payload_start(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: behind its own header, whose length differs from that in the directory.

    The archive's file is left standing there.
    """
    file = archive.fp
    assert file is not None, "the archive is open"
    file.seek(info.header_offset)
    magic, name_len, extra_len = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if magic != _LOCAL_MAGIC:
        raise zipfile.BadZipFile(f"no header of {info.filename} at byte {info.header_offset}")
    return file.seek(int(name_len) + int(extra_len), os.SEEK_CUR)


def _refuse_clashes(path: str, told: list[Told]) -> None:
    names = set[str]()
    for name, *_ in told:
        if name in names:
            message = f"{path}: two arrays have the name {name!r}"
            raise CheckpointError(message, kind="name clash", tensor=name, path=path)
        names.add(name)
