"""NumPy's ``.npz`` as an archive of ``burnpy.open``."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, TYPE_CHECKING, Any

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

_LOCAL_HEADER = struct.Struct("<26xHH")
_ENCRYPTED = 0x1
_MAX_NPY_HEADER = 65_535
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
        super().__init__(ForeignFile.windows(path, told, limits), path)
        whole.append(memoryview(self._file.memory()))

    def metadata(self) -> dict[str, str]:
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
        if name == info.filename or info.flag_bits & _ENCRYPTED:
            return self._skip(Skipped(name, "zip member", "unsupported"))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return self._skip(Skipped(name, f"zip method {info.compress_type}", "unsupported"))
        with archive.open(info) as member:
            shape, by_columns, dtype = _read_header(member)
            header_len = member.tell()
        try:
            text = "" if dtype.hasobject or dtype.names or dtype.subdtype else dtype_of(dtype)
        except DTypeError:
            text = ""
        if not text:
            kind = "object" if dtype.hasobject else str(dtype)
            return self._skip(Skipped(name, "numpy.ndarray", "unsupported", shape, kind))
        nbytes = prod(shape) * dtype.itemsize
        if header_len + nbytes != info.file_size:
            message = (
                f"{path}: tensor {name!r} has {info.file_size - header_len} bytes, its shape needs {nbytes}"
            )
            raise CheckpointError(
                message,
                kind="truncated",
                tensor=name,
                found=info.file_size - header_len,
                limit=nbytes,
                path=path,
            )
        start = _payload_start(archive, info)
        if info.compress_type == zipfile.ZIP_STORED and dtype.newbyteorder("<") == dtype:
            return name, text, shape, start + header_len, by_columns and len(shape) > 1, None
        member_of = _Member(path, name, info, start, header_len, whole)
        return name, text, shape, None, False, lambda: member_of.in_order(shape, by_columns, dtype)

    def _skip(self, skipped: Skipped) -> None:
        self._skipped.append(skipped)


class _Member:
    """A member of the zip that has to be unpacked, swapped, or both."""

    def __init__(
        self,
        path: str,
        name: str,
        info: zipfile.ZipInfo,
        start: int,
        header_len: int,
        whole: list[memoryview],
    ) -> None:
        self.path = path
        self.name = name
        self.info = info
        self.start = start
        self.header_len = header_len
        self.whole = whole

    def in_order(self, shape: tuple[int, ...], by_columns: bool, dtype: np.dtype[Any]) -> Any:
        """The elements by rows, little-endian."""
        flat = np.frombuffer(self._unpacked(), dtype, offset=self.header_len)
        array = flat.reshape(shape, order="F" if by_columns else "C")
        return np.ascontiguousarray(array, dtype.newbyteorder("<")).reshape(-1).view(np.uint8)

    def _unpacked(self) -> bytes | memoryview:
        packed = self.whole[0][self.start : self.start + self.info.compress_size]
        if self.info.compress_type == zipfile.ZIP_STORED:
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
    except (zipfile.BadZipFile, struct.error, ValueError, EOFError, zlib.error, NotImplementedError) as error:
        message = f"{path}: no sound .npz: {error}"
        raise CheckpointError(message, kind="malformed archive", path=path) from error


def _read_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype of a ``.npy``. NumPy reads its header as a literal, which executes nothing."""
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member, max_header_size=_MAX_NPY_HEADER)
    if version in ((2, 0), (3, 0)):
        return np.lib.format.read_array_header_2_0(member, max_header_size=_MAX_NPY_HEADER)
    raise ValueError(f"unknown version {version} of .npy")


def _texts(data: bytes) -> dict[str, str]:
    content = json.loads(data)
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise ValueError(f"{METADATA_MEMBER} is no map of texts")
    return content


def _payload_start(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: behind its own header, whose length differs from that in the directory."""
    file = archive.fp
    assert file is not None, "the archive is open"
    file.seek(info.header_offset)
    name_len, extra_len = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return info.header_offset + _LOCAL_HEADER.size + int(name_len) + int(extra_len)


def _refuse_clashes(path: str, told: list[Told]) -> None:
    names = set[str]()
    for name, *_ in told:
        if name in names:
            message = f"{path}: two arrays have the name {name!r}"
            raise CheckpointError(message, kind="name clash", tensor=name, path=path)
        names.add(name)
