"""Writes NumPy's archive: a zip of ``.npy`` members, as ``numpy.savez`` does, one tensor in memory at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from burnpy.errors import IoError
from burnpy.pack import AtomicFile, Scalar
from burnpy.store.dtype import numpy_dtype
from burnpy.store.npz import METADATA_MEMBER
from burnpy.store.passport import Passport
from burnpy.store.stored_zip import StoredZip
from burnpy.store.target import Part, stand_in, told

__all__ = ["Npz"]

_MAX_NAME_BYTES = 2**16 - 5
_NUMPY = frozenset(
    ("f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool", "c64", "c128")
)


class Npz:
    """``.npz``: elements that NumPy knows, and texts in a member of their own."""

    format = "npz"
    extension = "npz"

    def stored_dtype(self, dtype: str) -> str | None:
        """The dtype itself, or the one of the same bytes; what ``ml_dtypes`` adds would come back as void."""
        stored = "bool" if dtype == "bool(u8)" else stand_in(dtype)
        return stored if stored in _NUMPY else None

    def name_problem(self, name: str) -> str | None:
        """A zip ends a name at a NUL."""
        if "\0" in name:
            return "npz has no names with NUL in them"
        return "npz has no names of so many bytes" if len(name.encode()) > _MAX_NAME_BYTES else None

    def passport(self, parts: Sequence[Part], scalars: Mapping[str, Scalar]) -> Passport:
        """Ids, scalars and true dtypes; the members lie in order."""
        return told(parts, scalars)

    def stage(
        self,
        parts: Sequence[Part],
        path: str,
        metadata: Mapping[str, str],
        scalars: Mapping[str, Scalar],
        *,
        durable: bool,
    ) -> AtomicFile:
        """Write the members in the order of the tensors."""
        scratch = AtomicFile(path, durable=durable)
        try:
            with _told_of(path):
                scratch.reserve(sum(part.nbytes for part in parts))
            self._write(StoredZip(partial(_write, scratch, path)), parts, metadata)
        except BaseException:
            scratch.__exit__()
            raise
        return scratch

    def _write(self, archive: StoredZip, parts: Sequence[Part], metadata: Mapping[str, str]) -> None:
        for part in parts:
            dtype = numpy_dtype(str(self.stored_dtype(part.dtype)))
            payload = np.ascontiguousarray(part.draw()).reshape(-1).view(np.uint8)
            archive.add(f"{part.name}.npy", [_header(dtype, part.shape), payload.data])
        # Behind the arrays: the first member tells readers that the zip is NumPy's.
        if metadata:
            text = json.dumps(dict(sorted(metadata.items())), ensure_ascii=False)
            archive.add(METADATA_MEMBER, [text.encode()])
        archive.finish()


def _write(scratch: AtomicFile, path: str, data: Any) -> None:
    with _told_of(path):
        scratch.write(data)


@contextmanager
def _told_of(path: str) -> Iterator[None]:
    """An error that names the file as the caller knows it, not the scratch file."""
    try:
        yield
    except IoError as error:
        message = f"{path}: {error.strerror or error}"
        raise IoError(message, errno=error.errno, strerror=error.strerror, path=path) from error


def _header(dtype: Any, shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    fields = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, fields)
    return out.getvalue()
