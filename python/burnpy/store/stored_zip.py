"""A zip archive of stored members, written front to back in one pass."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from burnpy import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["StoredZip"]

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_WIDE_END = struct.Struct("<4sQ2H2I4Q")
_WIDE_LOCATOR = struct.Struct("<4sIQI")
# Headers and small members are gathered: a write costs as much as that many bytes.
_GATHERED_BYTES = 1 << 16
# What the fields of 32 and 16 bits hold; one that is all ones says that the number is elsewhere.
_MAX_NUMBER = 2**32 - 2
_MAX_COUNT = 2**16 - 2
_ONES = 2**32 - 1
_VERSION, _WIDE_VERSION = 20, 45
_MADE_ON_UNIX = 3 << 8
_MODE = 0o600 << 16
_UTF8 = 0x800
# 1 January 1980, the first day that a zip knows: equal tensors give equal bytes.
_TIME, _DATE = 0, 1 << 5 | 1


class StoredZip:
    """Appends members that are not compressed; each is at hand as a whole, so that its header can be right at once.

    ``zipfile`` computes the same checksum on one thread.

    Args:
        write: takes the bytes of the archive in order.
    """

    def __init__(self, write: Callable[[Any], object]) -> None:
        self._write = write
        self._at = 0
        self._gathered = bytearray()
        self._entries: list[bytes] = []

    def add(self, name: str, pieces: Sequence[Buffer]) -> None:
        """Append a member of these pieces, one after the other."""
        size, crc = sum(memoryview(piece).nbytes for piece in pieces), _core.crc32(pieces)
        encoded = name.encode()
        flags = 0 if name.isascii() else _UTF8
        start = self._at
        sizes, extra = _narrowed(size, size)
        version = _WIDE_VERSION if extra else _VERSION
        header = _LOCAL.pack(
            b"PK\x03\x04", version, flags, 0, _TIME, _DATE, crc, *sizes, len(encoded), len(extra)
        )
        self._put(header + encoded + extra)
        for piece in pieces:
            self._put(piece)
        (*sizes, at), extra = _narrowed(size, size, start)
        version = _WIDE_VERSION if extra else _VERSION
        entry = _ENTRY.pack(
            b"PK\x01\x02", _MADE_ON_UNIX | version, version, flags, 0, _TIME, _DATE, crc, *sizes,
            len(encoded), len(extra), 0, 0, 0, _MODE, at,
        )  # fmt: skip
        self._entries.append(entry + encoded + extra)

    def finish(self) -> None:
        """Append the directory."""
        start, count = self._at, len(self._entries)
        self._put(b"".join(self._entries))
        length, end = self._at - start, self._at
        (short_length, short_start), wide = _narrowed(length, start)
        if wide or count > _MAX_COUNT:
            versions = _MADE_ON_UNIX | _WIDE_VERSION, _WIDE_VERSION
            rest = _WIDE_END.size - 12
            self._put(
                _WIDE_END.pack(b"PK\x06\x06", rest, *versions, 0, 0, count, count, length, start)
                + _WIDE_LOCATOR.pack(b"PK\x06\x07", 0, end, 1)
            )
        short_count = count if count <= _MAX_COUNT else 2**16 - 1
        self._put(_END.pack(b"PK\x05\x06", 0, 0, short_count, short_count, short_length, short_start, 0))
        self._flush()

    def _put(self, data: Buffer) -> None:
        nbytes = memoryview(data).nbytes
        self._at += nbytes
        if nbytes < _GATHERED_BYTES:
            self._gathered += data
        if nbytes >= _GATHERED_BYTES or len(self._gathered) >= _GATHERED_BYTES:
            self._flush()
        if nbytes >= _GATHERED_BYTES:
            self._write(data)

    def _flush(self) -> None:
        if self._gathered:
            self._write(bytes(self._gathered))
            self._gathered.clear()


def _narrowed(*numbers: int) -> tuple[list[int], bytes]:
    """Numbers for fields of 32 bits, and the extra field with those that do not fit."""
    wide = [number for number in numbers if number > _MAX_NUMBER]
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    return [_ONES if number > _MAX_NUMBER else number for number in numbers], extra
